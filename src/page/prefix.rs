//! Prefixes.
use std::fmt;
/// A prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {}
/// Why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixError {}
impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl std::error::Error for PrefixError {}
impl Prefix {
    /// Parse.
    pub fn parse(_text: &str) -> Result<Prefix, PrefixError> {
        todo!()
    }
    /// First key that is under it, and first key past it.
    pub(crate) fn range(&self) -> (&[u8], &[u8]) {
        todo!()
    }
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let (start, end) = self.range();
        start <= key && key < end
    }
}
