//! The Hamming code that addresses cells: words of 31 bits, each one bit from just one codeword.
//!
//! R. W. Hamming, "Error detecting and error correcting codes", 1950. The code is *perfect*: the
//! 2^26 codewords, each with the 31 words that differ from it in one bit, take up all 2^31 words. So
//! if a table files each word under its nearest codeword, then everything within distance r of a
//! word is filed under the codewords within r + 1 of it, and all these are needed: 16 for r = 1,
//! where each finds 32 words. Looking under each of the 32 words within distance 1 itself would
//! need twice as many lookups, of half the words each.
//!
//! Bit i of a word is checked by the binary digits of i + 1. The digits of a word, taken together by
//! exclusive or over its bits, are its *syndrome*: 0 for a codeword, else one more than the bit in
//! which the nearest codeword differs. A codeword is told by its 26 bits whose i + 1 is no power of
//! two, its *message*.

use std::sync::OnceLock;

/// Bits of a word of the code.
const WORD_BITS: u32 = 31;

/// Bits of a message.
pub(super) const MESSAGE_BITS: u32 = 26;

/// The number of syndromes.
const SYNDROMES: usize = 32;

/// The largest number of bits by which codewords are sought; beyond, there are tens of millions.
pub(super) const WEIGHT_MAX: u32 = 7;

/// The syndrome of the low 31 bits of a word: 0 to 31.
#[inline]
#[expect(clippy::indexing_slicing, reason = "four places, and every byte")]
pub(super) fn syndrome(word: u32) -> u32 {
    // Four table lookups: popcount of masks would need an instruction that not every build may use.
    let [first, second, third, fourth] = word.to_le_bytes();
    let of = |place: usize, byte: u8| OF_BYTE[place][usize::from(byte)];
    u32::from(of(0, first) ^ of(1, second) ^ of(2, third) ^ of(3, fourth))
}

/// The exclusive or of one more than the place of each bit, for each byte of a word.
static OF_BYTE: [[u8; 256]; 4] = syndromes_of_bytes();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where it would not build")]
#[expect(clippy::cast_possible_truncation, reason = "places are below 32")]
const fn syndromes_of_bytes() -> [[u8; 256]; 4] {
    let mut of = [[0; 256]; 4];
    let mut place = 0;
    while place < WORD_BITS as usize {
        let mut byte = 0;
        while byte < 256 {
            if byte >> (place % 8) & 1 == 1 {
                of[place / 8][byte] ^= place as u8 + 1;
            }
            byte += 1;
        }
        place += 1;
    }
    of
}

/// The message of a word that is a codeword; of others, the bits at the same places. It is linear:
/// that of an exclusive or is the exclusive or of both.
pub(super) fn message(word: u32) -> u32 {
    word >> 2 & 1 | (word >> 4 & 0x7) << 1 | (word >> 8 & 0x7f) << 4 | (word >> 16 & 0x7fff) << 11
}

/// The message of the codeword that is nearest to the low 31 bits of a word.
pub(super) fn nearest(word: u32) -> u32 {
    // For a codeword the syndrome is 0: the shift count wraps
    // to 2^32 - 1, the shift yields 0 and no bit flips.
    message(word ^ 1_u32.unbounded_shl(syndrome(word).wrapping_sub(1)))
}

/// What to change in a word to reach the codewords at a distance from it.
struct Patterns {
    /// Where those for each syndrome start.
    starts: [usize; SYNDROMES + 1],
    /// The messages of what to change.
    messages: Box<[u32]>,
}

/// The messages of all codewords at distance `weight` of a word with this syndrome, each to be
/// combined with the word's own by exclusive or. For weights up to [`WEIGHT_MAX`].
///
/// Tables are made when first asked for: 20 KiB for all weights up to 3, 800 KiB up to 5, 13 MiB up to
/// 7.
#[expect(
    clippy::indexing_slicing,
    reason = "a table for each weight, a start for each syndrome and one"
)]
pub(super) fn patterns(syndrome: u32, weight: u32) -> &'static [u32] {
    static TABLES: [OnceLock<Patterns>; WEIGHT_MAX as usize + 1] =
        [const { OnceLock::new() }; WEIGHT_MAX as usize + 1];
    // One table for each weight, so that narrow searches do not build the megabytes of the widest.
    let table = TABLES[weight as usize].get_or_init(|| all_patterns(weight));
    let at = syndrome as usize;
    &table.messages[table.starts[at]..table.starts[at + 1]]
}

/// Sorts all words with `weight` bits by syndrome.
#[expect(clippy::indexing_slicing, reason = "there is a list for each syndrome")]
fn all_patterns(weight: u32) -> Patterns {
    let mut of_syndrome = [const { Vec::new() }; SYNDROMES];
    // In 64 bits, so that the word after the last one shows as a bit beyond the 31.
    let mut word = (1_u64 << weight) - 1;
    while word >> WORD_BITS == 0 {
        #[expect(clippy::cast_possible_truncation, reason = "it has 31 bits")]
        let low = word as u32;
        // A word plus a pattern is a codeword if both have the same syndrome. So the patterns of a
        // word are all words of its syndrome.
        of_syndrome[syndrome(low) as usize].push(message(low));
        // Weight 0 has one word, and the step to the next one below would not end.
        if word == 0 {
            break;
        }
        // The next larger number with as many bits set: Gosper's hack, HAKMEM item 175, 1972.
        let lowest = word & word.wrapping_neg();
        let carried = word + lowest;
        word = carried | ((carried ^ word) >> 2) >> lowest.trailing_zeros();
    }
    let mut starts = [0; SYNDROMES + 1];
    let mut end = 0;
    for (start, messages) in starts.iter_mut().skip(1).zip(&of_syndrome) {
        end += messages.len();
        *start = end;
    }
    Patterns { starts, messages: of_syndrome.concat().into_boxed_slice() }
}

/// How many codewords there are at distance `weight` of a word, on average over all words:
/// `choose(31, weight) / 32`.
pub(super) fn expected(weight: u32) -> f64 {
    let mut words = 1.0;
    for bit in 0..weight.min(WORD_BITS + 1) {
        words *= f64::from(WORD_BITS - bit) / f64::from(bit + 1);
    }
    words / SYNDROMES as f64
}
