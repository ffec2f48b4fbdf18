//! What all handles of an open store share.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::commit::{Commits, Pending};
use super::memtable::Memtable;
use super::memtables::Memtables;
use super::options::Options;
use super::outside::Outside;
use super::poison::{OnPanic, Poison};
use super::snapshot::Snapshot;
use super::stamps::Stamps;
use super::view::View;
use crate::catalog::Catalog;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::process::Process;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, RwLock};

/// The state of an open store.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) options: Options,
    pub(super) catalog: Catalog,
    /// The process that opened the store, and alone uses it.
    pub(super) process: Process,
    /// Taken while an epoch is registered, or ended.
    pub(super) registering: Mutex<()>,
    pub(super) view: RwLock<Arc<View>>,
    /// The last acknowledged operation: readers see up to here.
    pub(super) visible: AtomicU64,
    /// Taken for each operation that writes, in memory only.
    pub(super) writer: Mutex<Writer>,
    pub(super) commits: Commits,
    /// Why nothing more is accepted; its views have it, too.
    pub(super) poison: Arc<Poison>,
    pub(super) closed: AtomicBool,
    /// Notified when a seal or merge ends, when there is one to do, and when the store closes.
    pub(super) work: (Mutex<()>, Condvar),
    /// Taken by a load from beginning to end.
    pub(super) loading: Mutex<()>,
    /// Whether a load lets the writers wait. Set under the write lock.
    pub(super) held: AtomicBool,
    pub(super) sealing: Mutex<()>,
    /// A memtable that was sealed.
    pub(super) spare: Mutex<Option<Memtable>>,
    pub(super) merging: Mutex<()>,
    /// Why the last merge in the background did not go.
    pub(super) merge_error: Mutex<Option<Error>>,
    /// Ends a merge early.
    pub(super) cancel: AtomicBool,
    pub(super) stamps: Stamps,
    /// Whether it is no store until something was loaded into it: nobody is told of it.
    pub(super) unfinished: AtomicBool,
    pub(super) outside: Mutex<Outside>,
}

/// What the thread that holds the write lock changes.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) next_sequence: u64,
    pub(super) pending: Pending,
    /// Room for a packed head.
    pub(super) packed: Vec<u8>,
}

/// The write lock. Whoever panics with it leaves the store poisoned before anybody else has it.
pub(super) struct WriteLock<'s> {
    // Dropped first.
    _on_panic: OnPanic<'s>,
    writer: MutexGuard<'s, Writer>,
}

impl Deref for WriteLock<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for WriteLock<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Shared {
    #[track_caller]
    pub(super) fn write_lock(&self) -> WriteLock<'_> {
        let _on_panic = OnPanic::new(self);
        WriteLock { _on_panic, writer: self.writer.lock() }
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.with_view(Arc::clone)
    }

    /// Looks at the view, which stays meanwhile. A process that was forked while another thread
    /// changed it has one of which nothing is known.
    #[inline]
    fn with_view<T>(&self, look: impl FnOnce(&Arc<View>) -> T) -> T {
        match self.view.try_read() {
            Some(view) => look(&view),
            None if self.process.is_current() => look(&self.view.read()),
            None => look(&self.torn_view()),
        }
    }

    /// A view of nothing, whose memtable cannot be known.
    #[cold]
    fn torn_view(&self) -> Arc<View> {
        Arc::new(View {
            seed: 0,
            segments: Arc::default(),
            memtables: Memtables { sealing: None, active: Memtable::torn(self.process).into() },
            epochs: Arc::default(),
            disk: Arc::clone(&self.disk),
            poison: Arc::clone(&self.poison),
        })
    }

    /// Whether this is the process that opened the store. Asked before any lock is taken: in another
    /// one it may be held by a thread that is not there.
    pub(super) fn check_process(&self) -> Result<()> {
        if self.process.is_current() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Closes, in a forked process, the files that are the other one's, and leaves everything else as
    /// it is.
    pub(super) fn abandon(&self) {
        self.catalog.abandon();
    }

    /// Puts another view in the place of the live one.
    pub(super) fn change_view(&self, change: impl FnOnce(&View) -> View) {
        let mut view = self.view.write();
        *view = Arc::new(change(&view));
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        // Together: a memtable is only taken from the view after all its operations are visible.
        self.with_view(|view| {
            let sequence = self.visible.load(Ordering::Acquire);
            Snapshot { view: Arc::clone(view), sequence }
        })
    }

    pub(super) fn publish(&self, sequence: u64) {
        self.visible.fetch_max(sequence, Ordering::AcqRel);
    }

    /// Whether writes are accepted.
    pub(super) fn sound(&self) -> Result<()> {
        self.poison.check_write()?;
        if self.closed.load(Ordering::Acquire) { Err(Error::Closed) } else { Ok(()) }
    }

    /// Whether what has this store's names is known to be its own, so that it may be removed.
    pub(super) fn is_in_place(&self) -> bool {
        self.poison.check_write().is_ok() && self.catalog.check_locks().is_ok()
    }

    /// Accepts nothing more from here on, and wakes whoever waits. After a failed write what reached
    /// the disk is unknown until the store is opened again; after a bug, what is in memory.
    pub(super) fn poison(&self, cause: Error) -> Error {
        if matches!(cause, Error::Poisoned(_) | Error::Closed) {
            return cause;
        }
        self.poison.set(cause.clone());
        self.wake();
        cause
    }

    /// Poisons the store if a call met a bug. Under a lock that is done before the lock is let go.
    pub(super) fn heed<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(
            |error| if matches!(error, Error::Bug(_)) { self.poison(error) } else { error },
        )
    }

    /// Wakes whoever waits for work or for its end.
    pub(super) fn wake(&self) {
        // Taken so that nobody checks and then sleeps through this.
        drop(self.work.0.lock());
        self.work.1.notify_all();
    }

    /// Waits until `done` says so, or the store is poisoned or closed.
    pub(super) fn wait_until(&self, mut done: impl FnMut() -> bool) -> Result<()> {
        let mut guard = self.work.0.lock();
        while !done() {
            self.sound()?;
            self.work.1.wait(&mut guard);
        }
        Ok(())
    }
}
