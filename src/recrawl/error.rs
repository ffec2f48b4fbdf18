//! Errors of computations with change rates.

use std::fmt;

/// An invalid argument of a computation with change rates, or of a policy.
///
/// ```
/// use simkeep::recrawl::{Interval, RecrawlError};
/// let error = Interval::from_seconds(0).unwrap_err();
/// assert!(matches!(error, RecrawlError::Value { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecrawlError {
    /// A value is out of range.
    Value {
        /// The name of the argument.
        name: &'static str,
        /// The valid values.
        takes: &'static str,
    },
    /// A text or a combination of values is invalid.
    Invalid(String),
    /// The simulation of a page was cancelled; see
    /// [`SimulatedPage::visited`](super::simulate::SimulatedPage::visited).
    Cancelled,
}

/// The result type of this module.
pub(crate) type Result<T, E = RecrawlError> = std::result::Result<T, E>;

impl fmt::Display for RecrawlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecrawlError::Value { name, takes } => write!(f, "{name} must be {takes}"),
            RecrawlError::Invalid(what) => f.write_str(what),
            RecrawlError::Cancelled => f.write_str("the call was cancelled before it finished"),
        }
    }
}

impl std::error::Error for RecrawlError {}
