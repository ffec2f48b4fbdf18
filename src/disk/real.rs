//! The disk of the operating system.

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::paths::DiskPaths;
use super::regular::{self, LinkPolicy, PRIVATE_MODE, directory_mode, irregular};
use super::{
    Access, Dir, Disk, DiskFile, FileMap, FileName, LinkSource, LockMode, LockOutcome, flock,
};

/// A store's directory in the file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    paths: DiskPaths,
}

impl RealDisk {
    /// Creates a disk for the store in the directory `root`. Does no I/O: the directory need not
    /// exist.
    pub fn new(root: impl Into<PathBuf>) -> RealDisk {
        RealDisk { paths: DiskPaths { root: root.into(), table: None, mode: PRIVATE_MODE } }
    }

    /// Sets the permissions of new files in a directory without a catalog, as in chmod(1). Everyone
    /// who may read the files may enter their directory. If there is a catalog, new files get its
    /// permissions instead.
    #[must_use]
    pub fn with_file_mode(self, mode: u32) -> RealDisk {
        RealDisk { paths: DiskPaths { mode: PRIVATE_MODE | mode & 0o666, ..self.paths } }
    }

    /// Creates the disk of a table of document frequencies with a name of its own. [`FileName::Df`]
    /// with any number is the file at `path`. Temporary files are in the directory of that file,
    /// under a name that contains the number.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path without a file name.
    pub fn of_table(path: &Path) -> io::Result<RealDisk> {
        let file = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let root = parent(path).ok_or(io::ErrorKind::InvalidInput)?;
        let paths = RealDisk::new(root).paths;
        Ok(RealDisk { paths: DiskPaths { table: Some(file.to_owned()), ..paths } })
    }

    /// The path of a store that contains this directory, if any: a directory with a catalog, or
    /// `other` even without a catalog.
    pub(crate) fn store_above(&self, other: Option<&RealDisk>) -> io::Result<Option<PathBuf>> {
        let other = other.and_then(|other| fs::canonicalize(&other.paths.root).ok());
        let is_store = |dir: &Path| has_catalog(dir) || other.as_deref() == Some(dir);
        // A missing directory will be created under its first existing ancestor. The missing
        // components will be directories, not links, so `..` will lead back from them.
        let root = std::path::absolute(&self.paths.root)?;
        let begun = root
            .ancestors()
            .find_map(|above| Some((above.canonicalize().ok()?, root.strip_prefix(above).ok()?)));
        let Some((mut at, rest)) = begun else { return Ok(None) };
        for part in rest.components() {
            match part {
                Component::ParentDir => drop(at.pop()),
                Component::Normal(name) => at.push(name),
                _ => {}
            }
            at = at.canonicalize().unwrap_or(at);
        }
        let Some(above) = at.parent() else { return Ok(None) };
        Ok(above.ancestors().find(|dir| is_store(dir)).map(Path::to_owned))
    }

    /// Whether both disks are the same directory, under any name.
    pub(crate) fn is_same(&self, other: &RealDisk) -> bool {
        let at = |disk: &RealDisk| fs::canonicalize(&disk.paths.root).ok();
        at(self).is_some_and(|here| at(other) == Some(here))
    }

    /// Whether a file has the name of a store's file, and is in the directory of a store for this
    /// name.
    #[expect(clippy::expect_used, reason = "the path of a file ends in its name")]
    pub(crate) fn is_of_a_store(&self, name: FileName) -> bool {
        let path = self.path(name);
        let entry = path.file_name().expect("a file has a name");
        let root = self.paths.root.canonicalize();
        let segments = root
            .is_ok_and(|root| root.ends_with("segments") && root.parent().is_some_and(has_catalog));
        has_catalog(&self.paths.root) && FileName::parse(Dir::Root, entry).is_some()
            || segments && FileName::parse(Dir::Segments, entry).is_some()
    }

    /// Whether a symbolic link has the name of a file.
    pub(crate) fn is_link(&self, name: FileName) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok_and(|found| found.is_symlink())
    }

    /// The leftovers of unfinished tables under this table's name: for each number with a `.new`
    /// file, its scratch files.
    pub(crate) fn unfinished_tables(&self) -> io::Result<Vec<(u64, Vec<u32>)>> {
        let Some(table) = &self.paths.table else { return Ok(Vec::new()) };
        let (mut begun, mut scratch) = (Vec::new(), Vec::new());
        for entry in self.list(Dir::Root)? {
            let end = entry.as_encoded_bytes().strip_prefix(table.as_encoded_bytes());
            let Some(end) = end.and_then(|end| str::from_utf8(end).ok()) else { continue };
            let mut words = end.split('.').skip(1);
            let number = words.next().and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let part = words.next().and_then(|digits| digits.parse().ok());
            // Accepts only the spelling that simkeep writes.
            let is = |name| self.path(name).file_name() == Some(&entry);
            match (number, part) {
                (Some(number), None) if is(FileName::DfNew(number)) => begun.push(number),
                (Some(number), Some(part)) if is(FileName::DfScratch(number, part)) => {
                    scratch.push((number, part));
                }
                _ => {}
            }
        }
        let parts =
            |number| scratch.iter().filter(move |(of, _)| *of == number).map(|(_, part)| *part);
        Ok(begun.into_iter().map(|number| (number, parts(number).collect())).collect())
    }

    /// Whether links are followed. A table that a user names for reading may be reached by a link;
    /// files of a store may not.
    fn links(&self, access: Access) -> LinkPolicy {
        let read = self.paths.table.is_some() && access == Access::Read;
        if read { LinkPolicy::Followed } else { LinkPolicy::Refused }
    }

    /// The path of a file.
    pub(crate) fn path(&self, name: FileName) -> PathBuf {
        self.paths.of(name)
    }
}

fn has_catalog(dir: &Path) -> bool {
    dir.join(FileName::Catalog.file_name()).symlink_metadata().is_ok()
}

/// The directory of `path`; `None` for `/`.
fn parent(path: &Path) -> Option<&Path> {
    match path.parent()? {
        // A path of one component, such as `crawl`, is in the current directory.
        above if above.as_os_str().is_empty() => Some(Path::new(".")),
        above => Some(above),
    }
}

fn sync_path(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Creates a directory with the permissions `mode`, if given, and its missing ancestors, each
/// durable in its parent.
fn create_dir_durably(dir: &Path, mode: Option<u32>) -> io::Result<()> {
    if dir.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is empty"));
    }
    let Some(above) = parent(dir) else { return Ok(()) };
    if dir.is_dir() {
        // The process that created the directory may have been killed before the directory was
        // durable. If the parent cannot be read, the directory belongs to another user, who is
        // responsible for its durability.
        return match sync_path(above) {
            Err(e) if e.kind() != io::ErrorKind::PermissionDenied => Err(e),
            _ => Ok(()),
        };
    }
    if !above.is_dir() {
        create_dir_durably(above, None)?;
    }
    let mut builder = fs::DirBuilder::new();
    if let Some(mode) = mode {
        builder.mode(mode);
    }
    match builder.create(dir) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => {}
        Err(e) => return Err(e),
        Ok(()) => {
            // Sets the permissions regardless of the umask.
            let more = mode.filter(|mode| *mode != directory_mode(PRIVATE_MODE));
            more.map_or(Ok(()), |mode| fs::set_permissions(dir, fs::Permissions::from_mode(mode)))?;
        }
    }
    sync_path(above)
}

/// Fails if the directory is a symbolic link.
///
/// # Errors
///
/// `InvalidData` if the directory is a symbolic link.
fn check_no_link(dir: &Path) -> io::Result<()> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_symlink() => Err(irregular("a symbolic link")),
        _ => Ok(()),
    }
}

impl Disk for RealDisk {
    fn location(&self) -> String {
        self.paths.root.display().to_string()
    }

    fn file_mode(&self) -> Option<u32> {
        Some(self.paths.file_mode())
    }

    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        let mode = Some(directory_mode(self.paths.file_mode()));
        for dir in dirs {
            let path = self.paths.dir(*dir);
            if *dir != Dir::Root {
                check_no_link(&path)?;
            }
            create_dir_durably(&path, mode)?;
        }
        Ok(())
    }

    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        let path = self.paths.dir(dir);
        // The root directory may be reached by a link; the other directories may not.
        if dir != Dir::Root {
            check_no_link(&path)?;
        }
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file =
            regular::open(&self.path(name), access, self.links(access), self.paths.file_mode())?;
        Ok(Box::new(RealFile { file }))
    }

    fn map(&self, name: FileName) -> io::Result<FileMap> {
        let (access, mode) = (Access::Read, self.paths.file_mode());
        FileMap::of_file(&regular::open(&self.path(name), access, self.links(access), mode)?)
    }

    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: FileName) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn linkable(&self, name: FileName) -> io::Result<LinkSource> {
        Ok(LinkSource::new(self.path(name)))
    }

    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        let path: &PathBuf = file.made_of().ok_or(io::ErrorKind::Unsupported)?;
        fs::hard_link(path, self.path(name))
    }

    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        sync_path(&self.paths.dir(dir))
    }

    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        flock::lock(&self.paths, name, kind)
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let space = rustix::fs::statvfs(&self.paths.root)?;
        Ok(Some(space.f_bavail.saturating_mul(space.f_frsize)))
    }

    fn clock(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        // The keys of `RandomState` are random numbers of the system, drawn once for each thread. A
        // forked process has the keys of its parent, so the process number and the time are hashed
        // as well.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RandomState::new().hash_one((std::process::id(), since.as_nanos()))
    }
}

/// An open file of the file system.
#[derive(Debug)]
pub(super) struct RealFile {
    pub(super) file: File,
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
        // `sync_data` includes the length, which is needed to read the data back, but not
        // timestamps and the like.
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{LockGuard, LockHolder};

    fn store() -> (tempfile::TempDir, RealDisk) {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(dir.path().join("a/b/crawl.simkeep"));
        (dir, disk)
    }

    #[test]
    fn directories_are_created_with_parents_and_repeatedly() {
        let (_dir, disk) = store();
        assert_eq!(disk.list(Dir::Root).unwrap_err().kind(), io::ErrorKind::NotFound);
        disk.create_dirs(Dir::STORE).unwrap();
        disk.create_dirs(Dir::STORE).unwrap();
        assert_eq!(disk.list(Dir::Root).unwrap(), ["segments"]);
        assert!(disk.list(Dir::Segments).unwrap().is_empty());
    }

    #[test]
    fn random_numbers_are_distinct() {
        let draw = || (0..1000).map(|_| RealDisk::new("anywhere").random());
        let beside = std::thread::spawn(move || draw().collect::<Vec<_>>());
        let mut numbers: Vec<u64> = draw().chain(beside.join().unwrap()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 2000);
    }

    #[test]
    fn table_files_have_the_given_name() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::of_table(&dir.path().join("crawl.df")).unwrap();
        let names = [FileName::Df(10), FileName::DfNew(10), FileName::DfScratch(10, 1)];
        let expected =
            ["crawl.df", "crawl.df.000000000000000a.new", "crawl.df.000000000000000a.01.tmp"];
        assert_eq!(names.map(|name| disk.path(name)), expected.map(|name| dir.path().join(name)));
        assert!(disk.list(Dir::Root).unwrap().is_empty());
        let left = ["000000000000000a.new", "000000000000000a.01.tmp", "000000000000000b.00.tmp"];
        let others = ["a.new", "new", "00.tmp", "000000000000000A.new", "000000000000000c.new.bak"];
        for end in left.iter().chain(&others) {
            fs::write(dir.path().join(format!("crawl.df.{end}")), "").unwrap();
        }
        assert_eq!(disk.unfinished_tables().unwrap(), [(10, vec![1])]);
        let here = RealDisk::of_table(Path::new("crawl.df")).unwrap();
        assert_eq!(here.path(FileName::Df(0)), Path::new("./crawl.df"));
        for none in ["/", "..", ""] {
            assert!(RealDisk::of_table(Path::new(none)).is_err(), "{none}");
        }
    }

    #[test]
    fn file_in_place_of_the_store_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "not a directory").unwrap();
        assert!(RealDisk::new(dir.path().join("x")).create_dirs(Dir::STORE).is_err());
    }

    #[test]
    fn written_data_is_read_and_mapped() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        let file = disk.open(FileName::SegmentNew(1), Access::Create).unwrap();
        file.write_at(3, b"defg").unwrap();
        file.write_at(0, b"abc").unwrap();
        file.set_len(6).unwrap();
        file.sync().unwrap();
        disk.rename(FileName::SegmentNew(1), FileName::Segment(1)).unwrap();
        disk.sync_dir(Dir::Segments).unwrap();
        let mut buf = [0; 4];
        file.read_at(2, &mut buf).unwrap();
        assert_eq!(&buf, b"cdef");
        assert_eq!(file.size().unwrap(), 6);
        let past_the_end = file.read_at(3, &mut buf).unwrap_err();
        assert_eq!(past_the_end.kind(), io::ErrorKind::UnexpectedEof);
        let map = disk.map(FileName::Segment(1)).unwrap();
        disk.remove(FileName::Segment(1)).unwrap();
        assert_eq!(&*map, b"abcdef");
        let gone = disk.open(FileName::Segment(1), Access::Write).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn linked_file_outlives_its_first_name_and_overwrites_nothing() {
        let ((_from, from), (_to, to)) = (store(), store());
        for disk in [&from, &to] {
            disk.create_dirs(Dir::STORE).unwrap();
        }
        from.open(FileName::Segment(1), Access::Create).unwrap().write_at(0, b"abc").unwrap();
        let file = from.linkable(FileName::Segment(1)).unwrap();
        to.link(&file, FileName::Segment(2)).unwrap();
        let again = to.link(&file, FileName::Segment(2)).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        from.remove(FileName::Segment(1)).unwrap();
        assert_eq!(&*to.map(FileName::Segment(2)).unwrap(), b"abc");
        let gone = to.link(&file, FileName::Segment(3)).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        let other = to.link(&LinkSource::new(1), FileName::Segment(3)).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn large_and_empty_files_are_mapped_whole() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        let file = disk.open(FileName::Segment(1), Access::Create).unwrap();
        assert!(disk.map(FileName::Segment(1)).unwrap().is_empty());
        let end = 5 << 20;
        file.write_at(end, &[7]).unwrap();
        let map = disk.map(FileName::Segment(1)).unwrap();
        assert_eq!((map.len() as u64, map.last()), (end + 1, Some(&7)));
    }

    #[test]
    fn existing_file_is_not_created_or_changed() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        disk.open(FileName::CatalogNew, Access::Create).unwrap().write_at(0, b"old").unwrap();
        let again = disk.open(FileName::CatalogNew, Access::Create).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(disk.open(FileName::CatalogNew, Access::Read).unwrap().size().unwrap(), 3);
    }

    fn locked(disk: &RealDisk, kind: LockMode) -> Option<Box<dyn LockGuard>> {
        match disk.lock(FileName::Lock, kind).unwrap() {
            LockOutcome::Held(guard) => Some(guard),
            LockOutcome::Refused(holder) => {
                assert!(
                    matches!(holder, LockHolder::ThisProcess | LockHolder::Unknown),
                    "{holder:?}"
                );
                None
            }
        }
    }

    #[test]
    fn second_writer_is_refused_until_the_first_unlocks() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        let first = locked(&disk, LockMode::Exclusive).unwrap();
        assert!(locked(&disk, LockMode::Exclusive).is_none());
        assert!(locked(&disk, LockMode::Shared).is_none());
        drop(first);
        assert!(locked(&disk, LockMode::Exclusive).is_some());
    }

    #[test]
    fn readers_share_the_lock_and_exclude_a_writer() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        drop(locked(&disk, LockMode::Exclusive));
        let first = locked(&disk, LockMode::Shared).unwrap();
        let second = locked(&disk, LockMode::Shared).unwrap();
        assert!(locked(&disk, LockMode::Exclusive).is_none());
        drop((first, second));
        assert!(locked(&disk, LockMode::Exclusive).is_some());
    }

    #[test]
    fn reader_of_a_read_only_directory_creates_no_lock_file() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        fs::set_permissions(&disk.paths.root, fs::Permissions::from_mode(0o555)).unwrap();
        assert!(locked(&disk, LockMode::Shared).is_some());
        assert_eq!(disk.list(Dir::Root).unwrap(), ["segments"]);
        fs::set_permissions(&disk.paths.root, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn reader_of_a_read_only_directory_uses_the_lock_file() {
        let (_dir, disk) = store();
        disk.create_dirs(Dir::STORE).unwrap();
        drop(locked(&disk, LockMode::Exclusive));
        let lock = disk.path(FileName::Lock);
        fs::set_permissions(&lock, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(&disk.paths.root, fs::Permissions::from_mode(0o555)).unwrap();
        assert!(locked(&disk, LockMode::Shared).is_some());
        fs::set_permissions(&disk.paths.root, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
