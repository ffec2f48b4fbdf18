//! Group commit: operations that wait at the same time become durable in one transaction.

use std::time::Duration;

use super::poison::OnPanic;
use super::shared::Shared;
use crate::bug::{Bug, ensure};
use crate::catalog::{Blob, Journal};
use crate::error::Result;
use crate::sync::{Condvar, Mutex, thread};

/// Bytes of a blob after which another is begun.
const BLOB_BYTES_MAX: usize = 16 << 20;
/// With [`Durability::OnFlush`](super::Durability::OnFlush), bytes that may wait for a flush.
pub(super) const PENDING_BYTES_MAX: usize = 1 << 20;

/// Operations that are applied in memory and not yet in the journal.
#[derive(Debug, Default)]
pub(super) struct Pending {
    blobs: Vec<(Journal, Blob)>,
    bytes: usize,
}

impl Pending {
    /// Adds the next operation.
    ///
    /// # Errors
    ///
    /// If it is not the next: a journal that leaves one out cannot be read.
    pub(super) fn push(
        &mut self,
        journal: Journal,
        sequence: u64,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Bug> {
        let follows = |(_, blob): &(Journal, Blob)| blob.last_sequence() + 1 == sequence;
        ensure(self.blobs.last().is_none_or(follows), "operations come one after another")?;
        let fits = |(last, blob): &&mut (Journal, Blob)| {
            *last == journal && blob.bytes.len() < BLOB_BYTES_MAX
        };
        let (_, blob) = match self.blobs.last_mut().filter(fits) {
            Some(last) => last,
            None => {
                let blob = Blob { first_sequence: sequence, count: 0, bytes: Vec::new() };
                self.blobs.push_mut((journal, blob))
            }
        };
        let before = blob.bytes.len();
        put(&mut blob.bytes);
        blob.count += 1;
        self.bytes += blob.bytes.len() - before;
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Who commits, and how far it has come.
#[derive(Debug, Default)]
pub(super) struct Commits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    durable: u64,
    leading: bool,
}

impl Commits {
    pub(super) fn new(durable: u64) -> Commits {
        Commits { state: Mutex::new(State { durable, leading: false }), changed: Condvar::new() }
    }
}

/// The one that commits. When it ends, however it does, another may begin.
struct Leader<'s>(&'s Commits);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.0.state.lock().leading = false;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Returns when operation `sequence` is durable. The first to come commits for all that wait
    /// behind it; `delay` is how long it lets others join.
    pub(super) fn commit(&self, sequence: u64, delay: Option<Duration>) -> Result<()> {
        let mut state = self.commits.state.lock();
        loop {
            if state.durable >= sequence {
                return Ok(());
            }
            self.sound()?;
            if state.leading {
                self.commits.changed.wait(&mut state);
                continue;
            }
            state.leading = true;
            drop(state);
            // The later is dropped first: who leads next knows of a panic.
            let leader = Leader(&self.commits);
            let on_panic = OnPanic::new(self);
            if let Some(delay) = delay {
                thread::sleep(delay);
            }
            let (pending, last) = {
                let mut writer = self.write_lock();
                // Whoever had the lock may have left half of an operation.
                self.poison.check_write()?;
                (std::mem::take(&mut writer.pending), writer.next_sequence - 1)
            };
            self.catalog.append(&pending.blobs).map_err(|e| self.poison(e))?;
            state = self.commits.state.lock();
            state.durable = last;
            self.publish(last);
            drop(state);
            drop((on_panic, leader));
            state = self.commits.state.lock();
        }
    }

    /// Returns when nobody commits. Once the store is closed, nobody begins to.
    pub(super) fn outlast_commits(&self) {
        let mut state = self.commits.state.lock();
        while state.leading {
            self.commits.changed.wait(&mut state);
        }
    }
}
