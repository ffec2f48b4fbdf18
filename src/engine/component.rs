//! A component of a store (a memtable or a segment), and the lookups in it.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::live_segment::LiveSegment;
use super::lookup::Lookup;
use super::memtable::{Memtable, MemtableContents, MemtablePage};
use crate::bug::Bug;
use crate::error::{Error, Result};
use crate::layout::Delta;
use crate::page::{
    Changes, Content, Entry, EpochInfo, PageHead, PageHistory, Prefix, Seen, drop_superseded,
    is_of_version,
};
use crate::segment::{PagePart, PageRef, RecordRef, page_across};
use crate::sync::RankedReadGuard;
use crate::time::Time;

/// The identity of a component in a view. Older components have lesser identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ComponentId {
    /// The segment with a number, counted from the oldest segment.
    Segment(u32),
    /// The memtable being sealed.
    Sealing,
    /// The active memtable.
    Active,
}

/// A component of a view.
#[derive(Clone, Copy)]
pub(crate) enum Component<'v> {
    Segment(u32, &'v Arc<LiveSegment>),
    Memtable(ComponentId, &'v Arc<Memtable>),
}

/// The location of a page: its component, and its number in the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageAddress {
    pub(crate) component: ComponentId,
    pub(crate) page: u32,
}

impl PageAddress {
    /// Encodes the location as a number.
    pub(crate) fn to_bits(self) -> u64 {
        // The two greatest numbers represent the memtables. No view has enough segments to reach
        // these numbers.
        let component = match self.component {
            ComponentId::Segment(number) => number,
            ComponentId::Sealing => u32::MAX - 1,
            ComponentId::Active => u32::MAX,
        };
        u64::from(component) << 32 | u64::from(self.page)
    }

    /// Decodes a location from a number.
    pub(crate) fn from_bits(bits: u64) -> PageAddress {
        #[expect(clippy::cast_possible_truncation, reason = "takes the two halves")]
        let [component, page] = [(bits >> 32) as u32, bits as u32];
        let component = match component {
            u32::MAX => ComponentId::Active,
            number if number == u32::MAX - 1 => ComponentId::Sealing,
            number => ComponentId::Segment(number),
        };
        PageAddress { component, page }
    }
}

/// The data of a page that components have.
#[derive(Debug, Default)]
pub(crate) struct LocatedHead {
    /// The location of the page's newest record, unless the record was forgotten with a prefix.
    pub(crate) location: Option<PageAddress>,
    pub(crate) head: Option<PageHead>,
}

/// A page with its change statistics.
#[derive(Debug)]
pub(crate) struct PageWithChanges {
    pub(crate) head: PageHead,
    pub(crate) changes: Changes,
}

impl<'v> Component<'v> {
    pub(crate) fn id(&self) -> ComponentId {
        match self {
            Component::Segment(number, _) => ComponentId::Segment(*number),
            Component::Memtable(id, _) => *id,
        }
    }

    /// Looks up a page, as of an operation. The result for a memtable holds the memtable's lock.
    #[inline]
    pub(crate) fn page(self, lookup: &Lookup<'_>, sequence: u64) -> Result<PageSlice<'v>> {
        Ok(match self {
            Component::Segment(number, live) => {
                let page = live.segment.find(lookup.hash, lookup.url)?;
                PageSlice::Segment { number, live, page }
            }
            Component::Memtable(id, memtable) => {
                // No thread holds the locks of two memtables: a result is dropped before the next
                // component is read.
                let inner = memtable.read();
                let page = inner.find(lookup.hash, lookup.url, sequence);
                PageSlice::Memtable { id, inner, page, sequence }
            }
        })
    }

    /// Returns the page with the number `page`, if it is the page that is looked up.
    pub(crate) fn page_at(
        self,
        page: u32,
        lookup: &Lookup<'_>,
        sequence: u64,
    ) -> Result<PageSlice<'v>> {
        Ok(match self {
            Component::Segment(number, live) => {
                // The URL is compared, so a wrong number finds no page rather than another page.
                let page = live.segment.page_if(page, lookup.url)?;
                PageSlice::Segment { number, live, page }
            }
            Component::Memtable(id, memtable) => {
                PageSlice::Memtable { id, inner: memtable.read(), page: Some(page), sequence }
            }
        })
    }

    /// Looks up a page only to see whether the component forgot it. In a segment that forgot pages
    /// by prefix only, no record is looked up.
    pub(crate) fn find_reset(self, lookup: &Lookup<'_>, sequence: u64) -> Result<PageSlice<'v>> {
        match self {
            // The number of resets is in the segment's table, which is in memory: no filter is read.
            Component::Segment(number, live) if live.segment.numbers().resets == 0 => {
                Ok(PageSlice::Segment { number, live, page: None })
            }
            other => other.page(lookup, sequence),
        }
    }

    /// Whether nothing was ever written to the component, as far as a reader can see.
    pub(crate) fn is_untouched(self) -> bool {
        match self {
            Component::Segment(..) => false,
            Component::Memtable(_, memtable) => memtable.is_untouched(),
        }
    }

    /// Prefetches the memory that the lookup of a page with the hash `hash` reads first.
    pub(crate) fn prefetch(self, hash: u64) {
        // A memtable is not prefetched, because it would have to be locked.
        if let Component::Segment(_, live) = self {
            live.segment.prefetch_filter(hash);
        }
    }

    /// Whether the component is known to hide all data of older components under a prefix.
    pub(crate) fn hides_all(self, prefix: &Prefix, sequence: u64) -> bool {
        match self {
            Component::Segment(_, live) => live.tombstones.covers_all(prefix),
            Component::Memtable(_, memtable) => {
                memtable.read().hidden_keys.hides_all(prefix, sequence)
            }
        }
    }

    /// The change of the store's totals by the operations up to `sequence`.
    pub(crate) fn delta(self, sequence: u64) -> Result<Delta, Bug> {
        match self {
            // A segment counts as a whole: each snapshot that has it sees all of its operations.
            Component::Segment(_, live) => Ok(live.segment.numbers().delta),
            Component::Memtable(_, memtable) => memtable.read().delta_at(sequence),
        }
    }

    /// The number of the component's distinct fingerprints of an epoch.
    pub(crate) fn fingerprints(self, epoch: u32) -> u32 {
        match self {
            Component::Segment(_, live) => live.tables(epoch).map_or(0, |t| t.tables.len()),
            Component::Memtable(_, memtable) => memtable.read().fingerprints(epoch),
        }
    }

    /// Whether the component has fingerprints of an epoch other than `epoch`.
    pub(crate) fn has_others(self, epoch: u32) -> bool {
        match self {
            Component::Segment(_, live) => live.segment.epochs().any(|other| other != epoch),
            Component::Memtable(_, memtable) => memtable.read().has_others(epoch),
        }
    }

    /// The estimated time of a search of the component's fingerprints, in nanoseconds.
    pub(crate) fn expected_ns(self, epoch: u32, fingerprint: u64, k: u32) -> f64 {
        let plan = match self {
            Component::Segment(_, live) => {
                live.tables(epoch).map(|tables| tables.tables.plan(fingerprint, k))
            }
            Component::Memtable(_, memtable) => memtable.read().plan(epoch, k),
        };
        plan.map_or(0.0, |plan| plan.expected.ns)
    }
}

/// The data of a page in a component, as of an operation.
pub(crate) enum PageSlice<'v> {
    Segment {
        number: u32,
        live: &'v LiveSegment,
        page: Option<PageRef<'v>>,
    },
    Memtable {
        id: ComponentId,
        inner: RankedReadGuard<'v, MemtableContents>,
        /// The number of the page, if the page was added to the memtable at or before `sequence`.
        page: Option<u32>,
        sequence: u64,
    },
}

impl PagePart for PageSlice<'_> {
    #[inline]
    fn record_ends(&self) -> Option<bool> {
        match self {
            PageSlice::Segment { page, .. } => page.map(|page| page.record.ends()),
            PageSlice::Memtable { inner, page, sequence, .. } => {
                page.map(|page| inner.page(page).ends_at(*sequence))
            }
        }
    }

    #[inline]
    fn covers<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool {
        match self {
            PageSlice::Segment { live: LiveSegment { tombstones, .. }, .. } => {
                // Emptiness is checked first, because the key may have to be computed.
                !tombstones.is_empty() && tombstones.cover(key())
            }
            PageSlice::Memtable { inner, sequence, .. } => {
                // The snapshot may be older than the tombstone. So a memtable is read as of the
                // snapshot's sequence number.
                !inner.hidden_keys.is_empty() && inner.hidden_keys.hides(key(), *sequence)
            }
        }
    }
}

impl PageSlice<'_> {
    /// Whether this component has all data of the page.
    pub(crate) fn is_first(&self) -> bool {
        self.record_ends() == Some(true)
    }

    /// The location of the page's record.
    pub(crate) fn location(&self) -> Option<PageAddress> {
        let (component, page) = match self {
            PageSlice::Segment { number, page, .. } => {
                (ComponentId::Segment(*number), page.map(|page| page.ordinal))
            }
            PageSlice::Memtable { id, page, .. } => (*id, *page),
        };
        page.map(|page| PageAddress { component, page })
    }

    /// The page's head, including the data of older components.
    pub(crate) fn head(&self) -> Result<Option<PageHead>> {
        match self {
            PageSlice::Segment { live, page, .. } => page.map_or(Ok(None), |page| live.head(&page)),
            PageSlice::Memtable { inner, page, sequence, .. } => {
                Ok(page.and_then(|page| inner.page(page).head_at(*sequence)))
            }
        }
    }

    /// The page with its change statistics, including the data of older components, as far as the
    /// statistics are known without reading the page's history.
    fn history(&self, epochs: &[EpochInfo]) -> Result<PageHistory> {
        match self {
            PageSlice::Segment { page: None, .. } | PageSlice::Memtable { page: None, .. } => {
                Ok(PageHistory::default())
            }
            PageSlice::Segment { live, page: Some(page), .. } => {
                // A record always has its statistics. A memtable lacks the statistics after a late
                // visit, until the next seal.
                let changes = page.record.changes(epochs).ok_or_else(|| live.unreadable())?;
                Ok(PageHistory { head: live.head(page)?, changes: Some(changes) })
            }
            PageSlice::Memtable { inner, page: Some(page), sequence, .. } => {
                Ok(inner.page(*page).history_at(*sequence, epochs))
            }
        }
    }

    /// The entries of the page in this component, in order: all entries, or the part that
    /// `of_record` reads.
    fn read(
        &self,
        of_record: impl FnOnce(&RecordRef<'_>) -> Option<Vec<Entry>>,
    ) -> Result<Vec<Entry>> {
        match self {
            PageSlice::Segment { page: None, .. } => Ok(Vec::new()),
            PageSlice::Segment { live, page: Some(page), .. } => {
                of_record(&page.record).ok_or_else(|| live.unreadable())
            }
            PageSlice::Memtable { inner, page, sequence, .. } => {
                // Entries of a memtable are in order of arrival. All of them are read and sorted,
                // whatever part is wanted.
                let page: Option<MemtablePage<'_>> = page.map(|page| inner.page(page));
                let mut entries: Vec<Entry> =
                    page.into_iter().flat_map(|page| page.entries_at(*sequence)).collect();
                entries.sort_unstable();
                Ok(entries)
            }
        }
    }

    /// The entries in this component, in order.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        self.read(|record| record.entries())
    }

    /// The time when the page was first seen in this component, or restated, with a content of a
    /// version.
    pub(crate) fn first_seen(&self, version: &[Content]) -> Result<Option<Time>> {
        match self {
            PageSlice::Segment { live, page, .. } => {
                page.map_or(Ok(None), |page| live.first_seen(&page, version))
            }
            PageSlice::Memtable { inner, page, sequence, .. } => {
                let is_it = |content: &Content| is_of_version(version, content);
                Ok(page.and_then(|page| inner.page(page).first_seen(*sequence, is_it)))
            }
        }
    }

    /// The entries in this component with the time `time`, in order.
    pub(crate) fn entries_at(&self, time: Time) -> Result<Vec<Entry>> {
        let mut entries = self.read(|record| record.entries_at(time))?;
        // A record returns exactly the entries with this time. A memtable returns all entries of
        // the page.
        entries.retain(|entry| entry.time() == time);
        Ok(entries)
    }

    /// The visits in this component at or after a time, in order.
    pub(crate) fn visits_since(&self, time: Time) -> Result<Vec<Entry>> {
        let mut entries = self.read(|record| record.entries_since(time))?;
        // A record starts with a whole chunk, and a memtable with its first entry, so both may
        // return earlier entries.
        entries.retain(|entry| entry.is_visit() && entry.time() >= time);
        Ok(entries)
    }

    /// The entries in this component at or before a time, in order: at least the entries from the
    /// last one with content on, or all of them.
    pub(crate) fn entries_until(&self, time: Time) -> Result<Vec<Entry>> {
        let is_content =
            |entry: &Entry| entry.visit().is_some_and(|v| matches!(v.seen, Seen::Content(_)));
        let mut entries = self.read(|record| record.entries_until(time, is_content))?;
        entries.retain(|entry| entry.time() <= time);
        Ok(entries)
    }
}

impl LocatedHead {
    /// Adds the data of a page in each component. The components come newest first. Returns whether
    /// the data is complete, so that older components need not be read. A head is large, so it is
    /// written in place.
    #[inline]
    pub(crate) fn fill_from<'k, 'v>(
        &mut self,
        key: impl Fn() -> &'k [u8],
        newest_first: impl IntoIterator<Item = Result<PageSlice<'v>>>,
    ) -> Result<bool> {
        let end = page_across(key, newest_first, |page| {
            // The head in the newest record includes all older components, so the first record is
            // enough.
            self.location = page.location();
            self.head = page.head()?;
            Ok(ControlFlow::Break(()))
        })?;
        // The data is complete even if a tombstone ended the page: then the page has no location,
        // and no older component counts.
        Ok(end.is_some())
    }
}

/// A page across components, with its change statistics; `None` if no component has the page. If an
/// entry came late, `parts` is called again for all entries.
pub(crate) fn page_with_changes_across<'k, 'v, I: IntoIterator<Item = Result<PageSlice<'v>>>>(
    key: impl Fn() -> &'k [u8],
    parts: impl Fn() -> I,
    epochs: &[EpochInfo],
) -> Result<Option<PageWithChanges>> {
    let mut course = PageHistory::default();
    page_across(&key, parts(), |page| {
        course = page.history(epochs)?;
        Ok::<_, Error>(ControlFlow::Break(()))
    })?;
    let Some(head) = course.head else { return Ok(None) };
    let changes = match course.changes {
        Some(changes) => changes,
        // A late visit splits an interval, and may turn a later change into a return. So all visits
        // are compared again.
        None => Changes::of(&entries_across(key, parts())?, epochs),
    };
    Ok(Some(PageWithChanges { head, changes }))
}

/// The entries of a page across components, in order.
pub(crate) fn entries_across<'k, 'v>(
    key: impl Fn() -> &'k [u8],
    newest_first: impl IntoIterator<Item = Result<PageSlice<'v>>>,
) -> Result<Vec<Entry>> {
    // Reading entries takes longer than a call through a pointer, so `all_entries` is compiled only
    // once.
    all_entries(&key, &mut newest_first.into_iter())
}

fn all_entries<'k, 'v>(
    key: &dyn Fn() -> &'k [u8],
    newest_first: &mut dyn Iterator<Item = Result<PageSlice<'v>>>,
) -> Result<Vec<Entry>> {
    let mut all = Vec::new();
    page_across(key, newest_first, |page| {
        all.append(&mut page.entries()?);
        Ok(ControlFlow::Continue(()))
    })?;
    // Components cover ranges of operations, not of time: late visits make their times overlap.
    all.sort_unstable();
    drop_superseded(&mut all);
    Ok(all)
}
