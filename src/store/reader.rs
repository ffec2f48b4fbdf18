//! Reading a store from another process than the one that writes it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::answer::Stats;
use super::live_segment::LiveSegment;
use super::memtables::Memtables;
use super::open::{self, require_store, view_of};
use super::snapshot::Snapshot;
use super::view::View;
use crate::catalog::{Catalog, Journal, Locks, Manifest, mark};
use crate::disk::{Disk, Location, Lock, LockGuard};
use crate::error::{Error, Result};
use crate::sync::thread;

/// How long a writer is given to show something: it is starting, or its disk is full.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(2);

/// A view of a store that this process does not write, and may not even be allowed to.
///
/// Nothing is written to the store's directory, and a writer that is at work there neither waits for
/// readers nor notices them. While one is, what is seen is the state of its last seal or merge:
/// everything but the last few minutes ([`Options::seal_after`](super::Options::seal_after)).
/// [`written`](Reader::written) and [`behind`](Reader::behind) say how old that is. Where no writer
/// is alive it is everything that was acknowledged, also if the last one was killed.
///
/// It goes on in a process that is forked from this one.
///
/// What is asked is asked of a [`Snapshot`]:
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
    /// Opens the store in a directory. Beside a writer it takes the time of mapping its segments;
    /// else also that of reading the journal. No table is read.
    ///
    /// Beside no writer it holds a shared lock on the catalog until this returns. A writer that comes
    /// waits for that, and readers that come after the writer do not delay it further.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Corrupt`], [`Error::Version`],
    /// [`Error::Io`]; [`Error::Locked`] if a writer is there and for 10 s has had nothing to show.
    pub fn open(at: impl Into<Location>) -> Result<Reader> {
        let disk = at.into().disk(None);
        let (now, written) = look(&disk, None)?;
        Ok(Reader { disk, now, written })
    }

    /// Looks again; segments that are open already stay so. Returns whether anything changed. After
    /// an error it shows what it showed before. If a writer came since, it shows what that has sealed,
    /// which may be less than what was seen before.
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

    /// What is seen now, to be asked. It stays as it is when this is refreshed. Costs a clone of it.
    pub fn snapshot(&self) -> Snapshot {
        self.now.clone()
    }

    /// When the writer that is at work wrote what is seen here, by its clock; `None` if there was
    /// none, and this is all that there is.
    pub fn written(&self) -> Option<SystemTime> {
        self.written
    }

    /// How many operations have been acknowledged by now that are not seen here. One small read.
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
    let show = |manifest: &Manifest| show(disk, manifest, open);
    match sight(disk, show)? {
        Sight::Alone(_lock) => {
            let contents = Catalog::read_on(&**disk)?;
            open::require_finished(disk, &contents)?;
            let (view, sequence) = view_of(disk, &contents, open)?;
            Ok((Snapshot { view: Arc::new(view), sequence }, None))
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
    take: impl Fn(&Manifest) -> Result<T>,
) -> Result<Sight<T>> {
    let since = Instant::now();
    let mut before: Option<Manifest> = None;
    loop {
        let holder = match Locks::try_take(&**disk, Lock::Shared)? {
            Ok(locks) => return Ok(Sight::Alone(locks.into_catalog())),
            Err(holder) => holder,
        };
        if let Some(manifest) = Manifest::read(&**disk)? {
            match take(&manifest) {
                Ok(taken) => return Ok(Sight::Beside { written: manifest.written, taken }),
                Err(e) if e.is_not_found() && before.as_ref() != Some(&manifest) => {
                    before = Some(manifest);
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
fn show(disk: &Arc<dyn Disk>, manifest: &Manifest, open: &[Arc<LiveSegment>]) -> Result<Snapshot> {
    let rows = manifest.segments.iter();
    let segments = rows.map(|row| LiveSegment::open_row(disk, manifest.store, row, open));
    let view = View {
        seed: manifest.url_seed,
        segments: segments.collect::<Result<_>>()?,
        memtables: Memtables::empty(Journal::A),
        epochs: manifest.epochs.as_slice().into(),
        disk: Arc::clone(disk),
        poison: Arc::default(),
    };
    let sequence = manifest.segments.last().map_or(0, |row| row.last_sequence);
    Ok(Snapshot { view: Arc::new(view), sequence })
}
