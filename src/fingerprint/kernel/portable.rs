//! The versions for every processor.

use super::{BLOCK, ByteClasses, Votes, WeightedHash};

/// Repeats a byte in all bytes of a word.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the highest bit of each byte from `first` to `last`; all bytes are ASCII.
fn between(bytes: u64, first: u8, last: u8) -> u64 {
    // Each addition sets at most the highest bit of its byte: no addition carries into the next
    // byte.
    let from = bytes + all(0x80 - first);
    let beyond = bytes + all(0x7f - last);
    from & !beyond & all(0x80)
}

/// Gathers the highest bits of the bytes, starting with the lowest byte.
fn gather(bytes: u64) -> u64 {
    // Each product of a bit of one factor and a bit of the other factor has its own position. The
    // eight relevant products are in the highest byte.
    (bytes >> 7 & all(1)).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

pub(super) fn classify(text: &[u8; BLOCK], lower: &mut [u8; BLOCK]) -> ByteClasses {
    let mut classes = ByteClasses { word: 0, foreign: 0, leads: 0 };
    let (words, lowered) = (text.as_chunks::<8>().0, lower.as_chunks_mut::<8>().0);
    for (at, (text, lower)) in (0..).step_by(8).zip(words.iter().zip(lowered)) {
        let bytes = u64::from_le_bytes(*text);
        let foreign = bytes & all(0x80);
        let ascii = bytes & all(0x7f);
        // Non-ASCII bytes are neither capitals nor letters in this comparison.
        let capitals = between(ascii, b'A', b'Z') & !foreign;
        let small = ascii | capitals >> 2;
        let word = (between(small, b'a', b'z') | between(small, b'0', b'9')) & !foreign;
        *lower = (bytes | capitals >> 2).to_le_bytes();
        classes.word |= gather(word) << at;
        classes.foreign |= gather(foreign) << at;
        // The two highest bits.
        classes.leads |= gather(foreign & bytes << 1) << at;
    }
    classes
}

/// The bits of a byte spread over the bytes of a word, bit 0 in the lowest.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
                {
                    table[byte] |= 1 << (8 * bit);
                }
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

pub(super) fn count(hashes: &[u64], counts: &mut [u8; 64]) {
    // Each word counts eight bits in its bytes.
    let mut lanes = [0u64; 8];
    for hash in hashes {
        for (lane, byte) in lanes.iter_mut().zip(hash.to_le_bytes()) {
            #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
            {
                *lane += SPREAD[usize::from(byte)];
            }
        }
    }
    for (counts, lane) in counts.as_chunks_mut::<8>().0.iter_mut().zip(lanes) {
        *counts = lane.to_le_bytes();
    }
}

pub(super) fn weigh(features: &[WeightedHash], votes: &mut Votes) {
    for &(hash, weight) in features {
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote = vote.wrapping_add(weight & (hash >> bit & 1).wrapping_neg());
        }
    }
}
