//! The searches for pages near the content of a request.

use std::cmp::Reverse;

use crate::engine::epochs::Epochs;
use crate::engine::options::Options;
use crate::engine::search::query::Versions;
use crate::engine::search::{SearchRequest, bounds};
use crate::order::sort_few_by_key;
use crate::page::{Content, Epoch, Operation, TableKey};

/// The maximum number of searches of a request.
pub(crate) const SEARCHES_MAX: usize = 2;

/// Returns search number `nth` of a request, for other pages near its content. There is a search
/// for each of the request's fingerprints that finds near-duplicates. The first search uses the
/// fingerprint of the newest epoch. The second search finds pages without a fingerprint of the
/// newest epoch. Content without any fingerprint has one search, for its digest.
#[inline]
pub(crate) fn search_request<'a>(
    options: &Options,
    epochs: &Epochs,
    request: &Operation<'a>,
    nth: usize,
) -> Option<SearchRequest<'a>> {
    // A limit of 0 means that only verdicts are wanted, and nothing is searched.
    let seen = request.seen().filter(|_| options.near_limit > 0)?;
    let also = request.also_content();
    let searched = match also {
        None => searched(epochs, &mut [*seen], nth),
        Some(also) => searched(epochs, &mut [*seen, also], nth),
    };
    let has_fingerprint = || [Some(*seen), also].iter().flatten().any(|c| c.fingerprint.is_some());
    let (TableKey { table, value }, k, unless) = match searched {
        Some((content, unless)) => {
            let k = epochs.near_distance(content.epoch, options.near_distance);
            (content.table_key()?, k, unless)
        }
        None if nth == 0 && !has_fingerprint() => (seen.table_key()?, 0, None),
        None => return None,
    };
    Some(SearchRequest {
        fingerprint: value,
        k,
        epoch: table,
        limit: options.near_limit,
        versions: Versions::InForce,
        under: None,
        exclude: Some(request.url()),
        classes: None,
        excluded_epoch: unless,
        digest: seen.digest,
        first_capture: options.refers_to && seen.digest.is_some(),
        bounds: Some(bounds(options.near_limit, options.near_fingerprints)),
    })
}

/// The fingerprint of a content for search number `nth`, and the epoch of an earlier search.
#[inline]
pub(crate) fn searched(
    epochs: &Epochs,
    contents: &mut [Content],
    nth: usize,
) -> Option<(Content, Option<Epoch>)> {
    // There are one content or two contents of different epochs: `validate::check` rejects two
    // contents of one epoch.
    sort_few_by_key(contents, |content| Reverse(content.epoch.count()));
    let finds = |c: &&Content| c.fingerprint.is_some() && epochs.finds_near(c.epoch);
    let mut found = contents.iter().filter(finds);
    let newest = found.next()?;
    // The second search excludes pages with a fingerprint of the newest epoch, because the first
    // search finds them.
    match nth.checked_sub(1) {
        None => Some((*newest, None)),
        Some(after) => Some((*found.nth(after)?, Some(newest.epoch))),
    }
}
