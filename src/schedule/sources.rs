//! The components of a snapshot, with the pages that a query sees.

use std::ops::Range;
use std::sync::Arc;

use super::rules::{Rules, RulesByPage};
use crate::bug::OrBug;
use crate::engine::component::{Component, ComponentId, PageAddress};
use crate::engine::live_segment::LiveSegment;
use crate::engine::lookup::Lookup;
use crate::engine::memtable::{Memtable, MemtablePage};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Changes, Entry, Prefix, surt};
use crate::segment::{InMemoryRows, PageRow, ScheduleRow, ScheduleRows, host_slot};

/// The number of memtable pages read under one lock.
const TOGETHER: usize = 1024;

/// The data of a component.
#[derive(Debug)]
pub(super) enum SourceRows {
    Segment(Arc<LiveSegment>),
    Memtable {
        memtable: Arc<Memtable>,
        /// The numbers of the memtable's pages in SURT order.
        numbers: Vec<u32>,
        /// The rows of the memtable's pages by hash. A page is an index into `numbers`.
        rows: InMemoryRows,
    },
}

/// A component, with the pages that a query sees.
#[derive(Debug)]
pub(super) struct RowSource {
    id: ComponentId,
    pub(super) of: SourceRows,
    /// The pages of the component under the prefix.
    under: Range<u32>,
    /// The pages that newer components forgot by prefix, as sorted ranges.
    hidden: Vec<Range<u32>>,
}

impl RowSource {
    /// Whether the query sees a page.
    #[inline]
    pub(super) fn sees(&self, page: u32) -> bool {
        // Ranges are in order and disjoint, so only the last range that begins at or before the
        // page can hide it.
        let hides = |hidden: &[Range<u32>]| {
            let at = hidden.partition_point(|range| range.start <= page);
            at.checked_sub(1).and_then(|at| hidden.get(at)).is_some_and(|last| page < last.end)
        };
        self.under.contains(&page) && (self.hidden.is_empty() || !hides(&self.hidden))
    }

    /// Returns the rows with hashes from `first` to `last`, including hidden pages.
    pub(super) fn rows(&self, first: u64, last: u64) -> Result<ScheduleRows<'_>> {
        match &self.of {
            SourceRows::Segment(live) => live.segment.rows(first, last),
            SourceRows::Memtable { rows, .. } => Ok(rows.rows(first, last)),
        }
    }

    /// Returns the number of pages in the component.
    pub(super) fn all_pages(&self) -> u64 {
        match &self.of {
            SourceRows::Segment(live) => live.segment.numbers().pages,
            SourceRows::Memtable { numbers, .. } => numbers.len() as u64,
        }
    }

    /// Returns the number of pages under the prefix.
    pub(super) fn pages(&self) -> u64 {
        u64::from(self.under.end - self.under.start)
    }

    /// Returns the URL of a page.
    pub(super) fn url(&self, page: u32) -> Result<String> {
        match &self.of {
            SourceRows::Segment(live) => {
                let mut url = Vec::new();
                live.segment.page(page, &mut url)?;
                live.segment.owned_text(url)
            }
            SourceRows::Memtable { .. } => self.in_memtable(page, |page| page.url().to_owned()),
        }
    }

    /// Returns the location of a page's record.
    pub(super) fn location(&self, page: u32) -> Result<PageAddress> {
        let number = match &self.of {
            SourceRows::Segment(_) => Some(page),
            SourceRows::Memtable { numbers, .. } => numbers.get(page as usize).copied(),
        };
        let page = number.or_bug("each candidate is a page of its component")?;
        Ok(PageAddress { component: self.id, page })
    }

    fn in_memtable<T>(&self, page: u32, read: impl FnOnce(MemtablePage<'_>) -> T) -> Result<T> {
        let (memtable, number) = match &self.of {
            SourceRows::Memtable { memtable, numbers, .. } => {
                (Some(memtable), numbers.get(page as usize))
            }
            SourceRows::Segment(_) => (None, None),
        };
        let memtable = memtable.or_bug("a page of a memtable is looked up in that memtable")?;
        let number = number.or_bug("each candidate is a page of its component")?;
        Ok(read(memtable.read().page(*number)))
    }

    /// Returns the rules of the component's pages.
    pub(super) fn rules_by_page(&self, rules: &Rules) -> Result<RulesByPage> {
        // An empty URL sorts before all URLs with the same key, so a page exactly at the edge has
        // the new rule.
        RulesByPage::new(rules, self.under.clone(), |key| self.after(key, ""))
    }

    /// Returns the first page under the prefix that comes after a key and URL.
    pub(super) fn after(&self, key: &[u8], url: &str) -> Result<u32> {
        let (mut low, mut high) = (self.under.start, self.under.end);
        if let SourceRows::Segment(live) = &self.of {
            // Only pages with exactly this key are compared by URL. The key with a 0 appended is
            // its direct successor.
            low = low.max(bound(live, key)?);
            high = high.min(bound(live, &[key, &[0]].concat())?).max(low);
        }
        while low < high {
            let middle = u32::midpoint(low, high);
            let of = self.url(middle)?;
            if (surt::key_of(&of).as_slice(), of.as_str()) <= (key, url) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// Returns the components of a snapshot, the oldest first.
pub(super) fn sources(snapshot: &Snapshot, prefix: Option<&Prefix>) -> Result<Vec<RowSource>> {
    let components = snapshot.view.components().rev();
    // An unused memtable has no rows. If it is left out, a single segment needs no table of newest
    // rows.
    let touched = components.filter(|component| !component.is_untouched());
    let source = |component| match component {
        Component::Segment(_, live) => segment(snapshot, component, live, prefix),
        Component::Memtable(id, memtable) => in_memory(snapshot, id, memtable, prefix),
    };
    touched.map(source).collect()
}

fn segment(
    snapshot: &Snapshot,
    component: Component<'_>,
    live: &Arc<LiveSegment>,
    prefix: Option<&Prefix>,
) -> Result<RowSource> {
    let buried = HiddenKeyRanges::by_newer(snapshot, component.id());
    // Keys are converted to page numbers once, so that `sees` compares integers for each row.
    let pages_in = |(start, end): &KeyRange| Ok(bound(live, start)?..bound(live, end)?);
    let hidden: Vec<Range<u32>> = buried.0.iter().map(pages_in).collect::<Result<_>>()?;
    let under = match prefix.map(Prefix::range) {
        Some((start, end)) => bound(live, start)?..bound(live, end)?,
        None => 0..bound_of(live.segment.numbers().pages)?,
    };
    let hidden = hidden.into_iter().filter(|range| !range.is_empty()).collect();
    Ok(RowSource { id: component.id(), of: SourceRows::Segment(Arc::clone(live)), under, hidden })
}

/// A half-open range of keys.
type KeyRange = (Vec<u8>, Vec<u8>);

/// The key ranges that newer components forgot by prefix: sorted and disjoint.
struct HiddenKeyRanges(Vec<KeyRange>);

impl HiddenKeyRanges {
    fn by_newer(snapshot: &Snapshot, id: ComponentId) -> HiddenKeyRanges {
        let mut all = Vec::new();
        let mut add = |(start, end): (&[u8], &[u8])| all.push((start.to_vec(), end.to_vec()));
        for newer in snapshot.view.newer_than(id) {
            match newer {
                Component::Segment(_, newer) => {
                    newer.tombstones.iter().for_each(|t| add(t.prefix.range()));
                }
                Component::Memtable(_, newer) => {
                    newer.read().hidden_keys.ranges_at(snapshot.sequence).for_each(&mut add);
                }
            }
        }
        // Prefixes nest or are disjoint. The outer prefix sorts first, so inner prefixes are
        // dropped below.
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut apart: Vec<KeyRange> = Vec::new();
        for keys in all {
            if apart.last().is_none_or(|last| last.1 <= keys.0) {
                apart.push(keys);
            }
        }
        HiddenKeyRanges(apart)
    }

    fn hides(&self, key: &[u8]) -> bool {
        let at = self.0.partition_point(|(start, _)| start.as_slice() <= key);
        let before = at.checked_sub(1).and_then(|at| self.0.get(at));
        before.is_some_and(|(_, end)| key < end.as_slice())
    }
}

/// Returns the first page of a segment whose key is not before `key`.
fn bound(live: &LiveSegment, key: &[u8]) -> Result<u32> {
    bound_of(live.segment.lower_bound(key)?)
}

fn bound_of(pages: u64) -> Result<u32> {
    Ok(u32::try_from(pages).ok().or_bug("a segment has fewer than 2^32 pages")?)
}

fn in_memory(
    snapshot: &Snapshot,
    id: ComponentId,
    memtable: &Arc<Memtable>,
    prefix: Option<&Prefix>,
) -> Result<RowSource> {
    let Snapshot { view, sequence, .. } = snapshot;
    // Must run before this memtable is locked: `by_newer` locks newer memtables, and no thread may
    // hold two such locks.
    let buried = HiddenKeyRanges::by_newer(snapshot, id);
    let all = {
        let inner = memtable.read();
        prefix.map_or_else(|| inner.order(None), |prefix| inner.under(prefix, *sequence))
    };
    let (mut numbers, mut rows) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    let mut late = Vec::new();
    // The lock is released after each chunk, so that no writer waits until all rows are computed.
    for some in all.chunks(TOGETHER) {
        let inner = memtable.read();
        let here = some.iter().map(|number| (*number, inner.page(*number)));
        for (number, page) in here.filter(|(_, page)| page.is_here(*sequence)) {
            // A key costs an allocation, so it is computed only if any range is hidden.
            if !buried.0.is_empty() && buried.hides(&surt::key_of(page.url())) {
                continue;
            }
            let at = u32::try_from(numbers.len()).ok();
            let at = at.or_bug("a memtable has fewer than 2^31 pages")?;
            numbers.push(number);
            let course = page.history_at(*sequence, &view.epochs);
            let head = course.head.as_ref();
            let changes = course.changes.unwrap_or_else(|| {
                // The row is completed below, without the lock of this memtable, because `changing`
                // reads all components.
                late.push((rows.len(), page.url().to_owned()));
                Changes::default()
            });
            let own = page.entries_at(*sequence).filter(Entry::is_visit).count();
            let row = ScheduleRow::new(head, &changes, own, host_slot(page.url(), view.seed));
            rows.push(PageRow { hash: page.hash(), page: at, row });
        }
    }
    for (at, url) in late {
        // A late visit changes earlier comparisons, so the comparisons are folded again from all
        // visits, including visits in older components.
        let changing = view.page_with_changes(&Lookup::new(&url, view.seed), *sequence)?;
        let of = rows.get_mut(at).or_bug("each page has a row")?;
        changing.into_iter().for_each(|page| of.row = of.row.with(&page.changes));
    }
    let rows = InMemoryRows::new(rows);
    let under =
        0..u32::try_from(numbers.len()).ok().or_bug("a memtable has fewer than 2^31 pages")?;
    let memtable = Arc::clone(memtable);
    let of = SourceRows::Memtable { memtable, numbers, rows };
    Ok(RowSource { id, of, under, hidden: Vec::new() })
}
