//! The effect of an entry on its page, computed before the entry is applied.

use std::mem;

use crate::page::{
    Content, Entry, EpochInfo, InForceContents, PageHead, PageState, Verdict, Visit, VisitVerdict,
    Weight, in_force_on, visit_verdict,
};

/// The effect of an entry on its page.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The verdict on a visit; `None` if the verdict depends on earlier visits that must be read,
    /// or if the entry is a restatement or a property.
    pub(crate) verdict: Option<VisitVerdict>,
    /// The states of the page before and after the entry.
    pub(crate) states: (PageState, PageState),
    /// The content in force after the entry.
    pub(crate) after: InForceContents,
    /// Which contents in force after the entry were in force before it, too: a bit for each content
    /// in `after`, the lowest bit for the first content. A page never has more contents in force
    /// than there are bits.
    kept: u64,
    /// The weight in force after the entry.
    pub(crate) weight: Weight,
}

impl Effect {
    /// Computes the effect on a page whose head is `head`, and adds the entry to the head. `also`
    /// are further fingerprints of a visit's content.
    pub(crate) fn of(
        head: &mut Option<PageHead>,
        entry: &Entry,
        also: &[Content],
        epochs: &[EpochInfo],
    ) -> Effect {
        let visit = entry.visit();
        let verdict = visit.and_then(|visit| verdict_by_head(head.as_ref(), visit, also, epochs));
        let state = PageState::of(head.as_ref());
        let before = in_force_on(head.as_ref());
        // `head` is the new head after this line. The variables above keep the old state.
        PageHead::absorb_into(head, entry);
        let after = in_force_on(head.as_ref());
        // A head has 64 contents at most, so there is a bit for each content.
        let of = |(place, content): (u32, &Content)| u64::from(before.contains(content)) << place;
        let kept = (0..u64::BITS).zip(&after).map(of).sum();
        let weight = head.as_ref().map_or(Weight::ONE, |head| head.properties.weight());
        let states = (state, PageState::of(head.as_ref()));
        Effect { verdict, states, after, kept, weight }
    }

    /// Takes the effect, and leaves an empty effect.
    pub(crate) fn take(&mut self) -> Effect {
        Effect { after: mem::take(&mut self.after), ..*self }
    }

    /// The contents in force after the entry, each with whether it was in force before.
    pub(super) fn in_force(&self) -> impl Iterator<Item = (&Content, bool)> {
        (0..u64::BITS).zip(&self.after).map(|(place, after)| (after, self.kept >> place & 1 == 1))
    }
}

/// The verdict on a visit to a page with the head `head`; `None` if the head is not enough.
fn verdict_by_head(
    head: Option<&PageHead>,
    visit: &Visit,
    also: &[Content],
    epochs: &[EpochInfo],
) -> Option<VisitVerdict> {
    match head {
        Some(head) if *visit == head.last => Some(Verdict::Known.into()),
        Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder.into()),
        // Between the first and the last visit, only the entries of that time show whether the
        // visit is known.
        Some(head) if *visit < head.last => None,
        head => Some(visit_verdict(head, visit, also, epochs)),
    }
}
