//! Checks whether an object was created in the current process.
//!
//! A forked child has a copy of all memory, but none of the threads. Locks that other threads held
//! at the fork are never released in the child. So a child uses no part of a store, not even its
//! locks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

use crate::abi;
use crate::code::{SIMKEEP_FORKED, SIMKEEP_INTERNAL};
use crate::failure::{Failure, Result};

/// The number of forks between this process and the process that loaded the library. The counter is
/// the only global state of this library, since a fork handler has no argument.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The process in which an object was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForkGuard(u64);

impl ForkGuard {
    /// Returns the current process, and starts to count forks.
    pub(crate) fn current() -> Result<ForkGuard> {
        static HEEDED: OnceLock<std::io::Result<()>> = OnceLock::new();
        match HEEDED.get_or_init(|| abi::on_fork(in_child)) {
            Ok(()) => Ok(ForkGuard(FORKS.load(Ordering::Relaxed))),
            Err(error) => Err(Failure::io("cannot register a fork handler", error)),
        }
    }

    /// Whether this value is the current process.
    pub(crate) fn is_current(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }

    /// Checks that this value is the current process.
    pub(crate) fn check(self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(simkeep::Error::Forked.into())
    }
}

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A value for one thread at a time. A forked child does not wait for the value.
#[derive(Debug)]
pub(crate) struct ForkSafeMutex<T> {
    value: Mutex<T>,
    process: ForkGuard,
}

impl<T> ForkSafeMutex<T> {
    /// Guards a value in the current process.
    pub(crate) fn new(of: T) -> Result<ForkSafeMutex<T>> {
        Ok(ForkSafeMutex { value: Mutex::new(of), process: ForkGuard::current()? })
    }

    /// Waits until no other thread uses the value. In a child, a thread that used the value at the
    /// fork never releases it.
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, T>> {
        let poisoned = || {
            Failure::new(
                SIMKEEP_INTERNAL,
                "an earlier call on this object panicked; free the object",
            )
        };
        if self.process.is_current() {
            return self.value.lock().map_err(|_| poisoned());
        }
        self.value.try_lock().map_err(|error| match error {
            TryLockError::Poisoned(_) => poisoned(),
            TryLockError::WouldBlock => {
                let what =
                    "another thread was using this object when the process was forked; make a new object";
                Failure::new(SIMKEEP_FORKED, what)
            }
        })
    }

    /// Returns the value for the final cleanup.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().ok()
    }

    /// Whether the value was created in the current process.
    pub(crate) fn is_own(&self) -> bool {
        self.process.is_current()
    }
}
