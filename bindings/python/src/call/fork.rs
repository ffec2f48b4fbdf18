//! Checks whether this process was forked from the process in which an object was made.
//!
//! A fork copies the memory of a process but none of its threads, so locks held by other threads
//! stay locked. Python counts its forks here, through `os.register_at_fork`, and every object that
//! cannot be used in a child checks that count first.
//!
//! The locks of this crate are safe in a fork because of one rule: a thread takes them only while
//! attached to the interpreter, and releases them before it detaches. The forking thread is
//! attached, so at a fork no other thread holds one of these locks. No lock is held while an
//! exception is created or an object is converted, because creating or converting may run another
//! attached thread that waits for the lock.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::convert::error::raise;

/// The number of forks between the first process and the current process.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Records that this process is a child.
#[pyfunction]
pub(crate) fn _forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The process in which an object was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForkCheck(u64);

impl ForkCheck {
    /// Returns the current process.
    pub(crate) fn now() -> ForkCheck {
        ForkCheck(FORKS.load(Ordering::Relaxed))
    }

    /// Returns a value that differs from every process.
    pub(crate) fn never() -> ForkCheck {
        ForkCheck(u64::MAX)
    }

    /// Whether the current process is the process in which the object was made.
    pub(crate) fn is_current_process(self) -> bool {
        self == ForkCheck::now()
    }

    /// # Errors
    ///
    /// Raises `ForkedError` in a child of the process in which the object was made.
    pub(crate) fn check(self, py: Python<'_>) -> PyResult<()> {
        if self.is_current_process() { Ok(()) } else { Err(raise(py, simkeep::Error::Forked)) }
    }
}
