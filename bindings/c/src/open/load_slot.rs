//! The turns of loads that wait for their callers. A store has one such load at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::SIMKEEP_INVALID_ARGUMENT;
use crate::failure::{Failure, Result};

/// Whether a load of a store waits for its caller. A second load would wait for the first. So a
/// thread that feeds the first load and begins the second would deadlock.
#[derive(Debug, Default, Clone)]
pub(crate) struct LoadSlot(Arc<AtomicBool>);

/// The turn of a load, until it is dropped.
#[derive(Debug)]
pub(crate) struct LoadSlotGuard(LoadSlot);

impl LoadSlot {
    /// Checks that no load waits for its caller.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Acquire) { Err(busy_error()) } else { Ok(()) }
    }

    /// Takes the turn for a load.
    pub(crate) fn take(&self) -> Result<LoadSlotGuard> {
        if self.0.swap(true, Ordering::AcqRel) {
            Err(busy_error())
        } else {
            Ok(LoadSlotGuard(self.clone()))
        }
    }
}

impl Drop for LoadSlotGuard {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}

fn busy_error() -> Failure {
    let what = "another load of this store has not ended; a store can have one load at a time";
    Failure::new(SIMKEEP_INVALID_ARGUMENT, what)
}
