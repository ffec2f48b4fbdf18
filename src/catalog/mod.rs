//! The catalog: a small redb database that is the root of a store.
//!
//! The catalog contains the list of live segments, the epochs, the last writer sessions, and the
//! journal: the operations since the last seal. Only the journal takes much space, so the catalog is
//! small whatever the size of the store. Every change of a store is one transaction of the catalog.
//!
//! redb does not check its checksums when it reads. So when a store is opened, the whole database
//! is read and checked before redb opens it. Afterwards the database is only appended to.

mod backend;
mod checked;
mod concurrent;
mod contents;
mod envelope;
mod frames;
mod generation;
mod locks;
pub(crate) mod mark;
mod new_catalog;
mod newer_files;
mod published;
mod rows;
mod runs;
mod salvage;
mod sessions;
mod tables;
mod tree;

use std::sync::Arc;

use redb::{Database, ReadableTable, WriteTransaction};

use self::backend::{ClosableFile, FileBackend, drop_guarded, guarded};
use self::mark::MarkFile;
use self::tables::{EPOCHS, SEGMENTS, SETTINGS};
use self::tree::RedbTree;
use crate::bug;
use crate::disk::{Access, Disk, DiskFile, FileCopy, FileName, LockGuard};
use crate::error::{Error, Result};
use crate::page::EpochInfo;
use crate::process::ProcessId;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LockRank, RankedMutex, RankedRwLock};

pub(crate) use self::checked::CheckTimes;
pub(crate) use self::concurrent::{ReadLimit, read_concurrently};
pub(crate) use self::contents::{CatalogContents, SessionRows};
pub(crate) use self::frames::{JournalFrames, JournalTail};
pub(crate) use self::generation::{Generation, TableRow};
pub(crate) use self::locks::{LOCK_WAIT, StoreLocks};
pub(crate) use self::mark::CommitMark;
pub(crate) use self::new_catalog::NewCatalog;
pub(crate) use self::newer_files::NewerFiles;
pub(crate) use self::published::PublishedState;
pub(crate) use self::rows::{EPOCHS_MAX, JournalFrame, SegmentRow, Settings, is_epoch_name};
pub(crate) use self::salvage::{Salvage, SalvagedFrame};
pub(crate) use self::sessions::WriterSession;
pub(crate) use self::tables::Journal;

/// The size of redb's page cache. The working set is a few pages; the rest of the database is only
/// appended to.
const CACHE_BYTES: usize = 16 << 20;

/// The open catalog.
#[derive(Debug)]
pub(crate) struct Catalog {
    disk: Arc<dyn Disk>,
    mark: MarkFile,
    database: RankedRwLock<Option<Database>>,
    /// The first failure of a write. Each write transaction locks this field: redb allows one
    /// transaction at a time, and after a failure none may follow.
    failed: RankedMutex<Option<Error>>,
    /// Whether the catalog has the row of this process's writer session. Changes only while
    /// `failed` is locked.
    has_session: AtomicBool,
    /// The file of the database.
    file: RankedMutex<ClosableFile>,
    /// The process that opened the catalog; only this process may write.
    process: ProcessId,
    /// The locks, released after everything else.
    locks: RankedMutex<Option<StoreLocks>>,
}

impl Drop for Catalog {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // redb writes when it is dropped, and may wait for a thread that does not exist in this
            // process.
            std::mem::forget(self.database.get_mut().take());
        }
    }
}

impl Catalog {
    /// Creates the catalog of a new store, completely or not at all. An unfinished store stays
    /// unfinished until segments are [added](Self::add). The store is locked; returns the lock on
    /// the catalog.
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        contents: &CatalogContents,
    ) -> Result<Box<dyn LockGuard>> {
        mark::begin(&**disk)?;
        NewCatalog::write(disk, contents)?.finish(&**disk)
    }

    /// Reads and checks the whole catalog, and then opens it. Costs about 0.1 s per 100 MB of
    /// journal, plus redb's own recovery after a crash. The catalog keeps the locks, which are
    /// exclusive.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        locks: StoreLocks,
    ) -> Result<(Catalog, CatalogContents)> {
        let contents = Self::read_on(&**disk)?;
        let mark = MarkFile::open(&**disk, contents.marked())?;
        let (database, file) = open_database(disk)?;
        let catalog = Catalog {
            disk: Arc::clone(disk),
            mark,
            database: RankedRwLock::new(LockRank::Database, Some(database)),
            failed: RankedMutex::new(LockRank::Transaction, None),
            has_session: AtomicBool::new(false),
            file: RankedMutex::new(LockRank::CatalogFile, file),
            process: ProcessId::current(),
            locks: RankedMutex::new(LockRank::FileLocks, Some(locks)),
        };
        Ok((catalog, contents))
    }

    /// Reads the catalog and checks that it is at least as new as `LOCK` and `SNAPSHOT`.
    pub(crate) fn read_on(disk: &dyn Disk) -> Result<CatalogContents> {
        let name = FileName::Catalog;
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let contents = Self::read(&*file)?;
        NewerFiles::read(disk)?.check(&contents)?;
        Ok(contents)
    }

    /// Reads the last commit in a catalog's file without changing it. Checks every page of the
    /// commit.
    pub(crate) fn read(file: &dyn DiskFile) -> Result<CatalogContents> {
        Self::read_with(file, &mut Err)
    }

    /// Reads the last commit. `flaw` is called for each damaged page, and may let reading continue;
    /// in this case the result may be incomplete.
    pub(crate) fn read_with(
        file: &dyn DiskFile,
        flaw: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<CatalogContents> {
        contents::read(&mut RedbTree::open(file, flaw)?)
    }

    /// Reads the last commit, while other calls wait.
    pub(crate) fn contents(&self) -> Result<CatalogContents> {
        Self::read(&*self.copy()?)
    }

    /// Copies the catalog's file between two commits. Commits wait while the file is copied.
    pub(crate) fn copy(&self) -> Result<Box<dyn DiskFile>> {
        let database = self.database.write();
        if database.is_none() {
            return Err(Error::Closed);
        }
        let name = FileName::Catalog;
        let file = self.disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        Ok(Box::new(FileCopy::copy(&*file).map_err(|e| Error::io("read", name, e))?))
    }

    /// Appends blobs to their journals in one transaction, which is durable when this function
    /// returns.
    pub(crate) fn append(&self, blobs: &[(Journal, JournalFrame)]) -> Result<()> {
        let Some((_, last)) = blobs.last() else { return Ok(()) };
        let sequence = last.last_sequence();
        let mut ends = self.mark.noted().sequence;
        let follow = blobs.iter().all(|(_, blob)| {
            let before = std::mem::replace(&mut ends, blob.last_sequence());
            blob.count > 0 && blob.first_sequence == before + 1
        });
        self.unless_failed(|| {
            Ok(bug::ensure(follow, "new frames follow the last operation of the journal")?)
        })?;
        self.write(|transaction| {
            for (journal, blob) in blobs {
                let mut table = transaction.open_table(journal.table())?;
                blob.insert_into(&mut table)?;
            }
            Ok(CommitMark { sequence, changes: 0 })
        })
    }

    /// Adds a segment and drops the journal that it was sealed from, in one transaction.
    pub(crate) fn seal(&self, segment: &SegmentRow, journal: Journal, next: u64) -> Result<()> {
        self.write(|transaction| {
            transaction.open_table(SEGMENTS)?.insert(segment.id, segment.to_bytes().as_slice())?;
            transaction.delete_table(journal.table())?;
            count(transaction, next, segment.last_sequence)
        })
    }

    /// Adds segments, and registers or updates epochs, in one transaction. The transaction
    /// completes an unfinished store.
    pub(crate) fn add(
        &self,
        segments: &[SegmentRow],
        epochs: &[&EpochInfo],
        next: u64,
    ) -> Result<()> {
        self.write(|transaction| {
            let mut table = transaction.open_table(SEGMENTS)?;
            for segment in segments {
                table.insert(segment.id, segment.to_bytes().as_slice())?;
            }
            drop(table);
            put_epochs(transaction, epochs)?;
            transaction.open_table(SETTINGS)?.remove(rows::UNFINISHED)?;
            // The transaction may add only epochs.
            let last = segments.iter().map(|segment| segment.last_sequence).max();
            count(transaction, next, last.unwrap_or(0))
        })
    }

    /// Replaces segments by one segment, in one transaction.
    pub(crate) fn replace(&self, old: &[u64], new: &SegmentRow, next: u64) -> Result<()> {
        self.write(|transaction| {
            let mut segments = transaction.open_table(SEGMENTS)?;
            for id in old {
                segments.remove(id)?;
            }
            segments.insert(new.id, new.to_bytes().as_slice())?;
            count(transaction, next, 0)
        })
    }

    /// Registers or updates an epoch.
    pub(crate) fn put_epoch(&self, epoch: &EpochInfo) -> Result<()> {
        self.write(|transaction| {
            put_epochs(transaction, &[epoch])?;
            count(transaction, 0, 0)
        })
    }

    /// Rewrites the catalog, so that no deleted data and no free space stays in its file. Needs
    /// space for a second catalog meanwhile. The inner error reports a lack of space: in this case
    /// nothing was changed, and the catalog remains usable.
    pub(crate) fn rewrite(&self) -> Result<Result<()>> {
        let mut database = self.database.write();
        let mut full = None;
        self.unless_failed(|| {
            if database.is_none() {
                return Err(Error::Closed);
            }
            self.check_locks()?;
            let file = self.disk.open(FileName::Catalog, Access::Read);
            let file = file.map_err(|e| Error::io("open", FileName::Catalog, e))?;
            let whole = match NewCatalog::write(&self.disk, &Self::read(&*file)?) {
                Err(e) if e.is_full() => {
                    full = Some(e);
                    return Ok(());
                }
                written => written?,
            };
            drop_guarded(database.take())?;
            // Threads that check the locks wait meanwhile: for a moment the catalog's name belongs
            // to a new file whose lock `locks` does not have yet.
            let mut locks = self.locks.lock();
            let locks = locks.as_mut().ok_or(Error::Closed)?;
            locks.check()?;
            locks.follow(whole.finish(&*self.disk)?);
            let (opened, file) = open_database(&self.disk)?;
            *self.file.lock() = file;
            *database = Some(opened);
            Ok(())
        })?;
        Ok(full.map_or(Ok(()), Err))
    }

    /// The number of durable changes of the catalog's lists.
    pub(crate) fn changes(&self) -> u64 {
        self.mark.noted().changes
    }

    /// Checks that no other process can be writing.
    ///
    /// # Errors
    ///
    /// [`Error::Replaced`] if another process may be writing, [`Error::Forked`] if another process
    /// opened this catalog.
    pub(crate) fn check_locks(&self) -> Result<()> {
        if !self.process.is_current() {
            return Err(Error::Forked);
        }
        self.locks.lock().as_ref().ok_or(Error::Closed)?.check()
    }

    /// Closes the files of the parent process in a forked process; the parent keeps the locks. Does
    /// not wait.
    pub(crate) fn abandon(&self) {
        // Dropping the locks closes their files without unlocking.
        if let Some(mut locks) = self.locks.try_lock() {
            *locks = None;
        }
        if let Some(file) = self.file.try_lock() {
            file.close();
        }
        self.mark.abandon();
    }

    /// Releases the store, so that other processes may write to it.
    pub(crate) fn unlock(&self) {
        *self.locks.lock() = None;
    }

    /// Closes the database, so that the next open need not recover.
    ///
    /// # Errors
    ///
    /// Fails if the database is damaged, so that redb cannot write.
    pub(crate) fn close(&self) -> Result<()> {
        drop_guarded(self.database.write().take())
    }

    /// Commits a change, and records it in the mark. The first commit begins a writer session.
    fn write(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<CommitMark, redb::Error>,
    ) -> Result<()> {
        let database = self.database.read();
        self.unless_failed(|| {
            let database = database.as_ref().ok_or(Error::Closed)?;
            self.check_locks()?;
            let is_first = !self.has_session.load(Ordering::Relaxed);
            let session = is_first.then(|| (self.mark.noted(), self.disk.random()));
            let committed = guarded(|| {
                commit(database, |transaction| {
                    if let Some((before, nonce)) = session {
                        sessions::begin(transaction, before, nonce)?;
                    }
                    change(transaction)
                })
            })?;
            self.has_session.store(true, Ordering::Relaxed);
            self.mark.note(committed)
        })
    }

    /// Makes a change, if no earlier change has failed. After a failure, every call returns the
    /// first failure.
    fn unless_failed(&self, change: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut failed = self.failed.lock();
        match &*failed {
            Some(cause) => Err(cause.clone()),
            None => change().inspect_err(|e| *failed = Some(e.clone())),
        }
    }
}

fn put_epochs(transaction: &WriteTransaction, epochs: &[&EpochInfo]) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(EPOCHS)?;
    for epoch in epochs {
        table.insert(epoch.epoch.count(), rows::of_epoch(epoch).as_slice())?;
    }
    Ok(())
}

/// Counts a change of more than the journal, and stores the number of the next segment. The numbers
/// of segments are assigned before the transactions that use them, and the transactions may come in
/// another order.
fn count(
    transaction: &WriteTransaction,
    next: u64,
    sequence: u64,
) -> Result<CommitMark, redb::Error> {
    let mut settings = transaction.open_table(SETTINGS)?;
    let lost = |name| redb::Error::Corrupted(format!("the setting {name} has disappeared"));
    let stored = settings.get(rows::NEXT_SEGMENT)?.map(|stored| stored.value());
    let stored = stored.ok_or_else(|| lost(rows::NEXT_SEGMENT))?;
    settings.insert(rows::NEXT_SEGMENT, stored.max(next))?;
    let before = settings.get(rows::CHANGES)?.map(|stored| stored.value());
    let changes = before.ok_or_else(|| lost(rows::CHANGES))? + 1;
    settings.insert(rows::CHANGES, changes)?;
    Ok(CommitMark { sequence, changes })
}

fn commit<T>(
    database: &Database,
    change: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
) -> Result<T, redb::Error> {
    let mut transaction = database.begin_write()?;
    // URLs come from strangers, who could aim for a collision of checksums. After a crash, a
    // one-phase commit relies on these checksums.
    transaction.set_two_phase_commit(true);
    let done = change(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Opens a catalog that was read and is sound. After a crash, redb recovers during this call.
fn open_database(disk: &Arc<dyn Disk>) -> Result<(Database, ClosableFile)> {
    let file = disk.open(FileName::Catalog, Access::Write);
    let file = ClosableFile::new(file.map_err(|e| Error::io("open", FileName::Catalog, e))?);
    let database = guarded(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        Ok(builder.create_with_backend(FileBackend::new(file.clone()))?)
    });
    Ok((database?, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{LockMode, SimDisk};
    use crate::page::Epoch;

    /// Creates the catalog of a store with one epoch and these sessions, and opens it.
    fn opened(sessions: Vec<WriterSession>) -> (Arc<dyn Disk>, Catalog) {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        disk.create_dirs(crate::disk::Dir::STORE).unwrap();
        let mut locks = StoreLocks::take(&*disk, LockMode::Exclusive).unwrap();
        let name = "one".to_owned();
        let epoch = EpochInfo {
            epoch: Epoch(0),
            name,
            begun: 0,
            role: crate::page::Role::Both,
            bands: crate::fingerprint::Bands::EXTERNAL,
            ended: false,
        };
        let contents = CatalogContents::new(&*disk, vec![epoch], false);
        let contents = CatalogContents { sessions, ..contents };
        locks.follow(Catalog::create(&disk, &contents).unwrap());
        let (catalog, _) = Catalog::open(&disk, locks).unwrap();
        (disk, catalog)
    }

    fn blob(first_sequence: u64) -> [(Journal, JournalFrame); 1] {
        [(Journal::A, JournalFrame { first_sequence, count: 1, bytes: vec![0] })]
    }

    #[test]
    #[should_panic(expected = "new frames follow the last operation of the journal")]
    fn journal_with_a_gap_is_not_written() {
        let (_disk, catalog) = opened(Vec::new());
        catalog.append(&blob(1)).unwrap();
        let _ = catalog.append(&blob(3));
    }

    #[test]
    fn each_open_catalog_adds_one_session() {
        let (disk, mut catalog) = opened(Vec::new());
        for round in 0..3 {
            assert_eq!(catalog.contents().unwrap().sessions.len(), round);
            let before = catalog.contents().unwrap().marked();
            catalog.append(&blob(before.sequence + 1)).unwrap();
            catalog.rewrite().unwrap().unwrap();
            catalog.append(&blob(before.sequence + 2)).unwrap();
            let sessions = catalog.contents().unwrap().sessions;
            assert_eq!(sessions.len(), round + 1);
            assert_eq!(
                (sessions[round].number, sessions[round].before),
                (round as u64 + 1, before)
            );
            catalog.close().unwrap();
            drop(catalog);
            let locks = StoreLocks::take(&*disk, LockMode::Exclusive).unwrap();
            catalog = Catalog::open(&disk, locks).unwrap().0;
        }
        let mut nonces = catalog.contents().unwrap().sessions;
        nonces.sort_by_key(|session| session.nonce);
        nonces.dedup_by_key(|session| session.nonce);
        assert_eq!(nonces.len(), 3);
    }

    #[test]
    fn oldest_session_is_removed_when_there_are_too_many() {
        let before = CommitMark::default();
        let session = |number| WriterSession { number, before, nonce: number };
        let full: Vec<WriterSession> = (5..5 + sessions::SESSIONS_MAX).map(session).collect();
        let (_disk, catalog) = opened(full.clone());
        assert_eq!(catalog.contents().unwrap().sessions, full);
        catalog.append(&blob(1)).unwrap();
        let now = catalog.contents().unwrap().sessions;
        let (last, rest) = now.split_last().unwrap();
        assert_eq!((rest, last.number), (&full[1..], 5 + sessions::SESSIONS_MAX));
    }
}
