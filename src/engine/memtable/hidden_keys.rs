//! The keys of older components that a memtable hides: keys under forgotten prefixes, with the
//! operations that forgot them.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::page::Prefix;
use crate::segment::{Tombstone, Tombstones};

/// The forgotten prefixes, as of any operation, at the cost of a binary search.
///
/// A key is hidden from the first operation that forgot it. Later operations do not change this, so
/// each operation gets only the ranges that earlier operations did not forget. The ranges do not
/// overlap, however prefixes are nested, and there are at most two for each prefix.
#[derive(Debug, Default)]
pub(crate) struct HiddenKeys {
    tombstones: Tombstones,
    /// The ranges, by the first key of each.
    ranges: BTreeMap<Vec<u8>, HiddenRange>,
    /// The last operation that forgot a prefix.
    last: Option<u64>,
}

/// A range of keys that the operation `since` was the first to forget.
#[derive(Debug)]
struct HiddenRange {
    /// The first key after the range.
    end: Vec<u8>,
    since: u64,
}

impl HiddenKeys {
    /// Adds a prefix that was forgotten by an operation after all earlier ones.
    pub(super) fn add(&mut self, sequence: u64, prefix: Prefix) {
        // `last` changes even if the prefix hides nothing new: pages that came back under it are
        // removed from `by_key`.
        self.last = Some(sequence);
        let (start, end) = prefix.range();
        let (mut from, end) = (start.to_vec(), end.to_vec());
        // If the prefix lies within an older prefix, its keys are already hidden by an earlier
        // operation.
        let Some(within) = self.tombstones.add(Tombstone { sequence, prefix }) else { return };
        // Older prefixes keep their ranges, with the operation that was the first to hide them.
        // Only the gaps between the ranges are new.
        for tombstone in within {
            let (start, end) = tombstone.prefix.range();
            self.claim(from, start.to_vec(), sequence);
            from = end.to_vec();
        }
        self.claim(from, end, sequence);
    }

    fn claim(&mut self, start: Vec<u8>, end: Vec<u8>, since: u64) {
        if start < end {
            self.ranges.insert(start, HiddenRange { end, since });
        }
    }

    /// Whether an operation at or before `sequence` hides the page with the key `key`.
    pub(crate) fn hides(&self, key: &[u8], sequence: u64) -> bool {
        let upto = (Bound::Unbounded, Bound::Included(key));
        let last = self.ranges.range::<[u8], _>(upto).next_back();
        last.is_some_and(|(_, range)| key < range.end.as_slice() && range.since <= sequence)
    }

    /// The ranges of keys that are hidden as of `sequence`: the first key of each range, and the
    /// first key after it.
    pub(crate) fn ranges_at(&self, sequence: u64) -> impl Iterator<Item = (&[u8], &[u8])> {
        let known = self.ranges.iter().filter(move |(_, range)| range.since <= sequence);
        known.map(|(start, range)| (start.as_slice(), range.end.as_slice()))
    }

    /// Whether all pages under a prefix are known to be hidden as of `sequence`.
    pub(crate) fn hides_all(&self, prefix: &Prefix, sequence: u64) -> bool {
        self.is_as_of(sequence) && self.tombstones.covers_all(prefix)
    }

    /// Whether the current state is also the state as of `sequence`, because no prefix was
    /// forgotten since.
    pub(super) fn is_as_of(&self, sequence: u64) -> bool {
        self.last.is_none_or(|last| last <= sequence)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tombstones.is_empty()
    }

    /// The tombstones for a sealed segment.
    pub(crate) fn tombstones(&self) -> &Tombstones {
        &self.tombstones
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::surt;

    proptest! {
        #[test]
        fn key_is_hidden_from_its_first_forgetting_operation(
            prefixes in prop::collection::vec("(a|b|c)(/|/a|/a/b|/a/c|\\.a|\\.a/b)?", 0..12),
        ) {
            let mut buried = HiddenKeys::default();
            let parse = |text: &String| Prefix::parse(text).unwrap();
            let came: Vec<(u64, Prefix)> = (1..).zip(prefixes.iter().map(parse)).collect();
            came.iter().for_each(|(sequence, prefix)| buried.add(*sequence, prefix.clone()));
            prop_assert!(buried.ranges.len() <= 2 * came.len());
            for host in ["a", "b", "c", "a.a", "b.a", "x.a"] {
                for path in ["", "/", "/a", "/a/b", "/a/b/c", "/a/c", "/ab", "/x"] {
                    let key = surt::key_of(&format!("http://{host}{path}"));
                    for upto in 0..=came.len() as u64 + 1 {
                        let mut before = came.iter().filter(|(sequence, _)| *sequence <= upto);
                        let any = before.any(|(_, prefix)| prefix.contains(&key));
                        prop_assert_eq!(buried.hides(&key, upto), any);
                    }
                }
            }
            for (_, prefix) in &came {
                prop_assert!(buried.hides_all(prefix, u64::MAX));
            }
        }
    }
}
