//! The error of a call, in Rust. The module `error` has the functions that read it from C.

use std::any::Any;
use std::ffi::CString;

use simkeep::{Corruption, Error, LockHolder};

use crate::code;

/// The error of a call. The caller owns the error, and may use it in any thread.
#[derive(Debug)]
pub struct Failure {
    pub(crate) code: i32,
    pub(crate) message: CString,
    pub(crate) file: Option<CString>,
    pub(crate) offset: Option<u64>,
    pub(crate) row: Option<u64>,
    pub(crate) pid: u32,
    pub(crate) errno: i32,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(code: i32, message: &str) -> Failure {
        let message = c_string(message);
        Failure { code, message, file: None, offset: None, row: None, pid: 0, errno: 0 }
    }

    /// Creates the error for an invalid argument.
    pub(crate) fn argument(name: &str, what: impl AsRef<str>) -> Failure {
        Failure::new(code::SIMKEEP_MALFORMED_ARGUMENT, &format!("{name}: {}", what.as_ref()))
    }

    /// Creates the error for an argument that must not be NULL.
    pub(crate) fn null(name: &str) -> Failure {
        Failure::argument(name, "it must not be NULL")
    }

    /// Creates the error for a panic of this library or of simkeep.
    pub(crate) fn panicked(function: &str, panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("without a message");
        let message = format!("a bug in simkeep: {function} panicked: {text}; please report it");
        Failure::new(code::SIMKEEP_INTERNAL, &message)
    }

    /// Creates the error for a failed call to the operating system outside of a store.
    pub(crate) fn io(what: &str, error: &std::io::Error) -> Failure {
        let mut failure = Failure::new(code::SIMKEEP_IO, &format!("{what}: {error}"));
        failure.errno = error.raw_os_error().unwrap_or(0);
        failure
    }

    /// Creates the error for an object of another process, from which this process was forked.
    pub(crate) fn forked(what: &str) -> Failure {
        let message = format!("{what} the parent process; make it again in this process");
        Failure::new(code::SIMKEEP_FORKED, &message)
    }

    /// Adds the index of the invalid array element.
    pub(crate) fn at(mut self, row: usize) -> Failure {
        self.row = Some(row as u64);
        self.within(&format!("row {row}"))
    }

    /// Adds the name of the invalid object.
    pub(crate) fn within(mut self, what: &str) -> Failure {
        self.message = c_string(&format!("{what}: {}", self.message.to_string_lossy()));
        self
    }
}

/// Converts a text to a C string; NULs are replaced.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let mut failure = Failure::new(code::of(error.kind()), &error.to_string());
        failure.copy_details(&error);
        failure
    }
}

impl Failure {
    /// Copies the details of an error, or the details of its cause.
    fn copy_details(&mut self, error: &Error) {
        match error {
            Error::Corrupt(Corruption { file, offset, .. }) => {
                self.file = Some(c_string(file));
                self.offset = Some(*offset);
            }
            Error::Io { file, source, .. } => {
                self.file = Some(c_string(file));
                self.errno = source.raw_os_error().unwrap_or(0);
            }
            Error::NotATable { file, .. }
            | Error::AlreadyExists { file, .. }
            | Error::Version { file, .. }
            | Error::UrlHash { file, .. }
            | Error::Replaced { file }
            | Error::NoTable { file, .. } => self.file = Some(c_string(file)),
            Error::NotAStore { location, .. }
            | Error::Unfinished { location }
            | Error::StoreExists { location }
            | Error::NotABackup { location, .. } => self.file = Some(c_string(location)),
            Error::Locked { location, holder } => {
                self.file = Some(c_string(location));
                self.pid = match holder {
                    LockHolder::ThisProcess => std::process::id(),
                    LockHolder::Process(pid) => *pid,
                    _ => 0,
                };
            }
            Error::Poisoned(cause) => self.copy_details(cause),
            Error::LoadRejected { nth, cause } => {
                self.copy_details(cause);
                self.row = nth.checked_sub(1);
            }
            _ => {}
        }
    }
}
