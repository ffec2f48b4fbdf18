//! Backups: copies of a store in a second directory, even while a writer has it open.
//!
//! A backup reads the contents of one commit of the catalog, as readers do it during writes, or as
//! the writer itself does it between two commits. The files that the commit lists are opened, and
//! linked or copied ([`copy`](super::copy)). A new catalog is written next to the files, everything
//! is checked, and then the catalog is renamed to its final name ([`target`]).

mod target;

use std::sync::Arc;

use self::target::BackupTarget;
use super::copy::{CopyCounts, CopySource, PlacedFiles, newest};
use super::verify::{VerifyOptions, verify_files};
use crate::admin::copy::FileCount;
use crate::catalog::{CatalogContents, NewCatalog};
use crate::disk::{Disk, Location};
use crate::engine::files::FileNaming;
use crate::engine::open::require_apart;
use crate::engine::settings::settings;
use crate::engine::store::Store;
use crate::error::{Corruption, Error, Result};
use crate::progress::{Progress, Stage};

/// Backs up the store in a directory to another directory, which can be opened like any store.
///
/// The backup writes nothing to the store, and works while another process writes to the store. The
/// backup is one committed state, not older than this call. The process that has the store open
/// calls [`Store::backup`] instead.
///
/// Segments and tables are linked if the file system supports links, and else copied. Links take
/// neither space nor time, but a link is the same file: disk damage affects both the store and the
/// backup. To survive a disk failure, put the backup on another disk, or
/// [copy](BackupOptions::copy) the files.
///
/// The target directory is new or empty, or contains an earlier backup of this store that was never
/// opened for writing. A backup never replaces operations that the store lacks. So the directory of
/// a diverged copy is refused: it has other operations with the same numbers. The store recognizes
/// an earlier state by the last 4,096 times that it was opened and changed. An older backup is
/// refused, too. If the directory contains an earlier backup, only new and damaged files are linked
/// or copied, and files that the store no longer has are removed at the end.
///
/// The whole backup is read and checked before it replaces an earlier backup. So the cost is a read
/// of all files, a second read of the segments, the copies and some syncs.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::backup::{BackupOptions, backup};
/// # use simkeep::{Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let (path, safe) = (dir.path().join("crawl.simkeep"), dir.path().join("backup.simkeep"));
/// # Store::create(&path, Options::default())?.close()?;
/// let first = backup(&path, &safe, BackupOptions::default())?;
/// let second = backup(&path, &safe, BackupOptions::default())?;
/// assert_eq!(second.earlier, Some(first.sequence));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// For the store: [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Version`];
/// [`Error::Locked`] if the store's writer committed too fast for a minute to read a state. For the
/// target: [`Error::NotAStore`] if the directory contains something else or lies in a store,
/// [`Error::NotABackup`] if the directory contains a backup of another store, a backup that was
/// opened for writing, or a state that cannot be recognized as an earlier state of this store,
/// [`Error::Locked`] if another process writes to the directory. [`Error::Corrupt`] if anything in
/// the backup is damaged, [`Error::Cancelled`], [`Error::Io`].
///
/// After an error, an earlier backup is unchanged, and a new backup leaves at most an empty
/// directory. If the last sync fails, the new backup may be complete nevertheless. If the process
/// is killed or the power fails, an earlier backup is unchanged or updated, and a new backup is
/// [unfinished](Error::Unfinished); the next run starts over.
pub fn backup(
    from: impl Into<Location>,
    to: impl Into<Location>,
    options: BackupOptions,
) -> Result<BackedUp> {
    let (from, to) = (from.into(), to.into());
    if to.is_same(&from) {
        let (location, why) = (to.disk(None).location(), "it is the store itself".to_owned());
        return Err(Error::NotABackup { location, why });
    }
    require_apart(&to, Some(&from))?;
    let from = from.disk(None);
    let to = to.disk(from.file_mode());
    let progress = options.progress.clone();
    backup_disk(&from, &to, &|| newest(&from, &progress), options)
}

impl Store {
    /// Makes a [backup](crate::backup::backup()) of this store, including everything observed
    /// before this call. The store remains usable; a commit waits for some milliseconds while the
    /// catalog is read.
    ///
    /// ```
    /// use simkeep::backup::BackupOptions;
    /// use simkeep::{Observation, Options, Reader, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let (path, safe) = (dir.path().join("crawl.simkeep"), dir.path().join("backup.simkeep"));
    /// let store = Store::create(&path, Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let made = store.backup(&safe, BackupOptions::default())?;
    /// assert_eq!((made.sequence, made.pages), (1, 1));
    /// assert_eq!(Reader::open(&safe)?.stats()?.pages, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`backup`](crate::backup::backup()) and of [`flush`](Store::flush).
    pub fn backup(&self, to: impl Into<Location>, options: BackupOptions) -> Result<BackedUp> {
        let to = to.into();
        require_apart(&to, None)?;
        self.call(|db| {
            let core = &db.core;
            let to = to.disk(core.disk.file_mode());
            db.committer.commit_all()?;
            backup_disk(&core.disk, &to, &|| core.catalog.contents(), options)
        })
    }
}

fn backup_disk(
    from: &Arc<dyn Disk>,
    to: &Arc<dyn Disk>,
    read: &dyn Fn() -> Result<CatalogContents>,
    options: BackupOptions,
) -> Result<BackedUp> {
    options.progress.start(Stage::Copying, None)?;
    let source = CopySource::open(from, read)?;
    let target = BackupTarget::take(to, &source.contents)?;
    let made = make(from, &source, &target, &options);
    let (whole, mut done) = made.inspect_err(|_| target.give_up())?;
    done.sequence = source.contents.marked().sequence;
    done.earlier = target.earlier.as_ref().map(|earlier| earlier.marked().sequence);
    done.removed = target.finish(whole, &source.contents)?;
    Ok(done)
}

/// Performs all steps of a backup except [`BackupTarget::finish`].
fn make(
    from: &Arc<dyn Disk>,
    source: &CopySource,
    target: &BackupTarget,
    options: &BackupOptions,
) -> Result<(NewCatalog, BackedUp)> {
    let (to, contents) = (&target.disk, &source.contents);
    let BackupOptions { copy, progress } = options;
    let mut placed = PlacedFiles::place(from, source, (to, FileNaming::Store), *copy, progress)?;
    target.sync()?;
    let whole = NewCatalog::write(to, contents)?;
    whole.check(&**to, contents)?;
    let check = || {
        let options = VerifyOptions::default().progress(progress.clone());
        verify_files(to, contents, options)
    };
    let mut checked = check()?;
    if placed.replace(&checked.flaws)? {
        target.sync()?;
        checked = check()?;
    }
    let verified = checked.sound().map_err(|e| match e {
        // Distinguishes the file from the file of the same name in the store.
        Error::Corrupt(flaw) => {
            let file = format!("{}/{}", to.location(), flaw.file);
            Error::Corrupt(Corruption { file, ..flaw })
        }
        other => other,
    })?;
    let CopyCounts { kept, linked, copied, not_linked, .. } = placed.counts();
    let catalog_bytes = whole.bytes(&**to)?;
    let (pages, visits) = (verified.pages, verified.visits);
    let files = BackedUp { kept, linked, copied, not_linked, ..BackedUp::default() };
    Ok((whole, BackedUp { catalog_bytes, pages, visits, ..files }))
}

settings! {
    /// Options of a [`backup`](crate::backup::backup()).
    ///
    /// ```
    /// let options = simkeep::backup::BackupOptions::default().copy(true);
    /// assert!(options.copy);
    /// ```
    pub struct BackupOptions {
        /// Whether to copy files instead of linking them. Default: no. A link takes neither space
        /// nor time, but a link is the same file: disk damage affects both the store and the
        /// backup. Links of an earlier run stay links.
        pub copy: bool = false,
        /// Reports progress and allows cancellation: first in bytes of files that are linked,
        /// copied or kept, then in bytes checked. Default: a progress that nobody reads.
        pub progress: Progress = Progress::default(),
    }
}

/// The result of a backup.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::backup::BackupOptions;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let made = store.backup(dir.path().join("backup"), BackupOptions::default())?;
/// assert_eq!((made.pages, made.visits, made.earlier), (1, 1, None));
/// println!("{} files are links, {} are copies", made.linked.files, made.copied.files);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackedUp {
    /// The last operation in the backup.
    pub sequence: u64,
    /// The number of pages in the backup, all of which were checked.
    pub pages: u64,
    /// The number of visits in the backup.
    pub visits: u64,
    /// The last operation in the earlier backup that this backup replaced; `None` if there was
    /// none.
    pub earlier: Option<u64>,
    /// Files that are links to files of the store.
    pub linked: FileCount,
    /// Files that are copies.
    pub copied: FileCount,
    /// Files that the earlier backup already had.
    pub kept: FileCount,
    /// The number of files of the earlier backup that were removed, because the store no longer has
    /// them.
    pub removed: u64,
    /// Bytes of the catalog, which is always rewritten.
    pub catalog_bytes: u64,
    /// The system error that caused files to be copied instead of linked.
    pub not_linked: Option<String>,
}

impl BackedUp {
    /// The number of bytes written: the catalog and the copied files.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::backup::BackupOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // An empty store has no segments, so the backup only writes a catalog.
    /// let made = store.backup(dir.path().join("backup"), BackupOptions::default())?;
    /// assert_eq!(made.bytes_written(), made.catalog_bytes);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.copied.bytes + self.catalog_bytes
    }
}
