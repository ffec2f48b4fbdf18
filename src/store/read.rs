//! Searches, scans and sizes of a snapshot.

use std::ops::ControlFlow;

use super::answer::{SegmentStats, Stats};
use super::epochs::{has_table, known, origin_of};
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
    /// Pages near a fingerprint; see [`Store::near`](super::Store::near).
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near a fingerprint; see [`Store::search`](super::Store::search).
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.heed(|| search::search(self, query))
    }

    /// Many searches of one kind; see [`Store::search_many`](super::Store::search_many).
    pub fn search_many(&self, fingerprints: &[u64], like: &Query) -> Result<Vec<Matches>> {
        self.heed(|| search::search_many(self, fingerprints, like))
    }

    /// All pairs of near fingerprints; see [`Store::all_pairs`](super::Store::all_pairs).
    pub fn all_pairs(
        &self,
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
    ) -> Result<ControlFlow<()>> {
        self.heed(|| search::all_pairs(self, like, progress, sink))
    }

    /// How a search runs; see [`Store::explain`](super::Store::explain).
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.heed(|| search::explain(self, query))
    }

    /// Pages near many fingerprints; see [`Store::near_batch`](super::Store::near_batch).
    pub fn near_batch(&self, fingerprints: &[u64], k: u32) -> Result<Vec<Matches>> {
        self.search_many(fingerprints, &Query::new(0, k))
    }

    /// The nearest pages; see [`Store::nearest`](super::Store::nearest).
    pub fn nearest(&self, fingerprint: u64, count: usize) -> Result<Matches> {
        self.search(&Query::nearest(fingerprint, count))
    }

    /// Pages in SURT order; see [`Store::scan`](super::Store::scan).
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
