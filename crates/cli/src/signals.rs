//! Handles SIGTERM, SIGINT and SIGHUP for a verb that has made promises: the verb keeps them, then
//! stops.
//!
//! The signals end any other verb at once, which loses nothing that is stored.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level;

/// The number of the last signal received, or 0.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// A watch for signals. It ends when it is dropped.
pub(crate) struct SignalWatch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// The signal that asked the verb to stop, if there was one.
pub(crate) fn received_signal() -> Option<i32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// The name of a signal.
pub(crate) fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "a signal",
    }
}

impl SignalWatch {
    /// Starts to watch for signals, and calls `keep` in another thread when the first one arrives.
    /// A second signal ends the process at once, in case the verb waits for something that never
    /// happens.
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread or install the handlers.
    pub(crate) fn new(keep: impl Fn() + Send + 'static) -> io::Result<SignalWatch> {
        let watched = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let mut signals = Signals::new(watched)?;
        let handle = signals.handle();
        let run = move || {
            for signal in signals.forever() {
                let is_first = ASKED.swap(signal, Ordering::Relaxed) == 0;
                if is_first {
                    keep();
                } else {
                    // If this fails, the verb still stops as soon as it can.
                    let _ = low_level::emulate_default_handler(signal);
                }
            }
        };
        let thread = Builder::new().name("simkeep-signals".to_owned()).spawn(run)?;
        Ok(SignalWatch { handle, thread: Some(thread) })
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already been printed.
            let _ = thread.join();
        }
    }
}

/// Whether the process ignores a signal, as `nohup` or a shell requests for background jobs. An
/// ignored signal stays ignored. Without `/proc`, no signal counts as ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = u32::try_from(signal - 1).ok().and_then(|bit| 1_u64.checked_shl(bit));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}
