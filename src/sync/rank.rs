//! The order of locks, for all modules.
//!
//! A thread that holds a lock acquires only locks listed after it, so no deadlock is possible.
//! Builds with assertions and the shuttle test check the order at each lock
//! ([`ranked`](super::ranked)). A lock that is only tried never waits, and may be tried out of
//! order.
//!
//! Locks held during disk calls come before the locks of readers, which are the live view and the
//! memtables. A lock without a rank is held for a few instructions, and no other lock is acquired
//! meanwhile.

/// The position of a lock in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LockRank {
    /// `engine::store`: a store is being closed.
    Close,
    /// `engine::store`: the store's background threads, while they are joined.
    Threads,
    /// `engine::leases`: due pages are being leased. Held during reads from the disk.
    Lease,
    /// `admin::load`: from the beginning of a load to its end.
    Load,
    /// `engine::epoch_registry`: an epoch begins or ends.
    Epochs,
    /// `admin::load::epochs`: the epochs of a load.
    LoadEpochs,
    /// `engine::seal`: a memtable is being sealed.
    Seal,
    /// `engine::compaction`: segments are being merged.
    Merge,
    /// `engine::write::commit`: which thread commits, and the progress of the commit.
    Commit,
    /// `engine::write::admission`: the write lock. Held without disk access, except that a load
    /// publishes its segments under this lock.
    Write,
    /// `catalog`: the database, shared by transactions.
    Database,
    /// `catalog`: one transaction at a time. Held during writes and syncs.
    Transaction,
    /// `catalog`: the locks on the store's files.
    FileLocks,
    /// `catalog`: the file that contains the database.
    CatalogFile,
    /// `engine::lifecycle`: held to check or to change a condition that threads wait for.
    Wait,
    /// `engine::compaction`: why the last merge failed.
    MergeError,
    /// `engine::publisher`: the published state, and the files kept for readers. Held during writes
    /// to the disk.
    Publish,
    /// `catalog::mark`: the mark of the last commit.
    Mark,
    /// `catalog::backend`: whether a file was closed while in use.
    Closable,
    /// `engine::live`: the live view, to copy or to replace it.
    View,
    /// `engine::write::admission`: the memory of a sealed memtable, for reuse.
    Spare,
    /// `engine::memtable`: the content of one memtable. No thread holds two such locks.
    Memtable,
    /// `engine::memtable::under`: the SURT order of a memtable's pages.
    MemtableOrder,
}
