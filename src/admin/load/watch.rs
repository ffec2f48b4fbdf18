//! How far a load has come, and whether it is to go on.

use crate::engine::lifecycle::Lifecycle;
use crate::error::Result;
use crate::progress::{Progress, Stage};

/// Observations after which it is asked whether to go on.
const STEP: u64 = 1 << 12;

/// Tells how far a load has come, and hears whether it is to go on.
pub(super) struct Watch<'s> {
    lifecycle: &'s Lifecycle,
    progress: Progress,
    stage: Stage,
    /// What came in, so far.
    pub(super) observations: u64,
    /// Visits in the runs.
    pub(super) visits: u64,
    /// How much of this stage was not told yet.
    untold: u64,
}

impl<'s> Watch<'s> {
    pub(super) fn new(lifecycle: &'s Lifecycle, progress: Progress) -> Self {
        let stage = Stage::Gathering;
        Watch { lifecycle, progress, stage, observations: 0, visits: 0, untold: 0 }
    }

    pub(super) fn begin(&mut self, stage: Stage) -> Result<()> {
        (self.stage, self.untold) = (stage, 0);
        self.progress.begin(stage, Some(self.visits));
        self.ask()
    }

    /// Notes that this much more is done.
    #[inline]
    pub(super) fn tell(&mut self, more: u64) -> Result<()> {
        self.untold += more;
        if self.stage == Stage::Gathering {
            self.observations += more;
        }
        if self.untold < STEP { Ok(()) } else { self.ask() }
    }

    /// Whether to go on.
    pub(super) fn ask(&mut self) -> Result<()> {
        self.progress.pass(std::mem::take(&mut self.untold));
        self.lifecycle.check()?;
        self.progress.check()
    }
}
