//! What a request means for its page, and which operations it causes.
//!
//! Usually the page's head, which the caller has, is enough to tell. Otherwise the page's visits of
//! one time are looked up. Nothing is changed here.

use smallvec::SmallVec;

use crate::engine::lookup::Lookup;
use crate::engine::memtable::Effect;
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{
    Beside, Content, Digest, Entry, GiveOutcome, HISTORY_WINDOW, Head, Observation, Request,
    RestateOutcome, Restated, Ruling, Seen, Verdict, Weight, restated_digest,
};
use crate::time::Time;

/// What a request means for its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Visit(Ruling),
    Restated(RestateOutcome),
    Given(GiveOutcome),
}

/// The result of judging a request: operations, each with its effect on the page.
pub(crate) struct Judged {
    pub(crate) judgement: Judgement,
    pub(crate) operations: SmallVec<[(Entry, Effect); 1]>,
}

/// Whether a request is a visit, and no other entry.
pub(crate) fn is_alone(request: &Request<'_>) -> bool {
    matches!(request, Request::Observe(Observation { also: None, weight: None, class: None, .. }))
}

/// The other fingerprint of what was seen.
pub(crate) fn also_of(request: &Request<'_>) -> Option<Content> {
    request.also().map(|also| also.content())
}

impl Judged {
    /// A visit, which is no operation if it is known.
    pub(crate) fn visit(ruling: Ruling, visit: Entry, effect: Effect) -> Judged {
        let news = (ruling.verdict != Verdict::Known).then_some((visit, effect));
        Judged { judgement: Judgement::Visit(ruling), operations: news.into_iter().collect() }
    }

    /// The weight in force after all operations, if there are any.
    pub(crate) fn weight(&self) -> Option<Weight> {
        self.operations.last().map(|(_, effect)| effect.weight)
    }

    /// Whether what is restated beside a visit is an operation.
    pub(crate) fn also(&self) -> bool {
        let restates = |(entry, _): &(Entry, Effect)| entry.is_restated();
        matches!(self.judgement, Judgement::Visit(_)) && self.operations.iter().any(restates)
    }
}

/// What a request means for a page with this head, and what it does. The head is used up.
pub(crate) fn judge_all(
    view: &View,
    lookup: &Lookup<'_>,
    head: &mut Option<Head>,
    request: &Request<'_>,
) -> Result<Judged> {
    let visit = request.entry();
    match visit {
        Entry::Restated(restated) => return judge_restated(view, lookup, head, restated),
        Entry::Given(_) if head.is_none() => {
            return Ok(Judged::nothing(Judgement::Given(GiveOutcome::Missing)));
        }
        Entry::Given(_) if is_stated(view, lookup, head.as_ref(), &visit)? => {
            return Ok(Judged::nothing(Judgement::Given(GiveOutcome::Known)));
        }
        Entry::Given(_) => {
            let judgement = Judgement::Given(GiveOutcome::Stored);
            return Ok(Judged::one(judgement, view, head, visit));
        }
        Entry::Visit(_) => {}
    }
    let also = also_of(request);
    // Before anything is applied: this may fail.
    let mut news = Beside::new();
    for beside in request.beside() {
        if !is_stated(view, lookup, head.as_ref(), &beside)? {
            news.push(beside);
        }
    }
    // A visit that is known is not to be counted twice.
    let before = if news.is_empty() { None } else { head.clone() };
    let effect = Effect::of(head, &visit, also.as_slice(), &view.epochs);
    let ruling = match effect.ruling {
        Some(ruling) => ruling,
        None => late(view, lookup, &visit)?.into(),
    };
    let mut judged = Judged::visit(ruling, visit, effect);
    if judged.operations.is_empty() {
        *head = before;
    }
    for entry in news {
        judged.operations.push((entry, Effect::of(head, &entry, &[], &view.epochs)));
    }
    Ok(judged)
}

/// What restated content means for a page with this head, and what it does.
fn judge_restated(
    view: &View,
    lookup: &Lookup<'_>,
    head: &mut Option<Head>,
    mut restated: Restated,
) -> Result<Judged> {
    let digest = restated_of(view, lookup, head.as_ref(), restated.time, restated.digest)?;
    let Some(digest) = digest else {
        return Ok(Judged::nothing(Judgement::Restated(RestateOutcome::Missing)));
    };
    restated.digest = digest;
    let entry = Entry::Restated(restated);
    if is_stated(view, lookup, head.as_ref(), &entry)? {
        return Ok(Judged::nothing(Judgement::Restated(RestateOutcome::Known)));
    }
    Ok(Judged::one(Judgement::Restated(RestateOutcome::Stored), view, head, entry))
}

impl Judged {
    fn nothing(judgement: Judgement) -> Judged {
        Judged { judgement, operations: SmallVec::new() }
    }

    /// An entry that is no visit, and news to a page with this head.
    fn one(judgement: Judgement, view: &View, head: &mut Option<Head>, entry: Entry) -> Judged {
        let operation = (entry, Effect::of(head, &entry, &[], &view.epochs));
        Judged { judgement, operations: [operation].into_iter().collect() }
    }
}

/// The digest of the content that is restated, of those that a page had at a time.
#[expect(clippy::option_option, reason = "no content and none with a digest are two things")]
fn restated_of(
    view: &View,
    lookup: &Lookup<'_>,
    head: Option<&Head>,
    time: Time,
    digest: Option<Digest>,
) -> Result<Option<Option<Digest>>> {
    let contents = head.map(|head| &head.contents).filter(|contents| !contents.is_empty());
    let Some(contents) = contents else { return Ok(None) };
    let times = || contents.iter().map(|seen| seen.time);
    if times().all(|seen| seen < time) {
        return Ok(None);
    }
    // The head has the last contents. That is enough if it has all of that time.
    if times().all(|seen| seen <= time)
        && (contents.len() < HISTORY_WINDOW || times().any(|seen| seen < time))
    {
        let at = contents.iter().filter(|seen| seen.time == time);
        return Ok(restated_digest(digest, at.map(|seen| seen.content.digest)));
    }
    let entries = view.entries_at(lookup, time)?;
    let seen = entries.iter().filter_map(Entry::visit);
    let seen = seen.filter(|visit| matches!(visit.seen, Seen::Content(_)));
    Ok(restated_digest(digest, seen.map(|visit| visit.seen.digest())))
}

/// Whether this, which is no visit, is known already. For what is restated, a visit that saw the same
/// content does not count: whether there is one depends on what came first, and what is in a history
/// must not.
fn is_stated(view: &View, lookup: &Lookup<'_>, head: Option<&Head>, entry: &Entry) -> Result<bool> {
    let last = match entry {
        Entry::Given(given) => {
            head.and_then(|head| head.properties.like(given.property)).map(|last| last.time)
        }
        _ => head.and_then(|head| head.contents.first()).map(|seen| seen.time),
    };
    if last < Some(entry.time()) {
        return Ok(false);
    }
    Ok(view.entries_at(lookup, entry.time())?.contains(entry))
}

/// What a visit means that does not come after all others of its page.
fn late(view: &View, lookup: &Lookup<'_>, visit: &Entry) -> Result<Verdict> {
    let known = view.entries_at(lookup, visit.time())?.contains(visit);
    Ok(if known { Verdict::Known } else { Verdict::OutOfOrder })
}
