//! A live segment: a segment of the manifest that is open.

use std::sync::Arc;

use super::files::FileNaming;
use super::manifest_check::{is_listed, open_listed};
use super::memo::Memo;
use crate::catalog::SegmentRow;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag};
use crate::order::sort_few_by_key;
use crate::page::{Content, InForceContents, PageHead};
use crate::segment::{EpochTables, PageRef, Segment, Tombstones};
use crate::time::Time;

/// The number of visits from which a page is deep: finding its head requires reading a long
/// directory.
const DEEP: usize = 4096;

/// The number of entries from which a page is long, so that its first-seen times are cached.
const LONG: usize = 256;

/// A live segment with the data read when it was opened.
#[derive(Debug)]
pub(crate) struct LiveSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) tombstones: Tombstones,
    /// The tables of each epoch with fingerprints in the segment, and the tables of digests, by
    /// number.
    pub(crate) tables: Vec<EpochTables>,
    /// Cached heads of deep pages.
    deep: Memo<Option<PageHead>>,
    /// The cached times at which long pages were first seen in this segment with a version: the
    /// version that was requested last.
    first_seen: Memo<CachedFirstSeen>,
    /// The cached times since when pages whose newest record is in this segment have their content
    /// in force.
    pub(crate) since: Memo<Time>,
}

/// A version, and the time when a page was first seen with it; `None` if the page never had it.
type CachedFirstSeen = (InForceContents, Option<Time>);

impl LiveSegment {
    /// Makes a segment live, after plain reads of the parts that are later read through the
    /// segment's map.
    pub(crate) fn open(segment: Segment) -> Result<LiveSegment> {
        segment.read_plainly()?;
        LiveSegment::verified(segment)
    }

    /// Makes a segment live whose blocks were all read and checked. Opens no file: the segment may
    /// have been merged since, and its file removed.
    pub(crate) fn verified(segment: Segment) -> Result<LiveSegment> {
        let tombstones = Tombstones::read(&segment)?;
        let segment = Arc::new(segment);
        let tables = segment.frame().tables().map(|table| EpochTables::open(&segment, table));
        let mut tables = tables.collect::<Result<Vec<_>>>()?;
        sort_few_by_key(&mut tables, |tables| tables.epoch);
        let (deep, first_seen, since) = (Memo::default(), Memo::default(), Memo::default());
        Ok(LiveSegment { segment, tombstones, tables, deep, first_seen, since })
    }

    /// Opens a segment of the catalog, `SNAPSHOT` or a generation, unless it is open already.
    pub(crate) fn open_row(
        disk: &Arc<dyn Disk>,
        names: FileNaming,
        store: u64,
        row: &SegmentRow,
        open: &[Arc<LiveSegment>],
    ) -> Result<Arc<LiveSegment>> {
        if let Some(live) = open.iter().find(|live| is_listed(live.segment.frame(), store, row)) {
            return Ok(Arc::clone(live));
        }
        LiveSegment::open(open_listed(disk, names, store, row)?).map(Arc::new)
    }

    /// The number of steps of merging the segment: its page records and its fingerprints. The
    /// number is capped, because the numbers of a damaged segment may be wrong.
    pub(crate) fn steps(&self) -> u64 {
        const MOST: u64 = 1 << 40;
        let numbers = self.segment.numbers();
        numbers.pages.min(MOST) + numbers.fingerprints.min(MOST)
    }

    /// The tables of an epoch, or of digests. Costs a binary search.
    pub(crate) fn tables(&self, epoch: u32) -> Option<&EpochTables> {
        let at = self.tables.binary_search_by_key(&epoch, |tables| tables.epoch);
        at.ok().and_then(|at| self.tables.get(at))
    }

    /// The head of a page, at a cost that does not grow with the page's history.
    pub(crate) fn head(&self, page: &PageRef<'_>) -> Result<Option<PageHead>> {
        let read = || page.record.head().ok_or_else(|| self.unreadable());
        if page.record.len() < DEEP {
            return read();
        }
        self.deep.get_or(page.ordinal, read)
    }

    /// The time when the page was first seen in this segment, or restated, with a content of a
    /// version. Costs reading the record up to that entry, or the whole record if the page never
    /// had such a content. For long pages the result is cached for one version.
    pub(crate) fn first_seen(
        &self,
        page: &PageRef<'_>,
        version: &[Content],
    ) -> Result<Option<Time>> {
        let read = || page.record.first_seen(version).ok_or_else(|| self.unreadable());
        if page.record.len() < LONG {
            return read();
        }
        match self.first_seen.get(page.ordinal) {
            Some((of, first)) if of[..] == *version => Ok(first),
            _ => {
                let first = read()?;
                self.first_seen.keep(page.ordinal, (version.into(), first));
                Ok(first)
            }
        }
    }

    /// The error for an impossible page record.
    #[cold]
    pub(crate) fn unreadable(&self) -> Error {
        let tag = SectionTag::of(SectionKind::Pages);
        self.segment.damaged(tag, 0, "the record of a page is not readable")
    }
}
