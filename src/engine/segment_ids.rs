//! What tells each new segment from all others.

use crate::disk::Disk;
use crate::layout::Stamp;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Hands out stamps: each number once.
#[derive(Debug)]
pub(crate) struct SegmentIds {
    store: u64,
    next: AtomicU64,
}

impl SegmentIds {
    /// Those of a store, from this number on.
    pub(crate) fn new(store: u64, next: u64) -> SegmentIds {
        SegmentIds { store, next: AtomicU64::new(next) }
    }

    /// The store that they are of.
    pub(crate) fn store(&self) -> u64 {
        self.store
    }

    /// The stamp of a new segment.
    pub(crate) fn stamp(&self, disk: &dyn Disk) -> Stamp {
        Stamp { id: self.number(), store: self.store, nonce: disk.random() }
    }

    /// A number for something that will be no segment.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::AcqRel)
    }

    /// The number that comes next.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }
}
