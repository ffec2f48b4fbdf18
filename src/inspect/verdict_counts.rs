//! Counts of visits by result.

use crate::page::Verdict;

/// Counts of visits by result.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::JournalView;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0x00), (3_000, 0xff)] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// }
/// let counts = JournalView::of(&store.snapshot())?.verdicts;
/// assert_eq!((counts.new, counts.same, counts.changed), (1, 1, 1));
/// assert_eq!(counts.visits(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerdictCounts {
    /// Visits that saw the first content of their page.
    pub new: u64,
    /// Visits that saw the current version.
    pub same: u64,
    /// Visits that saw a new version.
    pub changed: u64,
    /// Visits that saw an earlier version.
    pub reverted: u64,
    /// Visits that found the page gone.
    pub gone: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits without a result: late visits, and visits that got "not modified" for a page whose
    /// content was never seen.
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

    /// Adds the counts of `others`.
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

    /// The total number of visits.
    pub fn visits(&self) -> u64 {
        let VerdictCounts { new, same, changed, reverted, gone, failed, other } = *self;
        new + same + changed + reverted + gone + failed + other
    }
}
