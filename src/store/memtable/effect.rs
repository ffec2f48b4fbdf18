//! What a visit does to its page, told before it is applied.

use crate::page::{Content, Head, Verdict, Visit, judge};

/// What a visit does to its page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// What it means; none if that takes a look at the visits that were before.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the page was not known before.
    pub(crate) first: bool,
    /// What was in force before, and what is after.
    pub(crate) before: Option<Content>,
    pub(crate) after: Option<Content>,
}

impl Effect {
    /// The effect on a page with this head, which takes the visit in. `also` are further fingerprints
    /// of its content.
    pub(crate) fn of(head: &mut Option<Head>, visit: &Visit, also: &[Content]) -> Effect {
        let in_force =
            |head: &Option<Head>| head.as_ref().and_then(Head::in_force).map(|v| v.content);
        let verdict = match &*head {
            head if visit.seen.is_restated() => Some(judge(head.as_ref(), visit, also)),
            Some(head) if *visit == head.last => Some(Verdict::Known),
            Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder),
            Some(head) if *visit < head.last => None,
            head => Some(judge(head.as_ref(), visit, also)),
        };
        let first = head.is_none() && !visit.seen.is_restated();
        let before = in_force(head);
        Head::absorb_into(head, *visit);
        Effect { verdict, first, before, after: in_force(head) }
    }
}
