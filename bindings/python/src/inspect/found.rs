//! What visits found, counted.

use crate::convert::value::value;

value! {
    Found from found: simkeep::inspect::Found {
        new: u64,
        same: u64,
        changed: u64,
        reverted: u64,
        gone: u64,
        failed: u64,
        other: u64,
        visits: u64 = found.visits(),
    }
}
