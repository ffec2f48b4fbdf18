//! Counts of visits by their verdicts.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect;

/// The number of visits with each verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerdictTotals {
    /// Visits with the first content of their page.
    new: u64,
    /// Visits with unchanged content.
    same: u64,
    /// Visits with new content.
    changed: u64,
    /// Visits with earlier content of the page.
    reverted: u64,
    /// Visits that found the page gone.
    gone: u64,
    failed: u64,
    /// Visits without evidence: out of order, or not modified although no content of the page had
    /// been seen.
    other: u64,
}

impl From<inspect::VerdictCounts> for VerdictTotals {
    fn from(of: inspect::VerdictCounts) -> VerdictTotals {
        let inspect::VerdictCounts { new, same, changed, reverted, gone, failed, other, .. } = of;
        VerdictTotals { new, same, changed, reverted, gone, failed, other }
    }
}
