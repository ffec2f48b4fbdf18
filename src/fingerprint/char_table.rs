//! Frozen tables, unfolded for direct look-up.

use std::ops::Range;

/// The ranges in which characters may differ: the scripts, and the tags and variation selectors.
/// All other characters are unassigned or for private use, and are treated as U+10FFFF.
pub(super) const ASSIGNED: [Range<u32>; 2] = [0..0x3_3500, 0xE_0000..0xE_1000];

/// A value for each character, for direct look-up: pages of 256 characters, with equal pages
/// shared.
#[derive(Debug)]
pub(super) struct CharTable<T> {
    /// The page of each character divided by 256.
    index: Vec<u16>,
    pages: Vec<[T; 256]>,
}

impl<T: Copy + PartialEq> CharTable<T> {
    /// Returns the value of a character.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a page for each character")]
    pub(super) fn of(&self, code: u32) -> T {
        self.pages[usize::from(self.index[code as usize >> 8])][code as usize & 0xFF]
    }

    /// Creates the pages from a value for each character, in order. Values beyond [`ASSIGNED`] must
    /// be equal. The function does not compare them, which saves four fifths of the time.
    #[expect(clippy::cast_possible_truncation, reason = "there are 4,352 pages at most")]
    pub(super) fn new(all: &[T]) -> CharTable<T> {
        let (chunks, _) = all.as_chunks::<256>();
        let mut pages: Vec<[T; 256]> = chunks.last().copied().into_iter().collect();
        let index = chunks.iter().zip((0..).step_by(256)).map(|(chunk, first)| {
            if !ASSIGNED.iter().any(|range| range.contains(&first)) {
                debug_assert!(pages.first() == Some(chunk), "U+{first:X} is assigned");
                return 0;
            }
            let known = pages.iter().rposition(|page| page == chunk).unwrap_or_else(|| {
                pages.push(*chunk);
                pages.len() - 1
            });
            known as u16
        });
        CharTable { index: index.collect(), pages }
    }
}
