//! What a visit means for its page, with what that makes its content worth.

use super::{Verdict, Weight};

/// What a visit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) verdict: Verdict,
    /// Whether it saw content that is like none of the versions at hand: none of them has its digest,
    /// or is at most a minor change away. Of what is compared with the visit before, that is so of each
    /// change that is no return, and of nothing else.
    pub(crate) novel: bool,
}

/// The distance from which on content is as good as new: that of two fingerprints that have nothing
/// to do with each other, on average.
const UNRELATED: u32 = u64::BITS / 2;

impl Ruling {
    /// The first content of a page.
    pub(crate) const NEW: Ruling = Ruling { verdict: Verdict::New, novel: true };

    /// How much what a visit saw is worth being processed further, if the page has this weight after
    /// it: all of that for content that has nothing to do with the version before, or may have.
    pub(crate) fn priority(self, weight: Weight) -> f64 {
        let share = match self.verdict {
            Verdict::New => 1.0,
            Verdict::Changed { distance } | Verdict::Reverted { distance, .. } => {
                let share = |bits: u32| f64::from(bits.min(UNRELATED)) / f64::from(UNRELATED);
                distance.map_or(1.0, |distance| share(distance.bits))
            }
            Verdict::Same(_) | Verdict::Unseen | Verdict::Gone | Verdict::Failed => 0.0,
            // What was seen later stands, and that was processed.
            Verdict::OutOfOrder | Verdict::Known => 0.0,
        };
        f64::from(weight.get()) * share
    }
}

/// Of a visit that saw nothing new to the page.
impl From<Verdict> for Ruling {
    fn from(verdict: Verdict) -> Ruling {
        Ruling { verdict, novel: false }
    }
}
