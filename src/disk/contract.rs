//! What a disk must do: the operations of a store's directory, its files and its locks, after POSIX.

use std::any::Any;
use std::fmt::Debug;
use std::io::ErrorKind;
use std::sync::Arc;
use std::{fmt, io};

use rustix::io::Errno;

use super::map::Map;
use super::name::{Dir, Name};

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An existing file, to read.
    Read,
    /// An existing file, to read and write.
    Write,
    /// A file that did not exist, to read and write. `AlreadyExists` where something has its name.
    Create,
}

/// What a [`Disk::lock`] shuts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Every other holder.
    Exclusive,
    /// Exclusive holders only.
    Shared,
}

/// Who has a lock, as far as the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// This process.
    ThisProcess,
    /// The process of this number.
    Process(u32),
    /// Some process.
    Unknown,
}

/// What came of asking for a lock.
#[derive(Debug)]
pub enum Locked {
    /// The lock is held until the guard is dropped.
    Held(Box<dyn LockGuard>),
    /// Somebody else holds the lock.
    Refused(Holder),
}

/// One store's directory.
///
/// Names are those of regular files: what else has one of them is an error, and is neither followed
/// nor waited for.
///
/// Durability follows POSIX: what a file holds is durable after [`DiskFile::sync`], and names made,
/// linked, renamed or removed in a directory are durable after [`Disk::sync_dir`] of it.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Where this is, for messages.
    fn location(&self) -> String;

    /// Permissions of the next file that is made here: as those that are there have them. `None`, as by
    /// default, where files have none.
    fn file_mode(&self) -> Option<u32> {
        None
    }

    /// Makes these directories where they do not exist, durably.
    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()>;

    /// The names in a directory, in no order, those that are not ours included.
    fn list(&self, dir: Dir) -> io::Result<Vec<std::ffi::OsString>>;

    /// Opens a file.
    fn open(&self, name: Name, access: Access) -> io::Result<Box<dyn DiskFile>>;

    /// Maps a file that is never written again.
    fn map(&self, name: Name) -> io::Result<Map>;

    /// Gives a file another name, replacing what had it.
    fn rename(&self, from: Name, to: Name) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: Name) -> io::Result<()>;

    /// A file of this disk, for another one to [link](Disk::link). `Unsupported`, as by default, where
    /// there are no links.
    fn linkable(&self, name: Name) -> io::Result<Linkable> {
        let _ = name;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file of another disk a name on this one too: both names are of one file, which must never
    /// be written again. `AlreadyExists` where something has the name; `Unsupported`, as by default, or
    /// what the system says, where the two disks have no links to each other's files.
    fn link(&self, file: &Linkable, name: Name) -> io::Result<()> {
        let _ = (file, name);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes the names of a directory durable.
    fn sync_dir(&self, dir: Dir) -> io::Result<()>;

    /// Locks a file until the guard is dropped or the process ends. For an exclusive lock
    /// [`Name::Lock`] is made if it is not there; of another file that is not there a guard is given
    /// all the same, since there is nobody to shut out.
    fn lock(&self, name: Name, kind: Lock) -> io::Result<Locked>;

    /// Bytes free for this directory, if known.
    fn free_bytes(&self) -> io::Result<Option<u64>>;

    /// The time, in milliseconds since 1970. It comes from the disk so that a simulated disk can tell
    /// the same in each run.
    fn clock(&self) -> i64;

    /// A random number, different at each call and on each disk. It comes from the disk so that a
    /// simulated disk can give the same numbers in each run.
    fn random(&self) -> u64;
}

/// An open file. Reads and writes are positioned; all of the buffer or an error.
pub trait DiskFile: Debug + Send + Sync {
    /// Length in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Fills `buf` from `offset`; an error if the file ends before.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data` at `offset`; the file grows if it must.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Sets the length; new bytes are zero.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes contents and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// A held lock on a file.
///
/// Dropping it lets go of the lock, but in a forked process, where it only closes the file.
pub trait LockGuard: Debug + Send + Sync {
    /// Whether the file is the one of this name still: neither removed nor replaced. A lock on
    /// another one keeps nobody out.
    fn is_under(&self, name: Name) -> io::Result<bool>;
}

/// A file of a [`Disk`](super::Disk), as another disk of the same kind takes it to link it. What is in
/// it only that kind knows, so it passes unseen through disks that stand in front of others.
#[derive(Clone)]
pub struct Linkable(Arc<dyn Any + Send + Sync>);

impl Linkable {
    pub(super) fn new(file: impl Any + Send + Sync) -> Linkable {
        Linkable(Arc::new(file))
    }

    /// What this kind of disk made it of; `None` if another kind did.
    pub(super) fn made_of<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Linkable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Linkable")
    }
}

/// Whether the system makes no link here, so that the file has to be copied: to another file system, of
/// a file that is somebody else's, or one with very many links already, or where there are no links.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
        // Not all of what a file system answers that has no links has a kind.
        || error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error())
}

#[cfg(test)]
mod linkable_tests {
    use super::*;

    #[test]
    fn what_cannot_be_linked_is_told_from_a_disk_that_fails() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        for refused in [Errno::XDEV, Errno::PERM, Errno::MLINK, Errno::NOSYS, Errno::OPNOTSUPP] {
            assert!(is_refused(&error(refused)), "{refused}");
        }
        for failed in [Errno::NOSPC, Errno::IO, Errno::NOENT, Errno::ROFS, Errno::DQUOT] {
            assert!(!is_refused(&error(failed)), "{failed}");
        }
    }
}
