//! Searches, scans and sizes of a snapshot.

use crate::engine::search;
use crate::engine::search::QueryKey;
use crate::engine::search::query::{Explanation, Matches, Query};
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

impl Snapshot {
    /// Pages whose version in force is within distance `k`, in the epoch that near-duplicates are
    /// [sought by](Snapshot::near_epoch), at most 16: the simplest [`search`](Snapshot::search), at the
    /// same cost.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near a fingerprint: nearest first, then in SURT order; exact for every `k`.
    ///
    /// Usually takes some microseconds; [`explain`](Snapshot::explain) shows the cost. Looking up
    /// the first near page adds up to a microsecond, each further page 0.3. Takes no lock that a
    /// writer holds while it waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        let matches = self.poison_on_bug(|| search::search(self, query))?;
        self.view().metrics.searched(matches.complete);
        Ok(matches)
    }

    /// Runs one search for each of many fingerprints, with the settings of `like` (its own
    /// fingerprint is ignored). Answers come in the order of the fingerprints.
    ///
    /// Searches are interleaved and run on all cores: while one waits for memory, others go on. So
    /// each costs a half to a quarter of a single search. Takes memory for the answers, and for the
    /// hits of 4,096 fingerprints at a time on each core.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search_batch(&self, fingerprints: &[u64], like: &Query) -> Result<Vec<Matches>> {
        let except = like.except.as_deref();
        let sought = fingerprints.iter().map(|&fingerprint| QueryKey { fingerprint, except });
        self.search_each(&sought.collect::<Vec<_>>(), like)
    }

    /// Runs one search for each of many pages that are named with a fingerprint of theirs, with the
    /// settings of `like` (its own fingerprint is ignored, and so is what it leaves out). Each leaves
    /// its own page out of its answer. Answers come in the order of the pages.
    ///
    /// Costs what [`search_batch`](Snapshot::search_batch) does. No page is looked up: the fingerprint
    /// is searched for, whether the page has it or not.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.near_epoch();
    /// let pages = [(0b0111, "https://example.com/"), (0b1111, "https://example.org/")];
    /// for (fingerprint, url) in pages {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let answers = store.snapshot().search_batch_of_pages(&pages, &Query::new(0, 3))?;
    /// assert_eq!(answers[0].near.len(), 1);
    /// assert_eq!(answers[0].near[0].url, "https://example.org/");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search_batch_of_pages(
        &self,
        pages: &[(u64, &str)],
        like: &Query,
    ) -> Result<Vec<Matches>> {
        let sought =
            pages.iter().map(|&(fingerprint, url)| QueryKey { fingerprint, except: Some(url) });
        self.search_each(&sought.collect::<Vec<_>>(), like)
    }

    fn search_each(&self, sought: &[QueryKey<'_>], like: &Query) -> Result<Vec<Matches>> {
        let matches = self.poison_on_bug(|| search::search_batch(self, sought, like))?;
        matches.iter().for_each(|matches| self.view().metrics.searched(matches.complete));
        Ok(matches)
    }

    /// Explains how a search runs: what the planner chooses in each component and why, and what
    /// happened. Costs about three searches; page faults are counted in the first.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.poison_on_bug(|| super::explain::explain(self, query))
    }
}
