//! Admission of writers: the write lock, and back-pressure.
//!
//! One thread at a time applies operations, in memory only. When the memtable is full, another
//! memtable is started. While both are full, writers wait until the older memtable is sealed.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::compaction::Compactor;
use crate::engine::core::Core;
use crate::engine::journal::PendingOperations;
use crate::engine::lifecycle::PoisonOnPanic;
use crate::engine::memtable::Memtable;
use crate::engine::memtables::Memtables;
use crate::engine::view::View;
use crate::error::Result;
use crate::metrics::Work;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LockRank, RankedGuard, RankedMutex, thread};

/// The maximum number of milliseconds to wait for the memory of a sealed memtable that readers use.
const PATIENCE: u32 = 50;

/// Admits one writer at a time.
#[derive(Debug)]
pub(crate) struct Admission {
    core: Arc<Core>,
    compactor: Arc<Compactor>,
    writer: RankedMutex<WriterState>,
    /// Whether a load makes the writers wait. The flag is set under the write lock.
    paused: AtomicBool,
    /// A sealed memtable, whose memory is reused for the next memtable.
    spare: RankedMutex<Option<Memtable>>,
}

/// The state that the holder of the write lock changes.
#[derive(Debug)]
pub(crate) struct WriterState {
    pub(crate) next_sequence: u64,
    pub(crate) pending: PendingOperations,
}

/// The write lock. If the thread that holds it panics, the store is poisoned before the next thread
/// gets the lock.
pub(crate) struct WriteLock<'s> {
    // Fields drop in this order: the store is poisoned before the next writer gets the lock.
    _on_panic: PoisonOnPanic<'s>,
    writer: RankedGuard<'s, WriterState>,
}

impl Deref for WriteLock<'_> {
    type Target = WriterState;

    fn deref(&self) -> &WriterState {
        &self.writer
    }
}

impl DerefMut for WriteLock<'_> {
    fn deref_mut(&mut self) -> &mut WriterState {
        &mut self.writer
    }
}

/// Makes the writers of a store wait until it is dropped.
pub(crate) struct PauseGuard<'s>(&'s Admission);

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        self.0.paused.store(false, Ordering::Release);
        self.0.core.lifecycle.notify();
    }
}

impl Admission {
    /// Creates the admission after operation `last`.
    pub(crate) fn new(core: &Arc<Core>, compactor: &Arc<Compactor>, last: u64) -> Admission {
        let writer = WriterState { next_sequence: last + 1, pending: PendingOperations::default() };
        Admission {
            core: Arc::clone(core),
            compactor: Arc::clone(compactor),
            writer: RankedMutex::new(LockRank::Write, writer),
            paused: AtomicBool::new(false),
            spare: RankedMutex::new(LockRank::Spare, None),
        }
    }

    /// Takes the write lock, whether or not there is space in the memtable.
    #[track_caller]
    pub(crate) fn lock(&self) -> WriteLock<'_> {
        let _on_panic = PoisonOnPanic::new(&self.core.lifecycle);
        WriteLock { _on_panic, writer: self.writer.lock() }
    }

    /// The last operation that was applied.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.writer.lock().next_sequence - 1
    }

    /// Returns the operations to commit, and the number of the last applied operation.
    #[track_caller]
    pub(crate) fn take_pending(&self) -> Result<(PendingOperations, u64)> {
        let mut writer = self.lock();
        // The last holder of the lock may have left an operation half applied.
        self.core.lifecycle.check_poison()?;
        Ok((std::mem::take(&mut writer.pending), writer.next_sequence - 1))
    }

    /// Takes the write lock once there is space for an operation, and no load makes the writers
    /// wait. Without background work, the thread that finds both memtables full calls `seal` for
    /// the memtable that waits. The lock is not held during this call.
    pub(crate) fn admit(&self, seal: impl Fn() -> Result<()>) -> Result<WriteLock<'_>> {
        let Core { options, live, lifecycle, .. } = &*self.core;
        loop {
            lifecycle.check()?;
            let writer = self.lock();
            // `pause` sets the flag under the write lock, so the holder of the lock always sees the
            // flag.
            if self.paused.load(Ordering::Acquire) {
                drop(writer);
                self.stall(|| !self.paused.load(Ordering::Acquire))?;
                continue;
            }
            if !live.view().memtables.active.read().is_full(options) {
                return Ok(writer);
            }
            let rotated = self.rotate(&writer);
            // Without background threads no other thread seals the full memtable. So this thread
            // seals it first, even though there is space again.
            if rotated && options.background {
                return Ok(writer);
            }
            drop(writer);
            if options.background {
                // After the stall, all conditions are checked again under the lock: another writer
                // may have filled the new memtable.
                self.stall(|| !live.is_sealing() && !self.compactor.is_behind())?;
            } else {
                seal()?;
            }
        }
    }

    /// Makes a writer wait until `done` returns true.
    fn stall(&self, done: impl FnMut() -> bool) -> Result<()> {
        let timing = self.core.metrics.begin(Work::Stall);
        self.core.lifecycle.wait_until(done)?;
        timing.end();
        Ok(())
    }

    /// Makes writers wait, after the writers that hold the lock or wait for it have finished.
    pub(crate) fn pause(&self) -> Result<PauseGuard<'_>> {
        // Waits for the current writer, which has space in the memtable and will finish.
        let _writer = self.lock();
        self.core.lifecycle.check()?;
        self.paused.store(true, Ordering::Release);
        Ok(PauseGuard(self))
    }

    /// Starts another memtable, unless a memtable is waiting to be sealed, or merges are far
    /// behind.
    fn rotate(&self, writer: &WriteLock<'_>) -> bool {
        let Core { options, live, lifecycle, .. } = &*self.core;
        if live.is_sealing() {
            return false;
        }
        let rotates = !options.background || !self.compactor.is_behind();
        if rotates {
            self.begin_memtable(writer);
        }
        lifecycle.notify();
        rotates
    }

    fn begin_memtable(&self, _writer: &WriteLock<'_>) {
        // Memtables alternate between two journals, so a seal can drop all rows of one journal.
        let journal = self.core.live.view().memtables.active.journal.other();
        let next = match self.spare.lock().take() {
            Some(spare) => spare.with_journal(journal),
            None => Memtable::new(journal),
        };
        let active = Arc::new(next);
        self.core.live.change(|view| {
            // Both memtables change in one step: no reader misses the operations of the old
            // memtable or sees them twice.
            let sealing = Some(Arc::clone(&view.memtables.active));
            View { memtables: Memtables { sealing, active }, ..view.clone() }
        });
    }

    /// Starts another memtable, if the active memtable has waited long enough for more operations.
    /// Returns whether merges prevented the start.
    pub(crate) fn rotate_aged(&self) -> bool {
        if self.core.live.is_sealing() || !self.is_aged() {
            return false;
        }
        let writer = self.lock();
        // The memtable may have been sealed meanwhile. If so, the active memtable is another one,
        // or empty.
        self.is_aged() && !self.rotate(&writer)
    }

    /// Whether the oldest operation of the active memtable has waited long enough.
    pub(crate) fn is_aged(&self) -> bool {
        let since = self.core.live.view().memtables.active.read().since;
        since.is_some_and(|since| since.elapsed() >= self.core.options.seal_after)
    }

    /// Starts another memtable if the active memtable is not empty, even if merges are due. Returns
    /// whether a memtable remains to be sealed.
    pub(crate) fn rotate_all(&self) -> Result<bool> {
        self.core.lifecycle.check()?;
        let writer = self.lock();
        let Memtables { sealing, active } = &self.core.live.view().memtables;
        if sealing.is_none() {
            if active.read().sequences.is_none() {
                return Ok(false);
            }
            self.begin_memtable(&writer);
        }
        Ok(true)
    }

    /// Keeps the memory of a sealed memtable for the next memtable, if the memory is not too large,
    /// and if the last readers of the memtable finish soon.
    pub(crate) fn recycle(&self, mut sealed: Arc<Memtable>) {
        for _ in 0..PATIENCE {
            if self.core.live.is_sealing() {
                return;
            }
            // Fails while a view or a snapshot has the memtable. After 50 ms the memory is not
            // worth waiting for.
            match Arc::try_unwrap(sealed) {
                Ok(sealed) => {
                    let spare = sealed.emptied();
                    // Hash tables keep their size when they are emptied, and their memory counts.
                    // Large tables would make the next memtable full too soon.
                    if spare.read().bytes() < self.core.options.memtable_bytes / 2 {
                        *self.spare.lock() = Some(spare);
                    }
                    return;
                }
                Err(held) => sealed = held,
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
