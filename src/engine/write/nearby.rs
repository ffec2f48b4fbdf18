//! The copies of what was seen, and the pages that are near it.

use std::cmp::Reverse;

use super::decide::also_of;
use super::ranked_hit::RankedHit;
use crate::bug::OrBug;
use crate::engine::answer::Outcome;
use crate::engine::epochs::Epochs;
use crate::engine::options::Options;
use crate::engine::search::query::Versions;
use crate::engine::search::{HitSet, SearchRequest, bounds, together};
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{Content, Epoch, Request, surt};
use crate::time::Time;

/// How many searches there are beside a request at most.
pub(crate) const SEARCHES_MAX: usize = 2;

/// What is searched for beside a request: other pages near its content, by each of its fingerprints
/// that finds near-duplicates. The first goes by that of the newest epoch; another finds the pages that
/// have none of the newest.
#[inline]
pub(crate) fn wanted<'a>(
    options: &Options,
    epochs: &Epochs,
    request: &Request<'a>,
    place: usize,
) -> Option<SearchRequest<'a>> {
    let seen = request.seen().filter(|_| options.near_limit > 0)?;
    let (content, unless) = match also_of(request) {
        None => sought(epochs, &mut [*seen], place)?,
        Some(also) => sought(epochs, &mut [*seen, also], place)?,
    };
    Some(SearchRequest {
        fingerprint: content.compared()?,
        k: epochs.near_distance(content.epoch, options.near_distance),
        epoch: content.epoch.0,
        limit: options.near_limit,
        versions: Versions::InForce,
        under: None,
        except: Some(request.url()),
        classes: None,
        unless,
        digest: seen.digest,
        bounds: Some(bounds(options.near_limit, options.near_fingerprints)),
    })
}

/// Of a content's fingerprints, the one by which pages near it are sought in one place of several; and
/// the epoch by whose fingerprints they are found in another place already.
#[inline]
pub(crate) fn sought(
    epochs: &Epochs,
    contents: &mut [Content],
    place: usize,
) -> Option<(Content, Option<Epoch>)> {
    contents.sort_unstable_by_key(|content| Reverse(content.epoch.count()));
    let finds = |c: &&Content| c.fingerprint.is_some() && epochs.finds_near(c.epoch);
    let mut found = contents.iter().filter(finds);
    let newest = found.next()?;
    match place.checked_sub(1) {
        None => Some((*newest, None)),
        Some(after) => Some((*found.nth(after)?, Some(newest.epoch))),
    }
}

/// The copies of what was seen, and the near pages: each with when it was first seen with what it has in
/// force.
pub(crate) struct Nearby {
    pub(crate) copies: Vec<(Time, RankedHit)>,
    pub(crate) near: Vec<(Time, RankedHit)>,
}

/// What each search found in the segments, and what the memtables have. Says in an outcome whether that
/// is all.
pub(crate) fn add_nearby(
    outcome: &mut Outcome,
    view: &View,
    options: &Options,
    request: &Request<'_>,
    found: &mut [HitSet],
) -> Result<Nearby> {
    let (mut copies, mut near) = (Vec::new(), Vec::new());
    let several = found.len() > 1;
    for (place, found) in found.iter_mut().enumerate() {
        let wanted = &wanted(options, &view.epochs, request, place);
        let wanted = wanted.as_ref().or_bug("what was found was searched for")?;
        view.add_memory(wanted, found);
        let findings = view.near::<RankedHit>(wanted, u64::MAX, found)?;
        near = together(near, findings.near);
        outcome.complete &= findings.complete && near.len() <= wanted.limit;
        near.truncate(wanted.limit);
        copies.extend(findings.copies);
    }
    if several {
        copies.sort_by_cached_key(|copy: &RankedHit| surt::key_of(&copy.near.url));
    }
    outcome.complete &= copies.len() <= options.near_limit;
    let copies = RankedHit::first_of(copies, options.near_limit, view)?;
    let dated = |near: RankedHit| Ok((near.since(view)?, near));
    Ok(Nearby { copies, near: near.into_iter().map(dated).collect::<Result<_>>()? })
}
