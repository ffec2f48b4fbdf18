//! What counts as a URL.
use std::fmt;
/// Most bytes of a URL.
pub const URL_BYTES_MAX: usize = 8192;
/// Why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// It is empty.
    Empty,
    /// It is too long.
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// It has a control character.
    Control {
        /// At this byte.
        offset: usize,
    },
}
impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl std::error::Error for UrlError {}
pub(crate) fn check(_url: &str) -> Result<(), UrlError> {
    todo!()
}
