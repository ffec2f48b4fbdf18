//! Of a page and those near it, the one that ranks first.

use super::answer::{NearDuplicate, Original, OriginalBy, Outcome};
use super::first_seen::{first_seen, since};
use super::judged::also_of;
use super::lookup::Lookup;
use super::nearby::{Copied, Nearby};
use super::query::Near;
use super::view::View;
use crate::bug::OrBug;
use crate::error::{Error, Result};
use crate::page::{Content, Head, Rank, Ranked, Ranking, Request, Weight, is_of_version, surt};

/// The place of a page among others.
type Place = (Rank, Vec<u8>, String);

/// Adds the copies and the near pages to an outcome, each with when it was first seen with what it
/// has in force; and that of them which ranks before the page itself and all others, if any does.
/// `weight` is that of the page, if the request did something to it.
///
/// Costs reading the heads of near pages, and the histories of those that were seen with their content
/// more than once; and that of the page itself, if its visits may decide.
pub(super) fn rank_nearby(
    outcome: &mut Outcome,
    Nearby { copies, near }: Nearby,
    view: &View,
    ranking: &Ranking,
    (lookup, request): (&Lookup<'_>, &Request<'_>),
    weight: Option<Weight>,
) -> Result<()> {
    if copies.is_empty() && near.is_empty() {
        return Ok(());
    }
    let mut first: Option<(Place, u32, OriginalBy)> = None;
    let mut take = |place: Place, distance: u32, by: OriginalBy| {
        if first.as_ref().is_none_or(|(least, ..)| place < *least) {
            first = Some((place, distance, by));
        }
    };
    for Copied { copy, since, weight } in copies {
        take(place(ranking, &copy.url, since, weight), 0, OriginalBy::Digest);
        outcome.copies.push(copy);
    }
    for Near { url, distance, fingerprint } in near {
        let (lookup, head) = other(view, &url)?;
        let first = since(&head, || view.entries(&lookup, u64::MAX))?;
        let by = if distance == 0 { OriginalBy::Fingerprint } else { OriginalBy::Near };
        take(place(ranking, &url, first, head.properties.weight()), distance, by);
        outcome.near.push(NearDuplicate { url, distance, fingerprint, first });
    }
    let Some((least, distance, by)) = first else { return Ok(()) };
    if !is_before(&least, (view, ranking), (lookup, request), weight)? {
        let (.., url) = least;
        outcome.original = Some(Original { url, distance, by });
    }
    Ok(())
}

fn place(ranking: &Ranking, url: &str, since: i64, weight: Weight) -> Place {
    (ranking.rank(&Ranked { url, since, weight }), surt::key_of(url), url.to_owned())
}

/// Another page, which is known.
fn other<'u>(view: &View, url: &'u str) -> Result<(Lookup<'u>, Head)> {
    let lookup = Lookup::new(url, view.seed);
    let head = view.known(&lookup, u64::MAX)?.head.ok_or_else(|| {
        Error::corrupt("segments", 0, format!("a fingerprint says that {url} is known"))
    })?;
    Ok((lookup, head))
}

/// Whether the page that a request is of ranks before a place.
fn is_before(
    other: &Place,
    (view, ranking): (&View, &Ranking),
    (lookup, request): (&Lookup<'_>, &Request<'_>),
    weight: Option<Weight>,
) -> Result<bool> {
    let time = request.entry().time();
    let head = view.known(lookup, u64::MAX)?.head;
    let weight = weight.or_else(|| head.as_ref().map(|head| head.properties.weight()));
    let weight = weight.or_bug("a page of which nothing is new is known")?;
    let before = |since: i64| place(ranking, lookup.url, since, weight) < *other;
    // It was first seen with this content now, or some time since its first visit: where it does not
    // matter when, its history is not read.
    let earliest = head.map_or(time, |head| head.first.min(time));
    let [then, now] = [earliest, time].map(before);
    if then == now { Ok(now) } else { Ok(before(own_since(view, lookup, request)?)) }
}

/// When the page was first seen with what the visit saw: with this visit, unless it had that before.
fn own_since(view: &View, lookup: &Lookup<'_>, request: &Request<'_>) -> Result<i64> {
    let time = request.entry().time();
    let seen: Vec<Content> = request.seen().copied().into_iter().chain(also_of(request)).collect();
    let entries = view.entries(lookup, u64::MAX)?;
    let Some(visited) = entries.iter().find(|entry| entry.is_visit()) else { return Ok(time) };
    let is_it = |content: &Content| is_of_version(&seen, content);
    let had = entries.iter().any(|entry| entry.content().as_ref().is_some_and(is_it));
    if !had {
        return Ok(time);
    }
    let earliest = time.min(visited.time());
    Ok(first_seen(&entries, is_it)?.min(time).max(earliest))
}
