//! The source store: the list of files of one commit, with the files open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::{
    Catalog, CatalogContents, ReadLimit, SessionRows, StoreLocks, read_concurrently,
};
use crate::disk::{Access, Disk, DiskFile, LockMode};
use crate::engine::files::{FileNaming, ListedFile, has_table};
use crate::engine::open::{require_finished, require_store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::sync::thread;

/// How long to retry while a writer commits too fast.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause before a retry.
const PAUSE: Duration = Duration::from_millis(10);

/// A committed state of a store.
pub(crate) struct CopySource {
    pub(crate) contents: CatalogContents,
    /// The segments and tables of the state. Open files remain readable if a writer removes them.
    pub(crate) files: Vec<(ListedFile, Box<dyn DiskFile>)>,
}

impl CopySource {
    /// Opens the files of the last commit, whose contents `read` returns.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        read: &dyn Fn() -> Result<CatalogContents>,
    ) -> Result<CopySource> {
        let mut missed = None;
        loop {
            let contents = read()?;
            require_finished(disk, &contents)?;
            let changes = contents.settings.changes;
            // A file is removed only if a later commit does not list it.
            let is_known = missed.replace(changes) == Some(changes);
            match open_files(disk, &contents, is_known) {
                Err(e) if e.is_not_found() && !is_known => {}
                files => return Ok(CopySource { contents, files: files? }),
            }
        }
    }
}

/// Opens the files in a catalog. A table that is known to be missing is skipped, because its epoch
/// was registered by name only.
fn open_files(
    disk: &Arc<dyn Disk>,
    contents: &CatalogContents,
    is_known: bool,
) -> Result<Vec<(ListedFile, Box<dyn DiskFile>)>> {
    let segments = contents.segments.iter().map(|row| ListedFile::Segment(*row));
    let tables = contents.epochs.iter().filter(|info| has_table(info));
    let mut files = Vec::new();
    for listed in segments.chain(tables.map(|info| ListedFile::Table(info.clone()))) {
        let name = FileNaming::Store.of(&listed);
        match disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e)) {
            Err(e) if e.is_not_found() && is_known && matches!(listed, ListedFile::Table(_)) => {}
            file => files.push((listed, file?)),
        }
    }
    Ok(files)
}

/// Reads the last commit of a store, whether or not another process writes to it.
pub(crate) fn newest(disk: &Arc<dyn Disk>, progress: &Progress) -> Result<CatalogContents> {
    let until = Instant::now() + PATIENCE;
    loop {
        progress.check()?;
        require_store(disk)?;
        let holder = match StoreLocks::try_take(&**disk, LockMode::Shared)? {
            Ok(locks) => {
                let _lock = locks.into_catalog();
                return Catalog::read_on(&**disk);
            }
            Err(holder) => holder,
        };
        if let Some(contents) =
            read_concurrently(&**disk, [None; 2], SessionRows::Read, &mut ReadLimit::new())?
        {
            return Ok(contents);
        }
        if Instant::now() > until {
            return Err(Error::Locked { location: disk.location(), holder });
        }
        thread::sleep(PAUSE);
    }
}
