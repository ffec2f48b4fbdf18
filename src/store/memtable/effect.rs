//! What an entry does to its page, told before it is applied.

use crate::page::{Content, Entry, Head, Verdict, Visit, judge};

/// What an entry does to its page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// What a visit means; none if that takes a look at the visits that were before, or it is
    /// restated and no visit.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the page was not known before.
    pub(crate) first: bool,
    /// What was in force before, and what is after.
    pub(crate) before: Option<Content>,
    pub(crate) after: Option<Content>,
}

impl Effect {
    /// The effect on a page with this head, which takes the entry in. `also` are further fingerprints
    /// of what a visit saw.
    pub(crate) fn of(head: &mut Option<Head>, entry: &Entry, also: &[Content]) -> Effect {
        let in_force =
            |head: &Option<Head>| head.as_ref().and_then(Head::in_force).map(|v| v.content);
        let visit = entry.visit();
        let verdict = visit.and_then(|visit| verdict(head.as_ref(), visit, also));
        let first = head.is_none() && visit.is_some();
        let before = in_force(head);
        Head::absorb_into(head, *entry);
        Effect { verdict, first, before, after: in_force(head) }
    }
}

/// What a visit means to a page with this head, if the head tells.
fn verdict(head: Option<&Head>, visit: &Visit, also: &[Content]) -> Option<Verdict> {
    match head {
        Some(head) if *visit == head.last => Some(Verdict::Known),
        Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder),
        Some(head) if *visit < head.last => None,
        head => Some(judge(head, visit, also)),
    }
}
