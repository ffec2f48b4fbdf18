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
