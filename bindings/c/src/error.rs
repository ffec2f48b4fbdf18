//! Errors: what went wrong, in which file and where, and whom else it concerns.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};

use simkeep::{Corruption, Error, Holder};

use crate::abi;
use crate::call::{free, quiet};
use crate::code;

/// What went wrong. It is of whoever got it, and belongs to no thread.
#[derive(Debug)]
pub struct Failure {
    code: i32,
    message: CString,
    file: Option<CString>,
    offset: Option<u64>,
    row: Option<u64>,
    pid: u32,
    errno: i32,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(code: i32, message: &str) -> Failure {
        let message = c_string(message);
        Failure { code, message, file: None, offset: None, row: None, pid: 0, errno: 0 }
    }

    /// An argument is not what it must be.
    pub(crate) fn argument(name: &str, what: impl AsRef<str>) -> Failure {
        Failure::new(code::SIMKEEP_ARGUMENT, &format!("{name}: {}", what.as_ref()))
    }

    /// An argument is NULL that must not be.
    pub(crate) fn null(name: &str) -> Failure {
        Failure::argument(name, "it must not be NULL")
    }

    /// A panic of this library or of simkeep.
    pub(crate) fn panicked(function: &str, panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("it does not say why");
        let message = format!("a bug in simkeep: {function} panicked: {text}; please report it");
        Failure::new(code::SIMKEEP_INTERNAL, &message)
    }

    /// A call to the operating system failed that is not one of the store's.
    pub(crate) fn io(what: &str, error: &std::io::Error) -> Failure {
        let mut failure = Failure::new(code::SIMKEEP_IO, &format!("{what}: {error}"));
        failure.errno = error.raw_os_error().unwrap_or(0);
        failure
    }

    /// Something is of the process that this one was forked from.
    pub(crate) fn forked(what: &str) -> Failure {
        let message = format!("{what} the process that this one was forked from");
        Failure::new(code::SIMKEEP_FORKED, &message)
    }

    /// This error, of one of several things that were given.
    pub(crate) fn at(mut self, row: usize) -> Failure {
        self.row = Some(row as u64);
        self.within(&format!("row {row}"))
    }

    /// This error, of something that has a name.
    pub(crate) fn within(mut self, what: &str) -> Failure {
        self.message = c_string(&format!("{what}: {}", self.message.to_string_lossy()));
        self
    }

    pub(crate) fn code(&self) -> i32 {
        self.code
    }
}

/// A string for C, in which what would end it is replaced.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let mut failure = Failure::new(code::of(error.kind()), &error.to_string());
        failure.tell(&error);
        failure
    }
}

impl Failure {
    /// Takes over what an error has beside its message, or its cause.
    fn tell(&mut self, error: &Error) {
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
            | Error::InTheWay { file, .. }
            | Error::Version { file, .. }
            | Error::UrlHash { file, .. }
            | Error::Replaced { file }
            | Error::NoTable { file, .. } => self.file = Some(c_string(file)),
            Error::NotAStore { location, .. }
            | Error::Unfinished { location }
            | Error::Exists { location }
            | Error::NotABackup { location, .. } => self.file = Some(c_string(location)),
            Error::Locked { location, holder } => {
                self.file = Some(c_string(location));
                self.pid = match holder {
                    Holder::ThisProcess => std::process::id(),
                    Holder::Process(pid) => *pid,
                    _ => 0,
                };
            }
            Error::Poisoned(cause) => self.tell(cause),
            Error::Load { nth, cause } => {
                self.tell(cause);
                self.row = nth.checked_sub(1);
            }
            _ => {}
        }
    }
}

/// What an error says, if there is one.
fn told<T>(
    name: &'static str,
    none: T,
    error: *const Failure,
    tell: impl FnOnce(&Failure) -> T,
) -> T {
    quiet(name, none, || abi::handle(error, "error").map(tell))
}

fn pointer_to(text: &CStr) -> *const c_char {
    text.as_ptr()
}

/// The code of an error, one of `SIMKEEP_...`; `SIMKEEP_OK` for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_code(error: *const Failure) -> i32 {
    told("simkeep_error_code", code::SIMKEEP_OK, error, Failure::code)
}

/// What went wrong, where, and what to do, for people: UTF-8 that ends with a NUL. It lives as long as
/// the error. NULL for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_message(error: *const Failure) -> *const c_char {
    told("simkeep_error_message", std::ptr::null(), error, |error| pointer_to(&error.message))
}

/// The file or the directory that an error is about, or NULL if it is about none. A file of a store is
/// named by its path within the store's directory. It ends with a NUL, and lives as long as the error.
/// Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_file(error: *const Failure) -> *const c_char {
    told("simkeep_error_file", std::ptr::null(), error, |error| {
        error.file.as_deref().map_or(std::ptr::null(), pointer_to)
    })
}

/// Where in its file an error is, in bytes; -1 if it is in no place. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_offset(error: *const Failure) -> i64 {
    told("simkeep_error_offset", -1, error, |error| signed(error.offset))
}

/// Which of several things that were given an error is about, from 0; -1 if it is about none of them.
/// Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_row(error: *const Failure) -> i64 {
    told("simkeep_error_row", -1, error, |error| signed(error.row))
}

/// The process that has the store open, of `SIMKEEP_LOCKED`; 0 if that is not known. Any thread; costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_pid(error: *const Failure) -> u32 {
    told("simkeep_error_pid", 0, error, |error| error.pid)
}

/// What the operating system said, as in `errno`; 0 if it said nothing. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_errno(error: *const Failure) -> i32 {
    told("simkeep_error_errno", 0, error, |error| error.errno)
}

/// Frees an error, and what was got from it. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_free(error: Option<Box<Failure>>) {
    free("simkeep_error_free", error);
}

/// A number that may be absent.
fn signed(number: Option<u64>) -> i64 {
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}
