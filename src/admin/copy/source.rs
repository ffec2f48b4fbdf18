//! The store that is copied: what one commit of it lists, with the files open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::{Catalog, Contents, Locks, Tries, read_beside};
use crate::disk::{Access, Disk, DiskFile, Lock};
use crate::engine::files::{Files, Listed, has_table};
use crate::engine::open::{require_finished, require_store};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::sync::thread;

/// How long to try beside a writer whose commits follow one another too fast.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait before another try.
const PAUSE: Duration = Duration::from_millis(10);

/// A store as a commit left it.
pub(crate) struct Source {
    pub(crate) contents: Contents,
    /// Its segments and tables. They are open, so that they stay though a writer should remove them.
    pub(crate) files: Vec<(Listed, Box<dyn DiskFile>)>,
}

impl Source {
    /// `read` reads what the last commit left.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        read: &dyn Fn() -> Result<Contents>,
    ) -> Result<Source> {
        let mut missed = None;
        loop {
            let contents = read()?;
            require_finished(disk, &contents)?;
            let changes = contents.settings.changes;
            // Only what a later commit does not list is ever removed.
            let is_known = missed.replace(changes) == Some(changes);
            match open_files(disk, &contents, is_known) {
                Err(e) if e.is_not_found() && !is_known => {}
                files => return Ok(Source { contents, files: files? }),
            }
        }
    }
}

/// Opens what a catalog lists. A table that is known not to be there is none that the store has: its
/// epoch was registered by the name alone.
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

/// What the last commit of a store left, whether or not another process writes it.
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
