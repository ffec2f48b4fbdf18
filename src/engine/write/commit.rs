//! Group commit: operations that wait at the same time become durable in one transaction.

use std::sync::Arc;
use std::time::Duration;

use super::admission::{Admission, WriteLock};
use crate::engine::core::Core;
use crate::engine::lifecycle::PoisonOnPanic;
use crate::engine::options::Durability;
use crate::error::Result;
use crate::metrics::Work;
use crate::sync::{Condvar, LockRank, RankedMutex, thread};

/// The maximum number of bytes that may wait for a flush, with [`Durability::OnFlush`].
const PENDING_BYTES_MAX: usize = 1 << 20;

/// Makes operations durable that were applied in memory.
#[derive(Debug)]
pub(crate) struct Committer {
    core: Arc<Core>,
    admission: Arc<Admission>,
    state: RankedMutex<CommitState>,
    changed: Condvar,
}

/// Whether a thread commits, and the last durable operation.
#[derive(Debug)]
struct CommitState {
    durable: u64,
    leading: bool,
}

/// The committing thread. When it ends, even by a panic, another thread may commit.
struct CommitLeader<'s>(&'s Committer);

impl Drop for CommitLeader<'_> {
    fn drop(&mut self) {
        // The flag is reset even after an error or a panic: otherwise threads that wait for a
        // leader would wait forever.
        self.0.state.lock().leading = false;
        self.0.changed.notify_all();
    }
}

impl Committer {
    /// Creates the committer; all operations up to `durable` are durable.
    pub(crate) fn new(core: &Arc<Core>, admission: &Arc<Admission>, durable: u64) -> Committer {
        let state = RankedMutex::new(LockRank::Commit, CommitState { durable, leading: false });
        let (core, admission) = (Arc::clone(core), Arc::clone(admission));
        Committer { core, admission, state, changed: Condvar::new() }
    }

    /// Waits until all applied operations are durable.
    pub(crate) fn commit_all(&self) -> Result<()> {
        self.commit(self.admission.last_sequence(), None)
    }

    /// Acknowledges the operation `sequence` according to the options: when the operation is
    /// durable, or right away.
    pub(crate) fn acknowledge(&self, sequence: u64) -> Result<()> {
        match self.core.options.durability {
            Durability::Each => self.commit(sequence, None),
            Durability::Grouped(delay) => self.commit(sequence, Some(delay)),
            Durability::OnFlush => {
                self.core.live.show(sequence);
                Ok(())
            }
        }
    }

    /// Releases the write lock after operations that are acknowledged later. If the operations wait
    /// for a flush, they are visible at once, and committed when there are many.
    pub(crate) fn applied(&self, writer: WriteLock<'_>) -> Result<()> {
        if self.core.options.durability != Durability::OnFlush {
            return Ok(());
        }
        let (last, bytes) = (writer.next_sequence - 1, writer.pending.bytes());
        self.core.live.show(last);
        drop(writer);
        if bytes > PENDING_BYTES_MAX { self.commit(last, None) } else { Ok(()) }
    }

    /// Waits until the operation `sequence` is durable. The first thread commits the operations of
    /// all waiting threads, after giving other threads `delay` to join.
    pub(crate) fn commit(&self, sequence: u64, delay: Option<Duration>) -> Result<()> {
        let mut state = self.state.lock();
        loop {
            if state.durable >= sequence {
                return Ok(());
            }
            self.core.lifecycle.check()?;
            if state.leading {
                self.changed.wait(state.unranked());
                continue;
            }
            state.leading = true;
            drop(state);
            // `on_panic` is dropped before `leader`, so the next leader sees that the store is
            // poisoned.
            let leader = CommitLeader(self);
            let on_panic = PoisonOnPanic::new(&self.core.lifecycle);
            if let Some(delay) = delay {
                // No lock is held during the delay: other calls apply their operations meanwhile,
                // and this commit includes them.
                thread::sleep(delay);
            }
            // The operations are taken only now, so that the commit includes operations that came
            // during the delay.
            let (pending, last) = self.admission.take_pending()?;
            let timing = self.core.metrics.begin(Work::Commit);
            self.core.catalog.append(pending.blobs()).map_err(|e| self.core.poison(e))?;
            timing.end();
            state = self.state.lock();
            // Operations become visible after the sync: no reader sees an operation that a crash
            // could undo, except with `OnFlush`.
            state.durable = last;
            self.core.live.show(last);
            drop(state);
            drop((on_panic, leader));
            state = self.state.lock();
        }
    }

    /// Waits until no thread commits. Once the store is closed, no thread starts a commit.
    pub(crate) fn wait_idle(&self) {
        let mut state = self.state.lock();
        while state.leading {
            self.changed.wait(state.unranked());
        }
    }
}
