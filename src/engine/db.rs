//! The shared state of all handles of an open store, in parts.
//!
//! Each part has its state, its lock, and its source file, and uses only the parts before it in
//! this struct.

use std::sync::Arc;

use super::compaction::Compactor;
use super::core::Core;
use super::epoch_registry::EpochRegistry;
use super::leases::Leases;
use super::publisher::Publisher;
use super::seal::MemtableSealer;
use super::write::admission::Admission;
use super::write::commit::Committer;
use crate::disk::FileName;
use crate::error::Result;
use crate::sync::{LockRank, RankedMutex};

/// An open store.
#[derive(Debug)]
pub(crate) struct Db {
    /// The files, the live state, and whether writes are accepted.
    pub(crate) core: Arc<Core>,
    /// The file `SNAPSHOT`, and replaced files that are kept for its readers.
    pub(crate) publisher: Arc<Publisher>,
    /// The epochs.
    pub(crate) registry: EpochRegistry,
    /// Merges segments.
    pub(crate) compactor: Arc<Compactor>,
    /// The write lock, and back-pressure.
    pub(crate) admission: Arc<Admission>,
    /// Group commit.
    pub(crate) committer: Arc<Committer>,
    /// Sealing of memtables.
    pub(crate) sealer: Arc<MemtableSealer>,
    /// The leased pages.
    pub(crate) leases: Leases,
    /// The lock that a load takes from beginning to end.
    pub(crate) loading: RankedMutex<()>,
}

impl Db {
    /// Starts a store after operation `last`. An `unfinished` store becomes valid when a load
    /// completes; `orphans` are leftovers of an earlier process.
    pub(crate) fn start(
        core: Core,
        last: u64,
        unfinished: bool,
        orphans: &[FileName],
    ) -> Result<Db> {
        let core = Arc::new(core);
        let publisher = Arc::new(Publisher::new(&core, unfinished));
        publisher.publish_at_open(orphans)?;
        let registry = EpochRegistry::new(&core, &publisher);
        let compactor = Arc::new(Compactor::new(&core, &publisher));
        let admission = Arc::new(Admission::new(&core, &compactor, last));
        let committer = Arc::new(Committer::new(&core, &admission, last));
        let sealer = Arc::new(MemtableSealer::new(&core, &admission, &committer, &publisher));
        let (leases, loading) = (Leases::new(), RankedMutex::new(LockRank::Load, ()));
        Ok(Db {
            core,
            publisher,
            registry,
            compactor,
            admission,
            committer,
            sealer,
            leases,
            loading,
        })
    }

    /// Waits until no seal and no merge is due: waits for background threads, or does the work
    /// itself.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        let Db { core, compactor, sealer, .. } = self;
        if !core.options.background {
            sealer.seal_waiting()?;
            while compactor.merge_due()? {}
            return Ok(());
        }
        let is_idle = || !core.live.is_sealing() && !compactor.is_due();
        core.lifecycle.wait_until(|| is_idle() || compactor.error().is_some())?;
        // A failed merge does not count if no merge is due.
        if is_idle() { Ok(()) } else { compactor.error().map_or(Ok(()), Err) }
    }

    /// Makes everything durable, and stops accepting writes; `join` waits for the background
    /// threads.
    pub(crate) fn close(&self, join: impl FnOnce()) -> Result<()> {
        let Core { catalog, lifecycle, .. } = &*self.core;
        let flushed = self.committer.commit_all();
        lifecycle.close();
        join();
        // Waits for all commits, loads, seals and merges, which need the lock until they end.
        self.committer.wait_idle();
        let _loading = self.loading.lock();
        let _sealing = self.sealer.wait_idle();
        let _merging = self.compactor.wait_idle();
        self.publisher.release_at_close();
        let closed = catalog.close();
        catalog.unlock();
        flushed.and(closed)
    }
}
