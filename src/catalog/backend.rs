//! The storage backend of redb on a [`Disk`](crate::disk::Disk), and guarded calls into redb, which
//! panics on some damaged files that must cause an error here.

use std::any::Any;
use std::io;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use redb::{Database, StorageBackend};

use crate::disk::{DiskFile, FileName};
use crate::error::{Error, Result};
use crate::sync::{LockRank, RankedMutex};

/// The file of a redb database.
#[derive(Debug)]
pub(super) struct FileBackend {
    file: ClosableFile,
}

impl FileBackend {
    pub(super) fn new(file: ClosableFile) -> FileBackend {
        FileBackend { file }
    }
}

/// An open file that can be closed while redb still holds it: a forked process cannot drop redb.
#[derive(Clone, Debug)]
pub(super) struct ClosableFile(Arc<RankedMutex<Option<Arc<dyn DiskFile>>>>);

impl ClosableFile {
    pub(super) fn new(file: Box<dyn DiskFile>) -> ClosableFile {
        ClosableFile(Arc::new(RankedMutex::new(LockRank::Closable, Some(Arc::from(file)))))
    }

    pub(super) fn file(&self) -> io::Result<Arc<dyn DiskFile>> {
        self.0.lock().clone().ok_or_else(|| io::Error::other("it was closed"))
    }

    /// Closes the file without waiting. Does nothing if another thread used the file when the
    /// process was forked, because that use never ends in the child.
    pub(super) fn close(&self) {
        if let Some(mut file) = self.0.try_lock() {
            *file = None;
        }
    }
}

impl StorageBackend for FileBackend {
    fn len(&self) -> io::Result<u64> {
        self.file.file()?.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.file()?.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.file()?.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.file()?.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.file()?.write_at(offset, data)
    }
}

/// Runs a call into redb. Converts redb's errors, and its panics on damaged files, to simkeep's
/// errors.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(failed),
        Err(panic) => Err(panicked(&*panic)),
    }
}

#[cold]
fn failed(error: redb::Error) -> Error {
    match error {
        // redb returns this error for a file that is too short, or not a redb file.
        redb::Error::Io(e)
            if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) =>
        {
            Error::corrupt(FileName::Catalog, 0, e.to_string())
        }
        redb::Error::Io(e) => Error::io("read or write", FileName::Catalog, e),
        redb::Error::Corrupted(what) => Error::corrupt(FileName::Catalog, 0, what),
        e => Error::Catalog(e.to_string()),
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref().copied()).unwrap_or("nothing");
    let what = format!("redb, the library that reads this file, panicked on its contents: {said}");
    Error::corrupt(FileName::Catalog, 0, what)
}

/// Drops a database. redb writes when it is dropped, and panics on damage.
pub(super) fn drop_guarded(database: Option<Database>) -> Result<()> {
    guarded(|| {
        drop(database);
        Ok(())
    })
}
