//! What an observation means to its page, and what it does there.
//!
//! Told from the page's head, which the caller has, wherever that is enough; else the page's visits of
//! one time are looked up. Nothing is changed here.

use arrayvec::ArrayVec;

use super::lookup::Lookup;
use super::memtable::Effect;
use super::view::View;
use crate::error::Result;
use crate::page::{
    Content, Digest, HISTORY_WINDOW, Head, Observation, Seen, Verdict, Visit, restated_digest,
};

/// What an observation comes to: operations, each with what it does to the page.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) operations: ArrayVec<(Visit, Effect), 2>,
}

/// Whether an observation is a visit with one fingerprint at most.
pub(super) fn is_alone(observation: &Observation<'_>) -> bool {
    observation.also.is_none() && !observation.visit.seen.is_restated()
}

/// The other fingerprint of what was seen.
pub(super) fn also_of(observation: &Observation<'_>) -> Option<Content> {
    observation.restated_also()?.seen.content().copied()
}

impl Judged {
    /// A visit, which is no operation if it is known.
    pub(super) fn one(verdict: Verdict, visit: Visit, effect: Effect) -> Judged {
        let news = !matches!(verdict, Verdict::Known | Verdict::Missing);
        Judged { verdict, operations: news.then_some((visit, effect)).into_iter().collect() }
    }
}

/// What an observation means to a page with this head, and what it does.
pub(super) fn judge_all(
    view: &View,
    lookup: &Lookup<'_>,
    mut head: Option<Head>,
    observation: &Observation<'_>,
) -> Result<Judged> {
    let mut visit = observation.visit;
    if let Seen::Restated(content) = &mut visit.seen {
        visit.status = None;
        match restated_of(view, lookup, head.as_ref(), visit.time, content.digest)? {
            Some(digest) => content.digest = digest,
            None => {
                let effect = Effect::of(&mut None, &visit, &[]);
                return Ok(Judged::one(Verdict::Missing, visit, effect));
            }
        }
    }
    let (also, restated) = (also_of(observation), observation.restated_also());
    // Before anything is applied: these may fail.
    let news = restated.map(|restated| is_stated(view, lookup, head.as_ref(), &restated));
    let news = news.transpose()?.map(|known| !known);
    let known = visit.seen.is_restated() && is_stated(view, lookup, head.as_ref(), &visit)?;
    let before = head.clone();
    let effect = Effect::of(&mut head, &visit, also.as_slice());
    let verdict = match effect.verdict {
        _ if known => Verdict::Known,
        Some(verdict) => verdict,
        None => late(view, lookup, &visit)?,
    };
    let mut judged = Judged::one(verdict, visit, effect);
    if judged.operations.is_empty() {
        head = before;
    }
    if let Some(restated) = restated.filter(|_| news == Some(true)) {
        let effect = Effect::of(&mut head, &restated, &[]);
        judged.operations.push((restated, effect));
        if judged.verdict == Verdict::Known {
            judged.verdict = Verdict::Restated;
        }
    }
    Ok(judged)
}

/// The digest of the content that is restated, of those that a page had at a time.
#[expect(clippy::option_option, reason = "no content and none with a digest are two things")]
fn restated_of(
    view: &View,
    lookup: &Lookup<'_>,
    head: Option<&Head>,
    time: i64,
    digest: Option<Digest>,
) -> Result<Option<Option<Digest>>> {
    let versions = head.map(|head| &head.versions).filter(|versions| !versions.is_empty());
    let Some(versions) = versions else { return Ok(None) };
    let times = || versions.iter().map(|version| version.time);
    if times().all(|seen| seen < time) {
        return Ok(None);
    }
    // The last ones are at hand, if these are all of that time.
    if times().all(|seen| seen <= time)
        && (versions.len() < HISTORY_WINDOW || times().any(|seen| seen < time))
    {
        let at = versions.iter().filter(|version| version.time == time);
        return Ok(restated_digest(digest, at.map(|version| version.content.digest)));
    }
    let visits = view.visits_at(lookup, time)?;
    let seen = visits.iter().filter(|v| matches!(v.seen, Seen::Content(_)));
    Ok(restated_digest(digest, seen.map(|visit| visit.seen.digest())))
}

/// Whether a page is known to have had this content at this time, by a visit or restated.
fn is_stated(
    view: &View,
    lookup: &Lookup<'_>,
    head: Option<&Head>,
    restated: &Visit,
) -> Result<bool> {
    let Some(last) = head.and_then(|head| head.versions.first()) else { return Ok(false) };
    if last.time < restated.time {
        return Ok(false);
    }
    let visits = view.visits_at(lookup, restated.time)?;
    Ok(visits.iter().any(|v| v.seen.content() == restated.seen.content()))
}

/// What a visit means that does not come after all others of its page.
fn late(view: &View, lookup: &Lookup<'_>, visit: &Visit) -> Result<Verdict> {
    let known = view.visits_at(lookup, visit.time)?.contains(visit);
    Ok(if known { Verdict::Known } else { Verdict::OutOfOrder })
}
