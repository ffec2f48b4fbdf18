//! What was worked out already of pages that are believed to change alike.

use crate::recrawl::{Belief, Class, Code, Index, Worths};

/// Places of whoever goes through all pages. The beliefs take 8 MiB.
const PLACES: usize = 1 << 14;

/// By so much a worth may fall, in rounding, where it should rise with the time.
const ROUNDING: f64 = 1.0 + 1e-9;

/// What a page is believed by: the prior of its host, what its comparisons tell, and, if it goes by what
/// a visit is worth, by which index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Of {
    pub(super) class: Class,
    pub(super) code: Code,
    pub(super) index: Option<Index>,
}

/// What a thread has worked out already: one place for each hash, where the last one is kept.
#[derive(Debug)]
pub(super) struct Worked {
    places: Vec<Option<Place>>,
}

#[derive(Clone, Debug)]
struct Place {
    of: Of,
    belief: Box<Belief>,
    /// The longest time that was found to be worth too little, and what it is worth: no shorter one is
    /// worth more.
    calm: (u64, f64),
}

impl Default for Worked {
    fn default() -> Worked {
        Worked { places: vec![None; PLACES] }
    }
}

impl Of {
    /// A number that is its own.
    fn bits(self) -> u64 {
        let index = match self.index {
            None => 0,
            Some(Index::Value) => 1,
            Some(Index::Harmonic) => 2,
        };
        u64::from(self.code.bits()) | u64::from(self.class.number()) << 32 | index << 48
    }
}

impl Worked {
    /// For one page, or for pages in order of what they are believed by.
    pub(super) fn of_one() -> Worked {
        Worked { places: vec![None] }
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
    #[expect(clippy::cast_possible_truncation, reason = "half of the bits")]
    fn place(&mut self, of: Of) -> &mut Place {
        // There are as many as a power of two.
        let hash = of.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = hash as usize & (self.places.len() - 1);
        let place = &mut self.places[place];
        let kept = place.take_if(|place| place.of == of);
        place.insert(kept.unwrap_or_else(|| Place::new(of)))
    }

    /// What is believed of the rate.
    pub(super) fn belief(&mut self, of: Of) -> &Belief {
        &self.place(of).belief
    }

    /// What a visit is worth to a page of weight 1, so many seconds after the last one; none if it is
    /// known to be less than `floor`.
    #[inline]
    pub(super) fn worth(
        &mut self,
        of: Of,
        worths: &Worths,
        seconds: u64,
        floor: f64,
    ) -> Option<f64> {
        let place = self.place(of);
        let (calm, least) = place.calm;
        if seconds <= calm && least * ROUNDING < floor {
            return None;
        }
        let worth = worths.at(&place.belief, seconds);
        if worth < floor && seconds > calm {
            place.calm = (seconds, worth);
        }
        Some(worth)
    }
}

impl Place {
    fn new(of: Of) -> Place {
        let belief = Belief::new(&of.class.prior(), &of.code.likelihood());
        Place { of, belief: Box::new(belief), calm: (0, 0.0) }
    }
}
