//! Entries, and the memory in which they are joined.

use std::ops::Range;

/// The halves of a fingerprint and its ordinal, used while the fingerprint is placed in a bucket.
/// An entry has only 12 bytes, since there are many entries. An entry is an array, since arrays
/// convert to and from bytes without a copy.
pub(super) type JoinEntry = [u32; 3];

#[inline]
pub(super) fn entry(fingerprint: u64, ordinal: u32) -> JoinEntry {
    #[expect(clippy::cast_possible_truncation, reason = "takes the two halves")]
    let [high, low] = [(fingerprint >> 32) as u32, fingerprint as u32];
    [high, low, ordinal]
}

#[inline]
pub(super) fn fingerprint([high, low, _]: JoinEntry) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline]
pub(super) fn ordinal([_, _, ordinal]: JoinEntry) -> u32 {
    ordinal
}

/// Entries: the elements of both slices with the same index.
#[derive(Clone, Copy)]
pub(super) struct EntryRun<'r> {
    pub(super) words: &'r [u64],
    pub(super) ordinals: &'r [u32],
}

impl<'r> EntryRun<'r> {
    pub(super) fn len(self) -> usize {
        self.words.len()
    }

    pub(super) fn part(self, start: u32, end: u32) -> Self {
        self.range(start as usize..end as usize)
    }

    #[expect(clippy::indexing_slicing, reason = "a range of the entries")]
    pub(super) fn range(self, range: Range<usize>) -> Self {
        Self { words: &self.words[range.clone()], ordinals: &self.ordinals[range] }
    }
}

/// Memory in which entries are placed bucket by bucket. Splitting a bucket uses the rest of this
/// memory, so the total memory is bounded by the size of the arena.
pub(super) struct Arena<'r> {
    words: &'r mut [u64],
    ordinals: &'r mut [u32],
}

impl<'r> Arena<'r> {
    pub(super) fn new(words: &'r mut [u64], ordinals: &'r mut [u32]) -> Self {
        Self { words, ordinals }
    }

    pub(super) fn reborrow(&mut self) -> Arena<'_> {
        // The returned arena is for one run: the next run gets the same memory again.
        Arena { words: self.words, ordinals: self.ordinals }
    }

    /// Returns memory for this many entries, if available, and an arena of the remaining memory.
    pub(super) fn take(&mut self, entries: usize) -> Option<(&mut [u64], &mut [u32], Arena<'_>)> {
        // The arena is a stack without a counter: the remainder is borrowed from `self`, so the
        // borrow ends when the caller returns.
        let (words, more_words) = self.words.split_at_mut_checked(entries)?;
        let (ordinals, more_ordinals) = self.ordinals.split_at_mut_checked(entries)?;
        Some((words, ordinals, Arena { words: more_words, ordinals: more_ordinals }))
    }
}
