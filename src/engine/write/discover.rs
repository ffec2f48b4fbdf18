//! Reports of found URLs. They are written without a lookup, because links are many times as many as
//! visits: seals and merges join the reports of a URL, and drop those of pages.

use super::admission::WriterState;
use crate::engine::clock::FutureVisitCheck;
use crate::engine::core::Core;
use crate::engine::db::Db;
use crate::engine::journal;
use crate::engine::store::Store;
use crate::engine::view::View;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::Found;
use crate::segment::{FoundFacts, url_hash};

/// The number of reports that are applied under one lock.
const TOGETHER: usize = 1024;

/// The result of [`Store::discover`].
///
/// ```
/// # use simkeep::{Found, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let link = Found::new("https://example.com/", Time::now());
/// let discovered = store.discover(&[link, link])?;
/// assert_eq!((discovered.written, discovered.repeated), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discovered {
    /// The number of reports that were written. Some of them may be of URLs that are known: a report is
    /// written without a lookup.
    pub written: u64,
    /// The number of reports that said nothing new: links of a page to itself, and repetitions of
    /// recent reports.
    pub repeated: u64,
}

impl Store {
    /// Adds URLs that were found, usually in links, and that nobody has visited yet. They wait for a
    /// first visit: [`due`](crate::Snapshot::due) and [leases](Store::lease_due) return them among the
    /// pages.
    ///
    /// A found URL is not a page until it is visited. The URL of a page, also of a page that is gone, is
    /// not brought back by a link. A URL that was [forgotten](Store::forget) waits again when it is
    /// found again.
    ///
    /// The URLs are durable together when this call returns, unless
    /// [`Options::durability`](crate::Options::durability) says otherwise. The call looks up nothing:
    /// it costs a write of some 60 bytes for each URL, except for those among the last 65,536, and a
    /// share of a commit. Reports of a URL are joined later: the earliest time and the largest weight
    /// count. Waits while the memtable is full and the previous memtable is still being sealed.
    ///
    /// ```
    /// # use simkeep::{Found, Observation, Options, Store, Time};
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (page, now) = ("https://example.com/", Time::now());
    /// store.observe(Observation::content(page, now, 7, store.change_epoch()))?;
    /// let links = ["https://example.com/a", "https://example.com/b", page];
    /// store.discover(&links.map(|url| Found::new(url, now).from(page)))?;
    /// let due = store.lease_due(&Due::new(now, 10), "1h".parse()?)?;
    /// let urls: Vec<_> = due.iter().map(|decision| decision.url.as_str()).collect();
    /// assert_eq!(urls, links[..2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], [`Error::Time`], [`Error::InvalidOption`] for a weight that is not finite or not
    /// positive, or [`Error::InTheFuture`] with
    /// [`Options::clock_tolerance`](crate::Options::clock_tolerance): no URL was stored. [`Error::Io`]
    /// if the commit failed: the URLs may or may not be stored, and the store accepts no more writes
    /// ([`Error::Poisoned`]) until it is opened again.
    pub fn discover(&self, found: &[Found<'_>]) -> Result<Discovered> {
        self.change(|db| discover(db, found))
    }
}

/// Adds reports of found URLs, and acknowledges them together.
fn discover(db: &Db, found: &[Found<'_>]) -> Result<Discovered> {
    let Db { core, admission, sealer, committer, .. } = db;
    core.lifecycle.check()?;
    let clock = FutureVisitCheck::of(core);
    // All reports are checked before any is applied: if one is invalid, none is stored.
    found.iter().try_for_each(|found| {
        found.check()?;
        clock.check_time(found.url, found.time)
    })?;
    let mut discovered = Discovered::default();
    let mut left = found;
    while !left.is_empty() {
        let mut writer = admission.admit(|| sealer.seal_waiting().map(drop))?;
        let view = core.live.view();
        let applied = apply(core, &view, &mut writer, left, &mut discovered);
        // Under the lock, so that no thread commits half an operation.
        let applied = core.lifecycle.poison_on_bug(applied)?;
        left = left.get(applied..).unwrap_or(&[]);
        committer.applied(writer)?;
    }
    committer.acknowledge(admission.last_sequence())?;
    Ok(discovered)
}

/// Applies reports until the memtable is full, or another thread should get the lock. Returns the
/// number of reports that were applied.
fn apply(
    core: &Core,
    view: &View,
    writer: &mut WriterState,
    found: &[Found<'_>],
    discovered: &mut Discovered,
) -> Result<usize> {
    let active = &view.memtables.active;
    for (applied, found) in found.iter().enumerate().take(TOGETHER) {
        let hash = url_hash(found.url, view.seed);
        let facts = FoundFacts::new(found.time, found.weight);
        if found.from == Some(found.url) || writer.recent.has(hash, facts) {
            discovered.repeated += 1;
            continue;
        }
        let sequence = writer.next_sequence;
        writer.pending.push(active.journal, sequence, |out| {
            journal::put_found(out, found.url, facts);
        })?;
        writer.next_sequence += 1;
        // The memtable is locked for each report separately, so that readers get the lock between.
        let mut inner = active.write();
        inner.apply_found(sequence, found.url, hash, facts)?;
        writer.recent.add(hash, facts);
        discovered.written += 1;
        if inner.is_full(&core.options) {
            return Ok(applied + 1);
        }
    }
    Ok(found.len().min(TOGETHER))
}
