//! How far a join is, and how it is stopped from outside.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a join is, to be looked at by other threads, and a way for them to cancel it.
///
/// ```
/// use simkeep::search::Progress;
///
/// let progress = Progress::default();
/// assert_eq!(progress.fraction(), 0.0);
/// progress.cancel();
/// assert!(progress.is_cancelled());
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// The share of the work that is done, from 0 to 1. It only grows. A unit of work is an entry
    /// put into its bucket or joined with the rest of it, so time does not follow it exactly.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let total = self.total.load(Ordering::Relaxed);
        if total == 0 {
            return 0.0;
        }
        let done = self.done.load(Ordering::Relaxed).min(total);
        done as f64 / total as f64
    }

    /// Makes the join end soon, within a few milliseconds as a rule, without having found
    /// everything.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it has been cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Begins to count towards `total`.
    pub(super) fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total.max(1), Ordering::Relaxed);
    }

    pub(super) fn add(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Everything is done.
    pub(super) fn finish(&self) {
        self.done.store(self.total.load(Ordering::Relaxed).max(1), Ordering::Relaxed);
        self.total.fetch_max(1, Ordering::Relaxed);
    }
}

/// What ends a join early, and is seen by all its threads.
pub(super) struct Stop<'s> {
    pub(super) progress: &'s Progress,
    pub(super) stopped: AtomicBool,
}

impl Stop<'_> {
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) || self.progress.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
