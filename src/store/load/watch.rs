//! What a load says of its progress, and whether it is to go on.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use super::options::{Callback, Loading, Stage};
use crate::error::{Error, Result};
use crate::store::lifecycle::Lifecycle;

/// Observations after which the callback is asked.
const WATCHED: u64 = 1 << 12;

/// Tells how far a load has come, and hears whether it is to go on.
pub(super) struct Watch<'s, 'w> {
    lifecycle: &'s Lifecycle,
    callback: Option<Callback<'w>>,
    /// What the callback panicked with, if it did.
    panic: Option<Box<dyn Any + Send>>,
    stage: Stage,
    /// What came in, so far.
    pub(super) observations: u64,
    /// Visits in the runs.
    pub(super) visits: u64,
    /// How far this stage has come, and when the callback is asked again.
    done: u64,
    next: u64,
    started: Instant,
}

impl<'s, 'w> Watch<'s, 'w> {
    pub(super) fn new(lifecycle: &'s Lifecycle, callback: Option<Callback<'w>>) -> Self {
        Watch {
            lifecycle,
            callback,
            panic: None,
            stage: Stage::Gathering,
            observations: 0,
            visits: 0,
            done: 0,
            next: WATCHED,
            started: Instant::now(),
        }
    }

    pub(super) fn begin(&mut self, stage: Stage) -> Result<()> {
        (self.stage, self.done, self.next) = (stage, 0, WATCHED);
        self.ask()
    }

    /// Notes that this much more is done.
    #[inline]
    pub(super) fn tell(&mut self, more: u64) -> Result<()> {
        self.done += more;
        if self.stage == Stage::Gathering {
            self.observations += more;
        }
        if self.done < self.next {
            return Ok(());
        }
        self.next = self.done + WATCHED;
        self.ask()
    }

    /// Whether to go on.
    pub(super) fn ask(&mut self) -> Result<()> {
        self.lifecycle.check()?;
        let of = (self.stage != Stage::Gathering).then_some(self.visits);
        let loading =
            Loading { stage: self.stage, done: self.done, of, elapsed: self.started.elapsed() };
        let Some(callback) = &mut self.callback else { return Ok(()) };
        match catch_unwind(AssertUnwindSafe(|| callback(&loading))) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Error::Cancelled),
            Err(panic) => {
                self.panic = Some(panic);
                Err(Error::Cancelled)
            }
        }
    }
    /// What the load came to. The callback's own panic goes on when that is nothing, and harms no
    /// store.
    pub(super) fn end<T>(self, loaded: Result<T>) -> Result<T> {
        self.panic.map_or(loaded, |panic| resume_unwind(panic))
    }
}
