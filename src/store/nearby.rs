//! The copies of what was seen, and the pages that are near it.

use std::cmp::Reverse;

use super::answer::{ExactCopy, Outcome};
use super::epochs::Epochs;
use super::first_seen::first_seen;
use super::judged::also_of;
use super::lookup::Lookup;
use super::options::Options;
use super::query::{Near, Versions};
use super::search::{Found, Wanted, bounds, together};
use super::view::View;
use crate::bug::OrBug;
use crate::error::Result;
use crate::page::{Content, Entry, Epoch, Properties, Request, Weight, surt};

/// How many searches there are beside a request at most.
pub(super) const SEARCHES_MAX: usize = 2;

/// What is searched for beside a request: other pages near its content, by each of its fingerprints
/// that finds near-duplicates. The first goes by that of the newest epoch; another finds the pages that
/// have none of the newest.
#[inline]
pub(super) fn wanted<'a>(
    options: &Options,
    epochs: &Epochs,
    request: &Request<'a>,
    place: usize,
) -> Option<Wanted<'a>> {
    let seen = request.seen().filter(|_| options.near_limit > 0)?;
    let (content, unless) = match also_of(request) {
        None => sought(epochs, &mut [*seen], place)?,
        Some(also) => sought(epochs, &mut [*seen, also], place)?,
    };
    Some(Wanted {
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
pub(super) fn sought(
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

/// The copies of what was seen and the near pages, which are to be ranked.
pub(super) struct Nearby {
    pub(super) copies: Vec<Copied>,
    pub(super) near: Vec<Near>,
}

/// A copy, with all that it is ranked by: its entries are read in any case.
pub(super) struct Copied {
    pub(super) copy: ExactCopy,
    /// When the page was first seen with its content, and not before its first visit.
    pub(super) since: i64,
    pub(super) weight: Weight,
}

/// What each search found in the segments, and what the memtables have. Says in an outcome whether that
/// is all.
pub(super) fn add_nearby(
    outcome: &mut Outcome,
    view: &View,
    options: &Options,
    request: &Request<'_>,
    found: &mut [Found],
) -> Result<Nearby> {
    let (mut copies, mut near) = (Vec::new(), Vec::new());
    let several = found.len() > 1;
    for (place, found) in found.iter_mut().enumerate() {
        let wanted = &wanted(options, &view.epochs, request, place);
        let wanted = wanted.as_ref().or_bug("what was found was searched for")?;
        view.add_memory(wanted, found);
        let findings = view.near(wanted, u64::MAX, found)?;
        near = together(near, findings.near);
        outcome.complete &= findings.complete && near.len() <= wanted.limit;
        near.truncate(wanted.limit);
        for copy in findings.copies {
            if let Some(digest) = wanted.digest {
                let lookup = Lookup::new(&copy.url, view.seed);
                let has_it = |content: &Content| content.digest == Some(digest);
                let entries = view.entries(&lookup, u64::MAX)?;
                let first = first_seen(&entries, has_it)?;
                let visited = entries.iter().find_map(Entry::visit).map(|visit| visit.time);
                let given: Properties = entries.iter().filter_map(Entry::given).copied().collect();
                let copy = ExactCopy { url: copy.url, first };
                let since = visited.map_or(first, |visited| first.max(visited));
                copies.push(Copied { copy, since, weight: given.weight() });
            }
        }
    }
    if several {
        copies.sort_by_cached_key(|copied: &Copied| surt::key_of(&copied.copy.url));
    }
    // In SURT order so far, so copies first seen at the same time stay in it.
    copies.sort_by_key(|copied| copied.copy.first);
    outcome.complete &= copies.len() <= options.near_limit;
    copies.truncate(options.near_limit);
    Ok(Nearby { copies, near })
}
