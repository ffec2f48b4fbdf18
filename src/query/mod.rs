//! Queries: searches, pairs, scans, histories and differences.
//!
//! A [`Snapshot`](crate::Snapshot) has methods for the most common queries. All other queries are
//! values with `run(&snapshot, ..)`, or types with a constructor `of(&snapshot, ..)`.
//!
//! Iterators read lazily, and end after an error.

pub(crate) mod copies;
pub(crate) mod diff;
pub(crate) mod distinct;
pub(crate) mod explain;
pub(crate) mod fingerprint_pairs;
pub(crate) mod histories;
pub(crate) mod in_force;
pub(crate) mod observations;
pub(crate) mod page_pairs;
pub(crate) mod page_range;
pub(crate) mod replay;
pub(crate) mod scan;
pub(crate) mod snapshot;
pub(crate) mod stale;

pub use copies::Copies;
pub use diff::{Diff, Difference, ExactDiff, ExactDifference};
pub use distinct::DistinctFingerprints;
pub use explain::{ComponentSearch, Explanation};
pub use fingerprint_pairs::{FingerprintPairs, NearPair};
pub use histories::Histories;
pub use observations::Observations;
pub use page_pairs::{PagePair, PairQuery, PairedPage};
pub use page_range::PageRange;
pub use replay::Replay;
pub use scan::{Scan, count_without_fingerprint};
pub use stale::{StalePage, StalePages};

pub use crate::page::{ReplayedPage, ReplayedState};
pub use crate::search::{AccessPath, BucketLayout, Cost, SearchPlan, Shape};
