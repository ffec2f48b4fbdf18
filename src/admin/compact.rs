//! Compaction of a store to its smallest size: one segment, and a catalog without free space.

use std::io::ErrorKind;

use crate::disk::Dir;
use crate::engine::db::Db;
use crate::engine::open::catalog_bytes;
use crate::engine::results::Merged;
use crate::engine::store::Store;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};

/// The result of [`Store::compact`].
///
/// ```
/// # use simkeep::{Options, Progress, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let compacted = store.compact(&Progress::default())?;
/// println!("{} bytes of segments, before {}", compacted.segment_bytes, compacted.segment_bytes_before);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The merge.
    pub merged: Merged,
    /// Bytes of the segments before the compaction.
    pub segment_bytes_before: u64,
    /// Bytes of the segments after the compaction.
    pub segment_bytes: u64,
    /// Bytes of the catalog before the compaction, including the journal.
    pub catalog_bytes_before: u64,
    /// Bytes of the catalog after the compaction.
    pub catalog_bytes: u64,
}

impl Compacted {
    /// The number of bytes by which the store shrank.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Scope, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// store.seal()?;
    /// store.forget(Scope::Url(url))?;
    /// let compacted = store.compact(&Progress::default())?;
    /// println!("the store is {} bytes smaller", compacted.freed_bytes());
    /// assert!(compacted.segment_bytes < compacted.segment_bytes_before);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn freed_bytes(&self) -> u64 {
        let before = self.segment_bytes_before + self.catalog_bytes_before;
        before.saturating_sub(self.segment_bytes + self.catalog_bytes)
    }
}

impl Store {
    /// Shrinks the store as far as possible: [seals](Store::seal) everything,
    /// [merges](Store::merge) all segments into one without the leftovers of ended epochs, and
    /// rewrites the catalog. Replaced files are removed at once, except those that a snapshot uses,
    /// which are removed with the snapshot.
    ///
    /// Costs reading and writing the whole store, and temporarily as much free space as its size.
    /// The gain can be [estimated](crate::inspect::CompactionEstimate::of) before. An idle store
    /// does most of this compaction by itself.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for time in 0..2 {
    ///     store.observe(Observation::gone("https://example.com/", Time::from_ms(time)?))?;
    ///     store.seal()?;
    /// }
    /// let compacted = store.compact(&Progress::default())?;
    /// assert_eq!(compacted.merged.inputs, 2);
    /// assert!(compacted.freed_bytes() > 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there is not enough space; nothing is written in this case. If the disk
    /// becomes full later, the store is as large as before, or partly compacted.
    /// [`Error::Cancelled`] and the other errors of [`merge`](Store::merge).
    pub fn compact(&self, progress: &Progress) -> Result<Compacted> {
        self.change(|db| compact(db, progress))
    }

    /// Bytes of all live segments.
    fn segment_bytes(db: &Db) -> u64 {
        let view = db.core.live.view();
        view.segments.iter().map(|live| live.segment.file_bytes()).sum()
    }
}

fn compact(db: &Db, progress: &Progress) -> Result<Compacted> {
    let Db { core, sealer, compactor, publisher, .. } = db;
    progress.start(Stage::Merging, None)?;
    let segment_bytes_before = Store::segment_bytes(db);
    let catalog_bytes_before = catalog_bytes(&core.disk)?;
    let free = core.disk.free_bytes();
    let free = free.map_err(|e| Error::io("measure", core.disk.location(), e))?;
    let needed = compactor.needs() + catalog_bytes_before;
    if free.is_some_and(|free| free < needed) {
        let full = std::io::Error::from(ErrorKind::StorageFull);
        return Err(Error::io("compact", core.disk.location(), full));
    }
    sealer.seal_all()?;
    let merged = compactor.merge_all(progress, &|| false)?;
    // Readers in other processes have no claim on files that no list names.
    publisher.release_all();
    let synced = core.disk.sync_dir(Dir::Segments);
    synced.map_err(|e| core.poison(Error::io("sync the directory of", "segments", e)))?;
    core.rewrite_catalog()?;
    Ok(Compacted {
        merged,
        segment_bytes_before,
        segment_bytes: Store::segment_bytes(db),
        catalog_bytes_before,
        catalog_bytes: catalog_bytes(&core.disk)?,
    })
}
