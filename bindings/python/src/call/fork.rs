//! Whether this process was forked from the one in which something was made.
//!
//! A fork copies the memory of a process and none of its threads, so what another thread had locked
//! stays locked. Python counts its forks here, by `os.register_at_fork`, and whoever holds what cannot
//! be used in a child asks for that count first.
//!
//! The locks of this crate are safe beside that, by one rule: each is taken by a thread that is attached
//! to the interpreter, and let go before it detaches. Whoever forks is attached, so nobody else holds
//! such a lock then. Nor is one held while an exception is made or an object converted, which may let
//! another thread run that waits for it while it is attached.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::convert::error::raise;

/// How many forks lie between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Notes that this is a child.
#[pyfunction]
pub(crate) fn _forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The process in which something was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth(u64);

impl Birth {
    /// This process.
    pub(crate) fn now() -> Birth {
        Birth(FORKS.load(Ordering::Relaxed))
    }

    /// No process.
    pub(crate) fn never() -> Birth {
        Birth(u64::MAX)
    }

    /// Whether this is still that process.
    pub(crate) fn is_here(self) -> bool {
        self == Birth::now()
    }

    /// # Errors
    ///
    /// `ForkedError` in a child of it.
    pub(crate) fn check(self, py: Python<'_>) -> PyResult<()> {
        if self.is_here() { Ok(()) } else { Err(raise(py, simkeep::Error::Forked)) }
    }
}
