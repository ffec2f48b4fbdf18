//! What an entry does to its page, told before it is applied.

use std::mem;

use crate::page::{
    Content, Entry, EpochInfo, Head, InForce, PageState, Verdict, Visit, VisitVerdict, Weight,
    in_force_on, visit_verdict,
};

/// What an entry does to its page.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// What a visit means; none if that takes a look at the visits that were before, or it is
    /// restated and no visit.
    pub(crate) verdict: Option<VisitVerdict>,
    /// What the page was before and is after.
    pub(crate) states: (PageState, PageState),
    /// What is in force after.
    pub(crate) after: InForce,
    /// Which of that was in force before, too: a bit for each, the lowest for the first. A page never
    /// has more in force than there are bits.
    kept: u64,
    /// The weight in force after.
    pub(crate) weight: Weight,
}

impl Effect {
    /// The effect on a page with this head, which takes the entry in. `also` are further fingerprints
    /// of what a visit saw.
    pub(crate) fn of(
        head: &mut Option<Head>,
        entry: &Entry,
        also: &[Content],
        epochs: &[EpochInfo],
    ) -> Effect {
        let visit = entry.visit();
        let verdict = visit.and_then(|visit| verdict_by_head(head.as_ref(), visit, also, epochs));
        let state = PageState::of(head.as_ref());
        let before = in_force_on(head.as_ref());
        // From here on the head is the one after. What it was before is kept in the variables above.
        Head::absorb_into(head, *entry);
        let after = in_force_on(head.as_ref());
        // A head has 64 contents at most, so there is a bit for each.
        let of = |(place, content): (u32, &Content)| u64::from(before.contains(content)) << place;
        let kept = (0..u64::BITS).zip(&after).map(of).sum();
        let weight = head.as_ref().map_or(Weight::ONE, |head| head.properties.weight());
        let states = (state, PageState::of(head.as_ref()));
        Effect { verdict, states, after, kept, weight }
    }

    /// The effect, of which nothing is left here that is worth applying.
    pub(crate) fn take(&mut self) -> Effect {
        Effect { after: mem::take(&mut self.after), ..*self }
    }

    /// What is in force after, each with whether it was before.
    pub(super) fn in_force(&self) -> impl Iterator<Item = (&Content, bool)> {
        (0..u64::BITS).zip(&self.after).map(|(place, after)| (after, self.kept >> place & 1 == 1))
    }
}

/// What a visit means to a page with this head, if the head tells.
fn verdict_by_head(
    head: Option<&Head>,
    visit: &Visit,
    also: &[Content],
    epochs: &[EpochInfo],
) -> Option<VisitVerdict> {
    match head {
        Some(head) if *visit == head.last => Some(Verdict::Known.into()),
        Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder.into()),
        // In between, only the entries of that time say whether the visit is known.
        Some(head) if *visit < head.last => None,
        head => Some(visit_verdict(head, visit, also, epochs)),
    }
}
