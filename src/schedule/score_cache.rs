//! What was worked out already of pages that are believed to change alike.

use crate::recrawl::{Belief, Class, Code, Index, Odds};

/// Places for likelihoods at most, as a power of two: 2 MiB.
const CODES_LOG2: u32 = 12;

/// Places at least, as a power of two.
const LEAST_LOG2: u32 = 4;

/// What a page is believed by: the prior of its host, what its comparisons tell, and, if it goes by what
/// a visit is worth, by which index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Of {
    pub(super) class: Class,
    pub(super) code: Code,
    pub(super) index: Option<Index>,
}

impl Of {
    /// Itself, in the lower 52 bits.
    pub(super) fn bits(self) -> u64 {
        let index = match self.index {
            None => 0,
            Some(Index::Value) => 1,
            Some(Index::Harmonic) => 2,
        };
        u64::from(self.code.bits()) | u64::from(self.class.number()) << 32 | index << 48
    }
}

/// What a thread has worked out already. Of things with one hash the last one is kept.
#[derive(Debug)]
pub(super) struct ScoreCache {
    priors: Kept<Class, Box<Odds>>,
    likelihoods: Kept<Code, Box<Odds>>,
}

/// Some of what was worked out, each in the place of its hash.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    places: Vec<Option<(K, V)>>,
}

/// What has a hash.
pub(super) trait Hashed: Copy + PartialEq {
    fn bits(self) -> u64;
}

impl Hashed for Class {
    fn bits(self) -> u64 {
        self.number().into()
    }
}

impl Hashed for Code {
    fn bits(self) -> u64 {
        Code::bits(self).into()
    }
}

impl<K: Hashed, V> Kept<K, V> {
    /// With as many places as this power of two.
    pub(super) fn new(log2: u32) -> Self {
        Kept { places: std::iter::repeat_with(|| None).take(1 << log2).collect() }
    }

    /// What is kept, or made anew.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
    pub(super) fn get(&mut self, of: K, make: impl FnOnce() -> V) -> &mut V {
        let hash = of.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = hash as usize & (self.places.len() - 1);
        let place = &mut self.places[place];
        if place.as_ref().is_some_and(|(kept, _)| *kept != of) {
            *place = None;
        }
        &mut place.get_or_insert_with(|| (of, make())).1
    }
}

impl ScoreCache {
    /// For about so many pages.
    pub(super) fn of(pages: u64) -> ScoreCache {
        let log2 = pages.checked_ilog2().unwrap_or(0).clamp(LEAST_LOG2, CODES_LOG2);
        ScoreCache { priors: Kept::new(log2), likelihoods: Kept::new(log2) }
    }

    /// What is believed of the rate.
    pub(super) fn belief(&mut self, of: Of) -> Belief {
        let prior = self.priors.get(of.class, || Box::new(of.class.prior().odds()));
        let likelihood = || Box::new(of.code.likelihood().odds());
        Belief::of(prior, self.likelihoods.get(of.code, likelihood))
    }
}
