//! A live segment: one that the manifest lists, opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::Files;
use super::listed::{is_listed, open_listed};
use crate::catalog::SegmentRow;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::layout::{Kind, Tag};
use crate::page::Head;
use crate::segment::{EpochTables, PageRef, Segment, Tombstones};
use crate::sync::RwLock;

/// A page with this many visits is deep: finding its head means reading a long directory.
const DEEP: usize = 4096;

/// The most heads of deep pages that are kept for a segment.
const DEEP_MAX: usize = 1024;

/// A live segment with what is read of it at open.
#[derive(Debug)]
pub(crate) struct LiveSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) tombstones: Tombstones,
    /// The tables of each epoch that it has fingerprints of.
    pub(crate) tables: Vec<EpochTables>,
    /// The heads of deep pages that were asked for, by ordinal.
    deep: RwLock<BTreeMap<u32, Option<Head>>>,
}

impl LiveSegment {
    /// Makes a segment live, after plain reads of what is read through its map.
    pub(crate) fn open(segment: Segment) -> Result<LiveSegment> {
        segment.read_plainly()?;
        LiveSegment::verified(segment)
    }

    /// Makes a segment live whose blocks have all been read and checked. Opens no file: the segment may
    /// have been merged since, and its file removed.
    pub(crate) fn verified(segment: Segment) -> Result<LiveSegment> {
        let tombstones = Tombstones::read(&segment)?;
        let segment = Arc::new(segment);
        let tables = segment.epochs().map(|epoch| EpochTables::open(&segment, epoch));
        let tables = tables.collect::<Result<_>>()?;
        Ok(LiveSegment { segment, tombstones, tables, deep: RwLock::default() })
    }

    /// Opens what the catalog, `SNAPSHOT` or a generation names, unless it is among those that are open
    /// already.
    pub(crate) fn open_row(
        disk: &Arc<dyn Disk>,
        names: Files,
        store: u64,
        row: &SegmentRow,
        open: &[Arc<LiveSegment>],
    ) -> Result<Arc<LiveSegment>> {
        if let Some(live) = open.iter().find(|live| is_listed(live.segment.frame(), store, row)) {
            return Ok(Arc::clone(live));
        }
        LiveSegment::open(open_listed(disk, names, store, row)?).map(Arc::new)
    }

    /// The steps of merging it: its records of pages, and its fingerprints. What a damaged segment says
    /// of itself was not checked yet.
    pub(crate) fn steps(&self) -> u64 {
        const MOST: u64 = 1 << 40;
        let numbers = self.segment.numbers();
        numbers.pages.min(MOST) + numbers.fingerprints.min(MOST)
    }

    /// The tables of an epoch.
    pub(crate) fn tables(&self, epoch: u32) -> Option<&EpochTables> {
        self.tables.iter().find(|t| t.epoch == epoch)
    }

    /// The head of a page, at the same cost however long its history.
    pub(crate) fn head(&self, page: &PageRef<'_>) -> Result<Option<Head>> {
        let read = || page.record.head().ok_or_else(|| self.unreadable());
        if page.record.len() < DEEP {
            return read();
        }
        // Does not wait for the lock: after a fork its holder may not exist.
        if let Some(head) = self.deep.try_read().and_then(|deep| deep.get(&page.ordinal).cloned()) {
            return Ok(head);
        }
        let head = read()?;
        if let Some(mut deep) = self.deep.try_write() {
            if deep.len() >= DEEP_MAX {
                deep.clear();
            }
            deep.insert(page.ordinal, head.clone());
        }
        Ok(head)
    }

    /// The error that a page's record says what none can.
    #[cold]
    pub(crate) fn unreadable(&self) -> Error {
        let tag = Tag::of(Kind::Pages);
        self.segment.damaged(tag, 0, "the record of a page is not readable")
    }
}
