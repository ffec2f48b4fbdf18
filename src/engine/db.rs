//! What all handles of an open store share: the owners of its parts.
//!
//! Each owner has its state, the lock on it, and a file of its own, and knows only the owners above
//! it in this struct.

use std::sync::Arc;

use super::compaction::Compactor;
use super::core::Core;
use super::epoch_registry::EpochRegistry;
use super::leases::Leases;
use super::publisher::Publisher;
use super::seal::Sealer;
use super::write::admission::Admission;
use super::write::commit::Committer;
use crate::disk::Name;
use crate::error::Result;
use crate::sync::{Rank, RankedMutex};

/// An open store.
#[derive(Debug)]
pub(crate) struct Db {
    /// Its files, what is live in them, and whether writes are accepted.
    pub(crate) core: Arc<Core>,
    /// `SNAPSHOT`, and the files that are kept for its readers.
    pub(crate) publisher: Arc<Publisher>,
    /// The epochs.
    pub(crate) registry: EpochRegistry,
    /// Merges.
    pub(crate) compactor: Arc<Compactor>,
    /// The write lock, and back-pressure.
    pub(crate) admission: Arc<Admission>,
    /// Group commit.
    pub(crate) committer: Arc<Committer>,
    /// From memtables to segments.
    pub(crate) sealer: Arc<Sealer>,
    /// Pages that are leased.
    pub(crate) leases: Leases,
    /// Taken by a load from beginning to end.
    pub(crate) loading: RankedMutex<()>,
}

impl Db {
    /// Operation `last` was the last. An `unfinished` one is no store until something was loaded into
    /// it; `orphans` are what is left of an earlier process.
    pub(crate) fn start(core: Core, last: u64, unfinished: bool, orphans: &[Name]) -> Result<Db> {
        let core = Arc::new(core);
        let publisher = Arc::new(Publisher::new(&core, unfinished));
        publisher.publish_at_open(orphans)?;
        let registry = EpochRegistry::new(&core, &publisher);
        let compactor = Arc::new(Compactor::new(&core, &publisher));
        let admission = Arc::new(Admission::new(&core, &compactor, last));
        let committer = Arc::new(Committer::new(&core, &admission, last));
        let sealer = Arc::new(Sealer::new(&core, &admission, &committer, &publisher));
        let (leases, loading) = (Leases::new(), RankedMutex::new(Rank::Load, ()));
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

    /// Returns when no seal and no merge is due: waits for those in the background, or does them.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        let Db { core, compactor, sealer, .. } = self;
        if !core.options.background {
            sealer.seal_waiting()?;
            while compactor.merge_due()? {}
            return Ok(());
        }
        let is_idle = || !core.live.is_sealing() && !compactor.is_due();
        core.lifecycle.wait_until(|| is_idle() || compactor.error().is_some())?;
        // A merge that did not go does not count if it is not due.
        if is_idle() { Ok(()) } else { compactor.error().map_or(Ok(()), Err) }
    }

    /// Makes everything durable, and accepts nothing more; `join` waits for the background threads.
    pub(crate) fn close(&self, join: impl FnOnce()) -> Result<()> {
        let Core { catalog, lifecycle, .. } = &*self.core;
        let flushed = self.committer.commit_all();
        lifecycle.close();
        join();
        // Wait for all commits, loads, seals and merges: until they end, the lock is ours.
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
