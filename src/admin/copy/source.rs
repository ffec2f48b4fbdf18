//! The source store: the list of files of one commit, with the files open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::{Catalog, Contents, Locks, Tries, read_beside};
use crate::disk::{Access, Disk, DiskFile, Lock};
use crate::engine::files::{Files, Listed, has_table};
use crate::engine::open::{require_finished, require_store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::sync::thread;

/// How long to retry while a writer commits too fast.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause before a retry.
const PAUSE: Duration = Duration::from_millis(10);

/// A committed state of a store.
pub(crate) struct Source {
    pub(crate) contents: Contents,
    /// The segments and tables of the state. Open files remain readable if a writer removes them.
    pub(crate) files: Vec<(Listed, Box<dyn DiskFile>)>,
}

impl Source {
    /// Opens the files of the last commit, whose contents `read` returns.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        read: &dyn Fn() -> Result<Contents>,
    ) -> Result<Source> {
        let mut missed = None;
        loop {
            let contents = read()?;
            require_finished(disk, &contents)?;
            let changes = contents.settings.changes;
            // A file is removed only if a later commit does not list it.
            let is_known = missed.replace(changes) == Some(changes);
            match open_files(disk, &contents, is_known) {
                Err(e) if e.is_not_found() && !is_known => {}
                files => return Ok(Source { contents, files: files? }),
            }
        }
    }
}

/// Opens the files in a catalog. A table that is known to be missing is skipped, because its epoch
/// was registered by name only.
fn open_files(
    disk: &Arc<dyn Disk>,
    contents: &Contents,
    is_known: bool,
) -> Result<Vec<(Listed, Box<dyn DiskFile>)>> {
    let segments = contents.segments.iter().map(|row| Listed::Segment(*row));
    let tables = contents.epochs.iter().filter(|info| has_table(info));
    let mut files = Vec::new();
    for listed in segments.chain(tables.map(|info| Listed::Table(info.clone()))) {
        let name = Files::Own.of(&listed);
        match disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e)) {
            Err(e) if e.is_not_found() && is_known && matches!(listed, Listed::Table(_)) => {}
            file => files.push((listed, file?)),
        }
    }
    Ok(files)
}

/// Reads the last commit of a store, whether or not another process writes to it.
pub(crate) fn newest(disk: &Arc<dyn Disk>, progress: &Progress) -> Result<Contents> {
    let until = Instant::now() + PATIENCE;
    loop {
        progress.check()?;
        require_store(disk)?;
        let holder = match Locks::try_take(&**disk, Lock::Shared)? {
            Ok(locks) => {
                let _lock = locks.into_catalog();
                return Catalog::read_on(&**disk);
            }
            Err(holder) => holder,
        };
        if let Some(contents) = read_beside(&**disk, [None; 2], &mut Tries::new())? {
            return Ok(contents);
        }
        if Instant::now() > until {
            return Err(Error::Locked { location: disk.location(), holder });
        }
        thread::sleep(PAUSE);
    }
}
