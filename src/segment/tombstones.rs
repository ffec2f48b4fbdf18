//! Tombstones: forgotten prefixes, which hide the pages under them in older segments.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::file::Segment;
use super::plain::PlainSegment;
use crate::error::Result;
use crate::layout::{Cursor, PutInteger, SectionKind, SectionTag, block_count, put_varint};
use crate::order::sort_few_by_key;
use crate::page::Prefix;

/// A prefix under which all data with a lower sequence number is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    pub(crate) sequence: u64,
    pub(crate) prefix: Prefix,
}

/// The tombstones of a component. No tombstone is within another, because the outer tombstone
/// already hides the pages of the inner one. So the tombstones are disjoint ranges of keys, and a
/// binary search finds the tombstone that covers a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tombstones {
    /// The tombstones, by the first key under each prefix.
    by_start: BTreeMap<Vec<u8>, Tombstone>,
}

impl Tombstones {
    /// Adds a tombstone. Removes the tombstones within the new tombstone, and returns them in order
    /// of their keys. `None` if the new tombstone lies within an existing one.
    ///
    /// Costs a binary search, and one further search for each removal; each tombstone is removed at
    /// most once.
    pub(crate) fn add(&mut self, tombstone: Tombstone) -> Option<Vec<Tombstone>> {
        if self.covers_all(&tombstone.prefix) {
            return None;
        }
        let (start, end) = tombstone.prefix.range();
        let (start, end) = (start.to_vec(), end.to_vec());
        // Two prefixes are nested or disjoint. So a range that begins within another range also
        // ends in it.
        let within = self.by_start.extract_if(start.clone()..end, |_, _| true);
        let within = within.map(|(_, tombstone)| tombstone).collect();
        self.by_start.insert(start, tombstone);
        Some(within)
    }

    /// Returns the last tombstone that begins at or before a key.
    fn last_from(&self, key: &[u8]) -> Option<&Tombstone> {
        let upto = (Bound::Unbounded, Bound::Included(key));
        self.by_start.range::<[u8], _>(upto).next_back().map(|(_, tombstone)| tombstone)
    }

    /// Whether a tombstone covers the page with this key.
    pub(crate) fn cover(&self, key: &[u8]) -> bool {
        // Ranges are disjoint, so only the last tombstone that begins at or before the key can
        // cover it.
        self.last_from(key).is_some_and(|t| t.prefix.contains(key))
    }

    /// Whether a tombstone covers all pages under a prefix.
    pub(crate) fn covers_all(&self, prefix: &Prefix) -> bool {
        self.last_from(prefix.range().0).is_some_and(|t| t.prefix.covers(prefix))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Returns all tombstones in order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tombstone> {
        self.by_start.values()
    }
}

impl Extend<Tombstone> for Tombstones {
    fn extend<I: IntoIterator<Item = Tombstone>>(&mut self, tombstones: I) {
        tombstones.into_iter().for_each(|tombstone| _ = self.add(tombstone));
    }
}

/// The error text for an invalid section.
const UNREADABLE: &str = "the forgotten prefixes are not readable";

/// Encodes the tombstones section.
pub(super) fn encode(tombstones: &Tombstones) -> Vec<u8> {
    // The format orders tombstones by operation; the map orders them by key.
    let mut in_order: Vec<&Tombstone> = tombstones.iter().collect();
    sort_few_by_key(&mut in_order, |tombstone| tombstone.sequence);
    let mut out = Vec::new();
    for tombstone in in_order {
        let prefix = tombstone.prefix.to_bytes();
        out.put_u64(tombstone.sequence);
        put_varint(&mut out, prefix.len() as u64);
        out.extend_from_slice(prefix);
    }
    out
}

/// Decodes the tombstones of a section; `None` if the bytes are invalid.
fn decode(section: &[u8]) -> Option<Tombstones> {
    let mut cursor = Cursor::new(section);
    let mut tombstones = Tombstones::default();
    let mut before = 0;
    while !cursor.is_empty() {
        let sequence = cursor.u64().filter(|sequence| *sequence >= before)?;
        before = sequence;
        let len = cursor.count()?;
        let prefix = Prefix::from_bytes(cursor.take(len)?)?;
        // A file may contain prefixes within other prefixes. `add` leaves the inner prefixes out,
        // because the order by key requires disjoint ranges.
        tombstones.add(Tombstone { sequence, prefix });
    }
    Some(tombstones)
}

impl Tombstones {
    /// Reads the tombstones of a segment.
    pub(crate) fn read(segment: &Segment) -> Result<Tombstones> {
        let section = segment.section(SectionTag::of(SectionKind::Tombstones));
        decode(section.get(0..section.len())?).ok_or_else(|| section.flaw(0, UNREADABLE))
    }
}

impl PlainSegment<'_> {
    /// Reads the tombstones with plain reads.
    pub(crate) fn tombstones(&mut self) -> Result<Tombstones> {
        let section = self.frame().place(SectionTag::of(SectionKind::Tombstones));
        let mut bytes = Vec::new();
        for block in 0..block_count(section.len) {
            bytes.extend_from_slice(self.block(&section, block)?);
        }
        decode(&bytes).ok_or_else(|| self.frame().damaged(section.tag, 0, UNREADABLE))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::surt;

    proptest! {
        #[test]
        fn merged_prefixes_cover_what_any_covered(
            prefixes in prop::collection::vec("(a|b|c)(/|/a|/a/b|/a/c|\\.a|\\.a/b)?", 0..12),
        ) {
            let mut tombstones = Tombstones::default();
            let parse = |text: &String| Prefix::parse(text).unwrap();
            let prefixes: Vec<Prefix> = prefixes.iter().map(parse).collect();
            for (sequence, prefix) in (1..).zip(prefixes.iter().cloned()) {
                tombstones.add(Tombstone { sequence, prefix });
            }
            for host in ["a", "b", "c", "a.a", "b.a", "x.a"] {
                for path in ["", "/", "/a", "/a/b", "/a/b/c", "/a/c", "/ab", "/x"] {
                    let key = surt::key_of(&format!("http://{host}{path}"));
                    let any = prefixes.iter().any(|prefix| prefix.contains(&key));
                    prop_assert_eq!(tombstones.cover(&key), any);
                }
            }
            for prefix in &prefixes {
                prop_assert!(tombstones.covers_all(prefix));
                let within = tombstones.iter().filter(|t| t.prefix.covers(prefix)).count();
                prop_assert_eq!(within, 1);
            }
            let stored = decode(&encode(&tombstones)).unwrap();
            prop_assert!(stored.iter().eq(tombstones.iter()));
        }
    }
}
