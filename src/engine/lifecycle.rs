//! The lifecycle of a store: whether the store accepts writes, and how threads wait for work or for
//! its end.

use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::thread::panicking;
use std::time::Duration;

use crate::bug::Bug;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::process::ProcessId;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, LockRank, RankedMutex};

/// The lifecycle of a store: open until it is closed, and possibly poisoned before.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    /// The reason why writes are rejected. It is shared with the store's views.
    poison: Arc<Poison>,
    closed: AtomicBool,
    /// The lock that is held while a thread checks whether to wait.
    waiting: RankedMutex<()>,
    /// Notified when a seal or merge ends, when a seal or merge becomes due, and when writes are no
    /// longer accepted.
    changed: Condvar,
    /// The process that opened the store; only it may use the store.
    process: ProcessId,
}

impl Lifecycle {
    pub(crate) fn new(poison: Arc<Poison>) -> Lifecycle {
        let (waiting, changed) = (RankedMutex::new(LockRank::Wait, ()), Condvar::new());
        let (closed, process) = (AtomicBool::new(false), ProcessId::current());
        Lifecycle { poison, closed, waiting, changed, process }
    }

    /// Checks that the current process opened the store. Must be called before any lock is taken:
    /// in a forked process, a lock may be held by a thread that does not exist.
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.process.is_current() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Checks that writes are accepted.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_poison()?;
        if self.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Checks that the store is not poisoned, so that it may be written, even while it closes.
    pub(crate) fn check_poison(&self) -> Result<()> {
        self.poison.check_write()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Stops accepting writes, and wakes all waiting threads.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.notify();
    }

    /// Stops accepting writes, and wakes all waiting threads. After a failed write it is unknown
    /// which data reached the disk, until the store is opened again; after a bug, the state in
    /// memory is unknown.
    pub(crate) fn poison(&self, cause: Error) -> Error {
        if matches!(cause, Error::Poisoned(_) | Error::Closed) {
            return cause;
        }
        self.poison.set(cause.clone());
        self.notify();
        cause
    }

    /// Poisons the store if a call met a bug. If this method is called under a lock, it poisons the
    /// store before the lock is released.
    pub(crate) fn poison_on_bug<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(
            |error| if matches!(error, Error::Bug(_)) { self.poison(error) } else { error },
        )
    }

    /// Wakes all threads that wait for work or for the end of the store.
    pub(crate) fn notify(&self) {
        // The lock is taken so that no thread can check and then miss the notification.
        drop(self.waiting.lock());
        self.changed.notify_all();
    }

    /// Waits until `done` returns true.
    ///
    /// # Errors
    ///
    /// An error if the store no longer accepts writes.
    pub(crate) fn wait_until(&self, mut done: impl FnMut() -> bool) -> Result<()> {
        let mut guard = self.waiting.lock();
        while !done() {
            self.check()?;
            self.changed.wait(guard.unranked());
        }
        Ok(())
    }

    /// Waits once: until a notification, or for the duration that `at_most` returns. Does not wait
    /// if `at_most` returns `None`, or if the store no longer accepts writes. Returns whether it
    /// waited.
    pub(crate) fn wait(&self, at_most: impl FnOnce() -> Option<Duration>) -> bool {
        let mut guard = self.waiting.lock();
        let at_most = self.check().ok().and_then(|()| at_most());
        at_most.map(|time| self.changed.wait_for(guard.unranked(), time)).is_some()
    }
}

/// Poisons a store when the thread that holds this guard panics.
#[derive(Debug)]
pub(crate) struct PoisonOnPanic<'s> {
    lifecycle: &'s Lifecycle,
    /// Whether the thread already panicked before the guard was created, so that it runs while
    /// unwinding.
    before: bool,
    at: &'static Location<'static>,
}

impl<'s> PoisonOnPanic<'s> {
    /// Records the caller's line as the cause.
    #[track_caller]
    pub(crate) fn new(lifecycle: &'s Lifecycle) -> Self {
        PoisonOnPanic { lifecycle, before: panicking(), at: Location::caller() }
    }
}

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if panicking() && !self.before {
            self.lifecycle.poison(Error::Bug(Bug::of_panic(self.at)));
        }
    }
}

/// The first error that poisoned a store, if any.
///
/// After a failed write it is unknown which data reached the disk: writes stop, and reads continue.
/// After a broken invariant, or a panic within a write, the state in memory is uncertain: reads
/// stop as well.
///
/// A store and all its views share one `Poison`. Each public call passes its result through
/// [`Poison::poison_on_bug`]. Calls that change the store also hold an [`PoisonOnPanic`].
#[derive(Debug, Default)]
pub(crate) struct Poison {
    cause: OnceLock<Arc<Error>>,
    /// The metrics to notify.
    metrics: Metrics,
}

impl Poison {
    /// Creates the state of a store that is not poisoned. The state notifies `metrics` when the
    /// store is poisoned.
    pub(crate) fn reporting(metrics: Metrics) -> Poison {
        Poison { cause: OnceLock::new(), metrics }
    }

    /// Poisons the store. The first cause is kept.
    pub(crate) fn set(&self, cause: Error) {
        let _ = self.cause.set(Arc::new(cause));
        self.metrics.poisoned();
    }

    /// Checks that the store may be written.
    pub(crate) fn check_write(&self) -> Result<()> {
        self.cause.get().map_or(Ok(()), |cause| Err(Error::Poisoned(Arc::clone(cause))))
    }

    /// Checks that the state in memory is certain, so that the store may be read.
    #[inline]
    pub(crate) fn check_read(&self) -> Result<()> {
        match self.cause.get() {
            Some(cause) if matches!(**cause, Error::Bug(_)) => self.check_write(),
            _ => Ok(()),
        }
    }

    /// Poisons the store if a call failed with a bug.
    #[inline]
    pub(crate) fn poison_on_bug<T>(&self, done: Result<T>) -> Result<T> {
        if let Err(error @ Error::Bug(_)) = &done {
            self.set(error.clone());
        }
        done
    }
}
