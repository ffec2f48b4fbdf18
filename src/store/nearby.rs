//! The copies of what was seen, and the pages that are near it.

use super::answer::{ExactCopy, Outcome};
use super::judged::also_of;
use super::lookup::Lookup;
use super::options::Options;
use super::query::Versions;
use super::search::{Found, Wanted, bounds, together};
use super::view::View;
use crate::error::{Error, Result};
use crate::page::{Digest, Entry, Request, surt};

/// What is searched for beside a request: other pages near its content.
pub(super) fn wanted<'a>(options: &Options, request: &Request<'a>) -> Option<Wanted<'a>> {
    let content = request.seen()?;
    (options.near_limit > 0).then_some(Wanted {
        fingerprint: content.compared()?,
        k: options.near_distance,
        epoch: content.epoch.0,
        limit: options.near_limit,
        versions: Versions::InForce,
        under: None,
        except: Some(request.url()),
        digest: content.digest,
        bounds: Some(bounds(options.near_limit, options.near_fingerprints)),
    })
}

/// What is searched for near a request's second fingerprint, if it has one.
pub(super) fn wanted_also<'a>(options: &Options, request: &Request<'a>) -> Option<Wanted<'a>> {
    let also = also_of(request)?;
    let (fingerprint, epoch) = (also.compared()?, also.epoch.0);
    wanted(options, request).map(|wanted| Wanted { fingerprint, epoch, ..wanted })
}

/// Adds the copies and the near pages to an outcome, from what was found in the segments near either
/// fingerprint. Asks the memtables for the rest.
pub(super) fn add_nearby(
    outcome: &mut Outcome,
    view: &View,
    options: &Options,
    request: &Request<'_>,
    [found, also]: [&mut Found; 2],
) -> Result<()> {
    let Some(wanted) = wanted(options, request) else { return Ok(()) };
    view.add_memory(&wanted, found);
    let mut findings = view.near(&wanted, u64::MAX, found)?;
    if let Some(wanted) = wanted_also(options, request) {
        // In force a page has one fingerprint, of the one epoch or of the other.
        view.add_memory(&wanted, also);
        let others = view.near(&wanted, u64::MAX, also)?;
        findings.copies.extend(others.copies);
        findings.near = together(findings.near, others.near);
        findings.complete &= others.complete && findings.near.len() <= wanted.limit;
        findings.near.truncate(wanted.limit);
    }
    outcome.complete = findings.complete;
    outcome.near = findings.near;
    let mut copies = Vec::new();
    for copy in findings.copies {
        if let Some(digest) = wanted.digest {
            let first = first_seen(view, &copy.url, digest)?;
            copies.push(ExactCopy { url: copy.url, first });
        }
    }
    if request.also().is_some() {
        copies.sort_by_cached_key(|copy| surt::key_of(&copy.url));
    }
    // In SURT order so far, so copies first seen at the same time stay in it.
    copies.sort_by_key(|copy| copy.first);
    outcome.complete &= copies.len() <= options.near_limit;
    copies.truncate(options.near_limit);
    outcome.copies = copies;
    Ok(())
}

/// When a page was first seen with a digest.
fn first_seen(view: &View, url: &str, digest: Digest) -> Result<i64> {
    let entries = view.entries(&Lookup::new(url, view.seed), u64::MAX)?;
    let has_it = |entry: &Entry| entry.content().is_some_and(|c| c.digest == Some(digest));
    let first = entries.iter().find(|entry| has_it(entry)).map(Entry::time);
    let what = "a page has a content in force that no entry of it has";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}
