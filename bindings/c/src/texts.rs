//! A column of texts: their concatenated bytes, and where each begins.

use std::ffi::c_char;

/// A column of texts. Text `i` has the bytes from `bytes + offsets[i]` to `bytes + offsets[i + 1]`,
/// not NUL-terminated. Valid as long as its source.
#[derive(Debug)]
#[repr(C)]
pub struct Texts {
    /// The concatenated texts, UTF-8.
    pub bytes: *const c_char,
    /// Where each text begins, and at the end the total length: one more than there are texts.
    pub offsets: *const u64,
    /// The number of texts.
    pub count: usize,
}

/// Returns the address and the length of a text; NULL if there is none.
pub(crate) fn place(text: Option<&String>) -> (*const c_char, usize) {
    text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// A column of texts, with its view for C.
#[derive(Debug)]
pub(crate) struct TextColumn {
    view: Texts,
    /// The memory that the view points to: it does not move as long as this exists.
    bytes: String,
    offsets: Vec<u64>,
}

impl TextColumn {
    /// Returns the view for C.
    pub(crate) fn view(&self) -> *const Texts {
        &raw const self.view
    }

    /// Returns the concatenated texts, and where each begins.
    pub(crate) fn parts(&self) -> (&str, &[u64]) {
        (&self.bytes, &self.offsets)
    }
}

impl Default for TextColumn {
    /// Returns a column without texts.
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
