//! Inspection of a store: its parts, the use of its space, and how its pages change.
//!
//! All queries run against a [`Snapshot`](crate::Snapshot), so results are consistent. Queries wait
//! for no writer, and write nothing. This module uses only lower modules, and no other module uses
//! this module.

mod census;
mod compaction;
mod dump;
mod journal;
mod operations;
mod overview;
mod periods;
mod requests;
mod sample;
mod segment;
mod space;
mod surt;
mod trace;
mod verdict_counts;
mod versions;

pub use census::{Census, FingerprintCensus, HostCensus, Period, SampledPage};
pub use compaction::CompactionEstimate;
pub use dump::{DumpLine, DumpQuery};
pub use journal::JournalView;
pub use operations::{LoggedOperation, OperationKind, Operations};
pub use overview::{EpochOverview, HostShare, Overview, SegmentOverview};
pub use requests::{Bodies, HostRequests, RequestCounts, RequestSurvey};
pub use segment::{SectionView, SegmentView, TableView};
pub use space::{Space, SpaceUsage};
pub use trace::{PageRecord, Trace};
pub use verdict_counts::VerdictCounts;
pub use versions::{Version, VersionKind, versions};

/// Returns the SURT of a page, for example `com,example)/terms`. A SURT is the sort key of the page
/// in the notation of the Internet Archive. Takes time linear in the length of the URL.
///
/// ```
/// assert_eq!(simkeep::inspect::surt("https://www.example.com/a?b"), "com,example,www)/a?b");
/// ```
pub fn surt(url: &str) -> String {
    surt::of_key(&crate::page::surt::key_of(url))
}

/// Returns the sort key of a page. The bytes of two keys compare in the order of the pages, as the
/// format specifies.
///
/// Merges of pages of several stores can use the key as their order. Pages with equal keys are
/// ordered by URL. Takes time linear in the length of the URL.
///
/// ```
/// use simkeep::inspect::surt_key;
/// assert!(surt_key("https://example.com/b") < surt_key("https://a.example.com/"));
/// ```
pub fn surt_key(url: &str) -> Vec<u8> {
    crate::page::surt::key_of(url)
}
