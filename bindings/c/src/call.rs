//! What every call from C goes through: no panic leaves it, and an error becomes what C gets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi;
use crate::code::{SIMKEEP_NONE, SIMKEEP_OK};
use crate::failure::{Failure, Result};

/// Runs the body of a function, whose panics are errors as well.
///
/// What a panic has half changed is the store's own, which knows of it and accepts nothing more; this
/// library changes nothing step by step.
fn run<T>(function: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let body = || {
        fault(function);
        body()
    };
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(Failure::panicked(function, &*panic)))
}

/// A function that makes something. C gets it, and frees it; or NULL and an error.
pub(crate) fn make<T>(
    function: &'static str,
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<T>,
) -> Option<Box<T>> {
    run(function, body).map(Box::new).map_err(|failure| abi::leave(error, failure)).ok()
}

/// A function that says whether it went well.
pub(crate) fn done(
    function: &'static str,
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<()>,
) -> i32 {
    found(function, error, || body().map(Some))
}

/// A function that finds something, or nothing.
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

/// A function that cannot say why it failed, as it only reads what is in memory: C gets `none`
/// then.
pub(crate) fn quiet<T>(function: &'static str, none: T, body: impl FnOnce() -> Result<T>) -> T {
    run(function, body).unwrap_or(none)
}

/// What C gets where there is nothing to read.
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

/// Declares functions that read what a handle has. For NULL each returns what is after `or`, or else 0
/// or NULL.
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
                $crate::call::quiet(stringify!($name), none, || {
                    let $handle = $crate::abi::handle($handle, stringify!($handle))?;
                    Ok($value)
                })
            }
        )*
    };
}

/// What a function returns for NULL.
macro_rules! absent {
    ($Type:ty) => {
        <$Type as $crate::call::Absent>::ABSENT
    };
    ($Type:ty, $none:expr) => {
        $none
    };
}

pub(crate) use {absent, getters};

/// Has the compiler check that any thread may use something, also while others do. What C holds by a
/// pointer is given from thread to thread unseen.
pub(crate) const fn any_thread<T: Send + Sync>() {}

/// Has the compiler check that threads may use something one after another.
pub(crate) const fn one_thread_at_a_time<T: Send>() {}

/// A function that frees something, if it is there.
pub(crate) fn free<T>(function: &'static str, of: Option<Box<T>>) {
    quiet(function, (), move || {
        drop(of);
        Ok(())
    });
}

/// Panics in the function that a test has named in the environment. Nothing of it is in what is built
/// for use.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "for tests of what becomes of panics")]
fn fault(function: &'static str) {
    if std::env::var_os("SIMKEEP_PANIC_IN").is_some_and(|named| named == function) {
        panic!("as a test wants it");
    }
}

#[cfg(not(debug_assertions))]
fn fault(_: &'static str) {}
