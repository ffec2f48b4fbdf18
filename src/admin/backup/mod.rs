//! Backups: a second directory with the same store, also of one that is being written.
//!
//! What a commit of the catalog holds is read as readers beside a writer do it, or by the writer itself
//! between two commits, and the files that it lists are opened. They are linked or copied
//! ([`copying`](super::copy)), a new catalog is written beside them, all of it is checked, and then
//! that catalog gets its name ([`target`]).

mod target;

use std::sync::Arc;

use self::target::Target;
use super::copy::{Counts, Placed, Source, newest};
use super::verify::{VerifyOptions, verify_files};
use crate::admin::copy::FileCount;
use crate::catalog::{Contents, Whole};
use crate::disk::{Disk, Location};
use crate::engine::files::Files;
use crate::engine::open::require_apart;
use crate::engine::settings::settings;
use crate::engine::store::Store;
use crate::error::{Corruption, Error, Result};
use crate::progress::{Progress, Stage};

/// Makes a backup of the store in a directory: another directory with the same store, which can be
/// opened as any other. Writes nothing to the store, and works beside a process that writes it: the
/// backup is one state of it, as a commit left it, not before this was called. For the process that
/// writes it itself there is [`Store::backup`].
///
/// Segments and tables are linked where the file system can, and else copied. Links take no room and no
/// time, but a link is the same file: if it is damaged on the disk, so are the store and its backup. A
/// backup that is to survive the disk belongs on another one, or is [copied](BackupOptions::copy).
///
/// The directory is new or empty, or has an earlier backup of this store, to which nobody has written.
/// Then only what is new is linked or copied, and what was damaged since; what the store has no more is
/// removed in the end.
///
/// All of the backup is read and checked before it counts as one. So costs a read of all files, and of
/// the segments twice, besides what is copied, and some syncs.
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
/// Of the store: [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Version`]; [`Error::Locked`] if
/// its writer was so fast for a minute that no state of it could be read. Of the other directory:
/// [`Error::NotAStore`] if it holds something else or lies in a store, [`Error::NotABackup`] if it holds
/// another store, or one that was written to, [`Error::Locked`] if somebody is writing to it.
/// [`Error::Corrupt`] if anything in the backup is damaged, [`Error::Cancelled`], [`Error::Io`].
///
/// After an error an earlier backup is as it was, and of a new one nothing is left but perhaps an empty
/// directory; should the last sync fail, it may be whole nevertheless. If the process is killed or the
/// power fails, an earlier backup is as it was or the newer one, and a new one is
/// [unfinished](Error::Unfinished); the next run begins anew.
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
    /// Makes a [backup](crate::backup::backup()) of this store, with everything that was observed
    /// before. The store goes on meanwhile; a commit waits while the catalog is read, some milliseconds.
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
    /// Those of [`backup`](crate::backup::backup()), and of [`flush`](Store::flush).
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
    read: &dyn Fn() -> Result<Contents>,
    options: BackupOptions,
) -> Result<BackedUp> {
    options.progress.start(Stage::Copying, None)?;
    let source = Source::open(from, read)?;
    let target = Target::take(to, &source.contents)?;
    let made = make(from, &source, &target, &options);
    let (whole, mut done) = made.inspect_err(|_| target.give_up())?;
    done.sequence = source.contents.marked().sequence;
    done.earlier = target.earlier.as_ref().map(|earlier| earlier.marked().sequence);
    done.removed = target.finish(whole, &source.contents)?;
    Ok(done)
}

/// Makes everything but the last step.
fn make(
    from: &Arc<dyn Disk>,
    source: &Source,
    target: &Target,
    options: &BackupOptions,
) -> Result<(Whole, BackedUp)> {
    let (to, contents) = (&target.disk, &source.contents);
    let BackupOptions { copy, progress } = options;
    let mut placed = Placed::place(from, source, (to, Files::Own), *copy, progress)?;
    target.sync()?;
    let whole = Whole::write(to, contents)?;
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
        // Told from the same file of the store.
        Error::Corrupt(flaw) => {
            let file = format!("{}/{}", to.location(), flaw.file);
            Error::Corrupt(Corruption { file, ..flaw })
        }
        other => other,
    })?;
    let Counts { kept, linked, copied, not_linked, .. } = placed.counts();
    let catalog_bytes = whole.bytes(&**to)?;
    let (pages, visits) = (verified.pages, verified.visits);
    let files = BackedUp { kept, linked, copied, not_linked, ..BackedUp::default() };
    Ok((whole, BackedUp { catalog_bytes, pages, visits, ..files }))
}

settings! {
    /// Settings of a [`backup`](crate::backup::backup()).
    ///
    /// ```
    /// let options = simkeep::backup::BackupOptions::default().copy(true);
    /// assert!(options.copy);
    /// ```
    pub struct BackupOptions {
        /// Whether to copy files that could be linked. Default: no. A link takes no room and no time,
        /// and is the same file: what damages it on the disk damages the store and the backup. What an
        /// earlier run has linked stays so.
        pub copy: bool = false,
        /// How far it has come, and a way to stop it: first in bytes of files that are linked or copied
        /// or there already, and then in bytes checked. Default: nobody looks.
        pub progress: Progress = Progress::default(),
    }
}

/// What a backup did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackedUp {
    /// The last operation that the backup has.
    pub sequence: u64,
    /// Pages in it, all of which were checked.
    pub pages: u64,
    /// Visits in it.
    pub visits: u64,
    /// The last operation that the earlier backup had in whose place this one is; `None` if there was
    /// none.
    pub earlier: Option<u64>,
    /// Files that are links: of one file with the store.
    pub linked: FileCount,
    /// Files that are copies.
    pub copied: FileCount,
    /// Files that the earlier backup had already.
    pub kept: FileCount,
    /// Files of the earlier backup that were removed, because the store has them no more.
    pub removed: u64,
    /// Bytes of the catalog, which is always written anew.
    pub catalog_bytes: u64,
    /// Why files were copied that were to be linked, as the system said it.
    pub not_linked: Option<String>,
}

impl BackedUp {
    /// Bytes of what was written: of the catalog, and of files that were copied.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.copied.bytes + self.catalog_bytes
    }
}
