//! `--sync`: reports the pages of deleted files as gone.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use simkeep::{Page, Prefix, PrefixError, Snapshot};
use simkeep_formats::{BrokenRecord, escape, file_of, file_url};

use super::observer::BatchObserver;
use super::present;
use crate::exit::VerbError;
use crate::input::feed::{EntryPayload, InputEntry, PageProperties};
use crate::output::words::{count, many};

/// The folders that are read, and the earlier state of the store.
pub(super) struct FolderSync {
    folders: Vec<SyncedFolder>,
    /// The store before the ingest. Pages that came since have existing files.
    before: Snapshot,
    /// Whether the user confirmed that most files are missing.
    yes: bool,
}

/// A folder that is read.
pub(super) struct SyncedFolder {
    path: PathBuf,
    /// The common beginning of the URLs of all files in it.
    url: String,
    prefix: Prefix,
}

/// The current state of the path of a known file.
enum PathStatus {
    File,
    /// Nothing, or something that is not read: a link, a folder, a special file.
    Missing,
    /// In a folder that is not read.
    Elsewhere,
}

/// Returns the folders among some paths.
///
/// # Errors
///
/// If there is none.
pub(super) fn folders(paths: &[OsString]) -> Result<Vec<SyncedFolder>, VerbError> {
    let folders = paths.iter().map(Path::new).filter(|path| path.is_dir());
    let folders = folders.map(SyncedFolder::new).collect::<Result<Vec<_>, _>>()?;
    if folders.is_empty() {
        let why = "--sync reports files that are no longer in a folder; name a folder";
        return Err(VerbError::Usage(why.to_owned()));
    }
    Ok(folders)
}

impl FolderSync {
    /// Prepares the sync of these folders with a store before the ingest.
    pub(super) fn new(folders: Vec<SyncedFolder>, before: Snapshot, yes: bool) -> FolderSync {
        FolderSync { folders, before, yes }
    }

    /// Reports the pages of missing files as gone. Checks the path of each file that the store
    /// knows in the folders, twice. `except` is a folder that is not read.
    ///
    /// # Errors
    ///
    /// If the walk over the folders failed, or if more than half of the files are missing and the
    /// user did not confirm that. Then no page is reported.
    pub(super) fn run(
        &self,
        except: &Path,
        walk_failed: &AtomicBool,
        now: i64,
        observer: &mut BatchObserver<'_>,
    ) -> Result<(), VerbError> {
        if walk_failed.load(Ordering::Relaxed) {
            let why = "a folder could not be read, so --sync reports no page as gone; all files that \
                       could be read are stored";
            return Err(VerbError::Other(why.to_owned()));
        }
        let except = except.canonicalize().ok();
        for folder in &self.folders {
            let (mut known, mut missing) = (0, 0);
            folder.each(&self.before, except.as_deref(), |_, is_missing| {
                known += 1;
                missing += u64::from(is_missing);
                Ok(())
            })?;
            if missing * 2 > known && !self.yes {
                return Err(folder.refused(known, missing));
            }
        }
        for folder in &self.folders {
            folder.each(&self.before, except.as_deref(), |page, is_missing| {
                if !is_missing {
                    return Ok(());
                }
                match observer.take(gone(page, now))? {
                    None => Ok(()),
                    Some(BrokenRecord { at, why }) => Err(VerbError::Other(format!("{at}: {why}"))),
                }
            })?;
        }
        observer.flush_pending()
    }
}

/// The entry that reports the page of a file as gone.
fn gone(page: Page, now: i64) -> InputEntry {
    InputEntry {
        time: present::after(page.last.time.as_ms(), now),
        url: page.url,
        status: None,
        modified: None,
        bytes: None,
        conditional: false,
        given: PageProperties::default(),
        digest: None,
        claim: None,
        found: EntryPayload::Gone,
        at: None,
    }
}

impl SyncedFolder {
    fn new(path: &Path) -> Result<SyncedFolder, VerbError> {
        let shown = || escape::escape_untruncated(&path.to_string_lossy());
        let cannot = |why: String| VerbError::Other(format!("cannot sync {}: {why}", shown()));
        let url = file_url(path).map_err(|e| cannot(e.to_string()))?;
        // The URL of the root already ends with a slash.
        let url = if url.ends_with('/') { url } else { format!("{url}/") };
        let prefix = url.parse().map_err(|e: PrefixError| cannot(e.to_string()))?;
        Ok(SyncedFolder { path: path.to_owned(), url, prefix })
    }

    /// Calls `each` for the page of each file in the folder that is not known to be gone, and says
    /// whether the file is missing.
    fn each(
        &self,
        store: &Snapshot,
        except: Option<&Path>,
        mut each: impl FnMut(Page, bool) -> Result<(), VerbError>,
    ) -> Result<(), VerbError> {
        for page in store.scan(Some(&self.prefix)) {
            let page = page?;
            let Some(below) = page.url.strip_prefix(&self.url).and_then(file_of) else { continue };
            if page.gone || page.content.is_none() {
                continue;
            }
            match self.status_of_path(&below, except) {
                Ok(PathStatus::File) => each(page, false)?,
                Ok(PathStatus::Missing) => each(page, true)?,
                Ok(PathStatus::Elsewhere) => {}
                Err(e) => {
                    let shown = escape::escape_untruncated(&page.url);
                    let why = format!("cannot read {shown}: {e}; --sync reports no page as gone");
                    return Err(VerbError::Other(why));
                }
            }
        }
        Ok(())
    }

    /// Checks the path of a file, relative to this folder. Follows no links, as the walk does.
    fn status_of_path(&self, below: &Path, except: Option<&Path>) -> io::Result<PathStatus> {
        let mut path = self.path.clone();
        let mut parts = below.components().peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let kind = match fs::symlink_metadata(&path) {
                Ok(found) => found.file_type(),
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    return Ok(PathStatus::Missing);
                }
                Err(e) => return Err(e),
            };
            let is_last = parts.peek().is_none();
            if is_last {
                return Ok(if kind.is_file() { PathStatus::File } else { PathStatus::Missing });
            }
            if !kind.is_dir() {
                return Ok(PathStatus::Missing);
            }
            if except.is_some() && path.canonicalize().ok().as_deref() == except {
                return Ok(PathStatus::Elsewhere);
            }
        }
        Ok(PathStatus::Missing)
    }

    /// The failure if very many files are missing.
    fn refused(&self, known: u64, missing: u64) -> VerbError {
        let files = many(known, "file", "files");
        VerbError::Other(format!(
            "{} of {files} that the store knows under {} no longer exist, so --sync reports none \
             of them as gone; check that the folder is the right one and complete, then use --yes",
            count(missing),
            escape::escape_untruncated(&self.url),
        ))
    }
}
