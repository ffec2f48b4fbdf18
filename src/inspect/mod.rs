//! Looking inside a store: what it is made of, where its space goes, how its pages change.
//!
//! All of it is asked of a [`Snapshot`](crate::Snapshot), so it is consistent, waits for no writer, and
//! writes nothing. This room reads the rooms below it and is read by none of them.

mod census;
mod compaction;
mod dump;
mod journal;
mod operations;
mod overview;
mod periods;
mod sample;
mod segment;
mod space;
mod surt;
mod trace;
mod verdict_counts;
mod versions;

pub use census::{Census, FingerprintCensus, HostCensus, Period, SampledPage};
pub use compaction::Compaction;
pub use dump::{DumpLine, DumpQuery};
pub use journal::JournalView;
pub use operations::{LoggedOperation, OperationKind, Operations};
pub use overview::{EpochOverview, HostShare, Overview, SegmentOverview};
pub use segment::{SectionView, SegmentView, TableView};
pub use space::{Space, SpaceOf};
pub use trace::{PageRecord, Trace};
pub use verdict_counts::VerdictCounts;
pub use versions::{Version, VersionKind, versions};

/// What a page is sorted by in the notation of the Internet Archive, its SURT: such as
/// `com,example)/terms`. Linear in the length of the URL.
///
/// ```
/// assert_eq!(simkeep::inspect::surt("https://www.example.com/a?b"), "com,example,www)/a?b");
/// ```
pub fn surt(url: &str) -> String {
    surt::of_key(&crate::page::surt::key_of(url))
}

/// Bytes that compare, one after another, as pages are sorted: the key that the format specifies. Pages
/// of several stores are put into one order by them; of two with one key, the less URL comes first.
/// Linear in the length of the URL.
///
/// ```
/// use simkeep::inspect::surt_key;
/// assert!(surt_key("https://example.com/b") < surt_key("https://a.example.com/"));
/// ```
pub fn surt_key(url: &str) -> Vec<u8> {
    crate::page::surt::key_of(url)
}
