//! The best pages that were met, as many as memory holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::score::Score;

/// A page of a component that may be among the best; the better one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) score: Score,
    /// Its place in SURT order: of equal scores the first page is the better one.
    pub(super) page: Reverse<u32>,
}

/// The best of each component.
///
/// In a component SURT order is the order of numbers, so no URL is read before it is known which pages
/// are the best. The best of all are among the best of each.
#[derive(Debug)]
pub(super) struct Candidates {
    most: usize,
    best: Vec<BinaryHeap<Reverse<Candidate>>>,
}

impl Candidates {
    /// At most so many of each component.
    pub(super) fn new(components: usize, most: usize) -> Candidates {
        Candidates { most, best: (0..components).map(|_| BinaryHeap::new()).collect() }
    }

    /// Takes a page of a component, if it is among the best so far.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is one for each component")]
    pub(super) fn push(&mut self, component: usize, candidate: Candidate) {
        let best = &mut self.best[component];
        if best.len() < self.most {
            best.push(Reverse(candidate));
        } else if let Some(mut worst) = best.peek_mut()
            && worst.0 < candidate
        {
            *worst = Reverse(candidate);
        }
    }

    /// Takes all that another one has, of the same components.
    pub(super) fn merge(&mut self, other: Candidates) {
        for (component, best) in other.best.into_iter().enumerate() {
            best.into_iter().for_each(|Reverse(candidate)| self.push(component, candidate));
        }
    }

    /// The best of each component, the best one last; and whether there may be more.
    pub(super) fn finish(self) -> (Vec<Vec<Candidate>>, bool) {
        let more = self.best.iter().any(|best| best.len() >= self.most);
        let ascending = |best: BinaryHeap<Reverse<Candidate>>| {
            let mut best: Vec<Candidate> = best.into_iter().map(|Reverse(one)| one).collect();
            best.sort_unstable();
            best
        };
        (self.best.into_iter().map(ascending).collect(), more)
    }
}
