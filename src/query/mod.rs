//! What is asked of a snapshot: searches, pairs, scans, histories and differences.

pub(crate) mod diff;
pub(crate) mod distinct;
pub(crate) mod explain;
pub(crate) mod fingerprint_pairs;
pub(crate) mod histories;
pub(crate) mod in_force;
pub(crate) mod observations;
pub(crate) mod page_pairs;
pub(crate) mod pairs;
pub(crate) mod pairs_with;
pub(crate) mod partition;
pub(crate) mod replay;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod shortcuts;
pub(crate) mod splits;
pub(crate) mod stale;
