//! Reading a store that another process writes.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::answer::Stats;
use super::epochs::Epochs;
use super::live_segment::LiveSegment;
use super::memtables::Memtables;
use super::open::{self, require_store, view_of};
use super::snapshot::Snapshot;
use super::view::View;
use crate::catalog::{Catalog, Journal, Locks, Published, mark};
use crate::disk::{Disk, Location, Lock, LockGuard};
use crate::error::{Error, Result};
use crate::sync::thread;

/// How long to wait for a writer that has published nothing: it is starting, or its disk is full.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(2);

/// A read-only view of a store, also beside a writer in another process, and without permission to
/// write.
///
/// A reader writes nothing to the store's directory, and a writer neither waits for readers nor
/// notices them. Beside a writer, a reader sees the state of the writer's last seal or merge:
/// everything but the last few minutes ([`Options::seal_after`](super::Options::seal_after)).
/// [`written`](Reader::written) and [`behind`](Reader::behind) say how old that is. Without a
/// writer it sees everything that was acknowledged, even if the last writer was killed.
///
/// A reader can also be used in a forked process.
///
/// All questions are asked of its [`Snapshot`]:
///
/// ```
/// use simkeep::{Observation, Options, Reader, Store};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// let store = Store::create(&path, Options::default())?;
/// store.observe(Observation::gone("https://example.com/", 0))?;
///
/// let mut reader = Reader::open(&path)?; // as another process would
/// assert!(reader.written().is_some());
/// assert_eq!(reader.behind(), 1); // not sealed yet
/// store.seal()?;
/// assert!(reader.refresh()?);
/// assert_eq!(reader.snapshot().history("https://example.com/")?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader {
    disk: Arc<dyn Disk>,
    now: Snapshot,
    written: Option<SystemTime>,
}

impl Reader {
    /// Opens the store in a directory. Costs mapping its segments and, if there is no writer,
    /// reading the journal. Reads no fingerprint tables.
    ///
    /// Without a writer, it holds a shared lock on the catalog until this returns. A writer that
    /// arrives meanwhile waits for the lock; readers that arrive after the writer do not delay it
    /// further.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Corrupt`], [`Error::Version`],
    /// [`Error::Io`]; [`Error::Locked`] if there is a writer that has published nothing for 10 s.
    pub fn open(at: impl Into<Location>) -> Result<Reader> {
        let disk = at.into().disk(None);
        let (now, written) = look(&disk, None)?;
        Ok(Reader { disk, now, written })
    }

    /// Moves on to the newest state, and returns whether anything changed. Segments that are open
    /// already stay open. After an error the reader keeps its previous state. If a writer has
    /// started since, the reader now shows what that writer has sealed, which may be less than
    /// before.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Reader::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let (now, written) = look(&self.disk, Some(&self.now.view))?;
        // Those that are the same are not opened again.
        let (new, old) = (&now.view.segments, &self.now.view.segments);
        let changed = now.sequence != self.now.sequence
            || new.len() != old.len()
            || new.iter().zip(&**old).any(|(new, old)| !Arc::ptr_eq(new, old))
            || now.epochs() != self.now.epochs();
        (self.now, self.written) = (now, written);
        Ok(changed)
    }

    /// The current state. It does not change when the reader is refreshed. Cheap, as cloning a
    /// snapshot.
    pub fn snapshot(&self) -> Snapshot {
        self.now.clone()
    }

    /// When the writer published what this reader sees, by the writer's clock. `None` if there was
    /// no writer, so that the reader sees everything.
    pub fn written(&self) -> Option<SystemTime> {
        self.written
    }

    /// How many operations have been acknowledged by now that this reader does not see. Costs one
    /// small read.
    pub fn behind(&self) -> u64 {
        match self.written {
            // The mark may be older than what is seen.
            Some(_) => mark::read(&*self.disk).sequence.saturating_sub(self.now.sequence),
            None => 0,
        }
    }

    /// Sizes of what is seen. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        Ok(Stats {
            catalog_bytes: open::catalog_bytes(&self.disk)?,
            ..self.now.sizes(super::Options::default().epoch_visits)?
        })
    }
}

/// The newest state, and when it was written if a writer is at work.
fn look(disk: &Arc<dyn Disk>, before: Option<&View>) -> Result<(Snapshot, Option<SystemTime>)> {
    require_store(disk)?;
    // Those of another store, which may have come into the place of this one, are not listed.
    let open = before.map_or(&[][..], |view| &view.segments);
    let show = |published: &Published| show(disk, published, open);
    match sight(disk, show)? {
        Sight::Alone(_lock) => {
            let contents = Catalog::read_on(&**disk)?;
            open::require_finished(disk, &contents)?;
            let (view, sequence) = view_of(disk, &contents, open)?;
            Ok((Snapshot::new(Arc::new(view), sequence), None))
        }
        Sight::Beside { written, taken } => Ok((taken, Some(written))),
    }
}

/// How a reader finds a store.
pub(super) enum Sight<T> {
    /// No writer is at work, and none will be while this lock is held.
    Alone(Box<dyn LockGuard>),
    /// A writer is at work; when it wrote what it shows, and what was taken of that.
    Beside { written: SystemTime, taken: T },
}

/// Looks whether a writer is at work, and takes what is needed of what it shows while the files are
/// still there.
///
/// Only what a newer `SNAPSHOT` does not name is ever removed. So where a file is gone it is looked
/// again, and is damage if `SNAPSHOT` is the same still.
pub(super) fn sight<T>(
    disk: &Arc<dyn Disk>,
    take: impl Fn(&Published) -> Result<T>,
) -> Result<Sight<T>> {
    let since = Instant::now();
    let mut before: Option<Published> = None;
    loop {
        let holder = match Locks::try_take(&**disk, Lock::Shared)? {
            Ok(locks) => return Ok(Sight::Alone(locks.into_catalog())),
            Err(holder) => holder,
        };
        if let Some(published) = Published::read(&**disk)? {
            match take(&published) {
                Ok(taken) => return Ok(Sight::Beside { written: published.written, taken }),
                Err(e) if e.is_not_found() && before.as_ref() != Some(&published) => {
                    before = Some(published);
                    continue;
                }
                Err(e) => return Err(e),
            }
        }
        if since.elapsed() > PATIENCE {
            return Err(Error::Locked { location: disk.location(), holder });
        }
        thread::sleep(PAUSE);
    }
}

/// What `SNAPSHOT` names.
fn show(
    disk: &Arc<dyn Disk>,
    published: &Published,
    open: &[Arc<LiveSegment>],
) -> Result<Snapshot> {
    let rows = published.segments.iter();
    let segments = rows.map(|row| LiveSegment::open_row(disk, published.store, row, open));
    let view = View {
        seed: published.url_seed,
        segments: segments.collect::<Result<_>>()?,
        memtables: Memtables::empty(Journal::A),
        epochs: Arc::new(Epochs::new(published.epochs.clone())),
        near_distance: None,
        disk: Arc::clone(disk),
        poison: Arc::default(),
    };
    let sequence = published.segments.last().map_or(0, |row| row.last_sequence);
    Ok(Snapshot::new(Arc::new(view), sequence))
}
