//! Group commit: operations that wait at the same time become durable in one transaction.

use std::sync::Arc;
use std::time::Duration;

use super::admission::{Admission, WriteLock};
use crate::engine::core::Core;
use crate::engine::lifecycle::OnPanic;
use crate::engine::options::Durability;
use crate::error::Result;
use crate::metrics::Work;
use crate::sync::{Condvar, Rank, RankedMutex, thread};

/// With [`Durability::OnFlush`], bytes that may wait for a flush.
const PENDING_BYTES_MAX: usize = 1 << 20;

/// Makes durable what was applied in memory.
#[derive(Debug)]
pub(crate) struct Committer {
    core: Arc<Core>,
    admission: Arc<Admission>,
    state: RankedMutex<State>,
    changed: Condvar,
}

/// Who commits, and how far it has come.
#[derive(Debug)]
struct State {
    durable: u64,
    leading: bool,
}

/// The thread that commits. When it ends, in whatever way, another one may begin.
struct Leader<'s>(&'s Committer);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        // Also after an error or a panic: otherwise those who wait for a leader would wait for ever.
        self.0.state.lock().leading = false;
        self.0.changed.notify_all();
    }
}

impl Committer {
    /// Everything up to operation `durable` is durable.
    pub(crate) fn new(core: &Arc<Core>, admission: &Arc<Admission>, durable: u64) -> Committer {
        let state = RankedMutex::new(Rank::Commit, State { durable, leading: false });
        let (core, admission) = (Arc::clone(core), Arc::clone(admission));
        Committer { core, admission, state, changed: Condvar::new() }
    }

    /// Returns when everything that was applied is durable.
    pub(crate) fn commit_all(&self) -> Result<()> {
        self.commit(self.admission.last_sequence(), None)
    }

    /// Acknowledges operation `sequence` as the options say: when it is durable, or right away.
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

    /// Releases the write lock after operations were applied that are acknowledged later. If they
    /// wait for a flush, they are visible at once, and committed when there are many.
    pub(crate) fn applied(&self, writer: WriteLock<'_>) -> Result<()> {
        if self.core.options.durability != Durability::OnFlush {
            return Ok(());
        }
        let (last, bytes) = (writer.next_sequence - 1, writer.pending.bytes());
        self.core.live.show(last);
        drop(writer);
        if bytes > PENDING_BYTES_MAX { self.commit(last, None) } else { Ok(()) }
    }

    /// Waits until operation `sequence` is durable. The first thread commits for all that wait
    /// behind it, after giving others `delay` to join.
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
            // The later is dropped first: who leads next knows of a panic.
            let leader = Leader(self);
            let on_panic = OnPanic::new(&self.core.lifecycle);
            if let Some(delay) = delay {
                // No lock is held: other calls apply their operations meanwhile, and this commit takes
                // them along.
                thread::sleep(delay);
            }
            // Only now, so that it has what came during the delay.
            let (pending, last) = self.admission.take_pending()?;
            let timing = self.core.metrics.begin(Work::Commit);
            self.core.catalog.append(pending.blobs()).map_err(|e| self.core.poison(e))?;
            timing.end();
            state = self.state.lock();
            // After the sync: no reader sees an operation that a crash could take back, except with
            // `OnFlush`.
            state.durable = last;
            self.core.live.show(last);
            drop(state);
            drop((on_panic, leader));
            state = self.state.lock();
        }
    }

    /// Returns when nobody commits. Once the store is closed, nobody begins to.
    pub(crate) fn wait_idle(&self) {
        let mut state = self.state.lock();
        while state.leading {
            self.changed.wait(state.unranked());
        }
    }
}
