//! The items that are sorted on the way from pages to clusters.

use crate::bug::Bug;
use crate::fingerprint::BitSketch;
use crate::layout::{Cursor, PutInteger as _};
use crate::page::RankKey;
use crate::sort::FixedSizeItem;

/// A selected page; ordered by fingerprint, then by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FingerprintedPage {
    // All orders in this file are derived: fields compare from top to bottom, so moving a field
    // changes a sort.
    pub(super) fingerprint: u64,
    pub(super) rank: RankKey,
    /// The number of the page in SURT order, which decides between equal ranks.
    pub(super) page: u32,
    /// The location of the page.
    pub(super) place: u64,
    pub(super) class: Option<u32>,
}

/// A selected page whose content has a digest, but no fingerprint; ordered by digest, then by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DigestedPage {
    pub(super) digest: [u8; 16],
    pub(super) rank: RankKey,
    pub(super) page: u32,
    pub(super) place: u64,
    pub(super) class: Option<u32>,
}

/// A page without its rank; ordered by fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnrankedPage {
    pub(super) fingerprint: u64,
    pub(super) page: u32,
    pub(super) place: u64,
    pub(super) class: Option<u32>,
}

/// A fingerprint; ordered by the rank of its first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedFingerprint {
    pub(super) rank: RankKey,
    pub(super) page: u32,
    pub(super) fingerprint: u64,
}

/// The leader of a fingerprint; ordered by fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LeaderOfFingerprint {
    pub(super) fingerprint: u64,
    pub(super) leader: u32,
    /// The distance of the fingerprint to the leader.
    pub(super) apart: u16,
    /// The first page of the fingerprint, if the fingerprint leads.
    pub(super) page: Option<u32>,
}

/// A page of a cluster; ordered by leader, the leader first, then its members by distance and in
/// SURT order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClusterMember {
    pub(super) leader: u32,
    /// Whether the page is not the leader.
    pub(super) follows: bool,
    /// The distance of the page to the leader: the number of differing bits of fingerprints, or of
    /// text sketches.
    pub(super) apart: u16,
    pub(super) page: u32,
    pub(super) place: u64,
    /// `None` in a cluster of pages with one digest.
    pub(super) fingerprint: Option<u64>,
    pub(super) class: Option<u32>,
}

/// A cluster; ordered first by `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClusterSummary {
    pub(super) order: u32,
    pub(super) leader: u32,
    pub(super) pages: u32,
    pub(super) max_distance: u32,
    pub(super) place: u64,
    pub(super) fingerprint: Option<u64>,
    /// The class of the leader. The two fields before this one also belong to the leader.
    pub(super) class: Option<u32>,
}

impl ClusterSummary {
    /// The distance of a member of the cluster to the leader, in bits of their fingerprints.
    pub(super) fn distance_to(&self, member: &ClusterMember) -> Result<u32, Bug> {
        match (self.fingerprint, member.fingerprint) {
            (Some(leader), Some(member)) => Ok((leader ^ member).count_ones()),
            (None, None) => Ok(0),
            _ => Err(Bug::new("a cluster by digest has only pages without fingerprints")),
        }
    }
}

/// A page with its cluster, in one of several orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderedMember {
    pub(super) order: [u32; 3],
    pub(super) member: ClusterMember,
    pub(super) of: ClusterSummary,
}

/// The locations of a dropped page and of its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Follower {
    pub(super) place: u64,
    pub(super) leader: u64,
}

/// The sketch of a page's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NumberedSketch {
    /// The number of the page among the pages whose texts are compared.
    pub(super) number: u32,
    pub(super) sketch: BitSketch,
}

/// A page whose text is compared, before its sketch is added; ordered by its number among such
/// pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NumberedDocument {
    pub(super) number: u32,
    pub(super) digest: Option<[u8; 16]>,
    pub(super) document: RankedDocument,
}

/// A page whose text is compared; ordered by the digest of the text, pages with their own sketch
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DigestedDocument {
    pub(super) digest: [u8; 16],
    /// Whether no sketch was added for the page.
    pub(super) is_unread: bool,
    pub(super) document: RankedDocument,
}

/// A page in order of rank, with the sketch of its text, if the text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedDocument {
    pub(super) rank: RankKey,
    pub(super) page: u32,
    pub(super) place: u64,
    pub(super) fingerprint: u64,
    pub(super) class: Option<u32>,
    pub(super) sketch: Option<BitSketch>,
}

/// Implements packing of an item: appends the fields, and reads them back in order.
macro_rules! packed {
    // The number of bytes is written by hand and must be the sum of the fields' bytes. Readers step
    // by this length.
    ($item:ident, $bytes:expr, $($field:ident),+) => {
        impl FixedSizeItem for $item {
            const BYTES: usize = $bytes;

            fn put(&self, out: &mut Vec<u8>) {
                $(PackedField::put(&self.$field, out);)+
            }

            fn take(bytes: &[u8]) -> Option<Self> {
                // Fields are read in the order in which `put` wrote them: one list serves both.
                let cursor = &mut Cursor::new(bytes);
                Some($item { $($field: PackedField::take(cursor)?),+ })
            }

            fn sort(items: &mut Vec<Self>) {
                // Equal items are identical, since all fields are compared. So stability has no
                // effect.
                items.sort_unstable();
            }
        }
    };
}

packed!(FingerprintedPage, 49, fingerprint, rank, page, place, class);
packed!(DigestedPage, 57, digest, rank, page, place, class);
packed!(UnrankedPage, 25, fingerprint, page, place, class);
packed!(RankedFingerprint, 36, rank, page, fingerprint);
packed!(LeaderOfFingerprint, 19, fingerprint, leader, apart, page);
packed!(ClusterMember, 33, leader, follows, apart, page, place, fingerprint, class);
packed!(ClusterSummary, 38, order, leader, pages, max_distance, place, fingerprint, class);
packed!(OrderedMember, 83, order, member, of);
packed!(Follower, 16, place, leader);
packed!(NumberedSketch, 68, number, sketch);
packed!(NumberedDocument, 135, number, digest, document);
packed!(DigestedDocument, 131, digest, is_unread, document);
packed!(RankedDocument, 114, rank, page, place, fingerprint, class, sketch);

/// A field of an item, with its encoding.
trait PackedField: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(cursor: &mut Cursor<'_>) -> Option<Self>;
}

impl PackedField for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u8> {
        cursor.u8()
    }
}

impl PackedField for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<bool> {
        Some(cursor.u8()? != 0)
    }
}

impl PackedField for u16 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u16> {
        cursor.u16()
    }
}

impl PackedField for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u32> {
        cursor.u32()
    }
}

impl PackedField for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u64> {
        cursor.u64()
    }
}

impl PackedField for RankKey {
    fn put(&self, out: &mut Vec<u8>) {
        PackedField::put(&self.key, out);
        out.extend_from_slice(&self.by_rules.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<RankKey> {
        Some(RankKey { key: cursor.u64()?, by_rules: cursor.u128()? })
    }
}

impl<T: PackedField + Default> PackedField for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        // `None` takes as many bytes: items are located by multiplication, so their length is fixed.
        let of_none = T::default();
        PackedField::put(&self.is_some(), out);
        self.as_ref().unwrap_or(&of_none).put(out);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Option<T>> {
        let (is_some, value) = (bool::take(cursor)?, T::take(cursor)?);
        Some(is_some.then_some(value))
    }
}

impl PackedField for [u8; 16] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<[u8; 16]> {
        Some(*cursor.take(16)?.first_chunk()?)
    }
}

impl PackedField for BitSketch {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<BitSketch> {
        let bytes = cursor.take(BitSketch::BYTES)?;
        Some(BitSketch::from_bytes(*bytes.first_chunk()?))
    }
}

// A sketch is also an item by itself: `LeaderSketches` keeps a column of sketches.
impl FixedSizeItem for BitSketch {
    const BYTES: usize = BitSketch::BYTES;

    fn put(&self, out: &mut Vec<u8>) {
        PackedField::put(self, out);
    }

    fn take(bytes: &[u8]) -> Option<BitSketch> {
        PackedField::take(&mut Cursor::new(bytes))
    }

    fn sort(items: &mut Vec<BitSketch>) {
        items.sort_unstable();
    }
}

impl PackedField for [u32; 3] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|number| PackedField::put(number, out));
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<[u32; 3]> {
        Some([u32::take(cursor)?, u32::take(cursor)?, u32::take(cursor)?])
    }
}

/// Implements packing of an item inside another item.
macro_rules! nested {
    // A nested item packs itself, so `OrderedMember` has 12 + 33 + 38 bytes.
    ($item:ident) => {
        impl PackedField for $item {
            fn put(&self, out: &mut Vec<u8>) {
                FixedSizeItem::put(self, out);
            }

            fn take(cursor: &mut Cursor<'_>) -> Option<$item> {
                <$item as FixedSizeItem>::take(cursor.take(<$item as FixedSizeItem>::BYTES)?)
            }
        }
    };
}

nested!(RankedDocument);
nested!(ClusterMember);
nested!(ClusterSummary);
