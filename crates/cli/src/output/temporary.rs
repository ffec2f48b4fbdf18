//! Files that are written next to their final path. They are moved there once complete, or removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files with such names that others may have left.
const ATTEMPTS: u32 = 1000;

/// Where a file goes that is named by a path: a link stays one, and what is no file stays what it is.
///
/// All results that a verb writes to a file go through here, so none of them can replace a file of a
/// store.
pub(crate) fn place_of(path: &Path) -> io::Result<PathBuf> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&place).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "it is there, and no file"));
    }
    if place.parent().is_some_and(|folder| folder != "" && !folder.is_dir()) {
        return Err(io::Error::new(ErrorKind::NotFound, "its folder is not there"));
    }
    refuse_store(&place)?;
    Ok(place)
}

/// Puts a result of a few bytes into a file, whole. A device or a pipe gets the bytes as they are.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(path, bytes);
    }
    let place = place_of(path)?;
    let mut file = Beside::create(&place)?;
    file.write_all(bytes)?;
    file.put(&place)
}

/// Refuses a place in the directory of a store, or of what a store has published: nothing but the store
/// itself writes there.
pub(crate) fn refuse_store(place: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(place)?;
    let there = absolute.ancestors().find(|path| path.is_dir()).unwrap_or(&absolute);
    let folder = fs::canonicalize(there)?;
    let published = folder.ancestors().take(2).find(|folder| is_published(folder));
    let Some(store) = folder.ancestors().find(|folder| is_store(folder)).or(published) else {
        return Ok(());
    };
    let store = simkeep_formats::escape::whole(&store.to_string_lossy());
    let why = format!("{store} is a store, and only the store writes there: name another place");
    Err(io::Error::new(ErrorKind::AlreadyExists, why))
}

/// Whether a folder is a store: one that lost a file still has the others.
fn is_store(folder: &Path) -> bool {
    ["catalog.redb", "SNAPSHOT"].iter().any(|name| folder.join(name).is_file())
}

/// Whether a folder has generations of a store.
fn is_published(folder: &Path) -> bool {
    ["files", "generations"].iter().all(|name| folder.join(name).is_dir())
}

/// A file that is being written. Dropped, it is removed.
pub(crate) struct Beside {
    file: File,
    path: PathBuf,
    /// Whether it has its own name by now.
    put: bool,
}

impl Beside {
    /// Begins a file in the folder of a place, or in the first one above it that is there.
    pub(crate) fn create(place: &Path) -> io::Result<Beside> {
        let named = place.file_name().ok_or(ErrorKind::InvalidInput)?;
        let absolute = std::path::absolute(place)?;
        let mut above = absolute.ancestors().skip(1);
        let folder = above.find(|folder| folder.is_dir()).ok_or(ErrorKind::NotFound)?;
        for number in 0..ATTEMPTS {
            let mut name = named.to_owned();
            name.push(format!(".{}-{number}.part", std::process::id()));
            let path = folder.join(name);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Beside { file, path, put: false }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in the place of a file in the same folder, if there is one: durable when this returns.
    pub(crate) fn put(mut self, place: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, place)?;
        self.put = true;
        let folder = self.path.parent().ok_or(ErrorKind::NotFound)?;
        File::open(folder)?.sync_all()
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.put {
            // What cannot be removed has a name that says what it is.
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
        // Such a link is replaced, and not followed.
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
        let mut dropped = Beside::create(&place).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read(&place).unwrap(), b"before");
        let mut put = Beside::create(&place).unwrap();
        put.write_all(b"whole").unwrap();
        put.put(&place).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"whole");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        // Of a folder that is not there yet.
        let deep = Beside::create(&dir.path().join("a/b/c")).unwrap();
        assert_eq!(deep.path().parent(), Some(dir.path()));
    }
}
