//! Lookup of requests in the segments of a view, before the write lock is taken.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::searches::{SEARCHES_MAX, search_request};
use crate::bug::{Bug, OrBug, ensure};
use crate::engine::component::PageAddress;
use crate::engine::lookup::Lookup;
use crate::engine::memtable::Effect;
use crate::engine::options::Options;
use crate::engine::search::{HitSet, SearchRequest, segment_hits_of_many};
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::page::{Operation, TableKey};
use crate::segment::put_history;

/// The results of looking up some requests in the segments: the first stage of a write.
pub(crate) struct LookupBatch<'a> {
    pub(crate) view: Arc<View>,
    /// The number of requests before the first of these requests.
    skipped: usize,
    pages: Vec<BatchEntry<'a>>,
    /// The heads of the pages in segments, packed as in the journal.
    heads: Vec<u8>,
    /// The searches, request by request.
    searches: Vec<SearchRequest<'a>>,
}

/// The data in the segments for one request and its page.
struct BatchEntry<'a> {
    lookup: Lookup<'a>,
    /// Whether any segment has the page.
    earlier: bool,
    /// The range of the page's head in the heads; empty without a head.
    head: Range<usize>,
    effect: Effect,
    /// The range of the request's searches.
    searches: Range<usize>,
    /// The hits of each search in the segments.
    found: SmallVec<[HitSet; 1]>,
}

/// One page of [`LookupBatch`], when its request is applied.
pub(crate) struct BatchPage<'p> {
    /// Whether any segment has the page.
    pub(crate) earlier: bool,
    /// The page's packed head; empty without a head.
    pub(crate) head: &'p [u8],
    /// The effect of the request on the page, unless the memtables have the page.
    pub(crate) effect: &'p mut Effect,
    pub(crate) searches: &'p [SearchRequest<'p>],
    /// The hits of each search in the segments.
    pub(crate) found: &'p mut [HitSet],
}

impl<'a> LookupBatch<'a> {
    /// Looks up the pages in the segments, and searches for near pages.
    pub(crate) fn new(
        view: Arc<View>,
        options: &Options,
        operations: &[Operation<'a>],
    ) -> Result<LookupBatch<'a>> {
        let lookups: Vec<_> = operations.iter().map(|o| Lookup::new(o.url(), view.seed)).collect();
        let mut searches: Vec<SearchRequest<'a>> = Vec::with_capacity(operations.len());
        // The end of each request's searches.
        let mut ends = Vec::with_capacity(operations.len());
        for operation in operations {
            let each = 0..SEARCHES_MAX;
            searches
                .extend(each.filter_map(|n| search_request(options, &view.epochs, operation, n)));
            ends.push(searches.len());
        }
        let mut hits = segment_hits_of_many(&view.segments, &searches)?.into_iter();
        let (known, heads) = known_in_segments(&view, operations, &lookups)?;
        let shown = |search: &SearchRequest<'_>, found: HitSet, location| {
            let mut hits = Vec::new();
            // Drops hits that can lead to no page, so that nobody waits for them under the write
            // lock.
            for hit in found.hits {
                if view.may_show(search, &hit, location)? {
                    hits.push(hit);
                }
            }
            Ok::<_, Error>(HitSet { hits, ..found })
        };
        let (mut pages, mut start) = (Vec::with_capacity(operations.len()), 0);
        for ((lookup, end), page) in lookups.into_iter().zip(ends).zip(known) {
            let SegmentLookup { head, effect, location } = page;
            let mut found = SmallVec::new();
            for search in searches.get(start..end).or_bug("the ends of the searches ascend")? {
                let hits = hits.next().or_bug("each search has an answer")?;
                found.push(shown(search, hits, location)?);
            }
            let earlier = location.is_some();
            pages.push(BatchEntry { lookup, earlier, head, effect, searches: start..end, found });
            start = end;
        }
        let is_all = pages.len() == operations.len() && hits.len() == 0;
        ensure(is_all, "each observation and each search has a lookup")?;
        Ok(LookupBatch { view, skipped: 0, pages, heads, searches })
    }

    /// Moves the results to another view with the same segments.
    pub(crate) fn seen_in(self, view: Arc<View>) -> Self {
        LookupBatch { view, ..self }
    }

    /// Sets the number of requests before the first of these requests.
    pub(crate) fn after(self, skipped: usize) -> Self {
        LookupBatch { skipped, ..self }
    }

    /// The data for request number `at`.
    fn get(&self, at: usize) -> Option<&BatchEntry<'_>> {
        self.pages.get(at.checked_sub(self.skipped)?)
    }

    /// The data for request number `at`, with the view and the lookup.
    pub(crate) fn page<'p>(
        &'p mut self,
        at: usize,
    ) -> Result<(&'p View, &'p Lookup<'a>, BatchPage<'p>), Bug> {
        let LookupBatch { view, skipped, pages, heads, searches } = self;
        let page = at.checked_sub(*skipped).and_then(|at| pages.get_mut(at));
        let BatchEntry { lookup, earlier, head, effect, searches: own, found } =
            page.or_bug("each observation was looked up")?;
        let head = heads.get(head.clone()).or_bug("a head is a range of the packed heads")?;
        let searches = searches
            .get(own.clone())
            .or_bug("the searches of an observation are a range of all searches")?;
        Ok((view, lookup, BatchPage { earlier: *earlier, head, effect, searches, found }))
    }

    /// Prefetches the parts of the memtables that are needed soon after request `at`.
    pub(crate) fn prefetch(&self, operations: &[Operation<'_>], at: usize) {
        /// The number of requests to prefetch at once. Requests are grouped, because prefetching
        /// takes the memtables' locks.
        const TOGETHER: usize = 8;
        if !at.is_multiple_of(TOGETHER) {
            return;
        }
        let soon = at + TOGETHER..at + 2 * TOGETHER;
        // There are three stages, eight operations apart: each stage reads the address that the
        // previous stage has prefetched.
        let later = |by: usize| soon.start + by * TOGETHER..soon.end + by * TOGETHER;
        let looked = |range: Range<usize>| range.filter_map(|at| self.get(at));
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            // The stages prefetch a page's number, then the page, then its contents.
            looked(later(2)).for_each(|looked| inner.prefetch_number(looked.lookup.hash));
            looked(later(1)).for_each(|looked| inner.prefetch_page(looked.lookup.hash));
            looked(soon.clone()).for_each(|looked| inner.prefetch_contents(looked.lookup.hash));
            // For the last few operations there is nothing left to prefetch.
            let contents = operations.get(soon.clone()).unwrap_or(&[]).iter();
            for content in contents.filter_map(Operation::seen) {
                if let Some(TableKey { table, value }) = content.table_key() {
                    inner.prefetch(table, value);
                }
            }
        }
    }
}

/// The data about a page in the segments, and the effect of the request on it.
struct SegmentLookup {
    /// The range of the page's head in the heads; empty without a head.
    head: Range<usize>,
    effect: Effect,
    /// The location of the page, if any segment has it.
    location: Option<PageAddress>,
}

/// Looks up pages in the segments. Returns the data about each page, and the packed heads.
fn known_in_segments(
    view: &View,
    operations: &[Operation<'_>],
    lookups: &[Lookup<'_>],
) -> Result<(Vec<SegmentLookup>, Vec<u8>)> {
    let unknown = |operation: &Operation<'_>| {
        let also = operation.also_content();
        let effect = Effect::of(&mut None, &operation.entry(), also.as_slice(), &view.epochs);
        SegmentLookup { head: 0..0, effect, location: None }
    };
    // The data is first filled for pages that no segment has. Pages that are found are overwritten
    // below.
    let mut pages: Vec<SegmentLookup> = operations.iter().map(unknown).collect();
    let mut heads = Vec::new();
    view.locate_in_segments(lookups, |place, location, mut course| {
        let page = pages.get_mut(place).or_bug("each index is the index of a lookup")?;
        let operation = operations.get(place).or_bug("each index is the index of a lookup")?;
        // All heads are written to one buffer, so no page costs an allocation.
        let start = heads.len();
        if let Some(head) = &course.head {
            put_history(&mut heads, head, course.changes.as_ref());
        }
        let also = operation.also_content();
        let (head, entry) = (&mut course.head, operation.entry());
        let effect = Effect::of(head, &entry, also.as_slice(), &view.epochs);
        *page = SegmentLookup { head: start..heads.len(), effect, location: Some(location) };
        Ok(())
    })?;
    Ok((pages, heads))
}
