//! What went wrong, and with which file.

use std::fmt;
use std::io;

use super::Name;

/// A call to the operating system that failed.
#[derive(Debug)]
pub struct Failure {
    /// What was being done.
    pub(crate) action: &'static str,
    /// The file.
    pub(crate) name: Name,
    /// What the system said.
    pub(crate) source: io::Error,
}

impl Failure {
    /// Adds to what the system said what it was asked for.
    pub(super) fn of(action: &'static str, name: Name) -> impl Fn(io::Error) -> Failure {
        move |source| Failure { action, name, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.action, self.name, self.source)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
