//! The purpose of a store's bytes.

use crate::layout::SectionKind;
use crate::order::sort_few_by_key;

/// The purpose of bytes.
///
/// ```
/// use simkeep::inspect::Space;
/// let names: Vec<&str> = Space::ALL.iter().map(|space| space.name()).collect();
/// assert_eq!(names.len(), 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Space {
    /// URLs and the visits to them.
    Histories,
    /// Hashes and filters that find a page by its URL.
    PageIndex,
    /// The input of each page's schedule.
    Schedule,
    /// Distinct fingerprints, and their popcounts.
    Fingerprints,
    /// The pages of each fingerprint.
    Postings,
    /// The tables that find near fingerprints.
    Tables,
    /// Checksums, forgotten prefixes, and the heads, section tables, trailers and padding of the
    /// files.
    Frames,
}

/// The number of bytes for a purpose.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Overview;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let overview = Overview::of(&store.snapshot())?;
/// for usage in &overview.space {
///     println!("{}: {} bytes", usage.of.name(), usage.bytes);
/// }
/// let bytes: u64 = overview.space.iter().map(|usage| usage.bytes).sum();
/// assert_eq!(bytes, store.stats()?.segment_bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceUsage {
    /// The purpose.
    pub of: Space,
    /// The number of bytes.
    pub bytes: u64,
}

impl Space {
    /// All purposes, in the order of the files.
    pub const ALL: [Space; 7] = [
        Space::Histories,
        Space::PageIndex,
        Space::Schedule,
        Space::Fingerprints,
        Space::Postings,
        Space::Tables,
        Space::Frames,
    ];

    /// The name of the purpose, in one or two words.
    ///
    /// ```
    /// use simkeep::inspect::Space;
    /// assert_eq!(Space::Histories.name(), "histories");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Space::Histories => "histories",
            Space::PageIndex => "page index",
            Space::Schedule => "schedule",
            Space::Fingerprints => "fingerprints",
            Space::Postings => "postings",
            Space::Tables => "tables",
            Space::Frames => "frames",
        }
    }

    pub(super) fn of(kind: SectionKind) -> Space {
        match kind {
            SectionKind::Pages | SectionKind::PageIndex => Space::Histories,
            SectionKind::Hashes
            | SectionKind::HashPages
            | SectionKind::HashDirectory
            | SectionKind::Filter => Space::PageIndex,
            SectionKind::Schedule => Space::Schedule,
            SectionKind::Fingerprints | SectionKind::Shards => Space::Fingerprints,
            SectionKind::Postings | SectionKind::Lists => Space::Postings,
            SectionKind::Shape
            | SectionKind::Buckets
            | SectionKind::Rest
            | SectionKind::Cells
            | SectionKind::Further
            | SectionKind::Ordinals => Space::Tables,
            SectionKind::Tombstones | SectionKind::Sums => Space::Frames,
        }
    }
}

/// Bytes by purpose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpaceSums([u64; Space::ALL.len()]);

impl SpaceSums {
    pub(super) fn add(&mut self, of: Space, bytes: u64) {
        let places = Space::ALL.iter().zip(&mut self.0);
        for (_, sum) in places.filter(|(space, _)| **space == of) {
            *sum += bytes;
        }
    }

    /// All purposes, in descending order of bytes.
    pub(super) fn largest_first(self) -> Vec<SpaceUsage> {
        let all = Space::ALL.into_iter().zip(self.0);
        let mut all: Vec<SpaceUsage> = all.map(|(of, bytes)| SpaceUsage { of, bytes }).collect();
        sort_few_by_key(&mut all, |space| std::cmp::Reverse(space.bytes));
        all
    }
}
