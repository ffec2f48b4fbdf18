//! The weighted vote of hashes over 64 bits.

use super::fixed::WEIGHT_MAX;
use super::kernel::{COUNTED_MAX, FingerprintKernel, WeightedHash};

/// The largest weight of a feature; larger weights are clamped.
pub const FEATURE_WEIGHT_MAX: u64 = WEIGHT_MAX;

/// The number of features whose weights are added up at a time, so that their sum plus the sum of
/// the lanes fits 64 bits.
const WEIGHED_MAX: usize = 1024;

/// Adds up weighted feature hashes to their simhash.
///
/// Each feature votes with its weight: for bit *i* if its hash has the bit set, otherwise against
/// the bit. The order of the features does not matter. Adding a feature takes a nanosecond or two
/// if its weight is the unit of this vote, and some ten otherwise. A vote takes some 20 KiB of
/// memory.
///
/// ```
/// use simkeep::fingerprint::Simhash;
/// let mut vote = Simhash::new(1);
/// vote.add(0b011, 1);
/// vote.add(0b001, 1);
/// vote.add(0b110, 3);
/// assert_eq!(vote.balance()[..3], [-1, 3, 1]);
/// assert_eq!(vote.finish(), 0b110);
/// ```
#[derive(Clone, Debug)]
pub struct Simhash {
    kernel: FingerprintKernel,
    /// The common weights with their queued features. Common weights have a fast path.
    lanes: Vec<Lane>,
    /// The weight of all features except the queued features.
    total: u128,
    /// For each bit, the weight of the features with that bit, except the queued features.
    votes: [u128; 64],
    /// Queued features of other weights.
    weighed: Vec<WeightedHash>,
}

/// The queued features of one weight.
#[derive(Clone, Debug)]
struct Lane {
    weight: u64,
    hashes: Vec<u64>,
}

/// The minimum number of features of a lane that is counted; the features of shorter lanes are
/// added with the other weights.
const COUNTED_MIN: usize = 24;

impl Simhash {
    /// Creates an empty vote, fast for features of weight `unit`.
    pub fn new(unit: u64) -> Simhash {
        Simhash::with_kernel(FingerprintKernel::fastest(), &[unit])
    }

    /// Creates a vote that is fast for features of these weights.
    pub(super) fn with_kernel(kernel: FingerprintKernel, weights: &[u64]) -> Simhash {
        let lane = |weight: &u64| Lane {
            weight: (*weight).min(FEATURE_WEIGHT_MAX),
            hashes: Vec::with_capacity(COUNTED_MAX),
        };
        Simhash {
            kernel,
            lanes: weights.iter().map(lane).collect(),
            total: 0,
            votes: [0; 64],
            weighed: Vec::with_capacity(WEIGHED_MAX),
        }
    }

    /// Adds a feature.
    #[inline]
    pub fn add(&mut self, hash: u64, weight: u64) {
        match self.lanes.first() {
            Some(lane) if lane.weight == weight => self.add_to_lane(0, hash),
            _ => self.add_weighted(hash, weight.min(FEATURE_WEIGHT_MAX)),
        }
    }

    #[inline]
    fn add_weighted(&mut self, hash: u64, weight: u64) {
        self.weighed.push((hash, weight));
        if self.weighed.len() >= WEIGHED_MAX {
            self.settle_weighted();
        }
    }

    /// Adds a feature to an existing lane.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the caller knows how many lanes there are")]
    pub(super) fn add_to_lane(&mut self, lane: usize, hash: u64) {
        let waiting = &mut self.lanes[lane];
        waiting.hashes.push(hash);
        if waiting.hashes.len() == COUNTED_MAX {
            self.settle_lane(lane);
        }
    }

    /// Adds features to the first lane.
    #[expect(clippy::indexing_slicing, reason = "the caller knows that there is one")]
    pub(super) fn add_all(&mut self, hashes: &[u64]) {
        let mut rest = hashes;
        while !rest.is_empty() {
            let lane = &mut self.lanes[0];
            let (now, later) = rest.split_at(rest.len().min(COUNTED_MAX - lane.hashes.len()));
            lane.hashes.extend_from_slice(now);
            if lane.hashes.len() == COUNTED_MAX {
                self.settle_lane(0);
            }
            rest = later;
        }
    }

    #[expect(clippy::indexing_slicing, reason = "the index of a lane")]
    fn settle_lane(&mut self, lane: usize) {
        let lane = &mut self.lanes[lane];
        let counts = self.kernel.count(&lane.hashes);
        for (vote, count) in self.votes.iter_mut().zip(counts) {
            *vote += u128::from(lane.weight * u64::from(count));
        }
        self.total += u128::from(lane.weight) * lane.hashes.len() as u128;
        lane.hashes.clear();
    }

    fn settle_weighted(&mut self) {
        let mut sums = [0; 64];
        self.kernel.weigh(&self.weighed, &mut sums);
        for (vote, sum) in self.votes.iter_mut().zip(sums) {
            *vote += u128::from(sum);
        }
        self.total += self.weighed.iter().map(|feature| u128::from(feature.1)).sum::<u128>();
        self.weighed.clear();
    }

    #[expect(clippy::indexing_slicing, reason = "the indexes of all lanes")]
    fn settle(&mut self) {
        for lane in 0..self.lanes.len() {
            let waiting = &mut self.lanes[lane];
            if waiting.hashes.len() >= COUNTED_MIN {
                self.settle_lane(lane);
            } else {
                let weight = waiting.weight;
                self.weighed.extend(waiting.hashes.drain(..).map(|hash| (hash, weight)));
            }
        }
        if !self.weighed.is_empty() {
            self.settle_weighted();
        }
    }

    /// Returns the weight of all features.
    pub fn total(&mut self) -> u128 {
        self.settle();
        self.total
    }

    /// Returns, for each bit, the weight of the features with it minus the weight of the features
    /// without it: the margin of the bit. Positive for a bit that is 1 in the fingerprint.
    pub fn balance(&mut self) -> [i128; 64] {
        self.settle();
        self.votes.map(|vote| (2 * vote).cast_signed() - self.total.cast_signed())
    }

    /// Returns the fingerprint, and empties the vote. Bit *i* is 1 if the features with bit *i*
    /// have more than half of the weight, and 0 on a tie. So without features the fingerprint is 0.
    ///
    /// ```
    /// use simkeep::fingerprint::Simhash;
    /// let mut vote = Simhash::new(1);
    /// assert_eq!(vote.finish(), 0);
    /// for hash in [0b110, 0b011, 0b010] {
    ///     vote.add(hash, 1);
    /// }
    /// assert_eq!(vote.finish(), 0b010); // the bits of most features
    /// ```
    pub fn finish(&mut self) -> u64 {
        let balance = self.balance();
        self.votes = [0; 64];
        self.total = 0;
        (0..).zip(balance).fold(0, |bits, (bit, balance)| bits | u64::from(balance > 0) << bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(features: &[(u64, u64)]) -> u64 {
        let sum = |of: &dyn Fn(u64) -> bool| -> u128 {
            features.iter().filter(|f| of(f.0)).map(|f| u128::from(f.1)).sum()
        };
        let total = sum(&|_| true);
        (0..64).map(|i| u64::from(sum(&|hash| hash >> i & 1 == 1) * 2 > total) << i).sum()
    }

    fn vote(features: &[(u64, u64)], unit: u64) -> u64 {
        let mut simhash = Simhash::new(unit);
        features.iter().for_each(|&(hash, weight)| simhash.add(hash, weight));
        let fingerprint = simhash.finish();
        assert_eq!(simhash.finish(), 0, "it is not empty again");
        fingerprint
    }

    #[test]
    fn seshasais_worked_example_is_reproduced() {
        // Table 3.1 of the thesis; weights in hundredths, the first bit is the leftmost.
        let features = [(0b1001, 9), (0b1110, 1), (0b0010, 6), (0b0101, 5), (0b1101, 4)];
        let mut simhash = Simhash::new(1);
        features.iter().for_each(|&(hash, weight)| simhash.add(hash, weight));
        let mut sums = simhash.balance()[..4].to_vec();
        sums.reverse();
        assert_eq!(sums, [3, -5, -11, 11]);
        assert_eq!(simhash.finish(), 0b1001);
        // Without each feature in turn.
        let without = |left_out: usize| {
            let kept = features.iter().enumerate().filter(|&(i, _)| i != left_out);
            vote(&kept.map(|(_, f)| *f).collect::<Vec<_>>(), 1)
        };
        let expected = [0b0101, 0b1001, 0b1101, 0b1001, 0b0001];
        assert_eq!([0, 1, 2, 3, 4].map(without), expected);
    }

    #[test]
    fn ties_and_empty_input_give_zeros() {
        assert_eq!(vote(&[], 1), 0);
        assert_eq!(vote(&[(u64::MAX, 1), (0, 1)], 1), 0);
        assert_eq!(vote(&[(u64::MAX, 2), (0, 1)], 1), u64::MAX);
        assert_eq!(vote(&[(u64::MAX, 1), (0, 2)], 1), 0);
    }

    #[test]
    fn many_and_heavy_features_do_not_overflow() {
        for count in [254, 255, 256, 257, 510, 511, 1023, 1024, 1025] {
            assert_eq!(vote(&vec![(0xF0F0, 7); count], 7), 0xF0F0);
            assert_eq!(vote(&vec![(0xF0F0, FEATURE_WEIGHT_MAX); count], 7), 0xF0F0);
            assert_eq!(vote(&vec![(0xF0F0, u64::MAX); count], u64::MAX), 0xF0F0);
        }
        let heaviest = [(1, u64::MAX), (2, FEATURE_WEIGHT_MAX)];
        assert_eq!(vote(&heaviest, 1), 0, "too heavy a weight counts as the heaviest");
    }

    proptest! {
        #[test]
        fn any_order_and_unit_give_the_naive_vote(
            features in prop::collection::vec((any::<u64>(), 1u64..5), 0..600),
            unit in 1u64..5,
        ) {
            let expected = naive(&features);
            prop_assert_eq!(vote(&features, unit), expected);
            let mut sorted = features;
            sorted.sort_unstable();
            prop_assert_eq!(vote(&sorted, unit), expected);
        }

        #[test]
        fn scaling_all_weights_changes_nothing(
            features in prop::collection::vec((any::<u64>(), 0u64..1 << 30), 0..100),
            factor in 1u64..1 << 18,
        ) {
            let scaled: Vec<_> = features.iter().map(|f| (f.0, f.1 * factor)).collect();
            prop_assert_eq!(vote(&scaled, factor), vote(&features, 1));
        }
    }
}
