//! A column of texts: their bytes in a row, and where each begins.

use std::ffi::c_char;

/// A column of texts. Text `i` has the bytes from `bytes + offsets[i]` to `bytes + offsets[i + 1]`; no
/// NUL ends it. It lives as long as what it was got from.
#[derive(Debug)]
#[repr(C)]
pub struct Texts {
    /// All texts in a row, UTF-8.
    pub bytes: *const c_char,
    /// Where each begins, and as the last one the length of all: one more than there are texts.
    pub offsets: *const u64,
    /// How many there are.
    pub count: usize,
}

/// Where a text is that is kept elsewhere, and its length; NULL if there is none.
pub(crate) fn place(text: Option<&String>) -> (*const c_char, usize) {
    text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// A column of texts, with how C sees it.
#[derive(Debug)]
pub(crate) struct TextColumn {
    view: Texts,
    /// What the view points into: it stays where it is as long as this does.
    bytes: String,
    offsets: Vec<u64>,
}

impl TextColumn {
    /// How C sees it.
    pub(crate) fn view(&self) -> *const Texts {
        &raw const self.view
    }

    /// All texts in a row, and where each begins.
    pub(crate) fn parts(&self) -> (&str, &[u64]) {
        (&self.bytes, &self.offsets)
    }
}

impl Default for TextColumn {
    /// No texts.
    fn default() -> TextColumn {
        std::iter::empty::<&str>().collect()
    }
}

impl<S: AsRef<str>> FromIterator<S> for TextColumn {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> TextColumn {
        let (mut bytes, mut offsets) = (String::new(), vec![0]);
        for text in texts {
            bytes.push_str(text.as_ref());
            offsets.push(bytes.len() as u64);
        }
        let view = Texts {
            bytes: bytes.as_ptr().cast(),
            offsets: offsets.as_ptr(),
            count: offsets.len() - 1,
        };
        TextColumn { view, bytes, offsets }
    }
}
