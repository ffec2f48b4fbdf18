//! Search in the live components. First candidates are found in every component's tables. Then, the
//! nearest first, the pages are found that have a candidate in force and are not forgotten.

pub(crate) mod columns;
pub(crate) mod from_hit;
pub(crate) mod many;
pub(crate) mod order;
pub(crate) mod pages_of_fingerprint;
pub(crate) mod query;
pub(crate) mod ranked_hit;
pub(crate) mod resolve;
pub(crate) mod visible_fingerprints;
pub(crate) mod widen;

use std::sync::Arc;

use arrayvec::ArrayVec;

use self::query::Versions;
use super::component::{ComponentId, PageAddress};
use super::live_segment::LiveSegment;
use super::memtable::Memtable;
use super::results::Capture;
use super::view::View;
use crate::bug::{Bug, OrBug};
use crate::error::Result;
use crate::page::{Classes, Content, DIGESTS, Digest, Epoch, Prefix, TableKey};
use crate::search::{Bounds, Candidate, Completeness};
use crate::segment::{EpochTables, TableSteps};

pub(crate) use from_hit::FromHit;
pub(crate) use many::segment_hits_of_many;
pub(crate) use order::merge_results;
pub(crate) use widen::{bounds, bounds_of_search, pages_near, search};

/// The parameters of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchRequest<'a> {
    pub(crate) fingerprint: u64,
    pub(crate) k: u32,
    pub(crate) epoch: u32,
    pub(crate) limit: usize,
    pub(crate) versions: Versions,
    pub(crate) under: Option<&'a Prefix>,
    /// A page to exclude from the results.
    pub(crate) exclude: Option<&'a str>,
    /// The classes to include; `None` for all.
    pub(crate) classes: Option<&'a Classes>,
    /// Excludes pages with a fingerprint of this epoch in force, because another search finds them.
    pub(crate) excluded_epoch: Option<Epoch>,
    /// The digest of copies: pages with this digest are listed separately.
    pub(crate) digest: Option<Digest>,
    /// Whether to find the first capture of the digest on pages that have changed since.
    pub(crate) first_capture: bool,
    /// The bounds of the search; `None` to find everything, whatever the cost.
    pub(crate) bounds: Option<Bounds>,
}

impl SearchRequest<'_> {
    /// Whether the search finds contents without a fingerprint, by the key of their digest.
    pub(crate) fn is_by_digest(&self) -> bool {
        self.epoch == DIGESTS
    }

    /// Whether the search covers all versions in force now.
    fn is_of_all_in_force(&self) -> bool {
        let is_of_all = self.under.is_none() && !self.leaves_out();
        self.versions == Versions::InForce && is_of_all
    }

    /// Whether the search excludes pages or classes.
    pub(crate) fn leaves_out(&self) -> bool {
        self.exclude.is_some() || self.classes.is_some()
    }

    /// Whether `content` has the fingerprint that was found.
    fn matches(&self, content: &Content, found: &Candidate) -> bool {
        // An equal number in another epoch is a different fingerprint.
        let key = TableKey { table: self.epoch, value: found.fingerprint };
        content.table_key() == Some(key) && (!self.is_by_digest() || content.digest == self.digest)
    }

    /// Whether a page with the contents `in_force` is excluded, because it has a fingerprint of the
    /// epoch `excluded_epoch`.
    fn is_left_out(&self, in_force: &[Content]) -> bool {
        let of = |content: &Content| {
            content.fingerprint.is_some() && Some(content.epoch) == self.excluded_epoch
        };
        in_force.iter().any(of)
    }
}

/// A near fingerprint, and the component that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) candidate: Candidate,
    pub(crate) component: ComponentId,
}

/// The steps from a hit to its page, for prefetching.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HitStep {
    /// Reads the number of the page.
    Posting,
    /// Reads the position of the page.
    Place,
    /// Reads the page itself.
    Page,
}

impl HitStep {
    pub(crate) const ALL: [HitStep; 3] = [HitStep::Posting, HitStep::Place, HitStep::Page];
}

/// A set of near fingerprints, and the extent to which it is complete.
#[derive(Clone, Debug)]
pub(crate) struct HitSet {
    pub(crate) hits: Vec<Hit>,
    pub(crate) extent: Completeness,
}

impl HitSet {
    /// Creates an empty set for a search in which no component was searched yet.
    pub(crate) fn new(k: u32) -> HitSet {
        HitSet { hits: Vec::new(), extent: Completeness::whole(k) }
    }

    /// Adds the hit of a segment with exactly the searched value.
    pub(crate) fn add_equal(
        &mut self,
        component: ComponentId,
        live: &LiveSegment,
        wanted: &SearchRequest<'_>,
    ) -> Result<()> {
        let Some(tables) = live.tables(wanted.epoch) else { return Ok(()) };
        let ordinal = tables.ordinal_of(wanted.fingerprint)?;
        let candidate = |ordinal| Candidate::new(ordinal, wanted.fingerprint, wanted.fingerprint);
        self.hits.extend(ordinal.map(|of| Hit { candidate: candidate(of), component }));
        Ok(())
    }

    /// Adds the hits of a segment, by a scan within bounds.
    fn add_nearest(
        &mut self,
        component: ComponentId,
        tables: &EpochTables,
        wanted: &SearchRequest<'_>,
        bounds: &Bounds,
    ) -> Result<()> {
        let mut nearest = Vec::new();
        let extent = tables.nearest(wanted.fingerprint, wanted.k, bounds, &mut nearest)?;
        self.hits.extend(nearest.into_iter().map(|candidate| Hit { candidate, component }));
        self.extent = self.extent.and(extent);
        Ok(())
    }

    /// Adds the hits of a memtable.
    pub(crate) fn add_memtable(
        &mut self,
        component: ComponentId,
        memtable: &Memtable,
        wanted: &SearchRequest<'_>,
    ) {
        let &SearchRequest { epoch, fingerprint, k, .. } = wanted;
        // The lock covers only the search. Pages are looked up later, each under a lock of its own.
        let (inner, mut near) = (memtable.read(), Vec::new());
        match &wanted.bounds {
            None => inner.near(epoch, fingerprint, k, &mut near),
            Some(bounds) => {
                let extent = inner.nearest((epoch, fingerprint, k), bounds, &mut near);
                self.extent = self.extent.and(extent);
            }
        }
        drop(inner);
        self.hits.extend(near.into_iter().map(|candidate| Hit { candidate, component }));
    }
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct SearchOutput<F> {
    /// Pages with the given digest, in SURT order.
    pub(crate) copies: Vec<F>,
    /// Other pages: the nearest first, then in SURT order.
    pub(crate) near: Vec<F>,
    /// Whether the result is complete.
    pub(crate) complete: bool,
    /// The least distance at which pages may be missing although their fingerprints were found.
    pub(crate) cut_at: Option<u32>,
    /// Whether more fingerprints are near than were looked up, while fewer pages were found than
    /// requested.
    pub(crate) wants_more: bool,
    /// The first capture of the digest on pages that have changed since, if it was requested.
    pub(crate) first_capture: Option<Capture>,
}

impl<F> SearchOutput<F> {
    fn none() -> SearchOutput<F> {
        let (copies, near) = (Vec::new(), Vec::new());
        SearchOutput {
            copies,
            near,
            complete: true,
            cut_at: None,
            wants_more: false,
            first_capture: None,
        }
    }
}

/// Finds the near fingerprints in the segments. This is the costly part of a search, and needs only
/// the segments.
pub(crate) fn segment_hits(
    segments: &[Arc<LiveSegment>],
    wanted: &SearchRequest<'_>,
) -> Result<HitSet> {
    /// The number of segments searched together, so that their memory accesses overlap.
    const TOGETHER: usize = 8;
    let mut found = HitSet::new(wanted.k);
    if wanted.is_by_digest() {
        for (number, live) in (0..).zip(segments) {
            found.add_equal(ComponentId::Segment(number), live, wanted)?;
        }
        return Ok(found);
    }
    // With one segment there are no step buffers, and the query takes the shortest path through the
    // tables.
    if let [live] = segments {
        let Some(tables) = live.tables(wanted.epoch) else { return Ok(found) };
        let hits = &mut found.hits;
        let component = ComponentId::Segment(0);
        let mut push = |_: usize, candidate| hits.push(Hit { candidate, component });
        let Some(bounds) = &wanted.bounds else {
            tables.find_each(&[wanted.fingerprint], wanted.k, &mut push)?;
            return Ok(found);
        };
        // `false` means that the tables gave up or a scan is cheaper. The hits of the tables are
        // dropped and found again.
        if !tables.find_within(wanted.fingerprint, wanted.k, bounds, &mut push)? {
            found.hits.clear();
            found.add_nearest(component, tables, wanted, bounds)?;
        }
        return Ok(found);
    }
    // The searches are on the stack, so a search allocates nothing until something is near.
    let mut searches: ArrayVec<(ComponentId, &EpochTables, TableSteps<'_>), TOGETHER> =
        ArrayVec::new();
    // The numbers continue over the chunks, because they are numbers of segments of the view.
    let mut numbers = 0..;
    for together in segments.chunks(TOGETHER) {
        for (live, number) in together.iter().zip(numbers.by_ref()) {
            if let Some(tables) = live.tables(wanted.epoch) {
                let steps = tables.steps(wanted.fingerprint, wanted.k);
                searches.push((ComponentId::Segment(number), tables, steps));
            }
        }
        // There are three loops, not one: each step prefetches for all segments before any segment
        // waits for memory.
        for (.., search) in &mut searches {
            search.begin();
        }
        for (.., search) in &mut searches {
            search.go_on()?;
        }
        for &mut (component, tables, ref mut search) in &mut searches {
            let before = found.hits.len();
            let hits = &mut found.hits;
            let mut push = |_: usize, candidate| hits.push(Hit { candidate, component });
            match &wanted.bounds {
                None => search.finish(&mut push)?,
                Some(bounds) => {
                    if !search.finish_within(bounds, &mut push)? {
                        // Drops only this segment's hits. The hits of the segments before it are
                        // complete.
                        found.hits.truncate(before);
                        found.add_nearest(component, tables, wanted, bounds)?;
                    }
                }
            }
        }
        searches.clear();
    }
    Ok(found)
}

impl View {
    /// The segment of a hit, and the tables that found it.
    fn searched(&self, number: u32, epoch: u32) -> Result<(&Arc<LiveSegment>, &EpochTables), Bug> {
        let live = self.segments.get(number as usize).or_bug("each hit belongs to a component")?;
        Ok((live, live.tables(epoch).or_bug("each hit comes from tables of its epoch")?))
    }

    /// Prefetches the memory that a step needs, for some hits. The memory for the previous step
    /// should have arrived by now.
    pub(crate) fn prefetch_step(
        &self,
        step: HitStep,
        hits: &[Hit],
        wanted: &SearchRequest<'_>,
    ) -> Result<()> {
        let in_force_only = wanted.versions == Versions::InForce;
        for Hit { candidate, component } in hits {
            // Memtables need no prefetching.
            let ComponentId::Segment(number) = *component else { continue };
            let (live, tables) = self.searched(number, wanted.epoch)?;
            // Only single postings are followed. A list would cost another read, and its pages are
            // prefetched when the list is read.
            let page = || -> Result<Option<u32>> {
                let posting = tables.single(candidate.ordinal)?;
                Ok(posting.filter(|p| p.in_force || !in_force_only).map(|p| p.page))
            };
            match step {
                HitStep::Posting => tables.prefetch_posting(candidate.ordinal),
                HitStep::Place => page()?.into_iter().for_each(|p| live.segment.prefetch_place(p)),
                HitStep::Page => page()?.into_iter().for_each(|p| live.segment.prefetch_page(p)),
            }
        }
        Ok(())
    }

    /// Whether a hit may lead to another page than `own`. The result is false if only the page at
    /// `own` has the fingerprint, or a page that had the fingerprint and has changed. Costs reading
    /// a page's group, if that page is in another segment.
    pub(crate) fn may_show(
        &self,
        wanted: &SearchRequest<'_>,
        hit: &Hit,
        own: Option<PageAddress>,
    ) -> Result<bool> {
        let Hit { candidate, component } = *hit;
        // Lists and memtables may have further pages: `true` is the safe answer, and the lookup
        // decides.
        let ComponentId::Segment(number) = component else { return Ok(true) };
        let (live, tables) = self.searched(number, wanted.epoch)?;
        let Some(posting) = tables.single(candidate.ordinal)? else { return Ok(true) };
        if !posting.in_force && wanted.versions == Versions::InForce {
            return Ok(wanted.first_capture && candidate.distance == 0);
        }
        match (wanted.exclude, own) {
            (None, _) => Ok(true),
            // Both pages are in one segment, so comparing their numbers saves reading the URL.
            (_, Some(own)) if own.component == component => Ok(own.page != posting.page),
            (Some(url), _) => Ok(live.segment.page_if(posting.page, url)?.is_none()),
        }
    }
}
