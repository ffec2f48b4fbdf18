//! Selects the best pages without computing the score of every page.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::discovered_page::DiscoveredPage;
use super::page::SimulatedPage;
use crate::recrawl::error::Result;

/// A page with its score. Of pages with equal scores, the first in the list is better.
struct ScoredIndex {
    score: f64,
    at: usize,
}

impl Ord for ScoredIndex {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for ScoredIndex {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScoredIndex {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ScoredIndex {}

/// Returns the indexes of at most `count` pages with the highest scores, the best page first.
///
/// The ceiling of a page is an upper bound of its score, and rises by `rise` at each step. The
/// score of a page is computed only if its ceiling reaches the scores found so far. So pages that
/// are far from due cost nothing. The ceiling of a page that was not visited for `largest_days` has
/// no bound.
pub(super) fn best<P: SimulatedPage>(
    pages: &mut [DiscoveredPage<'_, P>],
    (day, largest_days): (f64, f64),
    count: usize,
    rise: f64,
) -> Result<Vec<usize>> {
    for page in pages.iter_mut() {
        page.ceiling += rise;
        if page.is_overdue(day, largest_days) {
            page.ceiling = f64::INFINITY;
        }
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let ceiling =
        |(at, page): (usize, &DiscoveredPage<'_, P>)| ScoredIndex { score: page.ceiling, at };
    let mut ceilings: BinaryHeap<ScoredIndex> = pages.iter().enumerate().map(ceiling).collect();
    let mut best: BinaryHeap<Reverse<ScoredIndex>> = BinaryHeap::new();
    while let Some(ScoredIndex { score: ceiling, at }) = ceilings.pop() {
        let worst = best.peek().filter(|_| best.len() == count).map(|worst| worst.0.score);
        if worst.is_some_and(|worst| ceiling < worst) {
            break;
        }
        let Some(page) = pages.get_mut(at) else { continue };
        let score = page.score(day, largest_days)?;
        page.ceiling = score.unwrap_or(0.0);
        if let Some(score) = score {
            best.push(Reverse(ScoredIndex { score, at }));
            if best.len() > count {
                best.pop();
            }
        }
    }
    // The heap is reversed, so the best page comes first.
    Ok(best.into_sorted_vec().into_iter().map(|ranked| ranked.0.at).collect())
}
