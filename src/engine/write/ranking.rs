//! Of a page and those near it, the one that ranks first.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::decide::also_of;
use super::nearby::Nearby;
use super::ranked_hit::RankedHit;
use crate::bug::OrBug;
use crate::engine::answer::{ExactCopy, NearDuplicate, Original, OriginalBy, Outcome};
use crate::engine::lookup::Lookup;
use crate::engine::search::query::Near;
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{Content, Head, Rank, Ranked, Ranking, Request, Weight, surt};
use crate::time::Time;

/// What the page that a request is of was before it.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    first: Time,
    weight: Weight,
}

impl Own {
    pub(crate) fn of(head: &Head) -> Own {
        Own { first: head.first, weight: head.properties.weight() }
    }
}

/// The place of a page among others.
struct Place<'u> {
    rank: Rank,
    url: &'u str,
    /// The SURT key, made where the rules do not decide.
    key: OnceCell<Vec<u8>>,
}

impl<'u> Place<'u> {
    fn of(ranking: &Ranking, url: &'u str, since: Time, weight: Weight) -> Place<'u> {
        Place { rank: ranking.rank(&Ranked { url, since, weight }), url, key: OnceCell::new() }
    }

    fn key(&self) -> (&[u8], &str) {
        (self.key.get_or_init(|| surt::key_of(self.url)), self.url)
    }

    fn order(&self, other: &Place<'_>) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.key().cmp(&other.key()))
    }
}

/// Adds the copies and the near pages to an outcome; and that of them which ranks before the page
/// itself and all others, if any does. `weight` is that of the page, if the request did something to
/// it; `own` is asked for where there are others.
///
/// Costs reading the page's history until it had that content, if its visits may decide.
pub(crate) fn rank_nearby(
    outcome: &mut Outcome,
    Nearby { copies, near }: Nearby,
    ranking: &Ranking,
    asked: (&View, &Lookup<'_>, &Request<'_>),
    weight: Option<Weight>,
    own: impl FnOnce() -> Option<Own>,
) -> Result<()> {
    let by_fingerprint = |near: &Near| match near.distance {
        0 => OriginalBy::Fingerprint,
        _ => OriginalBy::Near,
    };
    let others = near.iter().map(|of| (of, by_fingerprint(&of.1.near)));
    let all = copies.iter().map(|of| (of, OriginalBy::Digest)).chain(others);
    let placed = all.map(|((first, RankedHit { near, weight, .. }), by)| {
        (Place::of(ranking, &near.url, *first, *weight), near.distance, by)
    });
    let Some((least, distance, by)) = placed.min_by(|(a, ..), (b, ..)| a.order(b)) else {
        return Ok(());
    };
    if !is_before(&least, ranking, asked, weight, own())? {
        outcome.original = Some(Original { url: least.url.to_owned(), distance, by });
    }
    let copy = |(first, of): (Time, RankedHit)| ExactCopy { url: of.near.url, first };
    outcome.copies = copies.into_iter().map(copy).collect();
    let near_one = |(first, of): (Time, RankedHit)| {
        let Near { url, distance, fingerprint } = of.near;
        NearDuplicate { url, distance, fingerprint, first }
    };
    outcome.near = near.into_iter().map(near_one).collect();
    Ok(())
}

/// Whether the page that a request is of ranks before a place.
fn is_before(
    other: &Place<'_>,
    ranking: &Ranking,
    (view, lookup, request): (&View, &Lookup<'_>, &Request<'_>),
    weight: Option<Weight>,
    own: Option<Own>,
) -> Result<bool> {
    let time = request.entry().time();
    let weight = weight.or_else(|| own.as_ref().map(|own| own.weight));
    let weight = weight.or_bug("a page of which nothing is new is known")?;
    let before = |since: Time| Place::of(ranking, lookup.url, since, weight).order(other).is_lt();
    // It was first seen with this content now, or some time since its first visit: where it does not
    // matter when, its history is not read.
    let earliest = own.map_or(time, |own| own.first.min(time));
    let [then, now] = [earliest, time].map(before);
    if then == now {
        return Ok(now);
    }
    // With this visit, unless it had that before; what is restated of times before all is no visit.
    let seen: Vec<Content> = request.seen().copied().into_iter().chain(also_of(request)).collect();
    let had = view.first_seen(lookup, u64::MAX, &seen)?;
    Ok(before(had.map_or(time, |had| had.min(time).max(earliest))))
}
