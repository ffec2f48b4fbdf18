//! Files that are written next to their final path, and moved there once complete, or removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The maximum number of names to try, since other processes may have left files with such names.
const ATTEMPTS: u32 = 1000;

/// The path at which to create a file, given the path that the user named. A symbolic link is
/// resolved, so it stays a link. A device or a directory is refused.
///
/// All results that a verb writes to a file use this function, so no result can replace a file of a
/// store.
pub(crate) fn place_of(path: &Path) -> io::Result<PathBuf> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&place).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "the path exists and is not a file"));
    }
    if place.parent().is_some_and(|folder| folder != "" && !folder.is_dir()) {
        return Err(io::Error::new(ErrorKind::NotFound, "its folder does not exist"));
    }
    refuse_store(&place)?;
    Ok(place)
}

/// Writes a small result to a file atomically. A device or a pipe receives the bytes directly.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(path, bytes);
    }
    let place = place_of(path)?;
    let mut file = UnfinishedFile::create(&place)?;
    file.write_all(bytes)?;
    file.put(&place)
}

/// Refuses a path in the directory of a store or of a published store: only the store itself writes
/// there.
pub(crate) fn refuse_store(place: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(place)?;
    let there = absolute.ancestors().find(|path| path.is_dir()).unwrap_or(&absolute);
    let folder = fs::canonicalize(there)?;
    let published = folder.ancestors().take(2).find(|folder| is_published(folder));
    let Some(store) = folder.ancestors().find(|folder| is_store(folder)).or(published) else {
        return Ok(());
    };
    let store = simkeep_formats::escape::escape_untruncated(&store.to_string_lossy());
    let why = format!("{store} is a store; name a path outside it");
    Err(io::Error::new(ErrorKind::AlreadyExists, why))
}

/// Whether a folder is a store. Two files are tested, since a damaged store may lack one of them.
fn is_store(folder: &Path) -> bool {
    ["catalog.redb", "SNAPSHOT"].iter().any(|name| folder.join(name).is_file())
}

/// Whether a folder contains generations of a published store.
fn is_published(folder: &Path) -> bool {
    ["files", "generations"].iter().all(|name| folder.join(name).is_dir())
}

/// A file that is being written. Dropping it removes the file, unless it was moved to its final
/// path.
pub(crate) struct UnfinishedFile {
    file: File,
    path: PathBuf,
    /// Whether it has been moved to its final path.
    put: bool,
}

impl UnfinishedFile {
    /// Begins a file in the folder of `place`, or in the nearest existing folder above it.
    pub(crate) fn create(place: &Path) -> io::Result<UnfinishedFile> {
        let named = place.file_name().ok_or(ErrorKind::InvalidInput)?;
        let absolute = std::path::absolute(place)?;
        let mut above = absolute.ancestors().skip(1);
        let folder = above.find(|folder| folder.is_dir()).ok_or(ErrorKind::NotFound)?;
        for number in 0..ATTEMPTS {
            let mut name = named.to_owned();
            name.push(format!(".{}-{number}.part", std::process::id()));
            let path = folder.join(name);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(UnfinishedFile { file, path, put: false }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// The current path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the file to its final path, in the same folder, replacing an existing file. The file
    /// is durable when this returns.
    pub(crate) fn put(mut self, place: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, place)?;
        self.put = true;
        let folder = self.path.parent().ok_or(ErrorKind::NotFound)?;
        File::open(folder)?.sync_all()
    }
}

impl Write for UnfinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.put {
            // If the file cannot be removed, its name still shows that it is incomplete.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_into_a_store_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["store/segments", "store/own", "public/files", "public/generations", "out"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("store/catalog.redb"), "x").unwrap();
        std::os::unix::fs::symlink(at("store"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("store/catalog.redb"), at("out/link")).unwrap();
        std::os::unix::fs::symlink(at("store/new"), at("out/dangling")).unwrap();
        for place in [
            "store/catalog.redb",
            "store/new",
            "store/segments/0000000001.seg",
            "store/own/list",
            "link/new",
            "out/link",
            "out/../store/new",
            "public/new",
            "public/generations/0000000001",
        ] {
            assert!(place_of(&at(place)).is_err(), "{place}");
            assert!(put(&at(place), b"x").is_err(), "{place}");
        }
        // The dangling link is replaced, not followed.
        for place in ["new", "out/new", "public.txt", "out/dangling"] {
            put(&at(place), b"x").unwrap();
            assert_eq!(fs::read(at(place)).unwrap(), b"x", "{place}");
        }
        assert_eq!(fs::read(at("store/catalog.redb")).unwrap(), b"x");
        assert!(!at("store/new").exists());
    }

    #[test]
    fn temporary_file_is_moved_whole_or_removed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("file");
        fs::write(&place, "before").unwrap();
        let mut dropped = UnfinishedFile::create(&place).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read(&place).unwrap(), b"before");
        let mut put = UnfinishedFile::create(&place).unwrap();
        put.write_all(b"whole").unwrap();
        put.put(&place).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"whole");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        // The file begins in an existing folder if its own folder does not exist yet.
        let deep = UnfinishedFile::create(&dir.path().join("a/b/c")).unwrap();
        assert_eq!(deep.path().parent(), Some(dir.path()));
    }
}
