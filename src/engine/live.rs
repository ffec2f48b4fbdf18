//! The live view of a store: its components, and the visible operations.

use std::sync::Arc;

use super::files::FileNaming;
use super::lifecycle::Poison;
use super::memtable::Memtable;
use super::memtables::Memtables;
use super::snapshot::Snapshot;
use super::view::View;
use crate::disk::Disk;
use crate::metrics::Metrics;
use crate::process::ProcessId;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{LockRank, RankedRwLock};

/// The live view of an open store. A view is replaced, never changed.
#[derive(Debug)]
pub(crate) struct LiveView {
    view: RankedRwLock<Arc<View>>,
    /// The last acknowledged operation, which is the last operation that readers see.
    visible: AtomicU64,
    /// The process that opened the store; only this process changes the view.
    process: ProcessId,
    /// The parts of a view for any other process.
    disk: Arc<dyn Disk>,
    poison: Arc<Poison>,
    metrics: Metrics,
}

impl LiveView {
    /// Creates a live view whose operations up to `last` are all acknowledged.
    pub(crate) fn new(view: View, last: u64) -> LiveView {
        let (disk, poison) = (Arc::clone(&view.disk), Arc::clone(&view.poison));
        let metrics = view.metrics.clone();
        metrics.opened();
        metrics.segments(view.segments.len());
        let view = RankedRwLock::new(LockRank::View, Arc::new(view));
        let visible = AtomicU64::new(last);
        LiveView { view, visible, process: ProcessId::current(), disk, poison, metrics }
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.with_view(Arc::clone)
    }

    /// Takes a snapshot of all acknowledged operations.
    pub(crate) fn snapshot(&self) -> Snapshot {
        // The view and the last visible operation are read together: a memtable leaves the view
        // only after all its operations are visible.
        self.with_view(|view| {
            let sequence = self.visible.load(Ordering::Acquire);
            Snapshot::new(Arc::clone(view), sequence)
        })
    }

    /// Passes the view to `look`; the view does not change meanwhile. In a process that was forked
    /// while another thread changed the view, the state is unknown.
    #[inline]
    fn with_view<T>(&self, look: impl FnOnce(&Arc<View>) -> T) -> T {
        match self.view.try_read_in_order() {
            Some(view) => look(&view),
            None if self.process.is_current() => look(&self.view.read()),
            None => look(&self.torn_view()),
        }
    }

    /// An empty view whose memtable is marked as unknown.
    #[cold]
    fn torn_view(&self) -> Arc<View> {
        let active = Arc::new(Memtable::torn(self.process));
        Arc::new(View {
            seed: 0,
            segments: Arc::default(),
            memtables: Memtables { sealing: None, active },
            epochs: Arc::default(),
            near_distance: None,
            disk: Arc::clone(&self.disk),
            files: FileNaming::Store,
            poison: Arc::clone(&self.poison),
            metrics: self.metrics.clone(),
        })
    }

    /// Replaces the live view.
    pub(crate) fn change(&self, change: impl FnOnce(&View) -> View) {
        let mut view = self.view.write();
        *view = Arc::new(change(&view));
        self.metrics.segments(view.segments.len());
    }

    /// Makes the operations up to `sequence` visible to readers.
    pub(crate) fn show(&self, sequence: u64) {
        self.visible.fetch_max(sequence, Ordering::AcqRel);
    }

    /// Whether a memtable waits to be sealed, or is being sealed.
    pub(crate) fn is_sealing(&self) -> bool {
        self.view().memtables.sealing.is_some()
    }
}
