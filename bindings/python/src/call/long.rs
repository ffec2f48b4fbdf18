//! Runs long calls: Ctrl-C stops or abandons them.
//!
//! Only the main thread receives signals, and only while attached to the interpreter. So a separate
//! thread runs the call, and the caller's thread checks for signals while it waits.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use simkeep::{Error, Progress, Result};

use crate::convert::error::OrRaise;

/// The interval between checks for signals.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// Runs a call that its progress can cancel, and cancels the call when a signal raises an
/// exception.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    call: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, is_done) = sync_channel::<()>(0);
            let name = "simkeep-call".to_owned();
            let made = thread::Builder::new().name(name).spawn_scoped(scope, move || {
                // Dropping `done` wakes the other thread, even if the call panics.
                let _done = done;
                call()
            });
            let thread = match made {
                Ok(thread) => thread,
                Err(e) => return Python::attach(|py| Err(thread_error(e)).or_raise(py)),
            };
            let mut signal = Ok(());
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(PAUSE) {
                if signal.is_ok() {
                    signal = Python::attach(|py| py.check_signals());
                    if signal.is_err() {
                        progress.cancel();
                    }
                }
            }
            let answer = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            signal?;
            Python::attach(|py| answer.or_raise(py))
        })
    })
}

/// Runs a call that nothing can cancel. When a signal raises an exception, the call continues in
/// the background and its result is dropped.
pub(crate) fn run_uncancellable<T: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (done, mut is_done) = sync_channel(1);
    let name = "simkeep-call".to_owned();
    let thread = thread::Builder::new().name(name).spawn(move || {
        // If the caller no longer waits, the result is not needed.
        let _ = done.send(call());
    });
    let thread = thread.map_err(thread_error).or_raise(py)?;
    loop {
        let waiting = &mut is_done;
        match py.detach(move || waiting.recv_timeout(PAUSE)) {
            Ok(answer) => return answer.or_raise(py),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match py.detach(|| thread.join()) {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return Err(no_result_error()).or_raise(py),
            },
        }
    }
}

/// The error for a thread that ended without a result.
pub(crate) fn no_result_error() -> Error {
    Error::InvalidArgument("a background thread of this call panicked".to_owned())
}

/// The error for a thread that the system could not start.
pub(crate) fn thread_error(e: std::io::Error) -> Error {
    Error::Io {
        action: "start",
        file: "a thread for a call".to_owned(),
        source: std::sync::Arc::new(e),
    }
}
