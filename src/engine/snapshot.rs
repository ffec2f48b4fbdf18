//! A consistent view of the store, against which all queries run.

use std::any::Any;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use super::epochs::Epochs;
use super::lookup::Lookup;
use super::results::{History, HistoryEntry, Page};
use super::view::{PastVersion, View};
use crate::engine::component::Component;
use crate::engine::files::has_table;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::fingerprint::Meaning;
use crate::page::{
    Distance, Entry, Epoch, EpochInfo, PageHead, Seen, Visit, find_epoch, restatements_of,
    visit_verdict,
};
use crate::progress::{Progress, Stage};
use crate::time::Time;
use crate::url::check_url;

/// State that a higher module caches with a snapshot. Only the module that created the state uses
/// its concrete type.
pub(crate) type SnapshotCache = Box<dyn Any + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// A consistent view of a store: every operation up to a sequence number, and no later operation.
///
/// Every query runs against a snapshot: the most common queries are methods of the snapshot, all
/// others are [values](crate#queries). [`Store::snapshot`](crate::Store::snapshot) and
/// [`Reader::snapshot`](crate::Reader::snapshot) return snapshots.
///
/// A snapshot is cheap to create and to clone. It does not change, whatever is observed, sealed,
/// merged or forgotten later. The files that the snapshot needs stay until it is dropped.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0b0011, epoch))?;
/// let before = store.snapshot();
/// store.observe(Observation::content(url, Time::from_ms(2_000)?, 0b0111, epoch))?;
///
/// assert_eq!(before.history(url)?.len(), 1);
/// assert_eq!(store.snapshot().near(0b0111, 0)?.near[0].url, url);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) view: Arc<View>,
    pub(crate) sequence: u64,
    /// The state that a higher module caches with a snapshot and its clones, opaque to the
    /// snapshot.
    cache: Arc<OnceLock<SnapshotCache>>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({} of {})", self.sequence, self.view.disk.location())
    }
}

impl Snapshot {
    /// Creates a snapshot of a view up to the operation `sequence`.
    pub(crate) fn new(view: Arc<View>, sequence: u64) -> Snapshot {
        Snapshot { view, sequence, cache: Arc::default() }
    }

    /// The view with its components.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Returns the state cached with this snapshot and its clones. Calls `make` the first time.
    pub(crate) fn cached_or_init(
        &self,
        make: impl FnOnce() -> Result<SnapshotCache>,
    ) -> Result<&SnapshotCache> {
        if let Some(kept) = self.cache.get() {
            return Ok(kept);
        }
        let made = make()?;
        Ok(self.cache.get_or_init(|| made))
    }

    /// The number of the last operation in the snapshot.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let before = store.snapshot();
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert_eq!((before.sequence(), store.snapshot().sequence()), (0, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// All epochs, by number.
    ///
    /// ```
    /// # use simkeep::{Options, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.register_epoch("perceptual hash 1.2", Role::Near)?;
    /// let snapshot = store.snapshot();
    /// for info in snapshot.epochs() {
    ///     println!("{}: {}", info.epoch.number(), info.name);
    /// }
    /// assert_eq!(snapshot.epochs()[1].role, Role::Near);
    /// # Ok(())
    /// # }
    /// ```
    pub fn epochs(&self) -> &[EpochInfo] {
        &self.view.epochs
    }

    /// The epoch that verdicts and their distances use: the newest epoch that has not ended and
    /// whose [role](crate::Role) detects changes.
    ///
    /// ```
    /// # use simkeep::{Options, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let new = store.register_epoch("my own hashes", Role::Change)?;
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.change_epoch(), new);
    /// assert_ne!(snapshot.near_epoch(), new); // the role does not find near-duplicates
    /// # Ok(())
    /// # }
    /// ```
    pub fn change_epoch(&self) -> Epoch {
        self.view.epochs.change()
    }

    /// The epoch in which near-duplicates and copies are searched, unless a query sets another
    /// epoch: the newest epoch that has not ended and whose [role](crate::Role) finds
    /// near-duplicates.
    ///
    /// ```
    /// # use simkeep::{Options, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let new = store.register_epoch("my own hashes", Role::Near)?;
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.near_epoch(), new);
    /// assert_ne!(snapshot.change_epoch(), new); // the role does not detect changes
    /// # Ok(())
    /// # }
    /// ```
    pub fn near_epoch(&self) -> Epoch {
        self.view.epochs.near()
    }

    /// Runs a public call. If the call meets a bug, the store of this snapshot is poisoned.
    #[inline]
    pub(crate) fn poison_on_bug<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.view.poison.poison_on_bug(call())
    }

    fn lookup<'a>(&self, url: &'a str) -> Result<Lookup<'a>> {
        self.view.check()?;
        check_url(url)?;
        Ok(Lookup::new(url, self.view.seed))
    }

    /// Returns all visits of a page in order, each with its verdict after the visits before it.
    /// Empty for an unknown page. Costs reading the page's record in each segment that has it.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// assert_eq!(store.snapshot().history(url)?.len(), 1);
    /// assert!(store.snapshot().history("https://example.org/")?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if the data to read is damaged.
    pub fn history(&self, url: &str) -> Result<History> {
        self.poison_on_bug(|| {
            let entries = self.view.entries(&self.lookup(url)?, self.sequence)?;
            Ok(fold(&entries, &self.view.epochs).0)
        })
    }

    /// Returns the visit whose content was current at a time: the last content at or before the
    /// time, with its fingerprint of the newest epoch that detects changes. `None` if the page was
    /// unknown at the time, or gone. Costs reading the page's record in each segment that has it.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/terms", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
    /// let snapshot = store.snapshot();
    /// assert!(snapshot.as_of(url, Time::from_ms(2_000)?)?.is_some());
    /// assert!(snapshot.as_of(url, Time::from_ms(500)?)?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if the data to read is damaged.
    pub fn as_of(&self, url: &str, time: impl Into<Time>) -> Result<Option<Visit>> {
        self.poison_on_bug(|| {
            let version = self.view.version_at(&self.lookup(url)?, self.sequence, time.into())?;
            Ok(version.map(|PastVersion { visit, contents }| {
                let content = self.view.epochs.newest_for_changes(&contents).copied();
                let seen = content.map_or(visit.seen, Seen::Content);
                Visit { seen, ..visit }
            }))
        })
    }

    /// Returns the current state of a page; `None` for an unknown page. Costs reading one record in
    /// the newest segment that has the page, or all records of the page if a late visit was not
    /// sealed yet.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// assert!(store.snapshot().latest(url)?.is_some_and(|page| page.gone));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if the data to read is damaged.
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.poison_on_bug(|| {
            let page = self.view.page_with_changes(&self.lookup(url)?, self.sequence)?;
            Ok(page.map(|page| Page::new(url, &page, &self.view.epochs)))
        })
    }

    /// Reads the fingerprint tables of all segments into memory and checks them, so that later
    /// searches wait neither for the disk nor for checksums. Costs reading the tables once;
    /// concurrent searches do not wait. Without this call, every block is read and checked on first
    /// access. Segments of up to 4 GiB that this process wrote are ready from the start.
    ///
    /// ```
    /// # use simkeep::{Options, Progress, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.snapshot().warm_up(&Progress::default())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first damaged block, [`Error::Cancelled`] if the progress was
    /// cancelled.
    pub fn warm_up(&self, progress: &Progress) -> Result<()> {
        self.poison_on_bug(|| {
            self.view.poison.check_read()?;
            let segments = || self.view.segments.iter().map(|live| &live.segment);
            let bytes = segments().map(|segment| segment.table_bytes()).sum();
            progress.start(Stage::Checking, Some(bytes))?;
            segments().try_for_each(|segment| segment.warm_up_tables(progress))
        })
    }

    /// The number of distinct fingerprints of an epoch that can be searched. A fingerprint counts
    /// once for each segment that has it. Reads no table.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (path, fingerprint) in [("a", 7), ("b", 7), ("c", 8)] {
    ///     let url = format!("https://example.com/{path}");
    ///     store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    /// }
    /// assert_eq!(store.snapshot().fingerprints(epoch), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fingerprints(&self, epoch: Epoch) -> u64 {
        self.view.components().map(|component| u64::from(component.fingerprints(epoch.0))).sum()
    }

    /// The time of the last visit in the store, in milliseconds since 1970; `None` without visits.
    /// A forgotten visit counts until it is merged away.
    ///
    /// Costs reading each segment's numbers, and one pass over the data in memory.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let time = Time::now();
    /// assert_eq!(store.snapshot().last_visit(), None);
    /// store.observe(Observation::gone("https://example.com/", time))?;
    /// assert_eq!(store.snapshot().last_visit(), Some(time));
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_visit(&self) -> Option<Time> {
        let last = |component: Component<'_>| match component {
            Component::Segment(_, live) => live.segment.numbers().times.map(|(first, last)| {
                (Time::from_ms_unchecked(first), Time::from_ms_unchecked(last))
            }),
            Component::Memtable(_, memtable) => memtable.read().times_at(self.sequence),
        };
        self.view.components().filter_map(last).map(|(_, last)| last).max()
    }

    /// The largest distance of near-duplicates in an epoch, in bits: the
    /// [advice](crate::fingerprint::Recipe::near_distance) of its recipe, unless the store was
    /// opened with [another distance](crate::Options::near_distance). The distance is 3 if
    /// fingerprints are made elsewhere, under a name without meaning to simkeep, or if the epoch
    /// does not exist. Reads no file.
    ///
    /// ```
    /// # use simkeep::{Options, Origin, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let strict = store.begin_epoch(&Origin::new("strict".parse().unwrap()), Role::Near)?;
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.near_distance(snapshot.change_epoch()), 3); // the default recipe
    /// assert_eq!(snapshot.near_distance(strict), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn near_distance(&self, epoch: Epoch) -> u32 {
        self.view.epochs.near_distance(epoch, self.view.near_distance)
    }

    /// The [meaning](crate::fingerprint::Recipe::meaning) of a distance of fingerprints in an
    /// epoch, by its recipe. The meaning for [ready-made](crate::fingerprint::Meaning::ready_made)
    /// fingerprints is returned if the fingerprints are made elsewhere, under a name without
    /// meaning to simkeep, or if the epoch does not exist. Reads no file.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Store};
    /// use simkeep::fingerprint::Band;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.meaning(snapshot.change_epoch(), 4).band, Band::Moderate);
    /// # Ok(())
    /// # }
    /// ```
    pub fn meaning(&self, epoch: Epoch, distance: u32) -> Meaning {
        self.view.epochs.meaning(Distance { bits: distance, epoch })
    }

    /// The name of the file in the store's directory that has an epoch's table of document
    /// frequencies. `None` if the epoch has no table, or has ended. Reads no file.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let snapshot = store.snapshot();
    /// // The default recipe uses no table.
    /// assert_eq!(snapshot.table_file(snapshot.change_epoch()), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn table_file(&self, epoch: Epoch) -> Option<String> {
        let info = find_epoch(self.epochs(), epoch).filter(|info| has_table(info));
        info.map(|info| self.view.files.table(info).to_string())
    }
}

/// Folds entries in order. Returns each visit with its verdict, and the resulting head of the page.
#[expect(clippy::indexing_slicing, reason = "a rest, possibly empty, follows each entry")]
pub(crate) fn fold(entries: &[Entry], epochs: &Epochs) -> (History, Option<PageHead>) {
    let mut head: Option<PageHead> = None;
    let mut history = Vec::with_capacity(entries.len());
    let mut also = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        history.push(match entry {
            Entry::Visit(visit) => {
                also.clear();
                if matches!(visit.seen, Seen::Content(_)) {
                    also.extend(restatements_of(entry, &entries[at + 1..]));
                }
                let verdict = visit_verdict(head.as_ref(), visit, &also, epochs).verdict;
                let meaning = verdict.distance().map(|distance| epochs.meaning(distance));
                HistoryEntry::Visit { visit: *visit, verdict, meaning }
            }
            Entry::Restated(restated) => HistoryEntry::Restated(*restated),
            Entry::Property(given) => HistoryEntry::Property(given.clone()),
        });
        PageHead::absorb_into(&mut head, entry);
    }
    (history, head)
}
