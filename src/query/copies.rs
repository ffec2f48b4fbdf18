//! The pages with exactly a given content.

use std::collections::BTreeSet;

use crate::engine::epochs::check_live;
use crate::engine::results::ExactCopy;
use crate::engine::search::query::{NearMatch, Versions};
use crate::engine::search::ranked_hit::RankedHit;
use crate::engine::search::{FromHit, SearchOutput, SearchRequest, bounds, segment_hits};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Content, DIGESTS, Digest, TableKey};
use crate::query::in_force::InForceFilter;

/// The pages whose current version is exactly a content; see [`Snapshot::by_digest`].
///
/// ```
/// # use simkeep::{Content, Digest, Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// let (fingerprint, digest) = (Some(7), Some(Digest([0xda; 16])));
/// let content = Content { fingerprint, digest, epoch };
/// for ms in [2_000, 1_000] {
///     let url = format!("https://example.com/{ms}");
///     let seen = Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch);
///     store.observe(seen.digest(Digest([0xda; 16])))?;
/// }
/// let copies = store.snapshot().by_digest(&content, 10)?;
/// assert_eq!(copies.pages[0].url, "https://example.com/1000");
/// assert!(copies.complete && copies.pages.len() == 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copies {
    /// The pages, in the order in which they were first seen with the content.
    pub pages: Vec<ExactCopy>,
    /// Whether there are no other pages. If not, there are more than the limit, or the search
    /// was bounded; see [`Matches::complete`](crate::Matches::complete).
    pub complete: bool,
}

impl Snapshot {
    /// Finds the pages whose current version is exactly a content, by the content's digest: at most
    /// `limit` pages, the first seen first.
    ///
    /// Content without a fingerprint is found by its digest alone: a PDF, an image, a text that is
    /// too short. Other content is found through its fingerprint, so the fingerprint and its epoch
    /// must be given, too. No page is found for a redirect, for content without a digest, and for
    /// a fingerprint of an epoch that has ended.
    ///
    /// Costs about a microsecond for content that no page has, and less than a microsecond more for
    /// each page. Examines some hundreds of pages more than the limit at most.
    ///
    /// ```
    /// # use simkeep::{Content, Digest, Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (epoch, digest) = (store.change_epoch(), Digest([0xda; 16]));
    /// let seen = Observation::content("https://example.com/a.pdf", Time::now(), None, epoch);
    /// store.observe(seen.digest(digest))?;
    /// let content = Content { fingerprint: None, digest: Some(digest), epoch };
    /// let copies = store.snapshot().by_digest(&content, 10)?;
    /// assert_eq!(copies.pages[0].url, "https://example.com/a.pdf");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`](crate::Error::UnknownEpoch) or
    /// [`Error::EndedEpoch`](crate::Error::EndedEpoch) for a fingerprint of such an epoch, and
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the search reads damaged data.
    pub fn by_digest(&self, content: &Content, limit: usize) -> Result<Copies> {
        self.poison_on_bug(|| copies(self, content, limit))
    }
}

fn copies(snapshot: &Snapshot, content: &Content, limit: usize) -> Result<Copies> {
    let none = Copies { pages: Vec::new(), complete: true };
    let (Some(TableKey { table, value }), Some(digest)) = (content.table_key(), content.digest)
    else {
        return Ok(none);
    };
    snapshot.view.check()?;
    if table != DIGESTS {
        check_live(snapshot.epochs(), content.epoch)?;
    }
    let output = search::<RankedHit>(snapshot, &request((table, value), digest, limit))?;
    let all = output.copies.len();
    let first = RankedHit::first_of(output.copies, limit, (&snapshot.view, snapshot.sequence))?;
    let pages = first.into_iter().map(|(first, hit)| ExactCopy { url: hit.near.url, first });
    Ok(Copies { pages: pages.collect(), complete: output.complete && all <= limit })
}

/// The URLs of pages whose content has a digest and no fingerprint, among the pages that a filter
/// may select: at most `limit`, and whether there are no others.
pub(crate) fn pages_with_digest(
    snapshot: &Snapshot,
    digest: Digest,
    filter: &InForceFilter,
    limit: usize,
) -> Result<(BTreeSet<String>, bool)> {
    let wanted = SearchRequest {
        versions: filter.at.map_or(Versions::InForce, Versions::At),
        under: filter.under.as_ref(),
        classes: filter.classes.as_ref(),
        ..request((DIGESTS, digest.key()), digest, limit)
    };
    let SearchOutput { near, copies, complete, .. } = search::<NearMatch>(snapshot, &wanted)?;
    let mut urls: BTreeSet<String> = near.into_iter().chain(copies).map(|hit| hit.url).collect();
    let is_all = urls.len() <= limit;
    while urls.len() > limit {
        urls.pop_last();
    }
    Ok((urls, complete && is_all))
}

/// The request for pages with exactly this digest, found in a table by this value.
fn request((table, value): (u32, u64), digest: Digest, limit: usize) -> SearchRequest<'static> {
    SearchRequest {
        fingerprint: value,
        k: 0,
        epoch: table,
        limit,
        versions: Versions::InForce,
        under: None,
        exclude: None,
        classes: None,
        excluded_epoch: None,
        digest: Some(digest),
        first_capture: false,
        bounds: Some(bounds(limit, u32::MAX)),
    }
}

fn search<F: FromHit>(snapshot: &Snapshot, wanted: &SearchRequest<'_>) -> Result<SearchOutput<F>> {
    let mut found = segment_hits(&snapshot.view.segments, wanted)?;
    snapshot.view.add_memory(wanted, &mut found);
    snapshot.view.near(wanted, snapshot.sequence, &mut found)
}
