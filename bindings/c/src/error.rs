//! Errors: what went wrong, in which file and where, and whom else it concerns.

use std::ffi::{CStr, c_char};

use crate::call::{free, getters};
use crate::code::SIMKEEP_OK;
use crate::failure::Failure;

getters! {
    error: Failure;

    /// The code of an error, one of `SIMKEEP_...`; `SIMKEEP_OK` for NULL. Any thread; costs nothing.
    fn simkeep_error_code -> i32 = error.code, or SIMKEEP_OK;
    /// What went wrong, where, and what to do, for people: UTF-8 that ends with a NUL. It lives as long
    /// as the error. NULL for NULL. Any thread; costs nothing.
    fn simkeep_error_message -> *const c_char = error.message.as_ptr();
    /// The file or the directory that an error is about, or NULL if it is about none. A file of a store
    /// is named by its path within the store's directory. It ends with a NUL, and lives as long as the
    /// error. Any thread; costs nothing.
    fn simkeep_error_file -> *const c_char =
        error.file.as_deref().map_or(std::ptr::null(), CStr::as_ptr);
    /// Where in its file an error is, in bytes; -1 if it is in no place. Any thread; costs nothing.
    fn simkeep_error_offset -> i64 = signed(error.offset), or -1;
    /// Which of several things that were given an error is about, from 0; -1 if it is about none of
    /// them. Any thread; costs nothing.
    fn simkeep_error_row -> i64 = signed(error.row), or -1;
    /// The process that has the store open, of `SIMKEEP_LOCKED`; 0 if that is not known. Any thread;
    /// costs nothing.
    fn simkeep_error_pid -> u32 = error.pid;
    /// What the operating system said, as in `errno`; 0 if it said nothing. Any thread; costs nothing.
    fn simkeep_error_errno -> i32 = error.errno, or 0;
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
