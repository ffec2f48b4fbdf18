//! Reading a store from another process than the one that writes it.

use std::io::ErrorKind;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::answer::Stats;
use super::mark;
use super::open;
use super::open::{open_catalog, require_store, view_of};
use super::snapshot::Snapshot;
use super::view::{LiveSegment, View};
use crate::catalog::{Catalog, Manifest};
use crate::disk::{Access, Disk, DiskFile, Lock, Name, RealDisk};
use crate::error::{Error, Result};
use crate::sync::thread;

/// A state, and the file of each of its segments.
pub(super) type Beside = (Snapshot, Vec<Box<dyn DiskFile>>);

/// How long a state is looked for that stays whole while it is opened.
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
/// What is asked is asked of a [`Snapshot`], which this stands for:
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
/// assert_eq!(reader.history("https://example.com/")?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader {
    disk: Arc<dyn Disk>,
    now: Snapshot,
    written: Option<SystemTime>,
}

impl Deref for Reader {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.now
    }
}

impl Reader {
    /// Opens the store in a directory. Beside a writer it takes the time of mapping its segments;
    /// else also that of reading the journal. No table is read.
    ///
    /// Beside no writer it holds a shared lock until this returns, which a writer that comes waits
    /// for.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Corrupt`], [`Error::Version`], [`Error::Io`];
    /// [`Error::Locked`] if a writer is there and for 10 s has had nothing to show.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader> {
        Self::open_on(Arc::new(RealDisk::new(path.as_ref())))
    }

    /// [`open`](Reader::open) on any disk; with a [`PlainDisk`](crate::disk::PlainDisk) without
    /// maps.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Reader::open).
    pub fn open_on(disk: Arc<dyn Disk>) -> Result<Reader> {
        let (now, written) = look(&disk, &[])?;
        Ok(Reader { disk, now, written })
    }

    /// Looks again; segments that are open already stay so. Returns whether anything changed. After
    /// an error it shows what it showed before.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Reader::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let (now, written) = look(&self.disk, &self.now.view.segments)?;
        let ids = |snapshot: &Snapshot| -> Vec<u64> {
            snapshot.view.segments.iter().map(|live| live.segment.id()).collect()
        };
        let changed = now.sequence != self.now.sequence || ids(&now) != ids(&self.now);
        (self.now, self.written) = (now, written);
        Ok(changed)
    }

    /// The view that this is of now, which stays as it is when this is refreshed.
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
            Some(_) => mark::read(&*self.disk).saturating_sub(self.now.sequence),
            None => 0,
        }
    }

    /// Sizes of what is seen. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        Ok(Stats { catalog_bytes: open::catalog_bytes(&self.disk)?, ..self.now.sizes() })
    }
}

/// The newest state, and when it was written if a writer is at work.
fn look(disk: &Arc<dyn Disk>, open: &[Arc<LiveSegment>]) -> Result<(Snapshot, Option<SystemTime>)> {
    let since = Instant::now();
    loop {
        require_store(disk)?;
        let guard = disk.lock(Lock::Shared).map_err(|e| Error::io("lock", Name::Lock, e))?;
        if let Some(_guard) = guard {
            let contents = Catalog::read(open_catalog(disk)?)?;
            let (view, sequence) = view_of(disk, &contents, open)?;
            return Ok((Snapshot { view: Arc::new(view), sequence }, None));
        }
        match look_beside_writer(disk, open)? {
            Some((snapshot, written)) => return Ok((snapshot, Some(written))),
            None if since.elapsed() > PATIENCE => {
                return Err(Error::Locked { location: disk.location() });
            }
            None => thread::sleep(PAUSE),
        }
    }
}

/// The state that a writer at work shows, with each segment's file open to be read; `None` if no
/// writer is at work.
pub(super) fn files_beside_writer(disk: &Arc<dyn Disk>) -> Result<Option<Beside>> {
    let since = Instant::now();
    loop {
        let guard = disk.lock(Lock::Shared).map_err(|e| Error::io("lock", Name::Lock, e))?;
        if guard.is_some() {
            return Ok(None);
        }
        if let Some((snapshot, _)) = look_beside_writer(disk, &[])? {
            let ids = snapshot.view.segments.iter().map(|live| live.segment.id());
            let files = ids.map(|id| disk.open(Name::Segment(id), Access::Read));
            match files.collect::<std::io::Result<Vec<_>>>() {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                files => {
                    let files = files.map_err(|e| Error::io("open a file of", "segments", e))?;
                    return Ok(Some((snapshot, files)));
                }
            }
        }
        if since.elapsed() > PATIENCE {
            return Err(Error::Locked { location: disk.location() });
        }
        thread::sleep(PAUSE);
    }
}

/// What `SNAPSHOT` names; `None` if there is none now, or a file went before it was open.
fn look_beside_writer(
    disk: &Arc<dyn Disk>,
    open: &[Arc<LiveSegment>],
) -> Result<Option<(Snapshot, SystemTime)>> {
    let Some(manifest) = Manifest::read(&**disk)? else { return Ok(None) };
    let mut segments = Vec::with_capacity(manifest.segments.len());
    for row in &manifest.segments {
        match LiveSegment::open_row(disk, row, open) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            opened => segments.push(opened?),
        }
    }
    let sequence = manifest.segments.last().map_or(0, |row| row.last_sequence);
    let view = View {
        seed: manifest.url_seed,
        segments: segments.into(),
        memtables: Vec::new(),
        epochs: manifest.epochs.into(),
    };
    Ok(Some((Snapshot { view: Arc::new(view), sequence }, manifest.written)))
}
