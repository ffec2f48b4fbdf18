//! The identity, layout, and opening of new segments.

use std::sync::Arc;

use super::core::Core;
use super::epochs::Epochs;
use super::live_segment::LiveSegment;
use super::options::Options;
use crate::disk::{Disk, FileName};
use crate::error::Result;
use crate::layout::Stamp;
use crate::page::EpochInfo;
use crate::search::Resources;
use crate::segment::{Segment, TableLayout};
use crate::sync::atomic::{AtomicU64, Ordering};

/// The maximum size of a segment that is read once more after it was written: a larger segment may
/// not fit in memory.
const WARM_BYTES_MAX: u64 = 4 << 30;

/// The layout of tables in new segments, for a store with the epochs `epochs`.
pub(crate) fn layout(epochs: &Epochs, options: &Options, resources: Resources) -> TableLayout {
    let distance = |info: &EpochInfo| epochs.near_distance(info.epoch, options.near_distance);
    let distances = epochs.iter().map(distance).collect();
    TableLayout { distances, bytes_each: options.fingerprint_bytes, resources }
}

/// The layout of tables built in the background: by one thread, in a part of the memory.
pub(crate) fn background_layout(core: &Core) -> TableLayout {
    let options = &core.options;
    let memory_bytes = options.background_memory_bytes / 4;
    layout(&core.live.view().epochs, options, Resources { memory_bytes, threads: 1 })
}

/// Opens a new segment, ready to be searched at full speed. Removes the segment if it is not sound.
pub(crate) fn open(core: &Core, id: u64) -> Result<Arc<LiveSegment>> {
    let open = || {
        let segment = Segment::open(&core.disk, id)?;
        if core.options.background && segment.file_bytes() <= WARM_BYTES_MAX {
            segment.warm_up()?;
        }
        LiveSegment::open(segment).map(Arc::new)
    };
    open().inspect_err(|_| {
        // If the removal fails, the next open finds the file and removes it.
        let _ = core.disk.remove(FileName::Segment(id));
    })
}

/// Allocates segment numbers, each number once.
#[derive(Debug)]
pub(crate) struct SegmentIds {
    store: u64,
    next: AtomicU64,
}

impl SegmentIds {
    /// Allocates the segment numbers of a store from `next` on.
    pub(crate) fn new(store: u64, next: u64) -> SegmentIds {
        SegmentIds { store, next: AtomicU64::new(next) }
    }

    /// The number of the store.
    pub(crate) fn store(&self) -> u64 {
        self.store
    }

    /// The stamp of a new segment.
    pub(crate) fn stamp(&self, disk: &dyn Disk) -> Stamp {
        Stamp { id: self.number(), store: self.store, nonce: disk.random() }
    }

    /// Allocates a number for something that will not be a segment.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::AcqRel)
    }

    /// The next number.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }
}
