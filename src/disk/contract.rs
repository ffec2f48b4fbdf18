//! The contract of a disk: operations on a store's directory, its files and its locks, as in POSIX.

use std::any::Any;
use std::fmt::Debug;
use std::io::ErrorKind;
use std::sync::Arc;
use std::{fmt, io};

use rustix::io::Errno;

use super::map::FileMap;
use super::name::{Dir, FileName};

/// The access with which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Opens an existing file for reading.
    Read,
    /// Opens an existing file for reading and writing.
    Write,
    /// Creates a file for reading and writing. Fails with `AlreadyExists` if the name is taken.
    Create,
}

/// The kind of a lock taken with [`Disk::lock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Excludes every other holder.
    Exclusive,
    /// Excludes exclusive holders only.
    Shared,
}

/// The holder of a lock, as far as the system reports it.
///
/// ```
/// use simkeep::{Error, LockHolder, Options, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store");
/// let store = Store::create(&path, Options::default())?;
/// let again = Store::open(&path, Options::default());
/// assert!(matches!(again, Err(Error::Locked { holder: LockHolder::ThisProcess, .. })));
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockHolder {
    /// The holder is this process.
    ThisProcess,
    /// The holder is the process with this number.
    Process(u32),
    /// The holder is an unknown process.
    Unknown,
}

/// The result of a request for a lock.
#[derive(Debug)]
pub enum LockOutcome {
    /// The lock is held until the guard is dropped.
    Held(Box<dyn LockGuard>),
    /// Another process or handle holds the lock.
    Refused(LockHolder),
}

/// The directory of one store.
///
/// Names refer to regular files. If a name belongs to another kind of file, operations on the name
/// fail; they neither follow nor wait for that file.
///
/// Durability follows POSIX: the contents of a file are durable after [`DiskFile::sync`]. Names
/// that were created, linked, renamed or removed in a directory are durable after
/// [`Disk::sync_dir`] of this directory.
pub trait Disk: Debug + Send + Sync + 'static {
    /// The location of the directory, for messages.
    fn location(&self) -> String;

    /// The permissions of the next new file, copied from the existing files. `None`, the default,
    /// if files have no permissions.
    fn file_mode(&self) -> Option<u32> {
        None
    }

    /// Creates the given directories durably if they do not exist.
    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()>;

    /// Lists the names in a directory in arbitrary order, including names that are not simkeep's.
    fn list(&self, dir: Dir) -> io::Result<Vec<std::ffi::OsString>>;

    /// Opens a file.
    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>>;

    /// Maps a file that is never written again.
    fn map(&self, name: FileName) -> io::Result<FileMap>;

    /// Renames a file, replacing an existing file with the new name.
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: FileName) -> io::Result<()>;

    /// Returns a file of this disk for another disk to [link](Disk::link). Fails with
    /// `Unsupported`, the default, without support for links.
    fn linkable(&self, name: FileName) -> io::Result<LinkSource> {
        let _ = name;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Links a file of another disk under a name on this disk. Both names refer to one file, which
    /// must never be written again. Fails with `AlreadyExists` if the name is taken. Fails with
    /// `Unsupported`, the default, or with the error of the system, if the two disks cannot share
    /// files.
    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        let _ = (file, name);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: Dir) -> io::Result<()>;

    /// Locks a file until the guard is dropped or the process ends. An exclusive lock on
    /// [`FileName::Lock`] creates the file if it does not exist. If any other file does not exist, a
    /// guard is returned nevertheless, because there is nobody to exclude.
    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome>;

    /// The number of bytes that are free for this directory, if known.
    fn free_bytes(&self) -> io::Result<Option<u64>>;

    /// The time, in milliseconds since 1970. The time comes from the disk so that a simulated disk
    /// can repeat it in each run.
    fn clock(&self) -> i64;

    /// A random number, different in each call and on each disk. The number comes from the disk so
    /// that a simulated disk can repeat it in each run.
    fn random(&self) -> u64;
}

/// An open file. Reads and writes are positioned, and transfer the whole buffer or fail.
pub trait DiskFile: Debug + Send + Sync {
    /// The length of the file in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Fills `buf` from `offset`; fails if the file ends before `buf` is full.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data` at `offset`; extends the file if necessary.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Sets the length; new bytes are zero.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes contents and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// A held lock on a file.
///
/// Dropping the guard releases the lock. In a forked process, dropping the guard only closes the
/// file.
pub trait LockGuard: Debug + Send + Sync {
    /// Whether the name still refers to the locked file: the file was neither removed nor replaced.
    /// A lock on a file without the name excludes nobody.
    fn is_under(&self, name: FileName) -> io::Result<bool>;
}

/// A file of a [`Disk`](super::Disk), to be linked by another disk of the same kind. Only a disk of
/// that kind can use the contents, so wrapping disks pass the value on unchanged.
#[derive(Clone)]
pub struct LinkSource(Arc<dyn Any + Send + Sync>);

impl LinkSource {
    pub(super) fn new(file: impl Any + Send + Sync) -> LinkSource {
        LinkSource(Arc::new(file))
    }

    /// The contents, if this kind of disk created them; otherwise `None`.
    pub(super) fn made_of<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for LinkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Linkable")
    }
}

/// Whether the system refuses the link, so that the file must be copied. Reasons are another file
/// system, a file of another owner, too many links, or no support for links.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
        // Some errors of file systems without links have no `ErrorKind`.
        || error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error())
}

#[cfg(test)]
mod linkable_tests {
    use super::*;

    #[test]
    fn refused_links_are_distinguished_from_disk_failures() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        for refused in [Errno::XDEV, Errno::PERM, Errno::MLINK, Errno::NOSYS, Errno::OPNOTSUPP] {
            assert!(is_refused(&error(refused)), "{refused}");
        }
        for failed in [Errno::NOSPC, Errno::IO, Errno::NOENT, Errno::ROFS, Errno::DQUOT] {
            assert!(!is_refused(&error(failed)), "{failed}");
        }
    }
}
