//! Checks of simkeep's own invariants; a broken invariant is reported loudly.
//!
//! There are three kinds of "this cannot happen". An impossible value from a file or a caller is an
//! error that names the value. Something that is merely empty is an answer. A state that only a bug
//! in simkeep can cause is reported by this module: it panics at once if assertions are on, and
//! otherwise becomes an [`Error::Bug`](crate::Error::Bug), which poisons the store, so that nothing
//! is acknowledged on false grounds. Such a state never becomes a plausible value.
//!
//! A loop that cannot afford a `Result` indexes plainly, and the function of the loop states the
//! bound.

use std::fmt;
use std::panic::Location;

/// A broken invariant: a bug in simkeep.
///
/// ```
/// use simkeep::Error;
/// /// Shows an error to the operator.
/// fn show(error: &Error) {
///     match error {
///         Error::Bug(bug) => eprintln!("please report this: {bug}"),
///         other => eprintln!("{other}"),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The condition that should be true; `None` if a panic stopped an operation halfway.
    invariant: Option<&'static str>,
    at: &'static Location<'static>,
}

impl Bug {
    /// Creates a bug from the condition that should be true, and records the caller's line.
    ///
    /// # Panics
    ///
    /// Panics if debug assertions are on.
    #[track_caller]
    #[cold]
    #[cfg_attr(
        any(test, debug_assertions),
        expect(clippy::panic, reason = "a broken invariant stops a test at once")
    )]
    pub(crate) fn new(what: &'static str) -> Self {
        let bug = Self { invariant: Some(what), at: Location::caller() };
        #[cfg(any(test, debug_assertions))]
        panic!("{bug}");
        #[cfg(not(any(test, debug_assertions)))]
        bug
    }

    /// Creates a bug for a panic at this location that stopped an operation halfway.
    #[cold]
    pub(crate) fn of_panic(at: &'static Location<'static>) -> Self {
        Self { invariant: None, at }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, at } = self;
        let version = env!("CARGO_PKG_VERSION");
        write!(f, "a bug in simkeep {version}, at {}:{}: ", at.file(), at.line())?;
        match invariant {
            Some(what) => write!(f, "this invariant is broken: {what}"),
            None => f.write_str("an operation panicked halfway through its changes"),
        }
    }
}

impl std::error::Error for Bug {}

/// A value that exists unless simkeep has a bug.
pub(crate) trait OrBug<T> {
    /// Returns the value; without a value, a [`Bug`] that states the condition that should be true,
    /// in a few words: "a page's number is of a page".
    ///
    /// # Errors
    ///
    /// A [`Bug`] if there is no value.
    fn or_bug(self, what: &'static str) -> Result<T, Bug>;
}

impl<T> OrBug<T> for Option<T> {
    #[inline]
    #[track_caller]
    fn or_bug(self, what: &'static str) -> Result<T, Bug> {
        match self {
            Some(value) => Ok(value),
            None => Err(Bug::new(what)),
        }
    }
}

/// Makes sure that an invariant holds.
///
/// # Errors
///
/// A [`Bug`] if the invariant does not hold.
#[inline]
#[track_caller]
pub(crate) fn ensure(holds: bool, what: &'static str) -> Result<(), Bug> {
    if holds { Ok(()) } else { Err(Bug::new(what)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_conditions_pass() {
        assert_eq!(Some(1).or_bug("one is there"), Ok(1));
        assert_eq!(ensure(true, "all is well"), Ok(()));
    }

    #[test]
    #[should_panic(expected = "src/bug.rs")]
    fn missing_value_panics_with_its_location() {
        let _ = None::<u8>.or_bug("something is there");
    }

    #[test]
    #[should_panic(expected = "all is well")]
    fn false_condition_panics_with_the_expectation() {
        let _ = ensure(false, "all is well");
    }
}
