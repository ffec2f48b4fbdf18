//! An open store: opening and creating it, calls through its handles, and closing it.

use std::fmt;
use std::sync::Arc;

use super::db::Db;
use super::leases::Leases;
use super::lifecycle::PoisonOnPanic;
use super::live::LiveView;
use super::open;
use super::options::Options;
use crate::disk::{Disk, Location};
use crate::engine::results::History;
use crate::engine::snapshot::Snapshot;
use crate::engine::stats::Stats;
use crate::error::{Error, NotStore, Result};
use crate::page::{Epoch, EpochInfo, Visit};
use crate::sync::{LockRank, RankedMutex, thread};
use crate::time::Time;

impl Store {
    /// Waits until no seal and no merge is due. Without background work, does the seals and merges
    /// itself.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for ms in 0..10 {
    ///     store.observe(Observation::gone("https://example.com/", Time::from_ms(ms)?))?;
    ///     store.seal()?;
    /// }
    /// store.wait_idle()?; // the segments are merged as far as they should be
    /// assert!(store.stats()?.segments.len() < 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Corrupt`] if a merge fails because the disk is full or an input is
    /// damaged; the store remains usable. [`Error::Poisoned`].
    pub fn wait_idle(&self) -> Result<()> {
        self.change(|db| db.wait_idle())
    }
}

/// A store that is open for writing.
///
/// Cheap to clone and safe to share between threads: all clones are handles of the same store. Many
/// threads may observe at once; their operations become durable together. Dropping the last handle
/// closes the store as [`close`](Store::close) does, but cannot report errors.
///
/// The store belongs to the process that opened it. In a forked process, every write returns
/// [`Error::Forked`] before anything is written, and dropping the store only closes its files; the
/// lock stays with the first process. Reads still return the state at the fork, unless another
/// thread was just writing: in this case reads return [`Error::Forked`], too. A process forked by
/// the source of a [`load`](Store::load) must exit or run another program, because the threads of
/// the load do not exist in it.
///
/// ```
/// use simkeep::{Observation, Options, Store, Time, Verdict, fingerprint};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// let store = Store::create(&path, Options::default())?;
/// let epoch = store.change_epoch();
/// let text = "The quick brown fox jumps over the lazy dog, and runs away";
/// let seen = fingerprint::of_text(text);
///
/// let outcome = store.observe(Observation::content("https://example.com/", Time::from_ms(0)?, seen, epoch))?;
/// assert_eq!(outcome.verdict, Verdict::New);
///
/// // Another page with the same text is a near-duplicate of the first.
/// let outcome = store.observe(Observation::content("https://example.org/", Time::from_ms(5)?, seen, epoch))?;
/// assert_eq!(outcome.near[0].url, "https://example.com/");
/// assert_eq!(outcome.near[0].distance, 0);
/// store.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    handle: Arc<OpenStore>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.handle.db.core.disk.location())
    }
}

/// The owner of the background threads.
pub(crate) struct OpenStore {
    pub(crate) db: Arc<Db>,
    threads: RankedMutex<Vec<thread::JoinHandle<()>>>,
    closing: RankedMutex<()>,
}

impl Store {
    /// Opens the store in a directory, for writing.
    ///
    /// Costs the time to read the journal, at most a second, whatever the size of the store. Reads
    /// no fingerprint tables.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.close()?;
    /// let store = Store::open(&path, Options::default())?;
    /// assert_eq!(store.stats()?.pages, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Version`], [`Error::Io`].
    /// [`Error::Locked`] if another process has the store open for writing (after
    /// [`Options::lock_wait`]), or if this process has it open (at once).
    /// [`Error::Corrupt`] also if a file belongs to another store or the catalog is older than
    /// `SNAPSHOT`.
    pub fn open(at: impl Into<Location>, options: Options) -> Result<Store> {
        open::open(at.into().disk(None), options).and_then(Self::start)
    }

    /// Creates a store in a new or empty directory, or in place of an
    /// [unfinished](Error::Unfinished) store, and opens it. The store is created completely or not
    /// at all. Costs a few syncs.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default().near_limit(100))?;
    /// assert!(Store::create(&path, Options::default()).is_err()); // the store exists
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StoreExists`] if there is a store already, [`Error::NotAStore`] if the directory
    /// contains something else, [`Error::Io`].
    pub fn create(at: impl Into<Location>, options: Options) -> Result<Store> {
        let disk = at.into().disk(Some(options.file_mode));
        open::create(&disk, &options)?;
        open::open(disk, options).and_then(Self::start)
    }

    /// Opens the store, or creates it if it does not exist.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// for _ in 0..2 {
    ///     let store = Store::open_or_create(&path, Options::default())?;
    ///     store.close()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Store::open) and [`create`](Store::create).
    pub fn open_or_create(at: impl Into<Location>, options: Options) -> Result<Store> {
        let at = at.into();
        match Self::open(at.clone(), options.clone()) {
            Err(Error::NotAStore { found: NotStore::Nothing, .. } | Error::Unfinished { .. }) => {}
            opened => return opened,
        }
        match Self::create(at.clone(), options.clone()) {
            // Another process created the store first.
            Err(Error::StoreExists { .. }) => Self::open(at, options),
            made => made,
        }
    }

    /// Creates a store that is unfinished until a load completes.
    pub(crate) fn begin(
        disk: &Arc<dyn Disk>,
        options: Options,
        epochs: Vec<EpochInfo>,
    ) -> Result<Store> {
        open::begin(disk, options, epochs).and_then(Self::start)
    }

    /// Removes a store that was created but never loaded. If the commit failed, the store may be
    /// finished nevertheless, which shows when it is opened.
    pub(crate) fn abandon(&self) {
        // In a forked process the store belongs to the parent.
        let Ok(db) = self.db() else { return };
        if db.core.is_in_place() {
            open::remove_files(&db.core.disk);
        }
    }

    fn start(db: Db) -> Result<Store> {
        let db = Arc::new(db);
        let store = Store {
            handle: Arc::new(OpenStore {
                db,
                threads: RankedMutex::new(LockRank::Threads, Vec::new()),
                closing: RankedMutex::new(LockRank::Close, ()),
            }),
        };
        let Db { core, sealer, compactor, .. } = &*store.handle.db;
        if core.options.background {
            let (sealer, compactor) = (Arc::clone(sealer), Arc::clone(compactor));
            store.handle.spawn("simkeep-seal", move || sealer.run())?;
            store.handle.spawn("simkeep-merge", move || compactor.run())?;
        }
        Ok(store)
    }

    /// Makes everything durable, stops background work and releases the lock. After this call,
    /// calls through other handles fail with [`Error::Closed`], except reads.
    ///
    /// ```
    /// # use simkeep::{Error, Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let other = store.clone();
    /// store.observe(Observation::gone("https://example.com/", Time::from_ms(1_000)?))?;
    /// store.close()?; // everything is durable now
    /// let late = Observation::gone("https://example.com/", Time::from_ms(2_000)?);
    /// assert!(matches!(other.observe(late), Err(Error::Closed)));
    /// assert_eq!(other.history("https://example.com/")?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`] if not everything is durable.
    pub fn close(self) -> Result<()> {
        self.handle.close()
    }

    /// The live state, which can be read in a forked process, too.
    pub(crate) fn live(&self) -> &LiveView {
        &self.handle.db.core.live
    }

    /// The leases of all handles.
    pub(crate) fn leases(&self) -> &Leases {
        &self.handle.db.leases
    }

    /// The shared state of all handles, in the process that opened the store.
    fn db(&self) -> Result<&Db> {
        self.handle.db.core.lifecycle.check_process()?;
        Ok(&self.handle.db)
    }

    /// Runs a public call. If the call meets a bug, the store is poisoned.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&Db) -> Result<T>) -> Result<T> {
        let db = self.db()?;
        db.core.lifecycle.poison_on_bug(call(db))
    }

    /// Runs a public call that changes the store and runs no code of the caller. If the call meets
    /// a bug or panics, the store is poisoned.
    #[track_caller]
    pub(crate) fn change<T>(&self, change: impl FnOnce(&Db) -> Result<T>) -> Result<T> {
        let db = self.db()?;
        let _on_panic = PoisonOnPanic::new(&db.core.lifecycle);
        db.core.lifecycle.poison_on_bug(change(db))
    }

    /// Returns a consistent view of everything acknowledged so far. Every query runs against such a
    /// snapshot.
    ///
    /// Costs two short locks, which no thread holds while it reads or writes files.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let before = store.snapshot();
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert!(before.latest("https://example.com/")?.is_none());
    /// assert!(store.snapshot().latest("https://example.com/")?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        self.live().snapshot()
    }

    /// Returns all visits of a page with their verdicts: [`Snapshot::history`] on a current
    /// snapshot.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::failed(url, Time::from_ms(1_000)?))?;
    /// store.observe(Observation::gone(url, Time::from_ms(2_000)?))?;
    /// let entries = store.history(url)?;
    /// let visits = entries.iter().filter_map(|entry| entry.visit());
    /// let verdicts: Vec<_> = visits.map(|(_, verdict)| verdict.to_string()).collect();
    /// assert_eq!(verdicts, ["failed", "gone"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if the data to read is damaged.
    pub fn history(&self, url: &str) -> Result<History> {
        self.snapshot().history(url)
    }

    /// Returns the visit whose content was current at a time: [`Snapshot::as_of`] on a current
    /// snapshot.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/terms", store.change_epoch());
    /// for (ms, fingerprint) in [(1_000, 0x00), (3_000, 0xff)] {
    ///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// }
    /// let visit = store.as_of(url, Time::from_ms(2_000)?)?.unwrap();
    /// assert_eq!(visit.seen.content().unwrap().fingerprint, Some(0x00));
    /// assert!(store.as_of(url, Time::from_ms(500)?)?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if the data to read is damaged.
    pub fn as_of(&self, url: &str, time: impl Into<Time>) -> Result<Option<Visit>> {
        self.snapshot().as_of(url, time)
    }

    /// The current epoch for verdicts: [`Snapshot::change_epoch`] on a current snapshot.
    /// Observations belong to this epoch, unless another epoch has a role of its own.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, fingerprint};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let text = "The quick brown fox jumps over the lazy dog, and runs away";
    /// let (time, epoch) = (Time::now(), store.change_epoch());
    /// let seen = Observation::content("https://example.com/", time, fingerprint::of_text(text), epoch);
    /// assert!(store.observe(seen)?.novel);
    /// # Ok(())
    /// # }
    /// ```
    pub fn change_epoch(&self) -> Epoch {
        self.live().view().epochs.change()
    }

    /// Sizes of the store. Reads no table.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert_eq!(store.stats()?.unsealed_visits, 1);
    /// store.seal()?;
    /// let stats = store.stats()?;
    /// assert_eq!((stats.pages, stats.unsealed_visits, stats.segments.len()), (1, 0, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the length of the catalog cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        self.call(|db| {
            let snapshot = db.core.live.snapshot();
            snapshot.view.check()?;
            Ok(Stats {
                catalog_bytes: open::catalog_bytes(&db.core.disk)?,
                merge_error: db.compactor.error().as_ref().map(Error::to_string),
                ..Stats::of(&snapshot, db.core.options.epoch_visits)?
            })
        })
    }
}

impl OpenStore {
    /// Starts a background thread. If the thread panics, the store is poisoned.
    fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let core = Arc::clone(&self.db.core);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let on_panic = PoisonOnPanic::new(&core.lifecycle);
            run();
            drop(on_panic);
            // The background thread has ended. Without this notification, a thread that waits for
            // its work would wait forever.
            core.lifecycle.notify();
        });
        let thread = thread.map_err(|e| Error::io("start a thread for", name, e))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    pub(crate) fn close(&self) -> Result<()> {
        let db = &self.db;
        db.core.lifecycle.check_process()?;
        let _one = self.closing.lock();
        if db.core.lifecycle.is_closed() {
            return Ok(());
        }
        db.close(|| {
            for thread in self.threads.lock().drain(..) {
                // A thread that panicked has poisoned the store.
                let _ = thread.join();
            }
        })
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        if self.db.core.lifecycle.check_process().is_err() {
            // In a forked process there are no threads to wait for, or to detach.
            std::mem::forget(std::mem::take(self.threads.get_mut()));
            // The files belong to the other process, which has them open.
            return self.db.core.catalog.abandon();
        }
        // A failure cannot be reported here; call `close` to see it.
        let _ = self.close();
    }
}
