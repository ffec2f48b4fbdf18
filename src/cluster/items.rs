//! What is sorted on the way from pages to clusters.

use crate::layout::{Cursor, Put as _};
use crate::page::Rank;
use crate::sort::Packed;

/// A page that is clustered; ordered by fingerprint, and of one fingerprint the first in rank first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Capture {
    pub(super) fingerprint: u64,
    pub(super) rank: Rank,
    /// Its number in SURT order, which decides where ranks do not.
    pub(super) page: u32,
    /// Where it stands.
    pub(super) place: u64,
}

/// A page without its rank; in order of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bearer {
    pub(super) fingerprint: u64,
    pub(super) page: u32,
    pub(super) place: u64,
}

/// A fingerprint, in the order of the ranks of the first page that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) rank: Rank,
    pub(super) page: u32,
    pub(super) fingerprint: u64,
}

/// To which leader a fingerprint belongs; in order of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Settled {
    pub(super) fingerprint: u64,
    pub(super) leader: u32,
    /// How far it is from that.
    pub(super) distance: u8,
    /// Of a leader its page.
    pub(super) page: Option<u32>,
}

/// A page of a cluster: leader by leader in their order, itself first, then its members by distance and
/// in SURT order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) leader: u32,
    /// Whether it is another than the leader.
    pub(super) follows: bool,
    pub(super) distance: u8,
    pub(super) page: u32,
    pub(super) place: u64,
    pub(super) fingerprint: u64,
}

/// A cluster; ordered by any three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) order: u32,
    pub(super) leader: u32,
    pub(super) pages: u32,
    pub(super) widest: u8,
    pub(super) page: u32,
    pub(super) place: u64,
    pub(super) fingerprint: u64,
}

/// A page with its cluster, in one of several orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed {
    pub(super) order: [u32; 3],
    pub(super) member: Member,
    pub(super) of: Row,
}

/// A page that does not lead, and the one that leads it, by where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Follower {
    pub(super) place: u64,
    pub(super) leader: u64,
}

/// Appends fields, and reads them back in their order.
macro_rules! packed {
    ($item:ident, $bytes:expr, $($field:ident),+) => {
        impl Packed for $item {
            const BYTES: usize = $bytes;

            fn put(&self, out: &mut Vec<u8>) {
                $(Field::put(&self.$field, out);)+
            }

            fn take(bytes: &[u8]) -> Option<Self> {
                let cursor = &mut Cursor::new(bytes);
                Some($item { $($field: Field::take(cursor)?),+ })
            }

            fn sort(items: &mut Vec<Self>) {
                items.sort_unstable();
            }
        }
    };
}

packed!(Capture, 44, fingerprint, rank, page, place);
packed!(Bearer, 20, fingerprint, page, place);
packed!(Node, 36, rank, page, fingerprint);
packed!(Settled, 18, fingerprint, leader, distance, page);
packed!(Member, 26, leader, follows, distance, page, place, fingerprint);
packed!(Row, 33, order, leader, pages, widest, page, place, fingerprint);
packed!(Listed, 71, order, member, of);
packed!(Follower, 16, place, leader);

/// A part of an item, in its own bytes.
trait Field: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(cursor: &mut Cursor<'_>) -> Option<Self>;
}

impl Field for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u8> {
        cursor.u8()
    }
}

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<bool> {
        Some(cursor.u8()? != 0)
    }
}

impl Field for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u32> {
        cursor.u32()
    }
}

impl Field for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(*self);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<u64> {
        cursor.u64()
    }
}

impl Field for Rank {
    fn put(&self, out: &mut Vec<u8>) {
        Field::put(&self.key, out);
        out.extend_from_slice(&self.by_rules.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Rank> {
        Some(Rank { key: cursor.u64()?, by_rules: cursor.u128()? })
    }
}

impl Field for Option<u32> {
    fn put(&self, out: &mut Vec<u8>) {
        Field::put(&self.is_some(), out);
        Field::put(&self.unwrap_or(0), out);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Option<u32>> {
        let (is_some, page) = (bool::take(cursor)?, u32::take(cursor)?);
        Some(is_some.then_some(page))
    }
}

impl Field for [u32; 3] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|number| Field::put(number, out));
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<[u32; 3]> {
        Some([u32::take(cursor)?, u32::take(cursor)?, u32::take(cursor)?])
    }
}

/// An item in another one.
macro_rules! nested {
    ($item:ident) => {
        impl Field for $item {
            fn put(&self, out: &mut Vec<u8>) {
                Packed::put(self, out);
            }

            fn take(cursor: &mut Cursor<'_>) -> Option<$item> {
                <$item as Packed>::take(cursor.take(<$item as Packed>::BYTES)?)
            }
        }
    };
}

nested!(Member);
nested!(Row);
