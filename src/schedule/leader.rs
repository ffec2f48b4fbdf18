//! Finds the leader of a page: the near page that the page declares as canonical, or else, of pages
//! with nearly the same content, the page that had the content first.
//!
//! Pages fall into two kinds, so leaders never form a cycle. A page that is led by its canonical page
//! leads no other page. A canonical page points to no other page, so it is led by the first of the
//! other kind of pages, or by no page.
//!
//! Near pages tend to change together, so a led page counts less. The leader is searched when a
//! page comes up. A search returns a bounded number of pages. If more pages have one fingerprint,
//! the first pages in SURT order represent all of them, and one representative leads all other
//! pages.

use std::collections::HashMap;

use super::decide::{DueContext, LoadedPage};
use crate::bug::OrBug;
use crate::engine::first_seen;
use crate::engine::lookup::Lookup;
use crate::engine::search::query::{FINGERPRINTS, NearMatch, Versions};
use crate::engine::search::{SearchRequest, bounds_of_search, merge_results, pages_near};
use crate::engine::snapshot::Snapshot;
use crate::engine::write::searches::{SEARCHES_MAX, searched};
use crate::error::{Error, Result};
use crate::order::sort_few_by;
use crate::page::{Content, Epoch, InForceContents, PageHead, find_epoch, surt};
use crate::time::Time;
use crate::url::check_url;

/// The number of other pages that are compared. The nearest pages are compared first, and pages
/// with equal distances in SURT order.
const NEAREST: usize = 16;

/// The maximum number of cached fingerprints.
const CROWDS: usize = 1024;

/// The rank among near pages: by the first visit with the current content, then in SURT order.
type LeaderRank = (Time, Vec<u8>, String);

/// A cache of fingerprints that are in force on more pages than are compared.
#[derive(Debug, Default)]
pub(super) struct RepresentativeCache(HashMap<(Epoch, u64), Representatives>);

/// The representatives of the pages with one such fingerprint.
#[derive(Debug)]
struct Representatives {
    /// The last representative in SURT order.
    last: (Vec<u8>, String),
    /// The representative that leads the other pages; `None` if canonical pages lead all
    /// representatives.
    leader: Option<String>,
}

impl DueContext {
    /// Returns the page that leads a page; `None` if no page leads it, or if the policy does not
    /// use leaders.
    ///
    /// Costs a search. If pages are near, also reads the heads of up to 16 pages, and the histories
    /// of the pages that may rank before the led page.
    pub(super) fn leader(
        &self,
        of: &LoadedPage<'_>,
        crowds: &mut RepresentativeCache,
    ) -> Result<Option<String>> {
        let head = &of.changing.head;
        if !self.scorer.uses_leaders(of.rule) || head.in_force_seen().is_none() {
            return Ok(None);
        }
        leader(&self.snapshot, &of.lookup, head, crowds)
    }
}

/// Returns the page that leads a page with a given head.
fn leader(
    snapshot: &Snapshot,
    lookup: &Lookup<'_>,
    head: &PageHead,
    crowds: &mut RepresentativeCache,
) -> Result<Option<String>> {
    if let Some(canonical) = canonical(snapshot, lookup.url, head)? {
        return Ok(Some(canonical));
    }
    let epochs = &snapshot.view.epochs;
    let mut contents = compared(snapshot, head);
    let mut near = Vec::new();
    for place in 0..SEARCHES_MAX {
        let Some((content, unless)) = searched(epochs, &mut contents, place) else { break };
        let fingerprint = content.compared().or_bug("each searched content has a fingerprint")?;
        let of = (content.epoch, fingerprint);
        // A page after the representatives of its fingerprint is led by the representatives'
        // leader, so no search is needed.
        if unless.is_none()
            && let Some(crowd) = crowds.0.get(&of).filter(|crowd| crowd.is_before(lookup))
        {
            return Ok(crowd.leader.clone());
        }
        let found = search(snapshot, lookup.url, of, unless)?;
        // The search found one page more than are compared, and all found pages have exactly this
        // fingerprint.
        let last = found.get(NEAREST).filter(|last| last.distance == 0);
        let last = last.map(|last| (surt::key_of(&last.url), last.url.clone()));
        // If the page comes before the last representative, it is a representative itself and is
        // compared below.
        if let Some(last) = last.filter(|last| is_before(last, lookup)) {
            let leader = first_of(snapshot, found, None)?;
            if unless.is_none() {
                crowds.note(of, Representatives { last, leader: leader.clone() });
            }
            return Ok(leader);
        }
        near = merge_results(near, found);
    }
    near.truncate(NEAREST);
    first_of(snapshot, near, Some((lookup, head)))
}

/// The contents in force of a page whose fingerprints are compared: not those of ended epochs.
fn compared(snapshot: &Snapshot, head: &PageHead) -> InForceContents {
    let epochs = &snapshot.view.epochs;
    let mut contents = head.in_force();
    contents.retain(|content| find_epoch(epochs, content.epoch).is_some_and(|info| !info.ended));
    contents
}

/// Returns the canonical page that a page declares, if this page is known, near, and points to no
/// other page itself. A canonical URL is never followed further.
fn canonical(snapshot: &Snapshot, url: &str, head: &PageHead) -> Result<Option<String>> {
    let target = head.target().and_then(|target| target.resolve(url));
    let Some(target) = target.filter(|target| check_url(target).is_ok()) else { return Ok(None) };
    let Snapshot { view, sequence, .. } = snapshot;
    let other = view.locate_page(&Lookup::new(&target, view.seed), *sequence)?.head;
    let Some(other) = other.filter(|other| other.target().is_none()) else { return Ok(None) };
    Ok(is_near(snapshot, head, &other.in_force())?.then_some(target))
}

/// Whether a search around the content of a page would find another page.
fn is_near(snapshot: &Snapshot, head: &PageHead, other: &[Content]) -> Result<bool> {
    let epochs = &snapshot.view.epochs;
    let mut contents = compared(snapshot, head);
    for place in 0..SEARCHES_MAX {
        let Some((content, unless)) = searched(epochs, &mut contents, place) else { break };
        let own = content.compared().or_bug("each searched content has a fingerprint")?;
        let has = |epoch: Epoch| other.iter().find(|content| content.epoch == epoch);
        if unless.and_then(has).is_some_and(|newest| newest.fingerprint.is_some()) {
            continue;
        }
        let k = epochs.near_distance(content.epoch, snapshot.view.near_distance);
        let fingerprint = has(content.epoch).and_then(Content::compared);
        if fingerprint.is_some_and(|other| (own ^ other).count_ones() <= k) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the pages near a fingerprint: one more than the number of pages that are compared.
fn search(
    snapshot: &Snapshot,
    url: &str,
    (epoch, fingerprint): (Epoch, u64),
    unless: Option<Epoch>,
) -> Result<Vec<NearMatch>> {
    let limit = NEAREST + 1;
    let wanted = SearchRequest {
        fingerprint,
        k: snapshot.view.epochs.near_distance(epoch, snapshot.view.near_distance),
        epoch: epoch.0,
        limit,
        versions: Versions::InForce,
        under: None,
        exclude: Some(url),
        classes: None,
        excluded_epoch: unless,
        // With a digest, pages with the same content would be listed separately. Here they count as
        // near pages.
        digest: None,
        first_capture: false,
        bounds: Some(bounds_of_search(limit, FINGERPRINTS)),
    };
    Ok(pages_near(snapshot, wanted)?.near)
}

/// Returns the page that ranks first among some pages, without pages that are led by their canonical
/// page. `None` if no page is left, or if `own` is given and ranks before them.
fn first_of(
    snapshot: &Snapshot,
    near: Vec<NearMatch>,
    own: Option<(&Lookup<'_>, &PageHead)>,
) -> Result<Option<String>> {
    let Snapshot { view, sequence, .. } = snapshot;
    // At this time the page already had its content, so a page that was first visited later cannot
    // lead it.
    let latest =
        own.map_or(Some(Time::from_ms_unchecked(i64::MAX)), |(_, head)| head.in_force_seen());
    let mut others = Vec::with_capacity(near.len());
    for NearMatch { url, .. } in near {
        let head = view.locate_page(&Lookup::new(&url, view.seed), *sequence)?.head;
        let head = head.ok_or_else(|| {
            Error::corrupt(
                "segments",
                0,
                format!("a fingerprint refers to {url}, but the page has no record"),
            )
        })?;
        if Some(head.first) <= latest && canonical(snapshot, &url, &head)?.is_none() {
            others.push(((head.first, surt::key_of(&url), url), head));
        }
    }
    // The time of a page's first visit is a lower bound of `since`. In this order the loop can stop
    // early. `since` may read a history, and is computed for few pages.
    sort_few_by(&mut others, |(a, _), (b, _)| a.cmp(b));
    let mut first: Option<LeaderRank> = None;
    // Without other pages the result is `None`, and the page's own history is not read.
    if let Some((lookup, head)) = own.filter(|_| !others.is_empty()) {
        let since = since(snapshot, lookup, head)?;
        first = Some((since, lookup.key().to_vec(), lookup.url.to_owned()));
    }
    for (earliest, head) in others {
        // All remaining pages have a later lower bound.
        if first.as_ref().is_some_and(|first| *first <= earliest) {
            break;
        }
        let (_, key, url) = earliest;
        let since = since(snapshot, &Lookup::new(&url, view.seed), &head)?;
        let place = (since, key, url);
        first = Some(match first {
            Some(first) => first.min(place),
            None => place,
        });
    }
    let is_other = |url: &String| own.is_none_or(|(lookup, _)| url != lookup.url);
    Ok(first.map(|(.., url)| url).filter(is_other))
}

/// Returns the time when a page was first seen with its current content.
fn since(snapshot: &Snapshot, lookup: &Lookup<'_>, head: &PageHead) -> Result<Time> {
    first_seen::since(head, &|| snapshot.view.entries(lookup, snapshot.sequence))
}

fn is_before((key, url): &(Vec<u8>, String), lookup: &Lookup<'_>) -> bool {
    (key.as_slice(), url.as_str()) < (lookup.key(), lookup.url)
}

impl Representatives {
    /// Whether all representatives come before the page, so that the fingerprint alone decides the
    /// page's leader.
    fn is_before(&self, lookup: &Lookup<'_>) -> bool {
        is_before(&self.last, lookup)
    }
}

impl RepresentativeCache {
    fn note(&mut self, of: (Epoch, u64), crowd: Representatives) {
        // The cache is bounded: a dropped entry costs another search and changes no result.
        if self.0.len() >= CROWDS {
            self.0.clear();
        }
        self.0.insert(of, crowd);
    }
}
