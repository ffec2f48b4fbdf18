//! Which times were found to be worth too little.

use super::score::ByWorth;

/// Places at most, as a power of two: 2 MiB.
const PLACES_LOG2: u32 = 17;

/// Places at least, as a power of two.
const LEAST_LOG2: u32 = 4;

/// By so much a worth may fall, in rounding, where it should rise with the time.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Of pages that are believed alike, the longest time that was found to be worth too little. No shorter
/// one is worth more.
///
/// Of those with one hash the last one is kept. Pages whose weights are octaves apart are told apart:
/// else what is too little for heavy ones would be left out for what is too little for light ones.
#[derive(Debug)]
pub(super) struct SkipCache {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    of: u64,
    seconds: u32,
    /// What a page of weight 1 is worth then, or more. At first nothing is, after no time.
    worth: f32,
}

impl SkipCache {
    /// For about so many pages.
    pub(super) fn of(pages: u64) -> SkipCache {
        let log2 = pages.checked_ilog2().unwrap_or(0).clamp(LEAST_LOG2, PLACES_LOG2);
        SkipCache { places: vec![Place::default(); 1 << log2] }
    }

    #[inline]
    fn place(&self, of: u64) -> usize {
        let hash = of.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        hash as usize & (self.places.len() - 1)
    }

    /// Whether a page is known to be worth less than `floor`; if not, nothing is known.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
    pub(super) fn knows(&self, page: &ByWorth, floor: f64) -> bool {
        let of = key(page);
        let place = &self.places[self.place(of)];
        place.of == of
            && page.seconds <= place.seconds.into()
            && f64::from(place.worth) * ROUNDING * page.weight < floor
    }

    /// Notes what a page is worth: too little.
    #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
    pub(super) fn note(&mut self, page: &ByWorth, worth: f64) {
        let of = key(page);
        let place = self.place(of);
        let place = &mut self.places[place];
        let seconds = u32::try_from(page.seconds).unwrap_or(0);
        if place.of != of || seconds > place.seconds {
            #[expect(clippy::cast_possible_truncation, reason = "rounded, and then not less")]
            let worth = ((worth / page.weight) as f32).next_up();
            *place = Place { of, seconds, worth };
        }
    }
}

/// What pages are believed by, with the octave of their weight.
#[inline]
fn key(page: &ByWorth) -> u64 {
    page.of.bits() | page.weight.to_bits() >> 52 << 52
}

#[cfg(test)]
mod tests {
    use super::super::score_cache::Of;
    use super::*;
    use crate::recrawl::Index;

    fn page(weight: f64, seconds: u64) -> ByWorth {
        let of = Of { index: Some(Index::Value), ..Of::default() };
        ByWorth { of, weight, seconds }
    }

    #[test]
    fn it_knows_of_times_that_are_not_longer() {
        let mut skip_cache = SkipCache::of(1);
        let knows = |skip_cache: &SkipCache, weight, seconds, floor| {
            skip_cache.knows(&page(weight, seconds), floor)
        };
        assert!(!knows(&skip_cache, 1.0, 0, 1.0));
        skip_cache.note(&page(1.0, 100), 2.0);
        assert!(knows(&skip_cache, 1.0, 100, 2.001) && knows(&skip_cache, 1.0, 0, 2.001));
        assert!(!knows(&skip_cache, 1.0, 101, 3.0) && !knows(&skip_cache, 1.0, 100, 2.0));
        // Within an octave of weights.
        assert!(knows(&skip_cache, 1.5, 100, 3.001) && !knows(&skip_cache, 1.5, 100, 3.0));
        assert!(!knows(&skip_cache, 2.0, 100, 9.0));
    }

    #[test]
    fn of_two_times_it_keeps_the_longer_one() {
        let mut skip_cache = SkipCache::of(1);
        skip_cache.note(&page(1.0, 100), 2.0);
        skip_cache.note(&page(1.0, 50), 1.0);
        assert!(skip_cache.knows(&page(1.0, 100), 2.1));
        // Of what is longer than it can say it keeps nothing.
        skip_cache.note(&page(1.0, u64::MAX), 1.0);
        assert!(!skip_cache.knows(&page(1.0, 101), 2.1));
    }
}
