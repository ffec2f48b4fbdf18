//! What an entry does to its page, told before it is applied.

use crate::page::{Content, Entry, EpochInfo, Head, InForce, Verdict, Visit, judge};

/// What an entry does to its page.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// What a visit means; none if that takes a look at the visits that were before, or it is
    /// restated and no visit.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the page was not known before.
    pub(crate) first: bool,
    /// What was in force before, and what is after.
    pub(crate) before: InForce,
    pub(crate) after: InForce,
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
        let in_force =
            |head: &Option<Head>| head.as_ref().map_or_else(InForce::new, Head::in_force);
        let visit = entry.visit();
        let verdict = visit.and_then(|visit| verdict(head.as_ref(), visit, also, epochs));
        let first = head.is_none() && visit.is_some();
        let before = in_force(head);
        Head::absorb_into(head, *entry);
        Effect { verdict, first, before, after: in_force(head) }
    }
}

/// What a visit means to a page with this head, if the head tells.
fn verdict(
    head: Option<&Head>,
    visit: &Visit,
    also: &[Content],
    epochs: &[EpochInfo],
) -> Option<Verdict> {
    match head {
        Some(head) if *visit == head.last => Some(Verdict::Known),
        Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder),
        Some(head) if *visit < head.last => None,
        head => Some(judge(head, visit, also, epochs)),
    }
}
