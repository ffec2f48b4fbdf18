//! The query for clusters.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Classes, Epoch, Prefix, RankInput, RankKey, Ranking, RankingRule};
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::search::DISTANCE_MAX;
use crate::sort::Workspace;
use crate::time::Time;

/// The minimum memory of a clustering, in bytes.
const MEMORY_BYTES_MIN: usize = 1 << 20;

/// A function that orders pages before the rules do.
type RankKeyFn = dyn Fn(&Page) -> u64 + Send + Sync;

/// A query for clusters: which pages, within which distance, and which page leads.
///
/// ```
/// use simkeep::{Prefix, Time};
/// use simkeep::cluster::{Clustering, RankingRule};
///
/// let clustering = Clustering::within(3)
///     .rule(RankingRule::ShortestUrl)
///     .under(Prefix::parse("example.org")?)
///     .at(Time::from_ms(1_714_564_800_000)?);
/// assert_eq!(clustering.k, Some(3));
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Clustering {
    /// The largest Hamming distance of a page to the leader of its cluster, 0 to 64; `None` for the
    /// [near distance](Snapshot::near_distance) of the epoch.
    pub k: Option<u32>,
    /// The epoch of the fingerprints; `None` for the
    /// [epoch of near-duplicates](Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// The ranking that determines the leader.
    pub ranking: Ranking,
    /// The time of the versions, in milliseconds since 1970; `None` for the current versions.
    pub at: Option<Time>,
    /// Only pages under this prefix are clustered.
    pub under: Option<Prefix>,
    /// Only pages of these classes are clustered; see [`Clustering::classes`].
    pub classes: Option<Classes>,
    /// Approximate memory in bytes; see [`Clustering::memory_bytes`].
    pub memory_bytes: Option<usize>,
    /// The directory for scratch files; `None` for the system's temporary directory.
    pub scratch: Option<PathBuf>,
    /// The order of pages before all rules.
    key: Option<Arc<RankKeyFn>>,
}

impl Clustering {
    /// Creates a query for all pages with a current version, in clusters within distance `k` of
    /// their leaders. The leader is the page that was first seen with its content.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
    /// let clusters = |k| Clustering::within(k).run(&store.snapshot(), &Progress::default());
    /// assert_eq!(clusters(0)?.len(), 3);
    /// assert_eq!(clusters(3)?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(k: u32) -> Clustering {
        Clustering { k: Some(k), ..Clustering::default() }
    }

    /// Sets the epoch whose fingerprints are clustered.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Role, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The three pages have fingerprints of the first epoch only.
    /// store.register_epoch("perceptual hash 1.2", Role::Near)?;
    /// let (asked, snapshot) = (Clustering::within(3), store.snapshot());
    /// assert_eq!(asked.run(&snapshot, &Progress::default())?.pages(), 0);
    /// assert_eq!(asked.epoch(epoch).run(&snapshot, &Progress::default())?.pages(), 3);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> Clustering {
        self.epoch = Some(epoch);
        self
    }

    /// Sets the ranking that determines the leader: a [`RankingRule`](super::RankingRule), or
    /// several rules in order of priority. Default: the page that was first seen with its content
    /// leads.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Clustering, RankingRule};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/terms` and `/terms?print=1` are near each other, and `/terms` was seen first.
    /// let asked = Clustering::within(3).rule(RankingRule::Newest);
    /// let clusters = asked.run(&store.snapshot(), &Progress::default())?;
    /// let largest = clusters.by_size(2)?.next().unwrap()?;
    /// assert_eq!(largest.leader, "https://example.com/terms?print=1");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rule(mut self, rule: impl Into<Ranking>) -> Clustering {
        self.ranking = rule.into();
        self.key = None;
        self
    }

    /// Ranks pages by `key`, the least key first, before all rules. The key must depend only on the
    /// page. `key` is called once for each page, which costs reading the page's whole history.
    ///
    /// ```
    /// use simkeep::Page;
    /// use simkeep::cluster::Clustering;
    ///
    /// let most_visited = Clustering::within(3).key(|page: &Page| u64::MAX - page.visits);
    /// ```
    #[must_use]
    pub fn key(mut self, key: impl Fn(&Page) -> u64 + Send + Sync + 'static) -> Clustering {
        self.key = Some(Arc::new(key));
        self
    }

    /// Clusters the versions that were current at a time, as if the store had only the visits and
    /// weights up to that time. Pages forgotten since are missing.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The three pages were seen at 1, 2 and 3 ms.
    /// let asked = Clustering::within(3).at(Time::from_ms(2)?);
    /// assert_eq!(asked.run(&store.snapshot(), &Progress::default())?.pages(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn at(mut self, time: impl Into<Option<Time>>) -> Clustering {
        self.at = time.into();
        self
    }

    /// Clusters only pages under a prefix, such as the pages of a host.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The store has `/terms`, `/terms?print=1` and `/about`.
    /// let asked = Clustering::within(3).under(Prefix::parse("example.com/terms")?);
    /// assert_eq!(asked.run(&store.snapshot(), &Progress::default())?.pages(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> Clustering {
        self.under = prefix.into();
        self
    }

    /// Clusters only pages that are in the given classes now, such as the classes that a user may
    /// see. The leader is chosen among these pages, and other pages are neither listed nor counted;
    /// see [`Query::classes`](crate::Query::classes). The current class counts, even
    /// [at](Clustering::at) a past time.
    ///
    /// ```
    /// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (url, class) in [("https://example.com/", 7), ("https://example.org/copy", 8)] {
    ///     store.observe(Observation::content(url, Time::now(), 0x1234, epoch).class(class))?;
    /// }
    /// let asked = Clustering::within(3).classes(Classes::of([7]));
    /// let clusters = asked.run(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((clusters.pages(), clusters.largest()), (1, 1)); // as if there was no copy
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> Clustering {
        self.classes = classes.into();
        self
    }

    /// Sets the memory to use, in bytes. Default: 512 MiB. Data that exceeds the memory is in
    /// unnamed scratch files, about 150 bytes for each page, which leave nothing behind.
    ///
    /// ```
    /// use simkeep::cluster::Clustering;
    /// let asked = Clustering::within(3).memory_bytes(2 << 30); // 2 GiB
    /// assert_eq!(asked.memory_bytes, Some(2 << 30));
    /// ```
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> Clustering {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Sets the directory for scratch files, which must exist.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // On the disk of the store, if the temporary directory is in memory.
    /// let asked = Clustering::within(3).scratch(dir.path().to_owned());
    /// assert_eq!(asked.run(&store.snapshot(), &Progress::default())?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn scratch(mut self, dir: impl Into<Option<PathBuf>>) -> Clustering {
        self.scratch = dir.into();
        self
    }

    /// The effective distance.
    pub(super) fn distance(&self, snapshot: &Snapshot, epoch: Epoch) -> u32 {
        // Fingerprints differ in at most 64 bits, so a larger k finds all pairs, as 64 does.
        self.k.unwrap_or_else(|| snapshot.near_distance(epoch)).min(DISTANCE_MAX)
    }

    /// The selection of pages.
    pub(super) fn filter(&self, snapshot: &Snapshot) -> Result<InForceFilter> {
        let filter = InForceFilter::new(snapshot, self.epoch)?;
        Ok(InForceFilter {
            at: self.at,
            under: self.under.clone(),
            classes: self.classes.clone(),
            // Only a key function needs the whole page, and reading the whole page costs its
            // history.
            whole: self.key.is_some(),
            with_target: self.ranking.rules().contains(&RankingRule::Canonical),
            ..filter
        })
    }

    /// The effective memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory_bytes.unwrap_or(512 << 20).max(MEMORY_BYTES_MIN)
    }

    pub(super) fn workspace(&self) -> Workspace {
        Workspace::new(self.scratch.clone(), self.memory())
    }

    /// The rank of a page. `is_canonical` is whether a near page declares the page as canonical.
    pub(super) fn rank(&self, taken: &InForcePage, is_canonical: bool) -> RankKey {
        let InForcePage { url, since, weight, .. } = taken;
        let (since, weight) = (*since, *weight);
        let rank = self.ranking.rank(&RankInput { url, since, weight, is_canonical });
        // If there is a key, `filter` has asked for whole pages, so `taken.page` is set.
        match (&self.key, &taken.page) {
            (Some(key), Some(page)) => rank.after(key(page)),
            _ => rank,
        }
    }
}

impl fmt::Debug for Clustering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clustering")
            .field("k", &self.k)
            .field("epoch", &self.epoch)
            .field("ranking", &self.ranking)
            .field("at", &self.at)
            .field("under", &self.under)
            .field("classes", &self.classes)
            .field("memory_bytes", &self.memory_bytes)
            .field("scratch", &self.scratch)
            .field("has_key", &self.key.is_some())
            .finish()
    }
}
