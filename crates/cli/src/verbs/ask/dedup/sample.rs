//! Random pairs of each distance.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::lines::{DropReason, DroppedDuplicate};
use crate::output::json::Fingerprint;

/// A random sample of `size` pairs of each distance. The number of a pair is a hash of its URL and
/// the seed, and the pairs with the smallest numbers are in the sample. So the same pages always
/// yield the same sample.
pub(super) struct PairSample {
    size: usize,
    seed: u64,
    by_distance: BTreeMap<u32, BinaryHeap<SampledPair>>,
}

/// A sampled pair.
pub(super) struct SampledPair {
    number: u64,
    url: String,
    kept: String,
    distance: u32,
    resemblance: Option<f64>,
    reason: DropReason,
    size: u64,
    fingerprint: Option<Fingerprint>,
}

impl PairSample {
    pub(super) fn new(size: usize, seed: u64) -> PairSample {
        PairSample { size, seed, by_distance: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, of: &DroppedDuplicate<'_>) {
        let number = number(of.url, self.seed);
        let heap = self.by_distance.entry(of.distance).or_default();
        if heap.len() >= self.size && heap.peek().is_none_or(|greatest| greatest.number <= number) {
            return;
        }
        heap.push(SampledPair {
            number,
            url: of.url.to_owned(),
            kept: of.kept.to_owned(),
            distance: of.distance,
            resemblance: of.resemblance,
            reason: of.reason,
            size: of.size,
            fingerprint: of.fingerprint,
        });
        if heap.len() > self.size {
            heap.pop();
        }
    }

    /// The sampled pairs, by distance.
    pub(super) fn pairs(self) -> impl Iterator<Item = SampledPair> {
        self.by_distance.into_values().flat_map(BinaryHeap::into_sorted_vec)
    }
}

impl PartialEq for SampledPair {
    fn eq(&self, other: &SampledPair) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SampledPair {}

impl PartialOrd for SampledPair {
    fn partial_cmp(&self, other: &SampledPair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders by number, then by URL. No page occurs twice.
impl Ord for SampledPair {
    fn cmp(&self, other: &SampledPair) -> Ordering {
        (self.number, &self.url).cmp(&(other.number, &other.url))
    }
}

impl SampledPair {
    pub(super) fn of(&self) -> DroppedDuplicate<'_> {
        DroppedDuplicate {
            url: &self.url,
            kept: &self.kept,
            distance: self.distance,
            resemblance: self.resemblance,
            reason: self.reason,
            size: self.size,
            fingerprint: self.fingerprint,
        }
    }
}

/// The number of a URL: FNV-1a with a final mix, so that each bit depends on all bits of the hash.
fn number(url: &str, seed: u64) -> u64 {
    let begun = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = url.bytes().fold(begun, step);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_depends_on_the_seed_and_not_the_order() {
        let urls: Vec<String> = (0..1000).map(|n| format!("https://example.com/{n}")).collect();
        let sampled = |seed: u64, backwards: bool| -> Vec<(u32, String)> {
            let mut sample = PairSample::new(3, seed);
            let mut order: Vec<&String> = urls.iter().collect();
            if backwards {
                order.reverse();
            }
            for url in order {
                let (reason, size, fingerprint) = (DropReason::Near, 2, Some(Fingerprint(7)));
                let distance = u32::try_from(url.len() % 2).unwrap();
                let (kept, resemblance) = ("kept", None);
                sample.add(&DroppedDuplicate {
                    url,
                    kept,
                    distance,
                    resemblance,
                    reason,
                    size,
                    fingerprint,
                });
            }
            sample.pairs().map(|pair| (pair.distance, pair.url)).collect()
        };
        let first = sampled(0, false);
        assert_eq!(
            first.iter().map(|(distance, _)| *distance).collect::<Vec<_>>(),
            [0, 0, 0, 1, 1, 1]
        );
        assert_eq!(sampled(0, true), first);
        assert_ne!(sampled(1, false), first);
        assert_eq!(PairSample::new(0, 0).pairs().count(), 0);
    }

    /// The sample contains pages from each tenth of the list about equally often.
    #[test]
    fn sample_is_fair() {
        let mut tenths = [0; 10];
        for seed in 0..2000 {
            let least = (0..100).min_by_key(|page| number(&format!("page {page}"), seed));
            tenths[least.unwrap() / 10] += 1;
        }
        assert!(tenths.iter().all(|count| (130..270).contains(count)), "{tenths:?}");
    }
}
