//! Why a question about change rates is refused.

use std::fmt;

/// Why a question about change rates, or a policy, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecrawlError {
    /// A value is out of range.
    Value {
        /// The name of the value.
        name: &'static str,
        /// The values that are taken.
        takes: &'static str,
    },
    /// A text or a combination of values that has no meaning.
    Invalid(String),
    /// A page of a simulation ended it: [`Page::visited`](super::simulate::Page::visited).
    Cancelled,
}

/// A result of this module.
pub(crate) type Result<T, E = RecrawlError> = std::result::Result<T, E>;

impl fmt::Display for RecrawlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecrawlError::Value { name, takes } => write!(f, "{name} must be {takes}"),
            RecrawlError::Invalid(what) => f.write_str(what),
            RecrawlError::Cancelled => f.write_str("it was stopped before it was done"),
        }
    }
}

impl std::error::Error for RecrawlError {}
