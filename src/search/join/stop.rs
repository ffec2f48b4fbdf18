//! What ends a join before it is done.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::progress::Progress;

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
