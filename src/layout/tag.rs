//! The tag of a section, unique in its segment. The section table lists it, and the checksum of
//! each block covers it, so that a misplaced section is detected.

use super::integers::{le_u16, le_u32};

/// The kind of a section's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub(crate) enum SectionKind {
    /// URLs in SURT order with each page's record, in groups of 16.
    Pages = 1,
    /// The start of each group of pages.
    PageIndex = 2,
    /// URL hashes, ascending.
    Hashes = 3,
    /// The page that belongs to each hash.
    HashPages = 4,
    /// The start of the hashes with each value of the top bits.
    HashDirectory = 5,
    /// A blocked Bloom filter over the hashes.
    Filter = 6,
    /// The input of each page's schedule, in the order of the hashes.
    Schedule = 7,
    /// Forgotten prefixes.
    Tombstones = 8,
    /// Distinct fingerprints by popcount, then value.
    Fingerprints = 9,
    /// The start of each popcount.
    Shards = 10,
    /// The search structure of the fingerprints.
    Shape = 11,
    /// The page, or the posting list, of each fingerprint.
    Postings = 12,
    /// The posting lists.
    Lists = 13,
    /// Lines of entries, for each bucket of a rotation.
    Buckets = 14,
    /// Entries that did not fit into their buckets.
    Rest = 15,
    /// Lines of entries, one for each cell.
    Cells = 16,
    /// Overflow lines of full cells.
    Further = 17,
    /// The fingerprint that each entry of a rotation or of cells belongs to.
    Ordinals = 18,
    /// Checksums of all blocks of the preceding sections.
    Sums = 19,
}

/// How lookups access the bytes of a section. Full scans do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessPattern {
    /// Lookups read one position for each page.
    Sparse,
    /// Each lookup reads many positions. Together, the lookups soon need the whole section.
    Dense,
    /// Lookups read the section only sequentially, from beginning to end.
    Sequential,
}

impl SectionKind {
    const ALL: [SectionKind; 19] = [
        SectionKind::Pages,
        SectionKind::PageIndex,
        SectionKind::Hashes,
        SectionKind::HashPages,
        SectionKind::HashDirectory,
        SectionKind::Filter,
        SectionKind::Schedule,
        SectionKind::Tombstones,
        SectionKind::Fingerprints,
        SectionKind::Shards,
        SectionKind::Shape,
        SectionKind::Postings,
        SectionKind::Lists,
        SectionKind::Buckets,
        SectionKind::Rest,
        SectionKind::Cells,
        SectionKind::Further,
        SectionKind::Ordinals,
        SectionKind::Sums,
    ];

    /// How lookups access the bytes of a section of this kind.
    pub(crate) fn access_pattern(self) -> AccessPattern {
        match self {
            SectionKind::Pages | SectionKind::PageIndex | SectionKind::Sums => {
                AccessPattern::Sparse
            }
            SectionKind::Schedule | SectionKind::Tombstones => AccessPattern::Sequential,
            SectionKind::Hashes
            | SectionKind::HashPages
            | SectionKind::HashDirectory
            | SectionKind::Filter
            | SectionKind::Fingerprints
            | SectionKind::Shards
            | SectionKind::Shape
            | SectionKind::Postings
            | SectionKind::Lists
            | SectionKind::Buckets
            | SectionKind::Rest
            | SectionKind::Cells
            | SectionKind::Further
            | SectionKind::Ordinals => AccessPattern::Dense,
        }
    }

    /// The name of the kind, as in `format/segment.md`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SectionKind::Pages => "pages",
            SectionKind::PageIndex => "page index",
            SectionKind::Hashes => "hashes",
            SectionKind::HashPages => "hash pages",
            SectionKind::HashDirectory => "hash directory",
            SectionKind::Filter => "filter",
            SectionKind::Schedule => "schedule",
            SectionKind::Tombstones => "tombstones",
            SectionKind::Fingerprints => "fingerprints",
            SectionKind::Shards => "shards",
            SectionKind::Shape => "shape",
            SectionKind::Postings => "postings",
            SectionKind::Lists => "lists",
            SectionKind::Buckets => "buckets",
            SectionKind::Rest => "rest",
            SectionKind::Cells => "cells",
            SectionKind::Further => "further",
            SectionKind::Ordinals => "ordinals",
            SectionKind::Sums => "checksums",
        }
    }

    /// Whether each epoch has its own section of this kind.
    pub(crate) fn is_of_epoch(self) -> bool {
        self >= SectionKind::Fingerprints && self != SectionKind::Sums
    }

    /// Whether an epoch may have several sections of this kind.
    pub(crate) fn has_parts(self) -> bool {
        self >= SectionKind::Buckets && self != SectionKind::Sums
    }

    pub(super) fn parse(value: u16) -> Option<SectionKind> {
        SectionKind::ALL.into_iter().find(|&kind| kind as u16 == value)
    }
}

/// Identifies a section: its kind, its rotation or cell table, and its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SectionTag {
    pub(crate) kind: SectionKind,
    pub(crate) part: u16,
    pub(crate) epoch: u32,
}

impl SectionTag {
    /// The tag of a section that occurs once per segment.
    pub(crate) const fn of(kind: SectionKind) -> SectionTag {
        SectionTag { kind, part: 0, epoch: 0 }
    }

    /// The tag of a section in an epoch's tables.
    pub(crate) const fn table(kind: SectionKind, part: u16, epoch: u32) -> SectionTag {
        SectionTag { kind, part, epoch }
    }

    pub(crate) fn to_bytes(self) -> [u8; 8] {
        let [k0, k1] = le_u16(self.kind as u16);
        let [p0, p1] = le_u16(self.part);
        let [e0, e1, e2, e3] = le_u32(self.epoch);
        [k0, k1, p0, p1, e0, e1, e2, e3]
    }
}
