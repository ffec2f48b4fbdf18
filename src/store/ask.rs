//! Asking a store: each question is one to a [`Snapshot`] of the moment.

use std::ops::ControlFlow;

use super::answer::{History, Page, Stats};
use super::handle::Store;
use super::open;
use super::origin::Origin;
use super::query::{Explanation, Matches, NearPair, Query};
use super::scan::Scan;
use super::snapshot::Snapshot;
use super::stale::Stale;
use super::verify::{Verified, VerifyOptions, verify_open};
use crate::error::{Error, Result};
use crate::page::{Epoch, EpochInfo, Prefix, Visit};
use crate::search::Progress;

impl Store {
    /// A consistent view of everything that was acknowledged. Costs two short locks, which nobody
    /// holds while something is read or written.
    pub fn snapshot(&self) -> Snapshot {
        self.live().snapshot()
    }

    /// Pages whose version in force is within distance `k`, of the newest epoch, at most 16: a
    /// [`search`](Store::search) for those who want no more.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.snapshot().near(fingerprint, k)
    }

    /// [`near`](Store::near) for many fingerprints at once, the answers in their order: a
    /// [`search_many`](Store::search_many) for those who want no more.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn near_batch(&self, fingerprints: &[u64], k: u32) -> Result<Vec<Matches>> {
        self.snapshot().near_batch(fingerprints, k)
    }

    /// The `count` pages whose versions in force are nearest to a fingerprint, of the newest epoch.
    ///
    /// Searches in ever wider circles, so it costs as much as a search within the distance of the
    /// last one, and some of those before: up to three times as much. Memory for a few times `count`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn nearest(&self, fingerprint: u64, count: usize) -> Result<Matches> {
        self.snapshot().nearest(fingerprint, count)
    }

    /// Pages near a fingerprint: nearest first, then in SURT order; exact for every `k`.
    ///
    /// Costs what [`explain`](Store::explain) says, and up to a microsecond for a page that is near, and
    /// 0.3 for each beyond the first. Takes no lock that a writer holds while it waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.snapshot().search(query)
    }

    /// Searches like one, for many fingerprints instead of its own; the answers in their order, all of
    /// one moment.
    ///
    /// Interleaved, and on all cores: the memory that one waits for comes while others go on, so that
    /// each costs a half to a quarter of what it does alone. Memory for the answers, and for what is
    /// near 4,096 of the fingerprints at a time and core.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn search_many(&self, fingerprints: &[u64], like: &Query) -> Result<Vec<Matches>> {
        self.snapshot().search_many(fingerprints, like)
    }

    /// All pairs of different fingerprints within [`k`](Query::k) of each other that pages have, of
    /// the epoch, versions and prefix of a query (both pages under it), whose fingerprint, limit and
    /// budget do not matter. Each pair once, in no certain order; pages with equal fingerprints are
    /// found by a [`search`](Store::search) within 0.
    ///
    /// A join, not a search for each ([`Join`](crate::search::Join)): it sorts all fingerprints by
    /// parts of their bits, in 256 MiB of memory and on all cores. `sink` is called from several
    /// threads with up to 1,024 pairs at a time, as they are found; if it breaks, the join ends, as
    /// it does when it is cancelled through `progress`, and this returns `Break`. Some 0.1
    /// microseconds a fingerprint, and unless all is in one segment a look at pages for each pair,
    /// until one is found that has the fingerprint still.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use simkeep::search::Progress;
    /// use simkeep::{Query, Store};
    ///
    /// fn near_pairs(store: &Store) -> simkeep::Result<u64> {
    ///     let count = AtomicU64::new(0);
    ///     store.all_pairs(&Query::new(0, 3), &Progress::default(), |pairs| {
    ///         count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
    ///         ControlFlow::Continue(())
    ///     })?;
    ///     Ok(count.into_inner())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Limit`] for 2^32 fingerprints or
    /// more. What was handed over before is right, but not all.
    pub fn all_pairs(
        &self,
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<ControlFlow<()>> {
        self.snapshot().all_pairs(like, progress, sink)
    }

    /// Reads the fingerprint tables of all segments into memory and checks them, so that no search
    /// waits for the disk or for checksums afterwards. Costs reading them once; searches wait for
    /// none of it. Without this, every block is read and checked when it is first touched, and
    /// segments of up to 4 GiB that this process writes are ready from the start.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first block that is damaged.
    pub fn warm_up(&self) -> Result<()> {
        self.snapshot().warm_up()
    }

    /// How a search runs: what the planner chooses in each component and why, and what happened
    /// when it was done. Costs three searches or so; page faults are counted on the first.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.snapshot().explain(query)
    }

    /// All visits of a page in order, each with what it meant after those before it; empty for a
    /// page that is not known. Costs the page's record in each segment that has it.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn history(&self, url: &str) -> Result<History> {
        self.snapshot().history(url)
    }

    /// The visit whose content was in force at a time (milliseconds since 1970): the last content
    /// at or before it. `None` if the page was not known then, or gone.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        self.snapshot().as_of(url, time)
    }

    /// A page as it stands; `None` for one that is not known. Costs one record of the newest
    /// segment that knows it.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.snapshot().latest(url)
    }

    /// Pages whose version in force has a fingerprint, and none of the newest epoch, in SURT order; see
    /// [`Snapshot::stale`].
    pub fn stale(&self, after: Option<&str>) -> Stale {
        self.snapshot().stale(after)
    }

    /// What makes the fingerprints of an epoch; see [`Snapshot::origin`].
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::origin`].
    pub fn origin(&self, epoch: Epoch) -> Result<Option<Origin>> {
        self.snapshot().origin(epoch)
    }

    /// All pages, or those under a prefix, in SURT order: all pages of a host are neighbours.
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        self.snapshot().scan(prefix)
    }

    /// Sizes of the store. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        self.call(|shared| {
            let snapshot = shared.base.live.snapshot();
            snapshot.view.check()?;
            Ok(Stats {
                catalog_bytes: open::catalog_bytes(&shared.base.disk)?,
                merge_error: shared.compactor.error().as_ref().map(Error::to_string),
                ..snapshot.sizes(shared.base.options.epoch_visits)?
            })
        })
    }

    /// Reads all of the store with plain reads, checks every checksum, and that everything fits
    /// together. Costs a read of all files, and commits wait while the catalog is copied to memory.
    ///
    /// [`verify_with`](Store::verify_with) names all flaws, and is as slow as it is told to be.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first thing that is not sound, [`Error::Io`].
    pub fn verify(&self) -> Result<Verified> {
        self.verify_with(VerifyOptions::default())?.sound()
    }

    /// Checks a store that is to go on working: reads no more bytes a second than the options say, tells
    /// how far it has come, and names every flaw, not only the first. What is observed meanwhile is
    /// not waited for.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Store, VerifyOptions};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let verified = store.verify_with(VerifyOptions::default().rate(20 << 20))?;
    /// assert!(verified.is_sound(), "{:?}", verified.flaws);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the callback said so, [`Error::Io`] if a file cannot be opened. What is
    /// damaged is no error but stands in the answer.
    pub fn verify_with(&self, options: VerifyOptions<'_>) -> Result<Verified> {
        self.call(|shared| verify_open(&shared.base, options))
    }

    /// All epochs, by number.
    pub fn epochs(&self) -> Vec<EpochInfo> {
        self.live().view().epochs.to_vec()
    }

    /// The epoch that was registered last.
    pub fn newest_epoch(&self) -> Epoch {
        self.live().view().newest_epoch()
    }
}
