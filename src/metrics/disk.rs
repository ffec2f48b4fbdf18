//! Disk usage of an open store.

use std::fmt;

use ::metrics::Counter;

use super::instruments::counters;
use super::list::{SYNCS, WRITTEN};
use crate::disk::{Name, Watcher};

/// Counts written bytes and syncs by kind of file.
#[derive(Debug)]
pub(super) struct DiskMetrics {
    written: ByFile,
    syncs: ByFile,
    dir_syncs: Counter,
}

impl DiskMetrics {
    pub(super) fn of(store: &str) -> DiskMetrics {
        let [catalog, segment, snapshot, table, other] = counters(&WRITTEN, store);
        let written = ByFile { catalog, segment, snapshot, table, other };
        let [catalog, segment, snapshot, table, other, dir_syncs] = counters(&SYNCS, store);
        let syncs = ByFile { catalog, segment, snapshot, table, other };
        DiskMetrics { written, syncs, dir_syncs }
    }
}

impl Watcher for DiskMetrics {
    fn wrote(&self, name: Name, bytes: usize) {
        self.written.of(name).increment(bytes as u64);
    }

    fn synced(&self, name: Name) {
        self.syncs.of(name).increment(1);
    }

    fn synced_dir(&self) {
        self.dir_syncs.increment(1);
    }
}

/// A counter for each kind of file.
struct ByFile {
    catalog: Counter,
    segment: Counter,
    snapshot: Counter,
    table: Counter,
    other: Counter,
}

impl ByFile {
    fn of(&self, name: Name) -> &Counter {
        match name {
            Name::Catalog | Name::CatalogNew => &self.catalog,
            Name::Segment(_)
            | Name::SegmentNew(_)
            | Name::FixedSegment(_)
            | Name::FixedSegmentNew(_) => &self.segment,
            Name::Snapshot | Name::SnapshotNew => &self.snapshot,
            Name::Df(_) | Name::DfNew(_) | Name::FixedDf(_) | Name::FixedDfNew(_) => &self.table,
            Name::Lock
            | Name::DfScratch(..)
            | Name::Scratch(..)
            | Name::Checked
            | Name::CheckedNew
            | Name::Generation(_)
            | Name::GenerationNew(_) => &self.other,
        }
    }
}

impl fmt::Debug for ByFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByFile")
    }
}
