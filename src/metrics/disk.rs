//! Disk usage of an open store.

use std::fmt;

use ::metrics::Counter;

use super::instruments::counters;
use super::list::{SYNCS, WRITTEN};
use crate::disk::{FileName, Watcher};

/// Counts written bytes and syncs by kind of file.
#[derive(Debug)]
pub(super) struct DiskMetrics {
    written: FileCounters,
    syncs: FileCounters,
    dir_syncs: Counter,
}

impl DiskMetrics {
    pub(super) fn of(store: &str) -> DiskMetrics {
        let [catalog, segment, snapshot, table, other] = counters(&WRITTEN, store);
        let written = FileCounters { catalog, segment, snapshot, table, other };
        let [catalog, segment, snapshot, table, other, dir_syncs] = counters(&SYNCS, store);
        let syncs = FileCounters { catalog, segment, snapshot, table, other };
        DiskMetrics { written, syncs, dir_syncs }
    }
}

impl Watcher for DiskMetrics {
    fn wrote(&self, name: FileName, bytes: usize) {
        self.written.of(name).increment(bytes as u64);
    }

    fn synced(&self, name: FileName) {
        self.syncs.of(name).increment(1);
    }

    fn synced_dir(&self) {
        self.dir_syncs.increment(1);
    }
}

/// A counter for each kind of file.
struct FileCounters {
    catalog: Counter,
    segment: Counter,
    snapshot: Counter,
    table: Counter,
    other: Counter,
}

impl FileCounters {
    fn of(&self, name: FileName) -> &Counter {
        match name {
            FileName::Catalog | FileName::CatalogNew => &self.catalog,
            FileName::Segment(_)
            | FileName::SegmentNew(_)
            | FileName::PublishedSegment(_)
            | FileName::PublishedSegmentNew(_) => &self.segment,
            FileName::Snapshot | FileName::SnapshotNew => &self.snapshot,
            FileName::Df(_)
            | FileName::DfNew(_)
            | FileName::PublishedDf(_)
            | FileName::PublishedDfNew(_) => &self.table,
            FileName::Lock
            | FileName::DfScratch(..)
            | FileName::Scratch(..)
            | FileName::Checked
            | FileName::CheckedNew
            | FileName::Generation(_)
            | FileName::GenerationNew(_) => &self.other,
        }
    }
}

impl fmt::Debug for FileCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByFile")
    }
}
