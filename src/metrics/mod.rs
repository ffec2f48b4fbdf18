//! Metrics of an open store, through the facade of the crate `metrics`.
//!
//! Without the feature `metrics`, the metrics are no-ops and the facade is not linked.

#[cfg(feature = "metrics")]
mod disk;
#[cfg(feature = "metrics")]
mod instruments;
#[cfg(feature = "metrics")]
mod list;
#[cfg(not(feature = "metrics"))]
mod silent;

#[cfg(feature = "metrics")]
pub(crate) use instruments::Metrics;
#[cfg(feature = "metrics")]
pub use list::{ALL, Instrument, InstrumentKind};
#[cfg(not(feature = "metrics"))]
pub(crate) use silent::Metrics;

use crate::page::Verdict;

/// What the metrics record about an observed visit.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "metrics"), expect(dead_code, reason = "nothing is recorded"))]
pub(crate) struct ObservedVisit {
    pub(crate) verdict: Verdict,
    /// Whether the search for near pages was complete.
    pub(crate) complete: bool,
    /// The body, if it was not transferred or is not worth storing, and its length, if known.
    pub(crate) saved: Option<(SavedBody, Option<u64>)>,
    /// Whether the entity tag was too long to be kept.
    pub(crate) long_etag: bool,
}

/// A body of a response that was not transferred, or that is not worth storing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SavedBody {
    /// The server answered "not modified".
    NotModified,
    /// The body has the digest of the content before.
    Unchanged,
    /// The content was captured before, on another page.
    Copy,
}

/// A kind of work whose duration is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Making waiting operations durable.
    Commit,
    /// Waiting to be admitted as a writer.
    Stall,
    /// Writing a memtable as a segment, and publishing the segment.
    Seal,
    /// Merging segments into one.
    Merge,
}
