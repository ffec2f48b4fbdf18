//! What the segments of a view know about requests, looked up before the write lock is taken.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::decide::also_of;
use super::nearby::{SEARCHES_MAX, wanted};
use crate::bug::{Bug, OrBug, ensure};
use crate::engine::lookup::Lookup;
use crate::engine::memtable::Effect;
use crate::engine::options::Options;
use crate::engine::search::{HitSet, SearchRequest, segment_hits_of_many};
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::page::Request;
use crate::segment::put_course;

/// What the segments of a view know about some requests.
pub(crate) struct LookedUp<'a> {
    pub(crate) view: Arc<View>,
    /// How many requests come before the first of these.
    skipped: usize,
    each: Vec<LookedUpPage<'a>>,
    /// Pages as segments know them, packed as in the journal.
    heads: Vec<u8>,
}

/// What they know about one request and its page.
pub(crate) struct LookedUpPage<'a> {
    pub(crate) lookup: Lookup<'a>,
    /// Whether any segment has the page.
    pub(crate) earlier: bool,
    /// Where its head is, if it has one.
    head: Range<usize>,
    pub(crate) effect: Effect,
    /// What is near it in the segments, by each fingerprint that is searched for.
    pub(crate) found: SmallVec<[HitSet; 1]>,
}

impl<'a> LookedUp<'a> {
    /// Looks up what the segments know, and what is near.
    pub(crate) fn new(
        view: Arc<View>,
        options: &Options,
        requests: &[Request<'a>],
    ) -> Result<LookedUp<'a>> {
        let lookups: Vec<_> = requests.iter().map(|o| Lookup::new(o.url(), view.seed)).collect();
        let mut all: Vec<SearchRequest<'_>> = Vec::with_capacity(requests.len());
        // Where those of each request end.
        let mut ends = Vec::with_capacity(requests.len());
        for request in requests {
            let each = (0..SEARCHES_MAX).map(|place| wanted(options, &view.epochs, request, place));
            all.extend(each.flatten());
            ends.push(all.len());
        }
        let found = segment_hits_of_many(&view.segments, &all)?;
        let mut searched = all.iter().zip(found);
        let mut heads = Vec::new();
        let new = |o: &Request<'_>| {
            let also = also_of(o);
            (false, 0..0, Effect::of(&mut None, &o.entry(), also.as_slice(), &view.epochs), None)
        };
        let mut pages: Vec<_> = requests.iter().map(new).collect();
        view.known_in_segments(&lookups, |place, standing, mut course| {
            let page = pages.get_mut(place).or_bug("a place is that of a lookup")?;
            let request = requests.get(place).or_bug("a place is that of a lookup")?;
            let start = heads.len();
            if let Some(head) = &course.head {
                put_course(&mut heads, head, course.changes.as_ref());
            }
            let also = also_of(request);
            let (head, entry) = (&mut course.head, request.entry());
            let effect = Effect::of(head, &entry, also.as_slice(), &view.epochs);
            *page = (true, start..heads.len(), effect, Some(standing));
            Ok(())
        })?;
        let shown = |wanted: &SearchRequest<'_>, found: HitSet, standing| {
            let mut hits = Vec::new();
            for hit in found.hits {
                if view.may_show(wanted, &hit, standing)? {
                    hits.push(hit);
                }
            }
            Ok::<_, Error>(HitSet { hits, ..found })
        };
        let mut each = Vec::with_capacity(lookups.len());
        for ((lookup, end), page) in lookups.into_iter().zip(ends).zip(pages) {
            let (earlier, head, effect, standing) = page;
            let mut near = SmallVec::new();
            while searched.len() > all.len() - end {
                let (wanted, found) = searched.next().or_bug("each search has an answer")?;
                near.push(shown(wanted, found, standing)?);
            }
            each.push(LookedUpPage { lookup, earlier, head, effect, found: near });
        }
        let is_all = each.len() == requests.len() && searched.len() == 0;
        ensure(is_all, "each observation is looked up, and each search")?;
        Ok(LookedUp { view, skipped: 0, each, heads })
    }

    /// Moves this to another view with the same segments.
    pub(crate) fn seen_in(self, view: Arc<View>) -> Self {
        LookedUp { view, ..self }
    }

    /// Sets how many requests come before the first of these.
    pub(crate) fn after(self, skipped: usize) -> Self {
        LookedUp { skipped, ..self }
    }

    /// What is known about request number `at`.
    fn get(&self, at: usize) -> Option<&LookedUpPage<'_>> {
        self.each.get(at.checked_sub(self.skipped)?)
    }

    /// What is known about request number `at`, with the view that knows it and the page's packed
    /// head.
    pub(crate) fn page(&mut self, at: usize) -> Result<(&View, &mut LookedUpPage<'a>, &[u8]), Bug> {
        let LookedUp { view, skipped, each, heads } = self;
        let page = at.checked_sub(*skipped).and_then(|at| each.get_mut(at));
        let page = page.or_bug("each observation was looked up")?;
        let head = heads.get(page.head.clone());
        Ok((view, page, head.or_bug("a head lies among those that were packed")?))
    }

    /// Prefetches what the memtables will be asked for soon after request `at`.
    pub(crate) fn prefetch(&self, requests: &[Request<'_>], at: usize) {
        /// How many requests this is done for at once, since it takes the memtables' locks.
        const TOGETHER: usize = 8;
        if !at.is_multiple_of(TOGETHER) {
            return;
        }
        let soon = at + TOGETHER..at + 2 * TOGETHER;
        let later = |by: usize| soon.start + by * TOGETHER..soon.end + by * TOGETHER;
        let looked = |range: Range<usize>| range.filter_map(|at| self.get(at));
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            // A page's number, then the page, then what it has.
            looked(later(2)).for_each(|looked| inner.prefetch_number(looked.lookup.hash));
            looked(later(1)).for_each(|looked| inner.prefetch_page(looked.lookup.hash));
            looked(soon.clone()).for_each(|looked| inner.prefetch_contents(looked.lookup.hash));
            // For the last few requests there is nothing left to prefetch.
            let contents = requests.get(soon.clone()).unwrap_or(&[]).iter();
            for content in contents.filter_map(Request::seen) {
                if let Some(fingerprint) = content.compared() {
                    inner.prefetch(content.epoch.0, fingerprint);
                }
            }
        }
    }
}
