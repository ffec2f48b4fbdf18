//! What the bytes of a store are for.

use crate::layout::Kind;

/// What bytes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Space {
    /// URLs and the visits to them.
    Histories,
    /// What finds a page by its URL: hashes and filters.
    PageIndex,
    /// What decides when each page is visited again.
    Schedule,
    /// Distinct fingerprints, and which of their bits are set.
    Fingerprints,
    /// Which pages have a fingerprint.
    Postings,
    /// The tables that find near fingerprints.
    Tables,
    /// Checksums, prefixes that were forgotten, and the frames of the files.
    Frames,
}

/// How many bytes are for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceOf {
    /// What they are for.
    pub of: Space,
    /// How many.
    pub bytes: u64,
}

impl Space {
    /// All of it, in the order of the files.
    pub const ALL: [Space; 7] = [
        Space::Histories,
        Space::PageIndex,
        Space::Schedule,
        Space::Fingerprints,
        Space::Postings,
        Space::Tables,
        Space::Frames,
    ];

    /// One or two words for it.
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

    pub(super) fn of(kind: Kind) -> Space {
        match kind {
            Kind::Pages | Kind::PageIndex => Space::Histories,
            Kind::Hashes | Kind::HashPages | Kind::HashDirectory | Kind::Filter => Space::PageIndex,
            Kind::Schedule => Space::Schedule,
            Kind::Fingerprints | Kind::Shards => Space::Fingerprints,
            Kind::Postings | Kind::Lists => Space::Postings,
            Kind::Shape
            | Kind::Buckets
            | Kind::Rest
            | Kind::Cells
            | Kind::Further
            | Kind::Ordinals => Space::Tables,
            Kind::Tombstones | Kind::Sums => Space::Frames,
        }
    }
}

/// Bytes by what they are for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums([u64; Space::ALL.len()]);

impl Sums {
    pub(super) fn add(&mut self, of: Space, bytes: u64) {
        let places = Space::ALL.iter().zip(&mut self.0);
        for (_, sum) in places.filter(|(space, _)| **space == of) {
            *sum += bytes;
        }
    }

    /// All of them, the most bytes first.
    pub(super) fn largest_first(self) -> Vec<SpaceOf> {
        let all = Space::ALL.into_iter().zip(self.0);
        let mut all: Vec<SpaceOf> = all.map(|(of, bytes)| SpaceOf { of, bytes }).collect();
        all.sort_by_key(|space| std::cmp::Reverse(space.bytes));
        all
    }
}
