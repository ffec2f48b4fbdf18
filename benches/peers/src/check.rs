//! Checks whether an engine finds what a linear scan finds.

use crate::data::PeerData;
use crate::engine::{PeerHit, QueryOptions, SearchEngine};

/// Queries to check, with all their hits, the nearest first.
pub(crate) struct CheckedSearches {
    searches: Vec<(u64, Vec<PeerHit>)>,
}

/// The results of checking an engine.
pub(crate) struct RecallScore {
    /// The number of checked searches.
    pub(crate) searches: usize,
    /// The fraction of expected hits that were found.
    pub(crate) recall: f64,
    /// The number of searches that found all expected hits and no others.
    pub(crate) agreeing: usize,
    /// The number of expected hits.
    pub(crate) expected: usize,
}

impl CheckedSearches {
    /// Computes the hits by comparing each query with each page.
    pub(crate) fn new(data: &PeerData, k: u32, queries: &[u64]) -> CheckedSearches {
        let scan = |query: &u64| {
            let near = |(fingerprint, page): (u64, u32)| {
                let distance = (fingerprint ^ query).count_ones();
                (distance <= k).then_some(PeerHit { distance, page })
            };
            let mut hits: Vec<PeerHit> = data.pages().filter_map(near).collect();
            hits.sort_unstable();
            (*query, hits)
        };
        CheckedSearches { searches: queries.iter().map(scan).collect() }
    }

    /// Checks an engine with these queries.
    pub(crate) fn score(&self, engine: &mut dyn SearchEngine, wanted: QueryOptions) -> RecallScore {
        let (mut expected, mut found, mut agreeing) = (0, 0, 0);
        for (query, all) in &self.searches {
            let mut hits = engine.hits(*query);
            hits.sort_unstable();
            let nearest = &all[..all.len().min(wanted.limit)];
            let right = hits.iter().filter(|hit| all.binary_search(hit).is_ok()).count();
            expected += nearest.len();
            found += right.min(nearest.len());
            // Of hits at the same distance, any may be left out.
            let distances =
                |hits: &[PeerHit]| hits.iter().map(|h| h.distance).collect::<Vec<u32>>();
            let same = right == hits.len() && distances(&hits) == distances(nearest);
            agreeing += usize::from(same);
        }
        let recall = if expected == 0 { 1.0 } else { found as f64 / expected as f64 };
        RecallScore { searches: self.searches.len(), recall, agreeing, expected }
    }
}
