//! The order of locks, for all rooms.
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
    /// `store::handle`: a store is being closed.
    Close,
    /// `store::handle`: its background threads, while they are waited for.
    Threads,
    /// `store::leases`: pages that are due are being taken. Held over reads from the disk.
    Lease,
    /// `store::load`: from the beginning of a load to its end.
    Load,
    /// `store::registry`: an epoch begins or ends.
    Epochs,
    /// `store::load::epochs`: the epochs that come with a load.
    LoadEpochs,
    /// `store::sealer`: a memtable is being sealed.
    Seal,
    /// `store::compactor`: segments are being merged.
    Merge,
    /// `store::committer`: who commits, and how far it has come.
    Commit,
    /// `store::admission`: the write lock. In memory only; but a load makes its segments live under it.
    Write,
    /// `catalog`: the database, shared by transactions.
    Database,
    /// `catalog`: one transaction at a time. Held over writes and syncs.
    Transaction,
    /// `catalog`: the locks on the store's files.
    FileLocks,
    /// `catalog`: the file that the database is in.
    CatalogFile,
    /// `store::lifecycle`: held to check whether there is something to wait for, and to change
    /// that.
    Wait,
    /// `store::compactor`: why the last merge failed.
    MergeError,
    /// `store::publisher`: what is published, and files kept for readers. Held over writes to the
    /// disk.
    Publish,
    /// `catalog::mark`: what was noted of the last commit.
    Mark,
    /// `catalog::backend`: whether a file was closed while in use.
    Closable,
    /// `store::live`: the live view, to copy or to replace it.
    View,
    /// `store::admission`: the memory of a memtable that was sealed.
    Spare,
    /// `store::memtable`: what is in one memtable. Nobody holds those of two.
    Memtable,
    /// `store::memtable::under`: its order of pages.
    MemtableOrder,
}
