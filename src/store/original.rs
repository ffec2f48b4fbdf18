//! Of a page and those near it, the one that ranks first.

use super::answer::{NearDuplicate, Original, OriginalBy, Outcome};
use super::first_seen::{first_seen, since};
use super::judged::also_of;
use super::lookup::Lookup;
use super::query::Near;
use super::view::View;
use crate::error::{Error, Result};
use crate::page::{Content, Rank, Ranked, Ranking, Request, Weight, is_of_version, surt};

/// The place of a page among others.
type Place = (Rank, Vec<u8>, String);

/// Adds the near pages to an outcome, each with when it was first seen with what it has in force; and of
/// these and the copies that which ranks before the page itself and all others, if any does.
///
/// Costs reading the head of each; and the history of those that were seen with their content more than
/// once.
pub(super) fn rank_nearby(
    outcome: &mut Outcome,
    near: Vec<Near>,
    view: &View,
    ranking: &Ranking,
    (lookup, request): (&Lookup<'_>, &Request<'_>),
    weight: Weight,
) -> Result<()> {
    if outcome.copies.is_empty() && near.is_empty() {
        return Ok(());
    }
    let mut first: Option<(Place, u32, OriginalBy)> = None;
    let mut take = |place: Place, distance: u32, by: OriginalBy| {
        if first.as_ref().is_none_or(|(least, ..)| place < *least) {
            first = Some((place, distance, by));
        }
    };
    for copy in &outcome.copies {
        let (place, _) = place(view, ranking, &copy.url)?;
        take(place, 0, OriginalBy::Digest);
    }
    for Near { url, distance, fingerprint } in near {
        let (place, first) = place(view, ranking, &url)?;
        let by = if distance == 0 { OriginalBy::Fingerprint } else { OriginalBy::Near };
        take(place, distance, by);
        outcome.near.push(NearDuplicate { url, distance, fingerprint, first });
    }
    let Some((least, distance, by)) = first else { return Ok(()) };
    let own = Ranked { url: lookup.url, since: own_since(view, lookup, request)?, weight };
    let own: Place = (ranking.rank(&own), lookup.key().to_vec(), lookup.url.to_owned());
    if least < own {
        let (.., url) = least;
        outcome.original = Some(Original { url, distance, by });
    }
    Ok(())
}

/// The place of another page, and when it was first seen with what it has in force.
fn place(view: &View, ranking: &Ranking, url: &str) -> Result<(Place, i64)> {
    let lookup = Lookup::new(url, view.seed);
    let head = view.known(&lookup, u64::MAX)?.head.ok_or_else(|| {
        Error::corrupt("segments", 0, format!("a fingerprint says that {url} is known"))
    })?;
    let since = since(&head, || view.entries(&lookup, u64::MAX))?;
    let rank = ranking.rank(&Ranked { url, since, weight: head.properties.weight() });
    Ok(((rank, surt::key_of(url), url.to_owned()), since))
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
