//! Errors: the cause, the file and the position.

use std::ffi::{CStr, c_char};

use crate::call::{free, getters};
use crate::code::SIMKEEP_OK;
use crate::failure::Failure;

getters! {
    error: Failure;

    /// Returns the code of an error, one of `SIMKEEP_...`; `SIMKEEP_OK` for NULL. Any thread; costs
    /// nothing.
    fn simkeep_error_code -> i32 = error.code, or SIMKEEP_OK;
    /// Returns a message for people, with the problem, its place, and the remedy. The message is
    /// UTF-8 that ends with a NUL, and is valid as long as the error. NULL for NULL. Any thread;
    /// costs nothing.
    fn simkeep_error_message -> *const c_char = error.message.as_ptr();
    /// Returns the file or the directory to which an error refers, or NULL. For a file of a store,
    /// the path is relative to the store's directory. The path ends with a NUL, and is valid as
    /// long as the error. Any thread; costs nothing.
    fn simkeep_error_file -> *const c_char =
        error.file.as_deref().map_or(std::ptr::null(), CStr::as_ptr);
    /// Returns the offset of the error in its file, in bytes; -1 without an offset. Any thread;
    /// costs nothing.
    fn simkeep_error_offset -> i64 = signed(error.offset), or -1;
    /// Returns the index, from 0, of the array element to which an error refers; -1 without an
    /// index. Any thread; costs nothing.
    fn simkeep_error_row -> i64 = signed(error.row), or -1;
    /// Returns the process that has the store open, for `SIMKEEP_LOCKED`; 0 if unknown. Any thread;
    /// costs nothing.
    fn simkeep_error_pid -> u32 = error.pid;
    /// Returns the `errno` of the operating system; 0 without an `errno`. Any thread; costs
    /// nothing.
    fn simkeep_error_errno -> i32 = error.errno, or 0;
}

/// Frees an error and its texts. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_error_free(error: Option<Box<Failure>>) {
    free("simkeep_error_free", error);
}

/// Converts a number that may be absent.
fn signed(number: Option<u64>) -> i64 {
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}
