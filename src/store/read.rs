//! Searches, scans and sizes of a snapshot.

use std::ops::ControlFlow;

use super::answer::{SegmentStats, Stats};
use super::epochs::{has_table, known, origin_of, table_name};
use super::memtable::PageOf;
use super::observations::Observations;
use super::origin::Origin;
use super::query::{Explanation, Matches, NearPair, Query};
use super::scan::Scan;
use super::search;
use super::snapshot::Snapshot;
use super::stale::Stale;
use crate::error::Result;
use crate::page::{Epoch, Prefix};
use crate::search::Progress;

impl Snapshot {
    /// Pages whose version in force is within distance `k`, of the newest epoch, at most 16: a
    /// [`search`](Snapshot::search) for those who want no more.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near a fingerprint: nearest first, then in SURT order; exact for every `k`.
    ///
    /// Costs what [`explain`](Snapshot::explain) says, and up to a microsecond for a page that is near, and
    /// 0.3 for each beyond the first. Takes no lock that a writer holds while it waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.heed(|| search::search(self, query))
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
    pub fn search_batch(&self, fingerprints: &[u64], like: &Query) -> Result<Vec<Matches>> {
        self.heed(|| search::search_batch(self, fingerprints, like))
    }

    /// All pairs of different fingerprints within [`k`](Query::k) of each other that pages have, of
    /// the epoch, versions and prefix of a query (both pages under it), whose fingerprint, limit and
    /// budget do not matter. Each pair once, in no certain order; pages with equal fingerprints are
    /// found by a [`search`](Snapshot::search) within 0.
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
    /// use simkeep::{Query, Snapshot};
    ///
    /// fn near_pairs(snapshot: &Snapshot) -> simkeep::Result<u64> {
    ///     let count = AtomicU64::new(0);
    ///     snapshot.all_pairs(&Query::new(0, 3), &Progress::default(), |pairs| {
    ///         count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
    ///         ControlFlow::Continue(())
    ///     })?;
    ///     Ok(count.into_inner())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged,
    /// [`Error::Limit`] for 2^32 fingerprints or more. What was handed over before is right, but not all.
    pub fn all_pairs(
        &self,
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<ControlFlow<()>> {
        self.heed(|| search::all_pairs(self, like, progress, sink))
    }

    /// How a search runs: what the planner chooses in each component and why, and what happened
    /// when it was done. Costs three searches or so; page faults are counted on the first.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.heed(|| search::explain(self, query))
    }

    /// All pages, or those under a prefix, in SURT order: all pages of a host are neighbours.
    ///
    /// Reads as it goes, most of it from front to end, some microseconds a page. Memory for a block of
    /// each segment.
    ///
    /// # Errors
    ///
    /// Of the items: [`Error::Corrupt`] if what it touches is damaged, after which nothing more comes.
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        Scan::new(self, prefix, None)
    }

    /// Every observation: pages in SURT order, their entries in order of time. What
    /// [`Store::load`](super::Store::load) takes.
    ///
    /// Reads as it goes, most of it from front to end; memory as for [`scan`](Snapshot::scan), and
    /// the entries of one page.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", 1))?;
    /// for observation in store.snapshot().observations() {
    ///     let (url, entry) = observation?;
    ///     println!("{} {url} {:?}", entry.time(), entry.content());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn observations(&self) -> Observations {
        self.observations_under(None)
    }

    /// Every observation of the pages under a prefix: pages in SURT order, their visits in order of
    /// time.
    pub fn observations_under(&self, prefix: Option<&Prefix>) -> Observations {
        Observations::of(self.scan(prefix))
    }

    /// Pages whose version in force has a fingerprint, and none of the newest epoch, in SURT order;
    /// from the first after `after` on, if that is given.
    ///
    /// For each that the content is still at hand of, [`Store::restate`](super::Store::restate) says
    /// its fingerprint in the newest epoch. Whoever does so in several sittings goes on after the URL
    /// that was the last. Costs a scan, some microseconds a page; nothing where there are no
    /// fingerprints of another epoch.
    ///
    /// # Errors
    ///
    /// Of the items: those of [`scan`](Snapshot::scan).
    pub fn stale(&self, after: Option<&str>) -> Stale {
        Stale::new(self, after)
    }

    /// What makes the fingerprints of an epoch; `None` if they are made elsewhere, under a name of
    /// which simkeep knows nothing. Reads and checks the epoch's table, if it has one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`], [`Error::EndedEpoch`]; [`Error::NoTable`] if the table is not there,
    /// [`Error::Corrupt`] if it is damaged or another one, [`Error::Io`] if it cannot be read.
    ///
    /// [`Error::UnknownEpoch`]: crate::Error::UnknownEpoch
    /// [`Error::EndedEpoch`]: crate::Error::EndedEpoch
    /// [`Error::NoTable`]: crate::Error::NoTable
    /// [`Error::Corrupt`]: crate::Error::Corrupt
    /// [`Error::Io`]: crate::Error::Io
    pub fn origin(&self, epoch: Epoch) -> Result<Option<Origin>> {
        self.heed(|| origin_of(&self.view, epoch))
    }

    /// The file in the store's directory that is an epoch's table of document frequencies; `None` for
    /// one that has none, or has ended. Reads nothing.
    pub fn table_file(&self, epoch: Epoch) -> Option<String> {
        let info = known(self.epochs(), epoch).filter(|info| has_table(info));
        info.map(|info| table_name(info.epoch).to_string())
    }

    /// How many distinct fingerprints of an epoch can be searched; those that several segments have
    /// count for each. Reads no table.
    pub fn fingerprints(&self, epoch: Epoch) -> u64 {
        self.view.components().map(|component| u64::from(component.fingerprints(epoch.0))).sum()
    }

    /// Sizes of what is seen; those of the catalog's file are for others to say.
    pub(super) fn sizes(&self, epoch_visits: u64) -> Result<Stats> {
        let mut stats =
            Stats { epochs: self.epochs().to_vec(), sequence: self.sequence, ..Stats::default() };
        for live in self.view.segments.iter() {
            let numbers = live.segment.numbers();
            stats.segment_bytes += live.segment.file_bytes();
            stats.segments.push(SegmentStats {
                id: live.segment.id(),
                pages: numbers.pages,
                visits: numbers.visits,
                fingerprints: numbers.fingerprints,
                bytes: live.segment.file_bytes(),
            });
        }
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            let visits = |page: PageOf<'_>| {
                page.entries_at(self.sequence).filter(|entry| !entry.is_restated()).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        (stats.pages, stats.visits) = self.count()?;
        let newest = known(self.epochs(), self.newest_epoch());
        // There may be fewer than when it began: some were forgotten.
        stats.epoch_visits = newest.map_or(0, |info| stats.visits.saturating_sub(info.begun));
        stats.epoch_due = newest.is_some_and(has_table) && stats.epoch_visits >= epoch_visits;
        Ok(stats)
    }
}
