//! The disk of the operating system.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Access, Dir, Disk, DiskFile, Lock, LockGuard, Map, Name};

/// A store's directory in the file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// What tables of document frequencies are called here, where one has a name of its own.
    table: Option<OsString>,
}

impl RealDisk {
    /// The store in the directory `root`. Touches nothing: the directory need not exist.
    pub fn new(root: impl Into<PathBuf>) -> RealDisk {
        RealDisk { root: root.into(), table: None }
    }

    /// The directory of a table of document frequencies with a name of its own: [`Name::Df`] of any
    /// number is this file, and what is made on the way to it lies beside it, under a name with the
    /// number.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path that ends in no file name.
    pub fn of_table(path: &Path) -> io::Result<RealDisk> {
        let file = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let root = parent(path).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(RealDisk { root: root.to_owned(), table: Some(file.to_owned()) })
    }

    fn dir(&self, dir: Dir) -> PathBuf {
        match dir {
            Dir::Root => self.root.clone(),
            Dir::Segments => self.root.join("segments"),
        }
    }

    /// The path of a file.
    pub(crate) fn path(&self, name: Name) -> PathBuf {
        let end = match name {
            Name::Df(_) => String::new(),
            Name::DfNew(number) => format!(".{number:016x}.new"),
            Name::DfScratch(number, part) => format!(".{number:016x}.{part:02}.tmp"),
            _ => return self.dir(name.dir()).join(name.file_name()),
        };
        match &self.table {
            None => self.root.join(name.file_name()),
            Some(table) => {
                let mut file = table.clone();
                file.push(end);
                self.root.join(file)
            }
        }
    }
}

/// The directory that holds `path`; none above `/`.
fn parent(path: &Path) -> Option<&Path> {
    match path.parent()? {
        // `crawl` lies in the current directory.
        above if above.as_os_str().is_empty() => Some(Path::new(".")),
        above => Some(above),
    }
}

fn sync_path(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Makes a directory and those above it that are missing, each durable in the one above.
fn create_dir_durably(dir: &Path) -> io::Result<()> {
    let Some(above) = parent(dir) else { return Ok(()) };
    if dir.is_dir() {
        // Whoever made it may have been killed before it was durable. Where we may not read the
        // directory above it, it is not ours, and neither is its durability.
        return match sync_path(above) {
            Err(e) if e.kind() != io::ErrorKind::PermissionDenied => Err(e),
            _ => Ok(()),
        };
    }
    if !above.is_dir() {
        create_dir_durably(above)?;
    }
    match fs::create_dir(dir) {
        Err(e) if !(e.kind() == io::ErrorKind::AlreadyExists && dir.is_dir()) => return Err(e),
        _ => {}
    }
    sync_path(above)
}

impl Disk for RealDisk {
    fn location(&self) -> String {
        self.root.display().to_string()
    }

    fn create_dirs(&self) -> io::Result<()> {
        create_dir_durably(&self.root)?;
        create_dir_durably(&self.dir(Dir::Segments))
    }

    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        fs::read_dir(self.dir(dir))?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn open(&self, name: Name, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut options = File::options();
        match access {
            Access::Read => options.read(true),
            Access::Write => options.read(true).write(true),
            Access::Create => options.read(true).write(true).create(true).truncate(true),
        };
        Ok(Box::new(RealFile { file: options.open(self.path(name))? }))
    }

    fn map(&self, name: Name) -> io::Result<Map> {
        Map::of_file(&File::open(self.path(name))?)
    }

    fn rename(&self, from: Name, to: Name) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: Name) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        sync_path(&self.dir(dir))
    }

    fn lock(&self, kind: Lock) -> io::Result<Option<Box<dyn LockGuard>>> {
        let path = self.path(Name::Lock);
        let process = std::process::id();
        let (file, taken) = match kind {
            Lock::Exclusive => {
                let mut options = File::options();
                options.read(true).write(true).create(true).truncate(false);
                let file = options.open(path)?;
                let taken = file.try_lock();
                (file, taken)
            }
            Lock::Shared => {
                let file = match File::open(path) {
                    Ok(file) => file,
                    // No writer ever came here, and a reader makes no file for one that may come.
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {
                        return Ok(Some(Box::new(RealLock { file: None, process })));
                    }
                    Err(e) => return Err(e),
                };
                let taken = file.try_lock_shared();
                (file, taken)
            }
        };
        match taken {
            Ok(()) => Ok(Some(Box::new(RealLock { file: Some(file), process }))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let space = rustix::fs::statvfs(&self.root)?;
        Ok(Some(space.f_bavail.saturating_mul(space.f_frsize)))
    }

    fn random(&self) -> u64 {
        // Its keys are the system's random numbers, and other ones each time. They are drawn once for a
        // thread, which a fork copies: so who asks, and when, goes in as well.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RandomState::new().hash_one((std::process::id(), since.as_nanos()))
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
}

impl DiskFile for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        // The length is part of what is needed to read the data back, so it is covered; only
        // times and the like are not.
        self.file.sync_data()
    }
}

/// The lock belongs to the open file, which a forked process has as well. So the process that took
/// it lets go by saying so: to close its file would leave the lock to whoever was forked meanwhile,
/// if only to start another program. A forked process only closes its own.
#[derive(Debug)]
struct RealLock {
    file: Option<File>,
    process: u32,
}

impl LockGuard for RealLock {}

impl Drop for RealLock {
    fn drop(&mut self) {
        if let Some(file) = &self.file
            && self.process == std::process::id()
        {
            // What fails here is made good by the end of the file.
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, RealDisk) {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(dir.path().join("a/b/crawl.simkeep"));
        (dir, disk)
    }

    #[test]
    fn directories_are_made_with_their_parents_and_making_them_twice_is_harmless() {
        let (_dir, disk) = store();
        assert_eq!(disk.list(Dir::Root).unwrap_err().kind(), io::ErrorKind::NotFound);
        disk.create_dirs().unwrap();
        disk.create_dirs().unwrap();
        assert_eq!(disk.list(Dir::Root).unwrap(), ["segments"]);
        assert!(disk.list(Dir::Segments).unwrap().is_empty());
    }

    #[test]
    fn no_two_random_numbers_are_the_same() {
        let draw = || (0..1000).map(|_| RealDisk::new("anywhere").random());
        let beside = std::thread::spawn(move || draw().collect::<Vec<_>>());
        let mut numbers: Vec<u64> = draw().chain(beside.join().unwrap()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 2000);
    }

    #[test]
    fn a_table_has_the_name_that_it_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::of_table(&dir.path().join("crawl.df")).unwrap();
        let names = [Name::Df(10), Name::DfNew(10), Name::DfScratch(10, 1)];
        let expected =
            ["crawl.df", "crawl.df.000000000000000a.new", "crawl.df.000000000000000a.01.tmp"];
        assert_eq!(names.map(|name| disk.path(name)), expected.map(|name| dir.path().join(name)));
        assert!(disk.list(Dir::Root).unwrap().is_empty());
        let here = RealDisk::of_table(Path::new("crawl.df")).unwrap();
        assert_eq!(here.path(Name::Df(0)), Path::new("./crawl.df"));
        for none in ["/", "..", ""] {
            assert!(RealDisk::of_table(Path::new(none)).is_err(), "{none}");
        }
    }

    #[test]
    fn a_file_where_the_store_should_be_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "not a directory").unwrap();
        assert!(RealDisk::new(dir.path().join("x")).create_dirs().is_err());
    }

    #[test]
    fn what_is_written_is_read_and_mapped() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        let file = disk.open(Name::SegmentNew(1), Access::Create).unwrap();
        file.write_at(3, b"defg").unwrap();
        file.write_at(0, b"abc").unwrap();
        file.set_len(6).unwrap();
        file.sync().unwrap();
        disk.rename(Name::SegmentNew(1), Name::Segment(1)).unwrap();
        disk.sync_dir(Dir::Segments).unwrap();
        let mut buf = [0; 4];
        file.read_at(2, &mut buf).unwrap();
        assert_eq!(&buf, b"cdef");
        assert_eq!(file.size().unwrap(), 6);
        let past_the_end = file.read_at(3, &mut buf).unwrap_err();
        assert_eq!(past_the_end.kind(), io::ErrorKind::UnexpectedEof);
        let map = disk.map(Name::Segment(1)).unwrap();
        disk.remove(Name::Segment(1)).unwrap();
        assert_eq!(&*map, b"abcdef");
        let gone = disk.open(Name::Segment(1), Access::Write).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn large_and_empty_files_are_mapped_whole() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        let file = disk.open(Name::Segment(1), Access::Create).unwrap();
        assert!(disk.map(Name::Segment(1)).unwrap().is_empty());
        let end = 5 << 20;
        file.write_at(end, &[7]).unwrap();
        let map = disk.map(Name::Segment(1)).unwrap();
        assert_eq!((map.len() as u64, map.last()), (end + 1, Some(&7)));
    }

    #[test]
    fn creating_a_file_that_exists_empties_it() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        disk.open(Name::CatalogNew, Access::Create).unwrap().write_at(0, b"old").unwrap();
        assert_eq!(disk.open(Name::CatalogNew, Access::Create).unwrap().size().unwrap(), 0);
    }

    #[test]
    fn a_second_writer_is_refused_until_the_first_lets_go() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        let first = disk.lock(Lock::Exclusive).unwrap().unwrap();
        assert!(disk.lock(Lock::Exclusive).unwrap().is_none());
        assert!(disk.lock(Lock::Shared).unwrap().is_none());
        drop(first);
        assert!(disk.lock(Lock::Exclusive).unwrap().is_some());
    }

    #[test]
    fn readers_share_the_lock_and_keep_a_writer_out() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        drop(disk.lock(Lock::Exclusive).unwrap());
        let first = disk.lock(Lock::Shared).unwrap().unwrap();
        let second = disk.lock(Lock::Shared).unwrap().unwrap();
        assert!(disk.lock(Lock::Exclusive).unwrap().is_none());
        drop((first, second));
        assert!(disk.lock(Lock::Exclusive).unwrap().is_some());
    }

    #[test]
    fn a_reader_of_a_read_only_directory_makes_no_lock_file() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        fs::set_permissions(&disk.root, fs::Permissions::from_mode(0o555)).unwrap();
        assert!(disk.lock(Lock::Shared).unwrap().is_some());
        assert_eq!(disk.list(Dir::Root).unwrap(), ["segments"]);
        fs::set_permissions(&disk.root, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_reader_of_a_read_only_directory_locks_what_is_there() {
        let (_dir, disk) = store();
        disk.create_dirs().unwrap();
        drop(disk.lock(Lock::Exclusive).unwrap());
        let lock = disk.path(Name::Lock);
        fs::set_permissions(&lock, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(&disk.root, fs::Permissions::from_mode(0o555)).unwrap();
        assert!(disk.lock(Lock::Shared).unwrap().is_some());
        fs::set_permissions(&disk.root, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
