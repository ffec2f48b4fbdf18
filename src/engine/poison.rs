//! Why a store accepts nothing more.
//!
//! After a failed write it is unknown what reached the disk: nothing more is written, and reads go
//! on. After a broken invariant or a panic within a write, nothing is certain: reads stop as well.
//!
//! A store and all its views share one [`Poison`]. Each public call passes its result through it
//! ([`Poison::poison_on_bug`]). Calls that change the store also hold an [`OnPanic`].

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::metrics::Metrics;

/// The first thing that went wrong, if anything did.
#[derive(Debug, Default)]
pub(crate) struct Poison {
    cause: OnceLock<Arc<Error>>,
    /// Who is told of it.
    metrics: Metrics,
}

impl Poison {
    /// Nothing went wrong so far; when it does, this is told.
    pub(crate) fn telling(metrics: Metrics) -> Poison {
        Poison { cause: OnceLock::new(), metrics }
    }

    /// Notes why nothing more is accepted. The first cause stays.
    pub(crate) fn set(&self, cause: Error) {
        let _ = self.cause.set(Arc::new(cause));
        self.metrics.poisoned();
    }

    /// Whether nothing went wrong, so that the store may be written.
    pub(crate) fn check_write(&self) -> Result<()> {
        self.cause.get().map_or(Ok(()), |cause| Err(Error::Poisoned(Arc::clone(cause))))
    }

    /// Whether what is in memory is as it should be, so that the store may be read.
    #[inline]
    pub(crate) fn check_read(&self) -> Result<()> {
        match self.cause.get() {
            Some(cause) if matches!(**cause, Error::Bug(_)) => self.check_write(),
            _ => Ok(()),
        }
    }

    /// Notes the bug that a call met, if that is why it failed.
    #[inline]
    pub(crate) fn poison_on_bug<T>(&self, done: Result<T>) -> Result<T> {
        if let Err(error @ Error::Bug(_)) = &done {
            self.set(error.clone());
        }
        done
    }
}
