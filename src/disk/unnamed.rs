//! Scratch files without names: nothing is left behind, however the process ends.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::real::RealFile;
use super::{Access, Dir, Disk, DiskFile, FileMap, FileName, LockMode, LockOutcome, RealDisk};
use crate::sync::Mutex;

/// A disk of scratch files in any directory. Readers use this disk, because they may not write into
/// a store's directory. Only this disk has the names of its files.
#[derive(Debug)]
pub struct UnnamedDisk {
    dir: PathBuf,
    files: Mutex<HashMap<FileName, File>>,
}

impl UnnamedDisk {
    /// Creates a disk for a directory, which must exist when the first file is created.
    pub fn new(dir: impl Into<PathBuf>) -> UnnamedDisk {
        UnnamedDisk { dir: dir.into(), files: Mutex::default() }
    }
}

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Disk for UnnamedDisk {
    fn location(&self) -> String {
        self.dir.display().to_string()
    }

    fn create_dirs(&self, _: &[Dir]) -> io::Result<()> {
        refused()
    }

    fn list(&self, _: Dir) -> io::Result<Vec<OsString>> {
        refused()
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        if access != Access::Create {
            return refused();
        }
        let file = tempfile::tempfile_in(&self.dir)?;
        let open = RealFile { file: file.try_clone()? };
        self.files.lock().insert(name, file);
        Ok(Box::new(open))
    }

    fn map(&self, name: FileName) -> io::Result<FileMap> {
        let files = self.files.lock();
        FileMap::of_file(files.get(&name).ok_or(io::ErrorKind::NotFound)?)
    }

    fn rename(&self, _: FileName, _: FileName) -> io::Result<()> {
        refused()
    }

    fn remove(&self, name: FileName) -> io::Result<()> {
        self.files.lock().remove(&name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, _: Dir) -> io::Result<()> {
        refused()
    }

    fn lock(&self, _: FileName, _: LockMode) -> io::Result<LockOutcome> {
        refused()
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        RealDisk::new(&self.dir).free_bytes()
    }

    fn clock(&self) -> i64 {
        RealDisk::new(&self.dir).clock()
    }

    fn random(&self) -> u64 {
        RealDisk::new(&self.dir).random()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::ScratchFile;

    #[test]
    fn unnamed_file_is_read_back_and_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(UnnamedDisk::new(dir.path()));
        let mut files: Vec<ScratchFile> = (0..3)
            .map(|n| ScratchFile::create(Arc::clone(&disk), FileName::Scratch(0, n)).unwrap())
            .collect();
        for (n, file) in (0..).zip(&mut files) {
            file.append(&vec![n; 1 << n]).unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        for (n, file) in (0_u8..).zip(files) {
            assert!(*file.into_map().unwrap() == vec![n; 1 << n]);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn missing_directory_is_an_error_on_creation() {
        let disk: Arc<dyn Disk> = Arc::new(UnnamedDisk::new("/nowhere/to/be/found"));
        ScratchFile::create(disk, FileName::Scratch(0, 0)).unwrap_err();
    }
}
