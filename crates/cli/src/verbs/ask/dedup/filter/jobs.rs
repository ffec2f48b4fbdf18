//! The files to copy, and their destinations.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use simkeep_formats::ZstdWindow;
use simkeep_formats::escape::escape_untruncated;
use simkeep_formats::raw::CorpusFile;

use super::walk::ReadCounter;
use crate::exit::VerbError;
use crate::output::temporary::refuse_store;

/// The files of a corpus.
pub(super) struct FileJobs {
    jobs: Vec<FileJob>,
}

/// A file to read, and perhaps to copy.
pub(super) struct FileJob {
    pub(super) from: PathBuf,
    /// The name of the file, and of its copy.
    pub(super) name: OsString,
    pub(super) bytes: u64,
    /// Its index among all files.
    pub(super) number: usize,
}

impl FileJobs {
    /// Creates a job for each file.
    ///
    /// # Errors
    ///
    /// If a path is not a file.
    pub(super) fn new(files: &[PathBuf]) -> Result<FileJobs, VerbError> {
        let mut jobs = Vec::new();
        for from in files {
            let usage = |why: &str| usage(from, why);
            let found = fs::metadata(from).map_err(|e| cannot_read(from, &e))?;
            if !found.is_file() {
                return Err(usage("is not a file; name the files of the corpus"));
            }
            let name = from.file_name().ok_or_else(|| usage("is not the name of a file"))?;
            let (name, number) = (name.to_owned(), jobs.len());
            jobs.push(FileJob { from: from.clone(), name, bytes: found.len(), number });
        }
        Ok(FileJobs { jobs })
    }

    /// Checks that each file can have a copy of the same name in `folder`.
    ///
    /// # Errors
    ///
    /// If two files have one name, a file lies in `folder` itself, or a copy exists and `force` is
    /// not set.
    pub(super) fn check_copies(&self, folder: &Path, force: bool) -> Result<(), VerbError> {
        let shown = || escape_untruncated(&folder.to_string_lossy());
        refuse_store(&folder.join("file"))
            .map_err(|e| VerbError::Other(format!("cannot write to {}: {e}", shown())))?;
        let mut names = HashSet::new();
        let target = fs::canonicalize(folder).ok();
        for FileJob { from, name, .. } in &self.jobs {
            let usage = |why: &str| usage(from, why);
            if !names.insert(name) {
                return Err(usage(
                    "has the same name as another file, so both copies would be one file",
                ));
            }
            let lies_in = fs::canonicalize(from).map_err(|e| cannot_read(from, &e))?;
            let named_in = from.parent().filter(|parent| *parent != "").unwrap_or(Path::new("."));
            let named_in = fs::canonicalize(named_in).map_err(|e| cannot_read(from, &e))?;
            if target.is_some()
                && (lies_in.parent() == target.as_deref() || target == Some(named_in))
            {
                return Err(usage("is in the folder of --to; name another folder with --to"));
            }
            let to = folder.join(name);
            match fs::symlink_metadata(&to) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Ok(there) if force && !there.is_dir() => {}
                Err(e) => return Err(cannot_read(&to, &e)),
                Ok(there) => {
                    let shown = escape_untruncated(&to.to_string_lossy());
                    let how =
                        if there.is_dir() { "it is a directory" } else { "--force replaces it" };
                    return Err(VerbError::Other(format!("{shown} exists already; {how}")));
                }
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The size of all files, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.jobs.iter().map(|job| job.bytes).sum()
    }

    pub(super) fn get(&self, number: usize) -> Option<&FileJob> {
        self.jobs.get(number)
    }
}

impl FileJob {
    /// The failure of reading damaged data, or data of another kind.
    pub(super) fn broken(&self, why: &str) -> VerbError {
        let at = escape_untruncated(&self.from.to_string_lossy());
        VerbError::Broken(format!("{at}: {}", escape_untruncated(why)))
    }

    /// Opens the file. `read` counts the bytes read.
    pub(super) fn open(
        &self,
        zstd_window: ZstdWindow,
        read: &ReadCounter<'_>,
    ) -> Result<CorpusFile, VerbError> {
        let corpus = CorpusFile::open(&self.from, zstd_window, read.counter());
        corpus.map_err(|why| self.broken(&why))
    }

    /// The failure of reading a Parquet file with a program built without Parquet.
    #[cfg(not(feature = "parquet"))]
    pub(super) fn no_parquet(&self) -> VerbError {
        self.broken("this simkeep was built without Parquet: build it with `--features parquet`")
    }
}

/// Creates the folder of the copies, unless it exists.
pub(super) fn make_folder(folder: &Path) -> Result<(), VerbError> {
    let made = match fs::create_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    };
    let shown = escape_untruncated(&folder.to_string_lossy());
    made.map_err(|e| VerbError::Other(format!("cannot create the folder {shown}: {e}")))
}

fn usage(path: &Path, why: &str) -> VerbError {
    VerbError::Usage(format!("{} {why}", escape_untruncated(&path.to_string_lossy())))
}

fn cannot_read(path: &Path, e: &io::Error) -> VerbError {
    VerbError::Other(format!("cannot read {}: {e}", escape_untruncated(&path.to_string_lossy())))
}
