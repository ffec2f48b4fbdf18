//! The Hamming code that addresses cells: each word of 31 bits is within one bit of exactly one
//! codeword.
//!
//! R. W. Hamming, "Error detecting and error correcting codes", 1950. The code is *perfect*: the
//! 2^26 codewords, each with the 31 words that differ from it in one bit, cover all 2^31 words. So
//! if a table files each word under its nearest codeword, then all words within distance r of a
//! word are filed under the codewords within r + 1 of it. All these codewords are needed: 16 for r
//! = 1, each with 32 words. Reading the 32 words within distance 1 directly would take twice as
//! many lookups, each with a single word.
//!
//! Bit i of a word is checked by the binary digits of i + 1. The exclusive or of these digits over
//! the set bits of a word is its *syndrome*: 0 for a codeword, for other words one more than the
//! bit in which the nearest codeword differs. The *message* of a codeword consists of its 26 bits
//! for which i + 1 is not a power of two, and identifies the codeword.

use std::sync::OnceLock;

/// The length of a word of the code.
const WORD_BITS: u32 = 31;

/// The length of a message.
pub(super) const MESSAGE_BITS: u32 = 26;

/// The number of syndromes.
const SYNDROMES: usize = 32;

/// The largest distance of codewords that is searched; at larger distances there are tens of
/// millions of codewords.
pub(super) const WEIGHT_MAX: u32 = 7;

/// Returns the syndrome of the low 31 bits of a word: 0 to 31.
#[inline]
#[expect(clippy::indexing_slicing, reason = "four places, and every byte")]
pub(super) fn syndrome(word: u32) -> u32 {
    // Four table lookups: popcount of masks would need an instruction that not every build may use.
    let [first, second, third, fourth] = word.to_le_bytes();
    let of = |place: usize, byte: u8| OF_BYTE[place][usize::from(byte)];
    u32::from(of(0, first) ^ of(1, second) ^ of(2, third) ^ of(3, fourth))
}

/// For each byte of a word, the exclusive or of the numbers *i* + 1 over its set bits *i*.
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

/// Returns the message of a codeword; for other words, the bits at the same places. The function is
/// linear: the message of an exclusive or is the exclusive or of the messages.
pub(super) fn message(word: u32) -> u32 {
    word >> 2 & 1 | (word >> 4 & 0x7) << 1 | (word >> 8 & 0x7f) << 4 | (word >> 16 & 0x7fff) << 11
}

/// Returns the message of the codeword nearest to the low 31 bits of a word.
pub(super) fn nearest(word: u32) -> u32 {
    // For a codeword the syndrome is 0: the shift count wraps
    // to 2^32 - 1, the shift yields 0 and no bit flips.
    message(word ^ 1_u32.unbounded_shl(syndrome(word).wrapping_sub(1)))
}

/// The differences from a word to the codewords at a distance from it.
struct Patterns {
    /// The start of the differences for each syndrome.
    starts: [usize; SYNDROMES + 1],
    /// The messages of the differences.
    messages: Box<[u32]>,
}

/// Returns the messages of all codewords at distance `weight` of a word with this syndrome, each as
/// an exclusive or with the word's own message. For weights up to [`WEIGHT_MAX`].
///
/// The tables are built on first use: 20 KiB for all weights up to 3, 800 KiB up to 5, 13 MiB up
/// to 7.
#[expect(
    clippy::indexing_slicing,
    reason = "a table for each weight, a start for each syndrome and one"
)]
pub(super) fn patterns(syndrome: u32, weight: u32) -> &'static [u32] {
    static TABLES: [OnceLock<Patterns>; WEIGHT_MAX as usize + 1] =
        [const { OnceLock::new() }; WEIGHT_MAX as usize + 1];
    // One table for each weight, so that narrow searches do not build the megabytes of the widest
    // table.
    let table = TABLES[weight as usize].get_or_init(|| all_patterns(weight));
    let at = syndrome as usize;
    &table.messages[table.starts[at]..table.starts[at + 1]]
}

/// Sorts all words with `weight` bits by syndrome.
#[expect(clippy::indexing_slicing, reason = "there is a list for each syndrome")]
fn all_patterns(weight: u32) -> Patterns {
    let mut of_syndrome = [const { Vec::new() }; SYNDROMES];
    // The loop uses 64 bits, so that the word after the last word has a bit beyond the 31.
    let mut word = (1_u64 << weight) - 1;
    while word >> WORD_BITS == 0 {
        #[expect(clippy::cast_possible_truncation, reason = "it has 31 bits")]
        let low = word as u32;
        // The exclusive or of a word and a pattern is a codeword if both have the same syndrome. So
        // the patterns of a word are all words with its syndrome.
        of_syndrome[syndrome(low) as usize].push(message(low));
        // Weight 0 has one word, for which the step to the next word would not end.
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

/// Returns the number of codewords at distance `weight` of a word, averaged over all words:
/// `choose(31, weight) / 32`.
pub(super) fn expected(weight: u32) -> f64 {
    let mut words = 1.0;
    for bit in 0..weight.min(WORD_BITS + 1) {
        words *= f64::from(WORD_BITS - bit) / f64::from(bit + 1);
    }
    words / SYNDROMES as f64
}
