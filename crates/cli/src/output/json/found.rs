//! What visits found.

use schemars::JsonSchema;
use serde::Serialize;

/// How many visits found what.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// The first content of their page.
    new: u64,
    /// What was there before.
    same: u64,
    /// Other content.
    changed: u64,
    /// Content of before.
    reverted: u64,
    /// That the page was gone.
    gone: u64,
    failed: u64,
    /// Visits without evidence: out of order, or unmodified although no content of the page was seen.
    other: u64,
}

impl From<simkeep::inspect::VerdictCounts> for Found {
    fn from(of: simkeep::inspect::VerdictCounts) -> Found {
        Found {
            new: of.new,
            same: of.same,
            changed: of.changed,
            reverted: of.reverted,
            gone: of.gone,
            failed: of.failed,
            other: of.other,
        }
    }
}
