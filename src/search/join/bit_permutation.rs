//! Reorders the bits of entries in a dense bucket, so that the bits that separate the entries come
//! first.
//!
//! [`PairConstraints`](super::pair_constraints::PairConstraints) selects adjacent bits. If all bits
//! have the same distribution, no other choice is better. If many entries agree in most bits,
//! because of a template or an attack, most parts would separate nothing. Distances do not depend
//! on the order of bits. So the bits of such entries are reordered, and each part gets an equal
//! share of the bits that separate the entries.

use crate::order::sort_few_by_key;

/// The number of entries that are sampled for the distribution of their bits.
pub(super) const SAMPLE: usize = 1024;

/// A half of the bits hardly separates entries if it separates fewer of them than the other half by
/// this factor.
const FEW: usize = 16;

/// Bytes of a fingerprint.
const BYTES: usize = 8;

/// An order of bits.
pub(super) struct BitPermutation {
    /// The reordered bits for each value of each byte.
    table: [[u64; 256]; BYTES],
    /// Whether the first half of the reordered bits separates the entries nearly as well as all
    /// bits.
    pub(super) first_half_separates: bool,
}

impl BitPermutation {
    /// Returns the order for these entries in which the first `parts` parts, of `width` bits each,
    /// separate the entries equally well.
    #[expect(clippy::indexing_slicing, reason = "bits are below 64")]
    pub(super) fn of(words: &[u64], parts: usize, width: usize) -> Box<Self> {
        let mut ones = [0_usize; u64::BITS as usize];
        let mut sampled = 0;
        // Counting bits one by one is slow, so only a sample is counted.
        for word in words.iter().step_by(words.len().div_ceil(SAMPLE).max(1)) {
            ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (word >> bit & 1) as usize);
            sampled += 1;
        }
        let mut bits: Vec<usize> = (0..ones.len()).collect();
        // The count of a bit's rarer value is the number of entries that the bit separates from the
        // rest.
        let rare = |bit: usize| ones[bit].min(sampled - ones[bit]);
        sort_few_by_key(&mut bits, |&bit| std::cmp::Reverse(rare(bit)));
        // The parts get bits in turn, so each part gets an equal share of the best separating bits.
        // Places are counted from the top bit.
        let dealt = (parts * width).min(bits.len());
        let mut to = [0_u32; u64::BITS as usize];
        for (rank, &bit) in bits.iter().enumerate() {
            let place = match rank {
                _ if rank < dealt => rank % parts * width + rank / parts,
                _ => rank,
            };
            #[expect(clippy::cast_possible_truncation, reason = "64 at most")]
            let place = place as u32;
            to[bit] = u64::BITS - 1 - place;
        }
        // This rough measure is enough to detect a half that separates nearly nothing.
        let separation = |half: &[usize]| half.iter().map(|&bit| rare(bit)).sum::<usize>();
        let (first, second) = bits.split_at(bits.len() / 2);
        let first_half_tells = separation(second) * FEW < separation(first);
        Box::new(Self { table: table(&to), first_half_separates: first_half_tells })
    }

    /// Returns a fingerprint, or some bits of a fingerprint, in this order.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is an entry for each value of a byte")]
    pub(super) fn permute(&self, word: u64) -> u64 {
        // Eight lookups instead of moving 64 bits one by one.
        let bytes = word.to_le_bytes();
        let of = |(table, byte): (&[u64; 256], u8)| table[usize::from(byte)];
        self.table.iter().zip(bytes).map(of).fold(0, |all, moved| all | moved)
    }
}

/// Returns the reordered bits for each value of each byte.
fn table(to: &[u32; u64::BITS as usize]) -> [[u64; 256]; BYTES] {
    let mut table = [[0; 256]; BYTES];
    for (of_byte, to) in table.iter_mut().zip(to.as_chunks::<8>().0) {
        for (value, moved) in of_byte.iter_mut().enumerate() {
            let set = to.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1);
            *moved = set.map(|(_, place)| 1_u64 << place).sum();
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading_keeps_distances_and_distributes_distinguishing_bits() {
        let template = 0x0123_4567_89ab_cdef;
        let low = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        let words: Vec<u64> = (0..5000).map(|i| template ^ low(i)).collect();
        let spread = BitPermutation::of(&words, 2, 14);
        for &word in &words {
            let distance = (word ^ words[0]).count_ones();
            assert_eq!((spread.permute(word) ^ spread.permute(words[0])).count_ones(), distance);
        }
        // Twenty bits differ. The differing bits become the first ten bits of each part.
        let low_bits = spread.permute((1 << 20) - 1);
        assert_eq!(low_bits, 0x3ff << 54 | 0x3ff << 40);
    }
}
