//! The catalog: a small redb database that is the root of a store.
//!
//! It says which segments are live, what the epochs are called, and holds the journal: what was
//! observed since the last seal. It is bounded by the journal, whatever the size of the store. All
//! changes of what a store is happen in one transaction here.
//!
//! redb does not check its checksums when it reads, so the whole database is checked at open, read
//! into memory then, and only appended to afterwards.

mod backend;
mod manifest;
mod rows;
mod salvage;

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use self::backend::FileBackend;
pub(crate) use self::manifest::Manifest;
pub(crate) use self::rows::{Blob, SegmentRow, Settings};
pub(crate) use self::salvage::Salvage;
use crate::disk::{Access, Dir, Disk, DiskFile, Name, Overlay};
use crate::error::{Error, Result};
use crate::sync::{Mutex, RwLock};

const SETTINGS: TableDefinition<'_, &str, u64> = TableDefinition::new("settings");
const SEGMENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("segments");
const EPOCHS: TableDefinition<'_, u32, &str> = TableDefinition::new("epochs");
type JournalTable = TableDefinition<'static, (u64, u32), &'static [u8]>;
const JOURNALS: [JournalTable; 2] =
    [TableDefinition::new("journal_a"), TableDefinition::new("journal_b")];

/// redb's page cache. The working set is a few pages; the rest is only appended to.
const CACHE_BYTES: usize = 16 << 20;

/// Which of the two journal tables: one is written, the other is being sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    A,
    B,
}

impl Journal {
    pub(crate) fn other(self) -> Journal {
        match self {
            Journal::A => Journal::B,
            Journal::B => Journal::A,
        }
    }

    fn table(self) -> JournalTable {
        let [a, b] = JOURNALS;
        match self {
            Journal::A => a,
            Journal::B => b,
        }
    }
}

/// What a catalog holds.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) settings: Settings,
    /// In order of sequence.
    pub(crate) segments: Vec<SegmentRow>,
    /// Names, by number.
    pub(crate) epochs: Vec<String>,
    /// The blobs of each journal, in order of sequence.
    pub(crate) journals: [(Journal, Vec<Blob>); 2],
}

/// The open catalog.
#[derive(Debug)]
pub(crate) struct Catalog {
    disk: Arc<dyn Disk>,
    database: RwLock<Option<Database>>,
    /// Taken by each transaction that writes: redb has only one at a time, and none after one that
    /// failed. Why that failed.
    failed: Mutex<Option<Error>>,
}

impl Catalog {
    /// Makes the catalog of a new store: whole under its name, or not at all.
    pub(crate) fn create(disk: &Arc<dyn Disk>, settings: Settings, epoch: &str) -> Result<()> {
        let contents = Contents {
            settings,
            segments: Vec::new(),
            epochs: vec![epoch.to_owned()],
            journals: [(Journal::A, Vec::new()), (Journal::B, Vec::new())],
        };
        write_whole(disk, &contents)
    }

    /// Opens the catalog, checks all of it and reads it. Costs about 0.3 s per 100 MB of journal.
    pub(crate) fn open(disk: &Arc<dyn Disk>) -> Result<(Catalog, Contents)> {
        let database = open_database(disk)?;
        let contents = rows::read(&database)?;
        let catalog = Catalog {
            disk: Arc::clone(disk),
            database: RwLock::new(Some(database)),
            failed: Mutex::new(None),
        };
        Ok((catalog, contents))
    }

    /// Reads a catalog's file and leaves it as it is: what a crash left is recovered in memory, and all
    /// of it is checked. Costs what opening it does.
    pub(crate) fn read(file: Box<dyn DiskFile>) -> Result<Contents> {
        let file = Overlay::new(file).map_err(|e| Error::io("measure", Name::Catalog, e))?;
        rows::read(&open_checked(Box::new(file))?)
    }

    /// A copy of the file between two commits, which wait meanwhile.
    pub(crate) fn copy(&self) -> Result<Box<dyn DiskFile>> {
        let database = self.database.write();
        if database.is_none() {
            return Err(Error::Closed);
        }
        let name = Name::Catalog;
        let file = self.disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let copy = Overlay::copy(&*file).map_err(|e| Error::io("read", name, e))?;
        Ok(Box::new(copy))
    }

    /// Appends blobs to their journals: one transaction, durable when this returns.
    pub(crate) fn append(&self, blobs: &[(Journal, Blob)]) -> Result<()> {
        self.write(|transaction| {
            for (journal, blob) in blobs {
                let mut table = transaction.open_table(journal.table())?;
                blob.insert_into(&mut table)?;
            }
            Ok(())
        })
    }

    /// Adds a segment and drops the journal that it was sealed from, in one transaction.
    pub(crate) fn seal(&self, segment: &SegmentRow, journal: Journal, next: u64) -> Result<()> {
        self.write(|transaction| {
            transaction.open_table(SEGMENTS)?.insert(segment.id, segment.to_bytes().as_slice())?;
            transaction.delete_table(journal.table())?;
            raise_next_segment(transaction, next)
        })
    }

    /// Adds segments, in one transaction.
    pub(crate) fn add(&self, segments: &[SegmentRow], next: u64) -> Result<()> {
        self.write(|transaction| {
            let mut table = transaction.open_table(SEGMENTS)?;
            for segment in segments {
                table.insert(segment.id, segment.to_bytes().as_slice())?;
            }
            drop(table);
            raise_next_segment(transaction, next)
        })
    }

    /// Puts a segment in the place of others, in one transaction.
    pub(crate) fn replace(&self, old: &[u64], new: &SegmentRow, next: u64) -> Result<()> {
        self.write(|transaction| {
            let mut segments = transaction.open_table(SEGMENTS)?;
            for id in old {
                segments.remove(id)?;
            }
            segments.insert(new.id, new.to_bytes().as_slice())?;
            raise_next_segment(transaction, next)
        })
    }

    /// Registers the name of an epoch.
    pub(crate) fn add_epoch(&self, number: u32, name: &str) -> Result<()> {
        self.write(|transaction| {
            transaction.open_table(EPOCHS)?.insert(number, name)?;
            Ok(())
        })
    }

    /// Writes the catalog anew, so that nothing of what was deleted stays in its file.
    pub(crate) fn rewrite(&self) -> Result<()> {
        let mut database = self.database.write();
        self.unless_failed(|| {
            let contents = match &*database {
                Some(open) => rows::read(open)?,
                None => return Err(Error::Closed),
            };
            *database = None;
            write_whole(&self.disk, &contents)?;
            *database = Some(open_database(&self.disk)?);
            Ok(())
        })
    }

    /// Closes the database, so that the next open need not recover.
    pub(crate) fn close(&self) {
        *self.database.write() = None;
    }

    fn write(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<()> {
        let database = self.database.read();
        self.unless_failed(|| {
            let database = database.as_ref().ok_or(Error::Closed)?;
            guarded(|| commit(database, change))
        })
    }

    /// Makes a change, if none before has failed: whoever comes later is told of the same failure.
    fn unless_failed(&self, change: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut failed = self.failed.lock();
        match &*failed {
            Some(cause) => Err(cause.clone()),
            None => change().inspect_err(|e| *failed = Some(e.clone())),
        }
    }
}

/// Numbers are handed out before the transactions that use them, and those may come in another
/// order.
fn raise_next_segment(transaction: &WriteTransaction, next: u64) -> Result<(), redb::Error> {
    let mut settings = transaction.open_table(SETTINGS)?;
    let stored = settings.get(rows::NEXT_SEGMENT)?.map_or(0, |stored| stored.value());
    settings.insert(rows::NEXT_SEGMENT, stored.max(next))?;
    Ok(())
}

fn commit(
    database: &Database,
    change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    // URLs come from strangers, who could aim for a collision of the checksums that a one-phase
    // commit relies on after a crash.
    transaction.set_two_phase_commit(true);
    change(&transaction)?;
    transaction.commit()?;
    Ok(())
}

fn write_whole(disk: &Arc<dyn Disk>, contents: &Contents) -> Result<()> {
    let name = Name::CatalogNew;
    let file = disk.open(name, Access::Create).map_err(|e| Error::io("create", name, e))?;
    let database = guarded(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        Ok(builder.create_with_backend(FileBackend::new(file))?)
    })?;
    guarded(|| commit(&database, |transaction| rows::write(transaction, contents)))?;
    drop(database);
    let file = disk.open(name, Access::Write).map_err(|e| Error::io("open", name, e))?;
    file.sync().map_err(|e| Error::io("sync", name, e))?;
    disk.rename(name, Name::Catalog).map_err(|e| Error::io("rename", name, e))?;
    disk.sync_dir(Dir::Root).map_err(|e| Error::io("sync the directory of", Name::Catalog, e))
}

fn open_database(disk: &Arc<dyn Disk>) -> Result<Database> {
    let file = disk.open(Name::Catalog, Access::Write);
    open_checked(file.map_err(|e| Error::io("open", Name::Catalog, e))?)
}

/// Opens a database and checks all of it.
fn open_checked(file: Box<dyn DiskFile>) -> Result<Database> {
    let len = file.size().map_err(|e| Error::io("measure", Name::Catalog, e))?;
    if len == 0 {
        // redb would make a new database of it.
        return Err(Error::corrupt(Name::Catalog, 0, "the file is empty"));
    }
    guarded(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let mut database = builder.create_with_backend(FileBackend::new(file))?;
        // Its own recovery is done; what is wrong now was not left behind by a crash.
        if database.check_integrity()? {
            Ok(database)
        } else {
            Err(redb::Error::Corrupted("its checksums do not hold".to_owned()))
        }
    })
}

/// Runs a call into redb; its errors, and its panics on damaged files, become ours.
fn guarded<T>(call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        // What redb says of a file that is too short, or is none of its own.
        Ok(Err(redb::Error::Io(e)))
            if matches!(e.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) =>
        {
            Err(Error::corrupt(Name::Catalog, 0, e.to_string()))
        }
        Ok(Err(redb::Error::Io(e))) => Err(Error::io("read or write", Name::Catalog, e)),
        Ok(Err(redb::Error::Corrupted(what))) => Err(Error::corrupt(Name::Catalog, 0, what)),
        Ok(Err(e)) => Err(Error::Catalog(e.to_string())),
        Err(_) => Err(Error::corrupt(Name::Catalog, 0, "redb cannot make sense of it")),
    }
}
