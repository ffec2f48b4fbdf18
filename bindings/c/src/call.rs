//! The common entry of all calls from C. Catches panics, and converts errors for C.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi;
use crate::code::{SIMKEEP_NONE, SIMKEEP_OK};
use crate::failure::{Failure, Result};

/// Runs the body of a function, and converts panics to errors.
///
/// State that a panic left half changed belongs to the store, which detects the panic and rejects
/// further calls. This library itself has no multi-step changes.
fn run<T>(function: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let body = || {
        fault(function);
        body()
    };
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(Failure::panicked(function, &*panic)))
}

/// Runs a function that creates an object. C receives the object and frees it, or receives NULL and
/// an error.
pub(crate) fn make<T>(
    function: &'static str,
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<T>,
) -> Option<Box<T>> {
    run(function, body).map(Box::new).map_err(|failure| abi::leave(error, failure)).ok()
}

/// Runs a function that succeeds or fails.
pub(crate) fn done(
    function: &'static str,
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<()>,
) -> i32 {
    found(function, error, || body().map(Some))
}

/// Runs a function that may find no result.
pub(crate) fn found(
    function: &'static str,
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<Option<()>>,
) -> i32 {
    match run(function, body) {
        Ok(Some(())) => SIMKEEP_OK,
        Ok(None) => SIMKEEP_NONE,
        Err(failure) => {
            let code = failure.code;
            abi::leave(error, failure);
            code
        }
    }
}

/// Runs a function without an error argument, since it only reads memory: on failure C receives
/// `none`.
pub(crate) fn call_without_error<T>(
    function: &'static str,
    none: T,
    body: impl FnOnce() -> Result<T>,
) -> T {
    run(function, body).unwrap_or(none)
}

/// The result for C if there is no value to read.
pub(crate) trait Absent {
    const ABSENT: Self;
}

impl<T> Absent for *const T {
    const ABSENT: *const T = std::ptr::null();
}

impl Absent for u32 {
    const ABSENT: u32 = 0;
}

impl Absent for u64 {
    const ABSENT: u64 = 0;
}

impl Absent for usize {
    const ABSENT: usize = 0;
}

/// Declares functions that read a field of a handle. For NULL, each function returns the value
/// after `or`; without `or` it returns 0 or NULL.
macro_rules! getters {
    (
        $handle:ident: $Handle:ty;
        $($(#[$doc:meta])* fn $name:ident -> $Type:ty = $value:expr $(, or $none:expr)?;)*
    ) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($handle: *const $Handle) -> $Type {
                let none = $crate::call::absent!($Type $(, $none)?);
                $crate::call::call_without_error(stringify!($name), none, || {
                    let $handle = $crate::abi::handle($handle, stringify!($handle))?;
                    Ok($value)
                })
            }
        )*
    };
}

/// The result of a function for NULL.
macro_rules! absent {
    ($Type:ty) => {
        <$Type as $crate::call::Absent>::ABSENT
    };
    ($Type:ty, $none:expr) => {
        $none
    };
}

pub(crate) use {absent, getters};

/// Asserts at compile time that any thread may use a type, also concurrently. The compiler cannot
/// check pointers that C passes between threads.
pub(crate) const fn assert_thread_safe<T: Send + Sync>() {}

/// Asserts at compile time that threads may use a type one after another.
pub(crate) const fn one_thread_at_a_time<T: Send>() {}

/// Runs a function that frees an object, unless the object is NULL.
pub(crate) fn free<T>(function: &'static str, of: Option<Box<T>>) {
    call_without_error(function, (), move || {
        drop(of);
        Ok(())
    });
}

/// Panics in the function that a test names in the environment. Release builds do not contain this
/// function.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "for tests of panics")]
fn fault(function: &'static str) {
    if std::env::var_os("SIMKEEP_PANIC_IN").is_some_and(|named| named == function) {
        panic!("as a test wants it");
    }
}

#[cfg(not(debug_assertions))]
fn fault(_: &'static str) {}
