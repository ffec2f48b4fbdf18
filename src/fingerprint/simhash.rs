//! The vote of weighted hashes over 64 bits.

/// Adds up weighted feature hashes and gives their simhash.
///
/// The order of the features is of no matter. An addition costs a few nanoseconds when its weight
/// is the unit of this vote, and about 64 additions otherwise.
///
/// ```
/// use simkeep::fingerprint::Simhash;
/// let mut vote = Simhash::new(1);
/// vote.add(0b011, 1);
/// vote.add(0b001, 1);
/// vote.add(0b110, 3);
/// assert_eq!(vote.finish(), 0b110);
/// ```
#[derive(Clone, Debug)]
pub struct Simhash {
    /// The weight of most features, which have the fast lane.
    unit: u64,
    /// What all features weigh together, in the slow lane's account.
    total: u64,
    /// Per bit, what the features with that bit weigh.
    votes: [u64; 64],
    /// Features of weight `unit` not yet in `votes`: each word counts eight bits in its bytes.
    lanes: [u64; 8],
    /// How many features `lanes` holds: at most 255, or a byte would overflow.
    held: u64,
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

impl Simhash {
    /// An empty vote, fast for features of weight `unit`.
    pub fn new(unit: u64) -> Simhash {
        Simhash { unit, total: 0, votes: [0; 64], lanes: [0; 8], held: 0 }
    }

    /// Adds a feature. The sum of all weights must stay below 2⁶³; beyond that the vote saturates
    /// and means nothing, which no text that fits into memory reaches with the recipes of this
    /// crate.
    pub fn add(&mut self, hash: u64, weight: u64) {
        if weight == self.unit {
            if self.held == 255 {
                self.settle();
            }
            self.held += 1;
            for (lane, byte) in self.lanes.iter_mut().zip(hash.to_le_bytes()) {
                #[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
                {
                    *lane += SPREAD[usize::from(byte)];
                }
            }
        } else {
            self.total = self.total.saturating_add(weight);
            for (bit, vote) in self.votes.iter_mut().enumerate() {
                *vote = vote.saturating_add(weight * (hash >> bit & 1));
            }
        }
    }

    /// Moves what the lanes hold into the votes.
    fn settle(&mut self) {
        for (votes, lane) in self.votes.chunks_exact_mut(8).zip(&mut self.lanes) {
            for (vote, count) in votes.iter_mut().zip(lane.to_le_bytes()) {
                *vote = vote.saturating_add(u64::from(count).saturating_mul(self.unit));
            }
            *lane = 0;
        }
        self.total = self.total.saturating_add(self.held.saturating_mul(self.unit));
        self.held = 0;
    }

    /// The fingerprint: bit *i* is 1 if the features with bit *i* weigh more than half of all; 0 on
    /// a tie, and so 0 for no features at all.
    pub fn finish(mut self) -> u64 {
        self.settle();
        let half = self.total / 2;
        let mut bits = 0;
        for (bit, &vote) in self.votes.iter().enumerate() {
            // For an odd total, more than half is more than the half rounded down.
            bits |= u64::from(vote > half) << bit;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(features: &[(u64, u64)]) -> u64 {
        let total: u64 = features.iter().map(|f| f.1).sum();
        (0..64)
            .map(|i| (i, features.iter().filter(|f| f.0 >> i & 1 == 1).map(|f| f.1).sum::<u64>()))
            .map(|(i, sum)| u64::from(sum * 2 > total) << i)
            .sum()
    }

    fn vote(features: &[(u64, u64)], unit: u64) -> u64 {
        let mut simhash = Simhash::new(unit);
        features.iter().for_each(|&(hash, weight)| simhash.add(hash, weight));
        simhash.finish()
    }

    #[test]
    fn ties_and_nothing_give_zeros() {
        assert_eq!(vote(&[], 1), 0);
        assert_eq!(vote(&[(u64::MAX, 1), (0, 1)], 1), 0);
        assert_eq!(vote(&[(u64::MAX, 2), (0, 1)], 1), u64::MAX);
        assert_eq!(vote(&[(u64::MAX, 1), (0, 2)], 1), 0);
    }

    #[test]
    fn the_fast_lane_does_not_overflow() {
        for count in [254, 255, 256, 257, 510, 511, 1000] {
            assert_eq!(vote(&vec![(0xF0F0, 7); count], 7), 0xF0F0);
        }
    }

    proptest! {
        #[test]
        fn any_order_and_any_unit_give_the_naive_vote(
            features in prop::collection::vec((any::<u64>(), 1u64..5), 0..600),
            unit in 1u64..5,
        ) {
            let expected = naive(&features);
            prop_assert_eq!(vote(&features, unit), expected);
            let mut sorted = features;
            sorted.sort_unstable();
            prop_assert_eq!(vote(&sorted, unit), expected);
        }
    }
}
