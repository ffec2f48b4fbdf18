//! Catches panics of the `parquet` crate, which some damaged files cause.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is returned as an error, so the panic hook must not report
    /// it.
    static IS_ANSWER: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, and returns its result; a panic becomes an error. State that `work` changed must
/// not be used after a panic. The program's panic hook does not see panics of `work`, but sees all
/// other panics.
pub(super) fn caught<T, E: From<String>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_ANSWER.get() {
                others(info);
            }
        }));
    });
    IS_ANSWER.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_ANSWER.set(false);
    done.unwrap_or_else(|_| {
        Err("the file is damaged: its sizes contradict each other".to_owned().into())
    })
}
