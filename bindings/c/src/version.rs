//! Which library this is.

use std::ffi::c_char;

use crate::call::quiet;

/// The version of this header. A program may compare it with that of the library that it runs with.
pub const SIMKEEP_ABI_VERSION: u32 = 1;

/// The version of the library's interface. It grows when something is added; nothing is taken away or
/// changed as long as the library's file keeps its name. A program runs with any library of the version
/// that it was built with, or a later one. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_abi_version() -> u32 {
    quiet("simkeep_abi_version", 0, || Ok(SIMKEEP_ABI_VERSION))
}

/// The version of simkeep, such as `0.1.0`, which ends with a NUL and lives for ever. Any thread; costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    quiet("simkeep_version", std::ptr::null(), || Ok(VERSION.as_ptr().cast()))
}
