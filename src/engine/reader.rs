//! A reader of a store that another process may write.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::epochs::Epochs;
use super::files::FileNaming;
use super::generations;
use super::generations::{IncompleteGeneration, NewestGeneration};
use super::live_segment::LiveSegment;
use super::memtables::Memtables;
use super::open::{self, require_store, view_of};
use super::snapshot::Snapshot;
use super::stats::Stats;
use super::view::View;
use crate::catalog::{
    Catalog, CatalogContents, Generation, Journal, JournalFrames, JournalTail, PublishedState,
    ReadLimit, SessionRows, StoreLocks, mark, read_concurrently,
};
use crate::disk::{Disk, Location, LockGuard, LockMode};
use crate::error::{Error, NotStore, Result};
use crate::metrics::Metrics;
use crate::sync::thread;

/// The maximum time to wait for a writer that has published nothing: the writer creates the store,
/// or its disk is full.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// A read-only view of a store. It needs no write permission, and works even while a writer in
/// another process has the store open.
///
/// A reader sees everything that was acknowledged before the reader was opened or
/// [refreshed](Self::refresh), whether a writer is active, was killed, or was closed. It sees one
/// committed state, possibly a state whose sync is still in progress, before it is acknowledged.
/// With [`Durability::OnFlush`](crate::Durability::OnFlush), operations that wait for a flush exist
/// only in the writer's memory, and no reader sees them.
///
/// A reader writes nothing to the store's directory, and a writer neither waits for readers nor
/// notices them. The reader reads the catalog while the writer may be writing it. If the reader
/// meets an overwritten page, it starts again with the next commit, and keeps the frames that it
/// has read. With a writer at full speed, reading takes one pass or a few. If the reader does not
/// succeed within 2 seconds, it shows the sealed state, which may be some minutes old
/// ([`Options::seal_after`](crate::Options::seal_after)); in this case
/// [`fell_back`](Self::fell_back) returns true.
///
/// Unsealed data is kept in memory, as in the writer: at most two memtables of the writer's
/// [size](crate::Options::memtable_bytes).
///
/// A reader also works in a forked process. In such a process, the next refresh reads all data
/// again. A snapshot that another thread was reading or refreshing at the moment of the fork may
/// return [`Error::Forked`].
///
/// All queries run against the reader's [`Snapshot`]:
///
/// ```
/// use simkeep::{Observation, Options, Reader, Store, Time};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// let store = Store::create(&path, Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::gone(url, Time::from_ms(0)?))?;
///
/// let mut reader = Reader::open(&path)?; // as another process would
/// assert!(reader.written().is_some()); // there is a writer
/// assert_eq!(reader.snapshot().history(url)?.len(), 1);
///
/// store.observe(Observation::gone(url, Time::from_ms(1_000)?))?;
/// assert_eq!(reader.behind(), 1);
/// assert!(reader.refresh()?);
/// assert_eq!(reader.snapshot().history(url)?.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader {
    disk: Arc<dyn Disk>,
    follows: FollowMode,
    state: ReaderState,
    /// The newest generation, if it is incomplete.
    incomplete: Option<Box<IncompleteGeneration>>,
}

/// The state to which a refresh moves the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FollowMode {
    /// The last commit of the store.
    Store,
    /// The newest published generation; the number is the newest one at the last refresh.
    Newest(u64),
    /// A generation, which does not change.
    Generation(u64),
}

/// The current state of a reader.
#[derive(Debug)]
struct ReaderState {
    now: Snapshot,
    /// The time when the state was the newest one, if a writer was active.
    written: Option<SystemTime>,
    fell_back: bool,
    /// The last frame of each journal in the memtables; `None` if the memtables cannot be
    /// continued.
    known: [Option<JournalTail>; 2],
}

impl Reader {
    /// Opens the store in a directory, or the newest generation in a directory where generations
    /// are [published](Self::published).
    ///
    /// Costs mapping the segments, and reading the journal as the writer does when it opens: some
    /// microseconds an operation, less than a second for two full memtables. Reads no fingerprint
    /// tables.
    ///
    /// Without a writer, this call holds a shared lock on the catalog until it returns. A writer
    /// that arrives meanwhile waits for the lock; readers that arrive after the writer do not delay
    /// it further.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let reader = Reader::open(dir.path().join("store"))?; // while the store is open for writing
    /// assert!(reader.snapshot().latest("https://example.com/")?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Corrupt`], [`Error::Version`],
    /// [`Error::Io`]; [`Error::Locked`] if a writer is creating the store, and has not finished
    /// within 10 s.
    pub fn open(at: impl Into<Location>) -> Result<Reader> {
        let disk = at.into().disk(None);
        match read_newest(&disk, None, [None; 2]) {
            Err(Error::NotAStore { found: NotStore::Published, .. }) => Reader::follow(disk),
            seen => Ok(Reader { disk, follows: FollowMode::Store, state: seen?, incomplete: None }),
        }
    }

    /// Opens a generation that is [published](crate::publish) in a directory: the generation with a
    /// number, or with `None` the newest complete generation.
    ///
    /// Costs mapping the generation's segments. Takes no lock, and needs only the files in the
    /// generation. If the system keeps mapped files, the generation's segments may be removed while
    /// the reader is open. A table of document frequencies is opened when an epoch's origin is
    /// requested.
    ///
    /// A generation is incomplete if its file is empty, cut or torn, or if one of its listed files
    /// is missing or too short. [`incomplete`](Self::incomplete) returns a newer generation that
    /// was skipped.
    ///
    /// [`refresh`](Self::refresh) moves to the newest generation if no number was given; otherwise
    /// it does nothing.
    ///
    /// ```
    /// use simkeep::publish::PublishOptions;
    /// use simkeep::{Observation, Options, Reader, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let to = dir.path().join("published");
    /// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::from_ms(0)?))?;
    /// store.publish(&to, PublishOptions::default())?;
    /// let mut newest = Reader::published(&to, None)?;
    /// assert_eq!(newest.generation(), Some(1));
    ///
    /// store.observe(Observation::gone("https://example.com/", Time::from_ms(1_000)?))?;
    /// store.publish(&to, PublishOptions::default())?;
    /// assert!(newest.refresh()?);
    /// assert_eq!(newest.generation(), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if nothing is published there; [`Error::Io`] if the generation or one
    /// of its files is missing; [`Error::Corrupt`], [`Error::Version`].
    pub fn published(
        at: impl Into<Location>,
        generation: impl Into<Option<u64>>,
    ) -> Result<Reader> {
        let disk = at.into().disk(None);
        let Some(number) = generation.into() else { return Reader::follow(disk) };
        generations::some_numbers(&disk)?;
        let seen = published(&disk, &generations::read(&*disk, number)?, None)?;
        Ok(Reader { disk, follows: FollowMode::Generation(number), state: seen, incomplete: None })
    }

    /// Opens the newest generation in a directory.
    fn follow(disk: Arc<dyn Disk>) -> Result<Reader> {
        let newest = generations::newest(&disk, |generation| published(&disk, generation, None))?;
        let NewestGeneration { number, found: seen, incomplete } = newest;
        let incomplete = incomplete.map(Box::new);
        Ok(Reader { disk, follows: FollowMode::Newest(number), state: seen, incomplete })
    }

    /// The number of the current generation; `None` if the reader reads a store.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// use simkeep::publish::PublishOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.publish(dir.path().join("published"), PublishOptions::default())?;
    /// let reader = Reader::open(dir.path().join("published"))?;
    /// assert_eq!(reader.generation(), Some(1));
    /// assert_eq!(Reader::open(dir.path().join("store"))?.generation(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn generation(&self) -> Option<u64> {
        match self.follows {
            FollowMode::Store => None,
            FollowMode::Newest(number) | FollowMode::Generation(number) => Some(number),
        }
    }

    /// The newest generation in the directory, if it is incomplete and an older generation is read:
    /// the newest generation is still being copied, or one of its files was cut. The result is as
    /// of the moment when the reader was opened or [refreshed](Self::refresh). `None` if the reader
    /// reads a store, or a generation given by number.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::publish::PublishOptions;
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let to = dir.path().join("published");
    /// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// # store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// # store.publish(&to, PublishOptions::default())?;
    /// // A copying tool begins to write the next generation.
    /// std::fs::write(to.join("generations/0000000002"), "simkgen").unwrap();
    /// let reader = Reader::published(&to, None)?;
    /// assert_eq!(reader.generation(), Some(1));
    /// assert_eq!(reader.incomplete().map(|newer| newer.generation), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn incomplete(&self) -> Option<&IncompleteGeneration> {
        self.incomplete.as_deref()
    }

    /// Moves to the newest state, and returns whether anything changed. Open segments stay open,
    /// and only the new part of the journal is read. The reader keeps its previous state after an
    /// error, and also if it would fall back to an older state.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let mut reader = Reader::open(dir.path().join("store"))?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert_eq!(reader.behind(), 1);
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.behind(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Reader::open).
    pub fn refresh(&mut self) -> Result<bool> {
        match self.follows {
            FollowMode::Store => self.refresh_store(),
            FollowMode::Generation(_) => Ok(false),
            FollowMode::Newest(number) => {
                // Generations never change, so without a newer number there is nothing to read.
                if generations::some_numbers(&self.disk)?.last() == Some(&number) {
                    self.incomplete = None;
                    return Ok(false);
                }
                let before = Some(&*self.state.now.view);
                let newest = generations::newest(&self.disk, |generation| {
                    published(&self.disk, generation, before)
                })?;
                let newer = newest.incomplete.filter(|newer| newer.generation > number);
                self.incomplete = newer.map(Box::new);
                if newest.number <= number {
                    return Ok(false);
                }
                (self.follows, self.state) = (FollowMode::Newest(newest.number), newest.found);
                Ok(true)
            }
        }
    }

    fn refresh_store(&mut self) -> Result<bool> {
        let before = &mut self.state;
        // After an error the memtables may have more frames than the known frames.
        let mut known = std::mem::take(&mut before.known);
        // In a forked process another thread may hold the memtables' locks forever.
        if !before.now.view.memtables.iter().all(|memtable| memtable.is_own()) {
            known = [None; 2];
        }
        let seen = read_newest(&self.disk, Some(&before.now.view), known)?;
        let (now, earlier) = (&seen.now, &before.now);
        // A fallback shows sealed operations only, and may be older than the current state. The
        // seed differs if another store is in this directory now: in this case the state of that
        // store is used.
        if seen.fell_back && now.view.seed == earlier.view.seed && now.sequence <= earlier.sequence
        {
            before.known = known;
            return Ok(false);
        }
        // Open segments are reused. So the list is unchanged if its pointers are unchanged.
        let (new, old) = (&now.view.segments, &earlier.view.segments);
        let changed = now.sequence != earlier.sequence
            || new.len() != old.len()
            || new.iter().zip(&**old).any(|(new, old)| !Arc::ptr_eq(new, old))
            || now.epochs() != earlier.epochs();
        self.state = seen;
        Ok(changed)
    }

    /// The current state. The snapshot does not change when the reader is refreshed. Costs as much
    /// as cloning a snapshot.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let mut reader = Reader::open(dir.path().join("store"))?;
    /// let before = reader.snapshot();
    /// store.observe(Observation::gone("https://example.org/", Time::now()))?;
    /// reader.refresh()?;
    /// assert_eq!((before.scan(None).count(), reader.snapshot().scan(None).count()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        self.state.now.clone()
    }

    /// The time at which the reader's state was the newest state of the store, if a writer was
    /// active: the time when the reader looked. If the reader [fell back](Self::fell_back), the
    /// time when the writer published the state, by the writer's clock; for a generation, the time
    /// when it was published. `None` without a writer.
    ///
    /// ```
    /// # use simkeep::{Options, Reader, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let reader = Reader::open(dir.path().join("store"))?;
    /// assert!(reader.written().is_some()); // the store is open for writing
    /// store.close()?;
    /// assert_eq!(Reader::open(dir.path().join("store"))?.written(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn written(&self) -> Option<SystemTime> {
        self.state.written
    }

    /// Whether the reader shows only the sealed state, because the writer's commits followed each
    /// other too fast.
    ///
    /// ```
    /// # use simkeep::{Options, Reader, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let reader = Reader::open(dir.path().join("store"))?;
    /// if reader.fell_back() {
    ///     println!("{} operations are not visible yet", reader.behind());
    /// }
    /// # assert!(!reader.fell_back());
    /// # Ok(())
    /// # }
    /// ```
    pub fn fell_back(&self) -> bool {
        self.state.fell_back
    }

    /// The number of acknowledged operations that this reader does not see: operations since the
    /// reader was opened or refreshed, and operations that it lacked at that time if it [fell
    /// back](Self::fell_back). Costs one small read.
    ///
    /// For a generation, the number of operations in the newest generation that the reader lacks; 0
    /// if the newest generation cannot be read now.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let reader = Reader::open(dir.path().join("store"))?;
    /// assert_eq!(reader.behind(), 0);
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert_eq!(reader.behind(), 1); // until the reader is refreshed
    /// # Ok(())
    /// # }
    /// ```
    pub fn behind(&self) -> u64 {
        let there = match self.follows {
            FollowMode::Store => mark::read(&*self.disk).sequence,
            FollowMode::Newest(_) | FollowMode::Generation(_) => {
                let newest =
                    generations::some_numbers(&self.disk).ok().and_then(|all| all.last().copied());
                let newest = newest.and_then(|number| generations::read(&*self.disk, number).ok());
                newest.map_or(0, |newest| newest.published.last_sequence())
            }
        };
        // The mark may be older than the current state.
        there.saturating_sub(self.state.now.sequence)
    }

    /// Sizes of the current state. Reads no table.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Reader, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let stats = Reader::open(dir.path().join("store"))?.stats()?;
    /// assert_eq!((stats.pages, stats.unsealed_visits), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the length of the catalog cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let catalog_bytes = match self.follows {
            FollowMode::Store => open::catalog_bytes(&self.disk)?,
            FollowMode::Newest(_) | FollowMode::Generation(_) => 0,
        };
        Ok(Stats {
            catalog_bytes,
            ..Stats::of(&self.state.now, super::options::Options::default().epoch_visits)?
        })
    }
}

/// Reads the newest state. The memtables of `before` have the `known` frames of the journals.
fn read_newest(
    disk: &Arc<dyn Disk>,
    before: Option<&View>,
    known: [Option<JournalTail>; 2],
) -> Result<ReaderState> {
    require_store(disk)?;
    // A shared lock means that no writer is active, and that no writer starts: the catalog does not
    // change.
    match StoreLocks::try_take(&**disk, LockMode::Shared)? {
        Ok(locks) => return read_without_writer(disk, before, &*locks.into_catalog()),
        Err(_) => {
            if let Some(seen) = read_with_writer(disk, before, known)? {
                return Ok(seen);
            }
        }
    }
    match access_store(disk, |published| {
        open_published(disk, FileNaming::Store, published, before)
    })? {
        StoreAccess::WithoutWriter(lock) => read_without_writer(disk, before, &*lock),
        StoreAccess::WithWriter { written, taken: now } => {
            // The memtables of a fallback are empty, so the next refresh cannot continue them.
            Ok(ReaderState { now, written: Some(written), fell_back: true, known: [None; 2] })
        }
    }
}

/// The state that the last writer left, while there is no writer.
fn read_without_writer(
    disk: &Arc<dyn Disk>,
    before: Option<&View>,
    _lock: &dyn LockGuard,
) -> Result<ReaderState> {
    let contents = Catalog::read_on(&**disk)?;
    open::require_finished(disk, &contents)?;
    state_of(disk, before, &contents, None)
}

/// The last commit of an active writer; `None` if it cannot be read, or if the store is unfinished.
fn read_with_writer(
    disk: &Arc<dyn Disk>,
    before: Option<&View>,
    known: [Option<JournalTail>; 2],
) -> Result<Option<ReaderState>> {
    let mut tries = ReadLimit::new();
    let mut missed = None;
    loop {
        // The time is taken before the catalog is read, so the result is at least as new as this
        // time.
        let written = SystemTime::now();
        let Some(contents) = read_concurrently(&**disk, known, SessionRows::Skip, &mut tries)?
        else {
            return Ok(None);
        };
        if contents.settings.unfinished {
            return Ok(None);
        }
        match state_of(disk, before, &contents, Some(written)) {
            // A file is removed only if a later commit does not list it.
            Err(e) if e.is_not_found() && missed != Some(contents.settings.changes) => {
                missed = Some(contents.settings.changes);
            }
            seen => return seen.map(Some),
        }
    }
}

/// The state of a catalog, with the files that the catalog lists.
fn state_of(
    disk: &Arc<dyn Disk>,
    before: Option<&View>,
    contents: &CatalogContents,
    written: Option<SystemTime>,
) -> Result<ReaderState> {
    let (view, sequence) = view_of(disk, contents, before)?;
    let known = contents.journals.each_ref().map(JournalFrames::last);
    Ok(ReaderState {
        now: Snapshot::new(Arc::new(view), sequence),
        written,
        fell_back: false,
        known,
    })
}

/// The way in which a reader accesses a store.
pub(crate) enum StoreAccess<T> {
    /// No writer is active, and no writer starts while this lock is held.
    WithoutWriter(Box<dyn LockGuard>),
    /// A writer is active. Contains the time of its published state, and the result taken from that
    /// state.
    WithWriter { written: SystemTime, taken: T },
}

/// Checks whether a writer is active, and takes the needed data from its published state while the
/// files still exist.
///
/// A file is removed only if a newer `SNAPSHOT` does not list it. So if a file is missing, the call
/// tries again; a missing file is damage if `SNAPSHOT` is unchanged.
pub(crate) fn access_store<T>(
    disk: &Arc<dyn Disk>,
    take: impl Fn(&PublishedState) -> Result<T>,
) -> Result<StoreAccess<T>> {
    let since = Instant::now();
    let mut before: Option<PublishedState> = None;
    loop {
        // The lock is tried again each time: the writer may have ended, and then nobody replaces
        // `SNAPSHOT` any more.
        let holder = match StoreLocks::try_take(&**disk, LockMode::Shared)? {
            Ok(locks) => return Ok(StoreAccess::WithoutWriter(locks.into_catalog())),
            Err(holder) => holder,
        };
        if let Some(published) = PublishedState::read(&**disk)? {
            match take(&published) {
                Ok(taken) => {
                    return Ok(StoreAccess::WithWriter { written: published.written, taken });
                }
                Err(e) if e.is_not_found() && before.as_ref() != Some(&published) => {
                    before = Some(published);
                    continue;
                }
                Err(e) => return Err(e),
            }
        }
        if since.elapsed() > PATIENCE {
            // A writer that publishes nothing is creating the store, or its disk is full.
            return Err(Error::Locked { location: disk.location(), holder });
        }
        thread::sleep(PAUSE);
    }
}

/// The state of a generation.
fn published(
    disk: &Arc<dyn Disk>,
    generation: &Generation,
    before: Option<&View>,
) -> Result<ReaderState> {
    let files = FileNaming::Published(generation.published.store);
    let now = open_published(disk, files, &generation.published, before)?;
    generations::require_tables(disk, generation)?;
    let written = Some(generation.published.written);
    Ok(ReaderState { now, written, fell_back: false, known: [None; 2] })
}

/// The state in `SNAPSHOT` or a generation.
fn open_published(
    disk: &Arc<dyn Disk>,
    files: FileNaming,
    published: &PublishedState,
    before: Option<&View>,
) -> Result<Snapshot> {
    // Another store may have replaced the store of `before`. If so, the segments of `before` are
    // not in the list and are not reused.
    let open = before.map_or(&[][..], |view| &view.segments);
    let rows = published.segments.iter();
    let segments = rows.map(|row| LiveSegment::open_row(disk, files, published.store, row, open));
    let view = View {
        seed: published.url_seed,
        segments: segments.collect::<Result<_>>()?,
        // `SNAPSHOT` lists segments only. Unsealed data is in the catalog's journals.
        memtables: Memtables::empty(Journal::A),
        epochs: Arc::new(Epochs::new(published.epochs.clone())),
        near_distance: None,
        disk: Arc::clone(disk),
        files,
        poison: Arc::default(),
        metrics: Metrics::none(),
    };
    Ok(Snapshot::new(Arc::new(view), published.last_sequence()))
}
