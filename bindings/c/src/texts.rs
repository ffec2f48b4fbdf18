//! A column of texts: their concatenated bytes, and the start of each text.

use std::ffi::c_char;

/// A column of texts. Text `i` has the bytes from `bytes + offsets[i]` to `bytes + offsets[i + 1]`,
/// not NUL-terminated. The texts are valid as long as the object that they
/// were taken from.
#[derive(Debug)]
#[repr(C)]
pub struct Texts {
    /// The concatenated texts, UTF-8.
    pub bytes: *const c_char,
    /// The start of each text, and then the total length. There is one offset more than texts.
    pub offsets: *const u64,
    /// The number of texts.
    pub count: usize,
}

/// Returns the address and the length of a text; NULL without a text.
pub(crate) fn place(text: Option<&String>) -> (*const c_char, usize) {
    text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// A column of texts, with its view for C.
#[derive(Debug)]
pub(crate) struct TextColumn {
    view: Texts,
    /// The memory that the view points to. The memory does not move as long as the column exists.
    bytes: String,
    offsets: Vec<u64>,
}

impl TextColumn {
    /// Returns the view for C.
    pub(crate) fn view(&self) -> *const Texts {
        &raw const self.view
    }

    /// Returns the concatenated texts, and the start of each text.
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
