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
    /// The best scores of all components: what is worse than all of them is not among the best.
    scores: BinaryHeap<Reverse<Score>>,
    /// Whether any page was left out.
    more: bool,
}

impl Candidates {
    /// Of so many components, and at most so many pages of each.
    pub(super) fn new(components: usize, most: usize) -> Candidates {
        let best = (0..components).map(|_| BinaryHeap::new()).collect();
        Candidates { most, best, scores: BinaryHeap::new(), more: false }
    }

    /// The score that a page needs to be among the best so far.
    #[inline]
    pub(super) fn floor(&self) -> Score {
        let worst = self.scores.peek().filter(|_| self.scores.len() >= self.most);
        worst.map_or(Score::LEAST, |worst| worst.0)
    }

    /// Leaves a page out whose score is less.
    #[inline]
    pub(super) fn pass_over(&mut self) {
        self.more = true;
    }

    /// Takes a page of a component, if it is among the best so far.
    #[inline]
    pub(super) fn push(&mut self, component: usize, candidate: Candidate) {
        if candidate.score < self.floor() {
            self.pass_over();
        } else {
            self.take(component, candidate);
        }
    }

    #[expect(clippy::indexing_slicing, reason = "there is one for each component")]
    fn take(&mut self, component: usize, candidate: Candidate) {
        self.scores.push(Reverse(candidate.score));
        if self.scores.len() > self.most {
            self.scores.pop();
        }
        let best = &mut self.best[component];
        best.push(Reverse(candidate));
        if best.len() > self.most {
            best.pop();
            self.more = true;
        }
    }

    /// Takes all that another one has, of the same components.
    pub(super) fn merge(&mut self, other: Candidates) {
        self.more |= other.more;
        for (component, best) in other.best.into_iter().enumerate() {
            best.into_iter().for_each(|Reverse(candidate)| self.push(component, candidate));
        }
    }

    /// The best of each component, the best one last; and whether there are more.
    pub(super) fn finish(self) -> (Vec<Vec<Candidate>>, bool) {
        let ascending = |best: BinaryHeap<Reverse<Candidate>>| {
            let mut best: Vec<Candidate> = best.into_iter().map(|Reverse(one)| one).collect();
            best.sort_unstable();
            best
        };
        (self.best.into_iter().map(ascending).collect(), self.more)
    }
}
