//! The best pages that were met, as many as memory holds.

use std::cmp::Reverse;

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
    best: Vec<Vec<Candidate>>,
    /// The scores of all components that may be among the best.
    scores: Vec<Score>,
    /// The score that a page needs to be among the best so far, or less.
    floor: Score,
    /// Whether any page was left out.
    more: bool,
}

impl Candidates {
    /// Of so many components, and at most so many pages of each. Up to twice as many are held.
    pub(super) fn new(components: usize, most: usize) -> Candidates {
        let best = vec![Vec::new(); components];
        Candidates { most, best, scores: Vec::new(), floor: Score::LEAST, more: false }
    }

    /// A score that pages need to be among the best so far.
    #[inline]
    pub(super) fn floor(&self) -> Score {
        self.floor
    }

    /// Leaves a page out whose score is less.
    #[inline]
    pub(super) fn pass_over(&mut self) {
        self.more = true;
    }

    /// Takes a page of a component, if it may be among the best so far.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is one for each component")]
    pub(super) fn push(&mut self, component: usize, candidate: Candidate) {
        if candidate.score < self.floor {
            return self.pass_over();
        }
        self.scores.push(candidate.score);
        self.best[component].push(candidate);
        if self.scores.len() / 2 >= self.most {
            self.trim();
        }
    }

    /// Leaves out what is not among the best so far.
    fn trim(&mut self) {
        if let Some(last) = self.most.checked_sub(1).filter(|last| *last < self.scores.len()) {
            let (_, floor, _) = self.scores.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.floor = *floor;
            self.scores.truncate(self.most);
        }
        for best in &mut self.best {
            let all = best.len();
            best.retain(|candidate| candidate.score >= self.floor);
            if best.len() > self.most {
                best.select_nth_unstable_by(self.most, |a, b| b.cmp(a));
                best.truncate(self.most);
            }
            self.more |= best.len() < all;
        }
    }

    /// Takes all that another one has, of the same components.
    pub(super) fn merge(&mut self, other: Candidates) {
        self.more |= other.more;
        for (component, best) in other.best.into_iter().enumerate() {
            best.into_iter().for_each(|candidate| self.push(component, candidate));
        }
    }

    /// The best of each component, the best one last; and whether there are more.
    pub(super) fn finish(mut self) -> (Vec<Vec<Candidate>>, bool) {
        self.trim();
        self.best.iter_mut().for_each(|best| best.sort_unstable());
        (self.best, self.more)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_sorting_all(
            all in prop::collection::vec((0usize..3, 0u8..20), 0..300),
            most in 1usize..40,
            parts in 1usize..4,
        ) {
            let mut some: Vec<_> = (0..parts).map(|_| Candidates::new(3, most)).collect();
            let mut sorted = Vec::new();
            for (page, (component, score)) in (0..).zip(&all) {
                let score = Score::of_test(*score);
                let candidate = Candidate { score, page: Reverse(page) };
                some[page as usize % parts].push(*component, candidate);
                sorted.push((candidate, *component));
            }
            let found = some.into_iter().reduce(|mut all, one| { all.merge(one); all });
            let (best, more) = found.unwrap().finish();
            // Ties between components are for URLs to decide: so many of each are there.
            sorted.sort_unstable();
            sorted.reverse();
            let least = sorted.get(most - 1).map(|(least, _)| least.score);
            for (component, best) in best.iter().enumerate() {
                let mut expected: Vec<_> =
                    sorted.iter().filter(|(_, of)| *of == component).map(|(one, _)| *one).collect();
                expected.retain(|one| least.is_none_or(|least| one.score >= least));
                expected.truncate(most);
                expected.reverse();
                prop_assert_eq!(best, &expected);
            }
            prop_assert_eq!(more, best.iter().map(Vec::len).sum::<usize>() < all.len());
        }
    }
}
