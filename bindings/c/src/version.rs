//! The version of the library.

use std::ffi::c_char;

use crate::call::call_without_error;

/// The version of this header. A program may compare this version with the version of the library
/// at run time.
pub const SIMKEEP_ABI_VERSION: u32 = 1;

/// Returns the version of the library's interface. The version grows when functions, fields or
/// values are added. Existing functions, fields and values are never removed or changed as long as
/// the library's file keeps its name. A program runs with a library of the version with which the
/// program was built, or with a later version. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_abi_version() -> u32 {
    call_without_error("simkeep_abi_version", 0, || Ok(SIMKEEP_ABI_VERSION))
}

/// Returns the version of simkeep, for example `0.1.0`. The text is NUL-terminated, and always
/// valid. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    call_without_error("simkeep_version", std::ptr::null(), || Ok(VERSION.as_ptr().cast()))
}
