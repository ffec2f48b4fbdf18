//! The number of pages per fingerprint, of all fingerprints or a sample; and a sample of pages.

use std::collections::{BinaryHeap, HashMap};

use super::SampledPage;
use crate::segment::url_hash;
use crate::splitmix::{STEP, mix};

/// The maximum number of distinct fingerprints to count.
const COUNTED: usize = 1 << 20;

/// Counts pages by fingerprint. With too many fingerprints, keeps only the fingerprints whose hash
/// is below a bound, and counts all pages of these fingerprints.
#[derive(Debug, Default)]
pub(super) struct FingerprintSample {
    pages: HashMap<u64, u64>,
    /// A fingerprint is counted if its hash begins with this number of zero bits.
    zeros: u32,
}

/// The maximum number of pages in the sample.
const DRAWN: usize = 10_000;

/// A sample of pages: the pages whose URLs have the smallest hashes.
#[derive(Debug, Default)]
pub(super) struct PageSample {
    /// A heap with the largest hash at the top.
    pages: BinaryHeap<(u64, String, u64)>,
}

impl PageSample {
    pub(super) fn add(&mut self, url: &str, fingerprint: u64) {
        // The hash is not seeded, so that samples of two stores can be compared.
        let hash = url_hash(url, 0);
        if self.pages.len() == DRAWN {
            if self.pages.peek().is_some_and(|(largest, ..)| hash >= *largest) {
                return;
            }
            self.pages.pop();
        }
        self.pages.push((hash, url.to_owned(), fingerprint));
    }

    pub(super) fn finish(self) -> Vec<SampledPage> {
        let pages = self.pages.into_sorted_vec().into_iter();
        pages.map(|(_, url, fingerprint)| SampledPage { url, fingerprint }).collect()
    }
}

/// Hashes a fingerprint with `splitmix64`, so that each bit of the hash depends on all input bits.
fn hash(fingerprint: u64) -> u64 {
    mix(fingerprint.wrapping_add(STEP))
}

impl FingerprintSample {
    /// Counts a page with this fingerprint.
    pub(super) fn add(&mut self, fingerprint: u64) {
        if hash(fingerprint).leading_zeros() < self.zeros {
            return;
        }
        *self.pages.entry(fingerprint).or_default() += 1;
        while self.pages.len() > COUNTED {
            self.zeros += 1;
            let zeros = self.zeros;
            self.pages.retain(|fingerprint, _| hash(*fingerprint).leading_zeros() >= zeros);
        }
    }

    /// The share of counted fingerprints among all fingerprints.
    pub(super) fn share(&self) -> f64 {
        0.5_f64.powi(self.zeros.cast_signed())
    }

    /// Returns the counted fingerprints, each with its number of pages.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.pages.iter().map(|(fingerprint, pages)| (*fingerprint, *pages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_counts_its_pages_completely() {
        let mut sample = FingerprintSample::default();
        let all = 3 * COUNTED as u64;
        for page in 0..2 * all {
            sample.add(page % all);
        }
        let counted = sample.iter().count();
        assert!(counted <= COUNTED);
        assert!(sample.iter().all(|(_, pages)| pages == 2));
        let estimate = counted as f64 / sample.share() / all as f64;
        assert!((0.99..1.01).contains(&estimate), "{estimate}");
    }
}
