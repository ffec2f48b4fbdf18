//! The versions for every processor.

use super::{BLOCK, Classes, Votes, Weighed};

pub(super) fn classify(text: &[u8; BLOCK], lower: &mut [u8; BLOCK]) -> Classes {
    let mut classes = Classes { word: 0, foreign: 0 };
    for (at, (&byte, lower)) in text.iter().zip(lower).enumerate() {
        *lower = byte.to_ascii_lowercase();
        classes.word |= u64::from(byte.is_ascii_alphanumeric()) << at;
        classes.foreign |= u64::from(!byte.is_ascii()) << at;
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

pub(super) fn weigh(features: &[Weighed], votes: &mut Votes) {
    for &(hash, weight) in features {
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote = vote.wrapping_add(weight & (hash >> bit & 1).wrapping_neg());
        }
    }
}
