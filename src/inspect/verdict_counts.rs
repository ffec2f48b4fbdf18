//! What visits found, counted.

use crate::page::Verdict;

/// What visits found, and how many found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerdictCounts {
    /// Visits that saw the first content of their page.
    pub new: u64,
    /// Visits that saw what was there before.
    pub same: u64,
    /// Visits that saw other content.
    pub changed: u64,
    /// Visits that saw content of before.
    pub reverted: u64,
    /// Visits that found the page gone.
    pub gone: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits that tell nothing: they came late, or found a page unmodified of which no content was ever
    /// seen.
    pub other: u64,
}

impl VerdictCounts {
    pub(super) fn add(&mut self, verdict: Verdict) {
        let count = match verdict {
            Verdict::New => &mut self.new,
            Verdict::Same(_) => &mut self.same,
            Verdict::Changed { .. } => &mut self.changed,
            Verdict::Reverted { .. } => &mut self.reverted,
            Verdict::Gone => &mut self.gone,
            Verdict::Failed => &mut self.failed,
            Verdict::Unseen | Verdict::OutOfOrder | Verdict::Known => &mut self.other,
        };
        *count += 1;
    }

    /// Takes in what others found.
    pub(super) fn join(&mut self, others: &VerdictCounts) {
        let VerdictCounts { new, same, changed, reverted, gone, failed, other } = *others;
        self.new += new;
        self.same += same;
        self.changed += changed;
        self.reverted += reverted;
        self.gone += gone;
        self.failed += failed;
        self.other += other;
    }

    /// How many visits there are in all.
    pub fn visits(&self) -> u64 {
        let VerdictCounts { new, same, changed, reverted, gone, failed, other } = *self;
        new + same + changed + reverted + gone + failed + other
    }
}
