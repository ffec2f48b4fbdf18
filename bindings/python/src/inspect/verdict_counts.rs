//! Counts of the results of visits.

use crate::convert::value::value;

value! {
    VerdictCounts from counts: simkeep::inspect::VerdictCounts {
        new: u64,
        same: u64,
        changed: u64,
        reverted: u64,
        gone: u64,
        failed: u64,
        other: u64,
        visits: u64 = counts.visits(),
    }
}
