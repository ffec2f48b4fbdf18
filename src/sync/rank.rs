//! The order of locks, for all modules.
//!
//! A thread that holds a lock takes only locks that stand below it here. So no two threads can wait
//! for each other. Where assertions are on, and in the test that schedules all threads, each lock makes
//! sure of it ([`ranked`](super::ranked)). A lock that is only tried waits for nobody, and may be tried
//! out of order.
//!
//! What is held over calls of the disk stands above what a reader takes: the live view and the
//! memtables. What is not in this list is held over a few plain instructions, and no other lock is
//! taken under it.

/// Where a lock stands in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// `engine::store`: a store is being closed.
    Close,
    /// `engine::store`: its background threads, while they are waited for.
    Threads,
    /// `engine::leases`: pages that are due are being taken. Held over reads from the disk.
    Lease,
    /// `admin::load`: from the beginning of a load to its end.
    Load,
    /// `engine::epoch_registry`: an epoch begins or ends.
    Epochs,
    /// `admin::load::epochs`: the epochs that come with a load.
    LoadEpochs,
    /// `engine::seal`: a memtable is being sealed.
    Seal,
    /// `engine::compaction`: segments are being merged.
    Merge,
    /// `engine::write::commit`: who commits, and how far it has come.
    Commit,
    /// `engine::write::admission`: the write lock. In memory only; but a load makes its segments live
    /// under it.
    Write,
    /// `catalog`: the database, shared by transactions.
    Database,
    /// `catalog`: one transaction at a time. Held over writes and syncs.
    Transaction,
    /// `catalog`: the locks on the store's files.
    FileLocks,
    /// `catalog`: the file that the database is in.
    CatalogFile,
    /// `engine::lifecycle`: held to check whether there is something to wait for, and to change
    /// that.
    Wait,
    /// `engine::compaction`: why the last merge failed.
    MergeError,
    /// `engine::publisher`: what is published, and files kept for readers. Held over writes to the
    /// disk.
    Publish,
    /// `catalog::mark`: what was noted of the last commit.
    Mark,
    /// `catalog::backend`: whether a file was closed while in use.
    Closable,
    /// `engine::live`: the live view, to copy or to replace it.
    View,
    /// `engine::write::admission`: the memory of a memtable that was sealed.
    Spare,
    /// `engine::memtable`: what is in one memtable. Nobody holds those of two.
    Memtable,
    /// `engine::memtable::under`: its order of pages.
    MemtableOrder,
}
