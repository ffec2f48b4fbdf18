//! Compares the words of a column with one word, on any processor.

use zerocopy::little_endian::U64;

#[inline(always)]
pub(super) fn near_u64(column: &[U64], query: u64, k: u32, out: &mut Vec<u32>) {
    near(column, k, |index| out.push(index), |word| (word.get() ^ query).count_ones());
}

/// Finds near words in blocks of 32 words, of 8 words, and of one word. The source of the portable
/// versions.
#[inline(always)]
pub(super) fn near<W: Copy>(
    words: &[W],
    k: u32,
    mut push: impl FnMut(u32),
    distance: impl Fn(W) -> u32 + Copy,
) {
    // Blocks of 32 amortize the branch on long columns. Short runs, for example the nine entries of
    // a node, still get a block of 8.
    let (words, base) = near_by_blocks::<32, W>(words, 0, k, &mut push, distance);
    let (words, base) = near_by_blocks::<8, W>(words, base, k, &mut push, distance);
    near_by_blocks::<1, W>(words, base, k, &mut push, distance);
}

/// Processes all whole blocks; returns the remaining words and the index of the first remaining
/// word.
#[inline(always)]
fn near_by_blocks<'w, const WORDS: usize, W: Copy>(
    words: &'w [W],
    mut base: u32,
    k: u32,
    push: &mut impl FnMut(u32),
    distance: impl Fn(W) -> u32,
) -> (&'w [W], u32) {
    let (blocks, rest) = words.as_chunks::<WORDS>();
    for block in blocks {
        // The minimum has no branch, so the compiler vectorizes the loop if the target has the
        // instructions.
        let mut nearest = u32::MAX;
        for &word in block {
            nearest = nearest.min(distance(word));
        }
        // The condition is rarely true, so the branch is well predicted. The distances are computed
        // again, so that the common path stores nothing.
        if nearest <= k {
            for (index, &word) in (base..).zip(block) {
                if distance(word) <= k {
                    push(index);
                }
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has 32 words at most")]
        let words = WORDS as u32;
        base += words;
    }
    (rest, base)
}
