//! Walks the files of a folder in a deterministic order.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, IntoIter, WalkDir};

use super::{BrokenRecord, SourceItem};

/// Walks a folder recursively in byte order of names. A folder is walked at the position of its
/// name. Symbolic links are not followed, so the walk ends. Takes memory for the names in the
/// folders on the path to the current file.
pub(super) struct FolderWalk {
    entries: IntoIter,
    /// A folder that is skipped.
    except: Option<ExcludedFolder>,
}

/// A folder that is skipped if it lies within a walked folder. The folder may be created during the
/// walk.
#[derive(Clone, Debug)]
pub(super) struct ExcludedFolder {
    folder: PathBuf,
    /// The canonical path of the folder, once the folder exists.
    canonical: Option<PathBuf>,
}

impl ExcludedFolder {
    pub(super) fn new(folder: &Path) -> ExcludedFolder {
        ExcludedFolder { folder: folder.to_owned(), canonical: None }
    }

    /// Whether an existing folder is the skipped folder.
    fn is(&mut self, folder: &Path) -> bool {
        if self.canonical.is_none() {
            self.canonical = self.folder.canonicalize().ok();
        }
        self.canonical.as_ref().is_some_and(|canonical| {
            folder.file_name() == canonical.file_name()
                && folder.canonicalize().is_ok_and(|folder| folder == *canonical)
        })
    }
}

impl FolderWalk {
    /// Creates a walk of `folder`, which may itself be a symbolic link.
    pub(super) fn new(folder: &Path) -> Result<FolderWalk, BrokenRecord> {
        // An unreadable folder is reported at once, not as an unreadable part of the walk.
        std::fs::read_dir(folder).map_err(|e| broken(folder, &e))?;
        let entries = WalkDir::new(folder).min_depth(1).sort_by_file_name().into_iter();
        Ok(FolderWalk { entries, except: None })
    }

    /// Skips the content of a folder.
    pub(super) fn except(self, except: Option<ExcludedFolder>) -> FolderWalk {
        FolderWalk { except, ..self }
    }

    fn visit(&mut self, entry: DirEntry) -> Result<Option<PathBuf>, SkippedEntry> {
        let kind = entry.file_type();
        if kind.is_dir() {
            if self.except.as_mut().is_some_and(|except| except.is(entry.path())) {
                self.entries.skip_current_dir();
            }
            Ok(None)
        } else if kind.is_file() {
            Ok(Some(entry.into_path()))
        } else if kind.is_symlink() {
            Err(SkippedEntry::Passed("symbolic link"))
        } else {
            Err(SkippedEntry::Passed("special file"))
        }
    }
}

impl Iterator for FolderWalk {
    type Item = Result<PathBuf, SkippedEntry>;

    fn next(&mut self) -> Option<Result<PathBuf, SkippedEntry>> {
        loop {
            let found = match self.entries.next()? {
                Ok(entry) => self.visit(entry),
                Err(error) => {
                    let path = error.path().unwrap_or(Path::new("")).to_owned();
                    // Links are not followed, so there are no loops, and all errors come from the
                    // operating system.
                    let error = error.into_io_error().unwrap_or(ErrorKind::Other.into());
                    Err(broken(&path, &error).into())
                }
            };
            if let Some(found) = found.transpose() {
                return Some(found);
            }
        }
    }
}

/// Builds the error for a file or folder that cannot be read.
pub(super) fn broken(path: &Path, error: &std::io::Error) -> BrokenRecord {
    BrokenRecord::source(&path.to_string_lossy(), error)
}

/// An entry of a folder that is not a file to read.
pub(super) enum SkippedEntry {
    Broken(BrokenRecord),
    /// The entry has another kind.
    Passed(&'static str),
}

impl From<BrokenRecord> for SkippedEntry {
    fn from(broken: BrokenRecord) -> SkippedEntry {
        SkippedEntry::Broken(broken)
    }
}

impl From<SkippedEntry> for SourceItem {
    fn from(skipped: SkippedEntry) -> SourceItem {
        match skipped {
            SkippedEntry::Broken(broken) => SourceItem::Broken(broken),
            SkippedEntry::Passed(kind) => SourceItem::Passed(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_come_in_order_and_symlinks_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/2", "b/10", "a.txt", "c", "b.d"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::create_dir(folder.path().join("empty")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("b/loop")).unwrap();
        let expected = ["a.txt", "b/10", "b/2", "(passed)", "b.d", "c"];
        let found: Vec<String> = FolderWalk::new(folder.path())
            .unwrap()
            .map(|found| match found {
                Ok(path) => path.strip_prefix(folder.path()).unwrap().to_str().unwrap().into(),
                Err(_) => "(passed)".into(),
            })
            .collect();
        assert_eq!(found, expected);
        assert!(FolderWalk::new(&folder.path().join("none")).is_err());
    }
}
