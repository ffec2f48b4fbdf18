//! Pairs of each distance, drawn by lot.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::lines::{OfDropped, Reason};
use crate::output::json::Fingerprint;

/// So many pairs of each distance: those with the smallest numbers of all, where a number is drawn for
/// each pair by what it is of. The same pages always draw the same.
pub(super) struct Lots {
    size: usize,
    seed: u64,
    by_distance: BTreeMap<u32, BinaryHeap<Drawn>>,
}

/// A pair that was drawn.
pub(super) struct Drawn {
    number: u64,
    url: String,
    kept: String,
    distance: u32,
    resemblance: Option<f64>,
    reason: Reason,
    size: u64,
    fingerprint: u64,
}

impl Lots {
    pub(super) fn new(size: usize, seed: u64) -> Lots {
        Lots { size, seed, by_distance: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, of: &OfDropped<'_>) {
        let number = number(of.url, self.seed);
        let heap = self.by_distance.entry(of.distance).or_default();
        if heap.len() >= self.size && heap.peek().is_none_or(|greatest| greatest.number <= number) {
            return;
        }
        heap.push(Drawn {
            number,
            url: of.url.to_owned(),
            kept: of.kept.to_owned(),
            distance: of.distance,
            resemblance: of.resemblance,
            reason: of.reason,
            size: of.size,
            fingerprint: of.fingerprint.0,
        });
        if heap.len() > self.size {
            heap.pop();
        }
    }

    /// Those that were drawn, by distance.
    pub(super) fn drawn(self) -> impl Iterator<Item = Drawn> {
        self.by_distance.into_values().flat_map(BinaryHeap::into_sorted_vec)
    }
}

impl PartialEq for Drawn {
    fn eq(&self, other: &Drawn) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Drawn {}

impl PartialOrd for Drawn {
    fn partial_cmp(&self, other: &Drawn) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By the number that was drawn; no page comes twice.
impl Ord for Drawn {
    fn cmp(&self, other: &Drawn) -> Ordering {
        (self.number, &self.url).cmp(&(other.number, &other.url))
    }
}

impl Drawn {
    pub(super) fn of(&self) -> OfDropped<'_> {
        OfDropped {
            url: &self.url,
            kept: &self.kept,
            distance: self.distance,
            resemblance: self.resemblance,
            reason: self.reason,
            size: self.size,
            fingerprint: Fingerprint(self.fingerprint),
        }
    }
}

/// The number that a URL draws: FNV-1a, and mixed so that all bits depend on all.
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
    fn the_same_pairs_are_drawn_in_whatever_order_they_come_and_others_by_another_seed() {
        let urls: Vec<String> = (0..1000).map(|n| format!("https://example.com/{n}")).collect();
        let drawn = |seed: u64, backwards: bool| -> Vec<(u32, String)> {
            let mut lots = Lots::new(3, seed);
            let mut order: Vec<&String> = urls.iter().collect();
            if backwards {
                order.reverse();
            }
            for url in order {
                let (reason, size, fingerprint) = (Reason::Near, 2, Fingerprint(7));
                let distance = u32::try_from(url.len() % 2).unwrap();
                let (kept, resemblance) = ("kept", None);
                lots.add(&OfDropped {
                    url,
                    kept,
                    distance,
                    resemblance,
                    reason,
                    size,
                    fingerprint,
                });
            }
            lots.drawn().map(|drawn| (drawn.distance, drawn.url)).collect()
        };
        let first = drawn(0, false);
        assert_eq!(
            first.iter().map(|(distance, _)| *distance).collect::<Vec<_>>(),
            [0, 0, 0, 1, 1, 1]
        );
        assert_eq!(drawn(0, true), first);
        assert_ne!(drawn(1, false), first);
        assert_eq!(Lots::new(0, 0).drawn().count(), 0);
    }

    /// Each tenth of the pages is drawn about as often.
    #[test]
    fn the_lot_is_fair() {
        let mut tenths = [0; 10];
        for seed in 0..2000 {
            let least = (0..100).min_by_key(|page| number(&format!("page {page}"), seed));
            tenths[least.unwrap() / 10] += 1;
        }
        assert!(tenths.iter().all(|drawn| (130..270).contains(drawn)), "{tenths:?}");
    }
}
