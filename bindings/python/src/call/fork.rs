//! Checks whether this process was forked from the one in which an object was made.
//!
//! A fork copies the memory of a process but none of its threads, so locks held by other threads
//! stay locked. Python counts its forks here, through `os.register_at_fork`, and every object that
//! cannot be used in a child checks that count first.
//!
//! The locks of this crate are safe in a fork because of one rule: a thread takes them only while
//! attached to the interpreter, and releases them before it detaches. The forking thread is
//! attached, so no other thread holds such a lock then. No lock is held while an exception is
//! created or an object is converted either: that may run another attached thread that waits for
//! the lock.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::convert::error::raise;

/// The number of forks between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Notes that this process is a child.
#[pyfunction]
pub(crate) fn _forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The process in which an object was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth(u64);

impl Birth {
    /// Returns this process.
    pub(crate) fn now() -> Birth {
        Birth(FORKS.load(Ordering::Relaxed))
    }

    /// Returns no process.
    pub(crate) fn never() -> Birth {
        Birth(u64::MAX)
    }

    /// Whether this is still that process.
    pub(crate) fn is_here(self) -> bool {
        self == Birth::now()
    }

    /// # Errors
    ///
    /// `ForkedError` in a child of that process.
    pub(crate) fn check(self, py: Python<'_>) -> PyResult<()> {
        if self.is_here() { Ok(()) } else { Err(raise(py, simkeep::Error::Forked)) }
    }
}
