//! SIGTERM, SIGINT and SIGHUP to a verb that has made promises: it keeps them, and then ends.
//!
//! A verb that does not watch for them is ended by them, which loses nothing that is stored.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level;

/// The signal that has come, or 0.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// Watches for signals until it is dropped.
pub(crate) struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// The signal that has asked the verb to end, if one has.
pub(crate) fn asked() -> Option<i32> {
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

impl Watch {
    /// Watches for signals, and calls `keep` in another thread when the first one comes. A second one
    /// ends the process at once, in case the verb waits for something that does not come.
    ///
    /// # Errors
    ///
    /// If the system has no thread to spare, or refuses.
    pub(crate) fn new(keep: impl Fn() + Send + 'static) -> io::Result<Watch> {
        let watched = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let mut signals = Signals::new(watched)?;
        let handle = signals.handle();
        let run = move || {
            for signal in signals.forever() {
                let is_first = ASKED.swap(signal, Ordering::Relaxed) == 0;
                if is_first {
                    keep();
                } else {
                    // Where that fails, the verb still ends when it can.
                    let _ = low_level::emulate_default_handler(signal);
                }
            }
        };
        let thread = Builder::new().name("simkeep-signals".to_owned()).spawn(run)?;
        Ok(Watch { handle, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // A panic of it has been printed.
            let _ = thread.join();
        }
    }
}

/// Whether a signal is ignored, as `nohup` asks for, or a shell for what runs in the background. It
/// stays so. Where that is not known, it is not.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = u32::try_from(signal - 1).ok().and_then(|bit| 1_u64.checked_shl(bit));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}
