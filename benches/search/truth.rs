//! The expected results of a search, from a comparison with every page.

use simkeep::Matches;

use crate::data;

/// A page that is near: its distance, URL and fingerprint.
pub(crate) type TrueHit = (u32, String, u64);

/// All pages within `k` of a query, where page number `i` has fingerprint number `i`; in order.
pub(crate) fn near(fingerprints: &[u64], query: u64, k: u32) -> Vec<TrueHit> {
    let pages = fingerprints.iter().enumerate();
    let near = |(i, fingerprint): (usize, &u64)| {
        let distance = (fingerprint ^ query).count_ones();
        (distance <= k).then(|| {
            let mut url = String::new();
            data::url(i, &mut url);
            (distance, url, *fingerprint)
        })
    };
    let mut hits: Vec<TrueHit> = pages.filter_map(near).collect();
    hits.sort_unstable();
    hits
}

/// The hits in a result, in order.
pub(crate) fn named(answer: &Matches) -> Vec<TrueHit> {
    let hit = |near: &simkeep::NearMatch| (near.distance, near.url.clone(), near.fingerprint);
    let mut hits: Vec<TrueHit> = answer.near.iter().map(hit).collect();
    hits.sort_unstable();
    hits
}

/// The number of compared searches, and of expected and found hits.
#[derive(Clone, Copy, Default)]
pub(crate) struct HitScore {
    /// The number of searches.
    pub(crate) searches: u64,
    /// The number of expected hits.
    pub(crate) expected: u64,
    found: u64,
}

impl HitScore {
    /// Adds a result, which must have all hits of `truth` and no others.
    pub(crate) fn add(&mut self, answer: &Matches, truth: &[TrueHit]) {
        let named = named(answer);
        self.searches += 1;
        self.expected += truth.len() as u64;
        self.found += truth.iter().filter(|hit| named.binary_search(hit).is_ok()).count() as u64;
        assert!(answer.complete, "nothing was left out");
        assert_eq!(named, truth, "what is near, all of it, and nothing else");
    }

    /// The fraction of expected hits that were found.
    pub(crate) fn recall(&self) -> f64 {
        if self.expected == 0 { 1.0 } else { self.found as f64 / self.expected as f64 }
    }
}
