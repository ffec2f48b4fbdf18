//! Reads entries from the source into buckets by the first bits of a part.

use std::ops::Range;

use super::arena::{JoinEntry, entry};
use super::pair_constraints::KeyBits;
use super::source::{DynSource, Unreadable};
use crate::search::scratch::ScratchMemory;

/// The number of fingerprints per read.
const STRIDE: u32 = 8192;

/// The entries read in one pass: all entries with a digit in a range, or some entries with a single
/// digit that is too frequent for one pass.
#[derive(Clone, Debug)]
pub(super) struct PassLoad {
    /// The range of digits.
    pub(super) digits: Range<u32>,
    /// If set, the load is restricted to entries whose rank among the entries with the single digit
    /// lies in one of these ranges.
    pub(super) ranks: Option<[Range<u64>; 2]>,
}

/// The entries that one thread has read, by bucket, and within each bucket by ordinal.
#[derive(Default)]
pub(super) struct ThreadEntries {
    /// The memory for the entries, and a little more.
    entries: ScratchMemory<JoinEntry>,
    /// The start of each bucket of the load, and the end of the last bucket.
    starts: Vec<usize>,
}

impl ThreadEntries {
    /// Returns the number of entries read.
    pub(super) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the entries of a bucket, counted from the first bucket of the load.
    #[expect(clippy::indexing_slicing, reason = "each bucket of the load has a start and an end")]
    pub(super) fn bucket(&self, index: usize) -> &[JoinEntry] {
        &self.entries[self.starts[index]..self.starts[index + 1]]
    }

    /// Allocates memory for this many entries, and not much more, since the memory limit applies to
    /// all threads together.
    fn make_room(&mut self, entries: usize) {
        let room = self.entries.len();
        // The memory is kept if it is large enough and at most an eighth too large. The old memory
        // is freed before new memory is mapped, so that both never exist at once.
        if room < entries || room > entries + entries / 8 + STRIDE as usize {
            self.entries = ScratchMemory::default();
            self.entries = ScratchMemory::zeroed(entries);
        }
    }

    /// Reads a load's entries with these ordinals; `counts` has the number of entries for each
    /// digit. If the load has only one digit, `rank` is the rank of the first entry with that
    /// digit.
    #[expect(clippy::indexing_slicing, reason = "there is a place for each entry that was counted")]
    pub(super) fn load(
        &mut self,
        source: &dyn DynSource,
        ordinals: Range<u32>,
        part: KeyBits,
        load: &PassLoad,
        counts: &[u32],
        rank: u64,
    ) -> Result<(), Unreadable> {
        self.starts.clear();
        let PassLoad { digits, ranks } = load;
        let counts = &counts[digits.start as usize..digits.end as usize];
        // The counts include only this thread's ordinals, so its piece is exactly as long as
        // needed.
        let entries = counts.iter().map(|&count| count as usize).sum();
        // The digit has more entries than a load. The entries of the digit are selected by rank,
        // and two ranges of ranks are in memory at a time. No buckets are needed, since all entries
        // have the same digit.
        if let Some(ranks) = ranks {
            let wanted = ranks.iter().map(|ranks| ranks.end - ranks.start).sum::<u64>();
            self.make_room(usize::try_from(wanted).unwrap_or(usize::MAX).min(entries));
            let mut rank = rank;
            let mut taken = 0;
            let entries: &mut [JoinEntry] = &mut self.entries;
            each(source, ordinals, |ordinal, fingerprint| {
                if digits.contains(&part.value(fingerprint)) {
                    // Ranks refer to the entries of all threads: `rank` starts at the number of
                    // entries with the digit in the earlier threads' ordinals.
                    if ranks.iter().any(|ranks| ranks.contains(&rank)) {
                        entries[taken] = entry(fingerprint, ordinal);
                        taken += 1;
                    }
                    rank += 1;
                }
            })?;
            self.starts.extend([0, taken]);
            return Ok(());
        }
        let mut sum = 0;
        self.starts.push(0);
        for &count in counts {
            sum += count as usize;
            self.starts.push(sum);
        }
        self.make_room(entries);
        // A counting sort reads directly from the source: each entry goes to its final place when
        // it is read.
        let mut next = self.starts[..counts.len()].to_vec();
        let entries: &mut [JoinEntry] = &mut self.entries;
        each(source, ordinals, |ordinal, fingerprint| {
            // Digits below the range wrap to large numbers, so one
            // test of the index rejects entries of all other loads.
            let digit = part.value(fingerprint).wrapping_sub(digits.start);
            let Some(place) = next.get_mut(digit as usize) else { return };
            entries[*place] = entry(fingerprint, ordinal);
            *place += 1;
        })?;
        // A source that returned other fingerprints than when they
        // were counted would leave gaps or overwrite entries.
        assert!(next == self.starts[1..], "a bucket has as many entries as were counted");
        Ok(())
    }
}

/// Returns the bits set in all fingerprints with these ordinals, and the bits set in any of them.
pub(super) fn common(
    source: &dyn DynSource,
    ordinals: Range<u32>,
) -> Result<(u64, u64), Unreadable> {
    // The initial values are neutral, so that an empty range adds nothing.
    let (mut all, mut any) = (u64::MAX, 0);
    each(source, ordinals, |_, fingerprint| {
        all &= fingerprint;
        any |= fingerprint;
    })?;
    Ok((all, any))
}

/// Counts the fingerprints with each digit of each part.
#[expect(clippy::indexing_slicing, reason = "there is a count for each value of the part")]
pub(super) fn count(
    source: &dyn DynSource,
    ordinals: Range<u32>,
    parts: &[KeyBits],
) -> Result<Vec<Vec<u32>>, Unreadable> {
    let mut counts: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; 1 << part.width]).collect();
    each(source, ordinals, |_, fingerprint| {
        for (counts, part) in counts.iter_mut().zip(parts) {
            counts[part.value(fingerprint) as usize] += 1;
        }
    })?;
    Ok(counts)
}

/// Calls `visit` with each of these ordinals and its fingerprint.
#[expect(clippy::indexing_slicing, reason = "the buffer is a stride long, or as long as all")]
fn each(
    source: &dyn DynSource,
    ordinals: Range<u32>,
    mut visit: impl FnMut(u32, u64),
) -> Result<(), Unreadable> {
    // The buffer has at most 64 KiB. A source in memory returns its own slice and never touches the
    // buffer.
    let mut buffer = vec![0; ordinals.len().min(STRIDE as usize)];
    let mut start = ordinals.start;
    while start < ordinals.end {
        let length = STRIDE.min(ordinals.end - start);
        let fingerprints = source.read(start..start + length, &mut buffer[..length as usize])?;
        assert_eq!(
            fingerprints.len(),
            length as usize,
            "a source returns as many fingerprints as requested"
        );
        for (ordinal, &fingerprint) in (start..start + length).zip(fingerprints) {
            visit(ordinal, fingerprint);
        }
        start += length;
    }
    Ok(())
}
