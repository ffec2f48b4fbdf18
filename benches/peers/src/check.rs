//! Whether an engine finds what the linear scan finds.

use crate::data::Data;
use crate::engine::{Engine, Hit, Wanted};

/// Searches that are checked, and what they should find: without a limit, nearest first.
pub(crate) struct Truth {
    searches: Vec<(u64, Vec<Hit>)>,
}

/// How an engine did.
pub(crate) struct Score {
    /// Searches that were checked.
    pub(crate) searches: usize,
    /// Of what should be found, the share that was.
    pub(crate) recall: f64,
    /// Searches that found all that they should, and nothing else.
    pub(crate) agreeing: usize,
    /// What there was to find.
    pub(crate) expected: usize,
}

impl Truth {
    /// By comparing each query with each page, one after another.
    pub(crate) fn new(data: &Data, k: u32, queries: &[u64]) -> Truth {
        let scan = |query: &u64| {
            let near = |(fingerprint, page): (u64, u32)| {
                let distance = (fingerprint ^ query).count_ones();
                (distance <= k).then_some(Hit { distance, page })
            };
            let mut hits: Vec<Hit> = data.pages().filter_map(near).collect();
            hits.sort_unstable();
            (*query, hits)
        };
        Truth { searches: queries.iter().map(scan).collect() }
    }

    /// Asks an engine the same.
    pub(crate) fn score(&self, engine: &mut dyn Engine, wanted: Wanted) -> Score {
        let (mut expected, mut found, mut agreeing) = (0, 0, 0);
        for (query, all) in &self.searches {
            let mut hits = engine.hits(*query);
            hits.sort_unstable();
            let nearest = &all[..all.len().min(wanted.limit)];
            let right = hits.iter().filter(|hit| all.binary_search(hit).is_ok()).count();
            expected += nearest.len();
            found += right.min(nearest.len());
            // Of pages equally far it does not matter which are left out.
            let distances = |hits: &[Hit]| hits.iter().map(|h| h.distance).collect::<Vec<u32>>();
            let same = right == hits.len() && distances(&hits) == distances(nearest);
            agreeing += usize::from(same);
        }
        let recall = if expected == 0 { 1.0 } else { found as f64 / expected as f64 };
        Score { searches: self.searches.len(), recall, agreeing, expected }
    }
}
