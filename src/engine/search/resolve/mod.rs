//! Resolution of near fingerprints to the pages that have them.
//!
//! The work is bounded: a search examines some hundreds of pages more than it may return.
//! Fingerprints shared by thousands of pages, dense buckets of thousands of fingerprints, and lists
//! of pages that changed long ago cost no more than these pages, and the result is marked as cut
//! short.

mod selection;

use std::ops::Range;

use super::order::HitLocations;
use super::query::{NearMatch, Versions};
use super::{Capture, FromHit, Hit, HitSet, HitStep, SearchOutput, SearchRequest};
use crate::bug::{Bug, OrBug};
use crate::engine::component::{Component, ComponentId, PageAddress};
use crate::engine::live_segment::LiveSegment;
use crate::engine::lookup::Lookup;
use crate::engine::memtable::{Memtable, MemtablePage};
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{Content, Entry, Epoch, PageHead, in_force_on};
use crate::search::Candidate;
use crate::segment::{PageRef, Posting};
use crate::time::Time;

/// The number of pages that a search with a limit of 0 may examine.
const PAGES: usize = 256;

/// The number of further pages that a search may examine for each page that it may return.
const PAGES_EACH: usize = 2;

/// The number of postings no longer in force that count as one examined page.
const POSTINGS: usize = 64;

/// The number of hits whose pages are prefetched before the first hit is examined.
const AHEAD: usize = 32;

/// The remaining lookups of a search.
pub(crate) struct LookupBudget {
    pub(crate) left: usize,
    postings: usize,
}

impl LookupBudget {
    pub(crate) fn of(limit: usize) -> LookupBudget {
        LookupBudget { left: PAGES.saturating_add(limit.saturating_mul(PAGES_EACH)), postings: 0 }
    }

    /// Counts a page. Returns whether the page may be examined.
    fn page(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    /// Returns a page to the budget: the excluded page may be found very often.
    fn give_back(&mut self) {
        self.left = self.left.saturating_add(1);
    }

    /// Counts a skipped posting. Returns whether to continue.
    fn posting(&mut self) -> bool {
        self.postings += 1;
        // A skipped posting costs 4 sequential bytes, not a page, so 64 skipped postings count as
        // one page.
        !self.postings.is_multiple_of(POSTINGS) || self.page()
    }
}

/// A search in progress.
pub(crate) struct HitResolver<'v, 'w, F = NearMatch> {
    pub(crate) view: &'v View,
    pub(crate) wanted: &'w SearchRequest<'w>,
    sequence: u64,
    budget: LookupBudget,
    /// The remaining pages whose past captures may be read.
    captures: LookupBudget,
    /// The pages under the prefix, in each segment looked up so far.
    under: Vec<Option<Range<u32>>>,
    pub(crate) output: SearchOutput<F>,
    /// The locations of the results at the current distance, and the locations of copies.
    pub(crate) order: HitLocations,
    order_of_copies: HitLocations,
}

impl View {
    /// Adds the hits of the memtables to the hits of [`segment_hits`](super::segment_hits).
    #[inline]
    pub(crate) fn add_memory(&self, wanted: &SearchRequest<'_>, found: &mut HitSet) {
        for (component, memtable) in self.memtables.with_ids() {
            if !memtable.is_untouched() {
                found.add_memtable(component, memtable, wanted);
            }
        }
    }

    /// The pages near a fingerprint as of `sequence`, from all hits.
    pub(crate) fn near<F: FromHit>(
        &self,
        wanted: &SearchRequest<'_>,
        sequence: u64,
        found: &mut HitSet,
    ) -> Result<SearchOutput<F>> {
        let HitSet { hits, extent } = found;
        let is_whole = extent.is_whole(wanted.k);
        let mut findings = SearchOutput { complete: is_whole, ..SearchOutput::none() };
        if hits.is_empty() {
            return Ok(findings);
        }
        // Usually one hit leads to one page, so this is the final size.
        findings.near.reserve_exact(hits.len().min(wanted.limit));
        if hits.len() > 1 {
            // The nearest hits come first. Equal fingerprints are ordered by component, the oldest
            // first, because the first capture may be the original.
            hits.sort_unstable_by_key(|Hit { candidate, component }| {
                (candidate.distance, candidate.fingerprint, *component)
            });
            // The steps of all hits overlap: each step is done for up to 32 hits, instead of three
            // dependent waits for each hit.
            let (first, _) = hits.split_at(AHEAD.min(hits.len()));
            HitStep::ALL
                .into_iter()
                .try_for_each(|step| self.prefetch_step(step, first, wanted))?;
        }
        let mut search =
            HitResolver { output: findings, ..HitResolver::new(self, wanted, sequence) };
        let (mut ended, mut is_certain) = (false, true);
        // The loop goes distance by distance: pages at one distance come from several lists and are
        // sorted only when all are found.
        for equal in hits.chunk_by(|a, b| a.candidate.distance == b.candidate.distance) {
            let distance = equal.first().map(|hit| u32::from(hit.candidate.distance));
            if search.output.near.len() >= wanted.limit {
                // Enough pages are nearer. Farther hits are not looked up, and may have visible
                // pages, so the result may be incomplete.
                search.output.complete = false;
                search.output.cut_at = search.output.cut_at.or(distance);
                break;
            }
            let nearer = search.output.near.len();
            search.order.clear();
            let mut all = true;
            // If hits at this distance are missing, the first pages in SURT order may be missing,
            // too. In this case the limit ends the loop below at once.
            is_certain = is_whole || !extent.crowded && distance <= extent.certain;
            for hit in equal {
                if !is_certain && search.output.near.len() >= wanted.limit {
                    search.output.cut_at = search.output.cut_at.or(distance);
                    break;
                }
                all = search.pages(hit)?;
                if !all {
                    break;
                }
            }
            search.order.put(&mut search.output.near, nearer)?;
            if !all {
                // The lookup budget is used up. Farther pages would hide that nearer pages are
                // missing.
                search.output.complete = false;
                search.output.cut_at = search.output.cut_at.or(distance);
                ended = true;
                break;
            }
        }
        search.order_of_copies.put(&mut search.output.copies, 0)?;
        let mut findings = search.output;
        limit(&mut findings, wanted, is_certain || extent.crowded);
        // After `ended` a repetition would spend the same budget on the same pages.
        findings.wants_more &= extent.full && !ended;
        Ok(findings)
    }
}

/// Cuts a result at the limit, and records whether more hits would help. `is_settled` is true if
/// the hits at the last distance are all known, or if more hits would not complete them because a
/// dense bucket was cut short.
fn limit<F: FromHit>(findings: &mut SearchOutput<F>, wanted: &SearchRequest<'_>, is_settled: bool) {
    // A posting list may add one page more than the limit, to show that the result is cut.
    if let Some(first_left_out) = findings.near.get(wanted.limit) {
        findings.complete = false;
        let distance = first_left_out.near().distance;
        findings.cut_at = Some(findings.cut_at.map_or(distance, |cut| cut.min(distance)));
    }
    let looks_at_most = LookupBudget::of(wanted.limit).left;
    // More hits would help only if pages are missing, or if hits at the last distance may come
    // first in SURT order.
    let is_enough = findings.near.len() >= wanted.limit
        && (is_settled || wanted.bounds.is_none_or(|bounds| bounds.hits >= looks_at_most));
    findings.wants_more = !is_enough;
    findings.near.truncate(wanted.limit);
}

impl View {
    /// Whether any page has one of the found fingerprints, in segments and memtables. Examines
    /// pages until one has it, however many pages had it in the past.
    pub(crate) fn is_shown(
        &self,
        wanted: &SearchRequest<'_>,
        sequence: u64,
        hits: &[Hit],
    ) -> Result<bool> {
        let wanted = &SearchRequest { limit: 0, ..*wanted };
        HitResolver::of_all(self, wanted, sequence).any(hits)
    }
}

impl<'v, 'w, F> HitResolver<'v, 'w, F> {
    fn new(view: &'v View, wanted: &'w SearchRequest<'w>, sequence: u64) -> HitResolver<'v, 'w, F> {
        let (effort, under, findings) =
            (LookupBudget::of(wanted.limit), Vec::new(), SearchOutput::none());
        let (order, order_of_copies) = (HitLocations::default(), HitLocations::default());
        HitResolver {
            view,
            wanted,
            sequence,
            budget: effort,
            captures: LookupBudget::of(wanted.limit),
            under,
            output: findings,
            order,
            order_of_copies,
        }
    }
}

impl<'v, 'w> HitResolver<'v, 'w> {
    /// Creates a search without a lookup budget.
    pub(crate) fn of_all(
        view: &'v View,
        wanted: &'w SearchRequest<'w>,
        sequence: u64,
    ) -> HitResolver<'v, 'w> {
        let effort = LookupBudget { left: usize::MAX, postings: 0 };
        HitResolver { budget: effort, ..HitResolver::new(view, wanted, sequence) }
    }

    /// Whether any page has one of the found fingerprints, for a search that needs no results.
    pub(crate) fn any<'h>(&mut self, hits: impl IntoIterator<Item = &'h Hit>) -> Result<bool> {
        for hit in hits {
            self.pages(hit)?;
            if !self.output.near.is_empty() {
                self.output.near.clear();
                self.order.clear();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<F: FromHit> HitResolver<'_, '_, F> {
    /// Examines the pages of a fingerprint. Returns whether all were examined.
    fn pages(&mut self, hit: &Hit) -> Result<bool> {
        match self.view.component(hit.component)? {
            Component::Segment(number, _) => self.segment(number, &hit.candidate),
            Component::Memtable(id, memtable) => self.memory(id, memtable, &hit.candidate),
        }
    }

    /// The pages of a segment that are under the prefix.
    pub(crate) fn under(&mut self, number: u32, live: &LiveSegment) -> Result<Range<u32>> {
        // The two binary searches over the URLs are done once for each segment, and only if the
        // segment has a hit.
        let Some(prefix) = self.wanted.under else { return Ok(0..u32::MAX) };
        let number = number as usize;
        if self.under.len() <= number {
            self.under.resize(number + 1, None);
        }
        if let Some(Some(known)) = self.under.get(number) {
            return Ok(known.clone());
        }
        let (start, end) = prefix.range();
        let ordinal = |key| {
            let place = live.segment.lower_bound(key)?;
            let ordinal = u32::try_from(place).ok();
            Ok::<_, crate::error::Error>(ordinal.or_bug("a segment has fewer than 2^32 pages")?)
        };
        let range = ordinal(start)?..ordinal(end)?;
        *self.under.get_mut(number).or_bug("each segment has an index")? = Some(range.clone());
        Ok(range)
    }

    /// Examines the pages of a fingerprint in a segment. Returns whether all were examined.
    fn segment(&mut self, number: u32, candidate: &Candidate) -> Result<bool> {
        let view = self.view;
        let (live, tables) = view.searched(number, self.wanted.epoch)?;
        let under = self.under(number, live)?;
        let ordinal = candidate.ordinal;
        let in_force_only = self.wanted.versions == Versions::InForce;
        if let Some(Posting { page, in_force }) = tables.single(ordinal)? {
            // Nearly always one page has the fingerprint, and the posting itself has the page's
            // number, so no list is read.
            return match in_force || !in_force_only {
                _ if !under.contains(&page) => Ok(true),
                true => self.page(number, live, page, candidate),
                false => {
                    self.past_capture((number, live), page, candidate)?;
                    Ok(self.budget.posting())
                }
            };
        }
        // Equal content has an equal fingerprint, so copies are only at distance 0.
        // The postings of a digest have no tags: nearly all of them are copies.
        let is_tagged = candidate.distance == 0 && !self.wanted.is_by_digest();
        let digest = self.wanted.digest.filter(|_| is_tagged);
        if let Some(digest) = digest
            && let Some(copies) = tables.copies(ordinal, digest)?
        {
            self.copies((number, live), copies, candidate)?;
        }
        let (before, mut has_enough) = (self.output.near.len(), false);
        // One page more than the limit shows whether more pages exist. Prefetching further pages
        // would be in vain.
        let most = self.wanted.limit.saturating_add(1);
        let end = under.end;
        let postings = tables.postings_ahead(ordinal, under.start, digest, most, move |posting| {
            posting.page < end && (posting.in_force || !in_force_only)
        });
        for posting in postings? {
            let posting = posting?;
            if posting.page >= under.end {
                break;
            }
            if !posting.in_force && in_force_only {
                self.past_capture((number, live), posting.page, candidate)?;
                if !self.budget.posting() {
                    return Ok(false);
                }
                continue;
            }
            if has_enough {
                if !self.budget.posting() {
                    return Ok(false);
                }
                continue;
            }
            if self.wanted.is_by_digest() && self.has_enough_copies() {
                return Ok(false);
            }
            if !self.page(number, live, posting.page, candidate)? {
                return Ok(false);
            }
            if self.output.near.len() - before > self.wanted.limit {
                // Lists are in SURT order, so the first pages are the wanted pages. A page that had
                // the content in the past may come later.
                if self.captured(candidate).is_none() {
                    break;
                }
                has_enough = true;
            }
        }
        Ok(true)
    }

    /// Examines the copies in a segment, and records whether all were examined. Examines as many as
    /// possible, because the first capture may come last. The other pages are searched as well,
    /// however many copies there are.
    fn copies(
        &mut self,
        (number, live): (u32, &LiveSegment),
        copies: impl Iterator<Item = Result<u32>>,
        candidate: &Candidate,
    ) -> Result<()> {
        // Copies have a budget of their own, so that thousands of copies leave the budget of the
        // near pages unchanged.
        let effort = std::mem::replace(&mut self.budget, LookupBudget::of(self.wanted.limit));
        for page in copies {
            if self.has_enough_copies() || !self.page(number, live, page?, candidate)? {
                self.output.complete = false;
                break;
            }
        }
        self.budget = effort;
        Ok(())
    }

    /// Examines one page of a segment. Returns whether the budget allowed it.
    pub(crate) fn page(
        &mut self,
        number: u32,
        live: &LiveSegment,
        page: u32,
        candidate: &Candidate,
    ) -> Result<bool> {
        if !self.budget.page() {
            return Ok(false);
        }
        let mut url = Vec::new();
        let ordinal = page;
        let record = live.segment.page(ordinal, &mut url)?;
        let url = live.segment.owned_text(url)?;
        let (wanted, view, sequence) = (self.wanted, self.view, self.sequence);
        // The excluded page may have this fingerprint in many components, and must not use up the
        // budget.
        if wanted.exclude == Some(url.as_str()) {
            self.budget.give_back();
            return Ok(true);
        }
        let component = ComponentId::Segment(number);
        // In the newest component nothing can supersede the page, so no other component is read.
        if !view.is_newest(component) || !wanted.versions.need_no_visits() {
            let lookup = Lookup::new(&url, view.seed);
            // A newer version hides an older version from searches of the versions in force. Past
            // versions are hidden only by forgetting the page.
            let hidden = match wanted.versions {
                Versions::InForce => view.superseded(&lookup, sequence, component)?,
                _ => view.forgotten(&lookup, sequence, component)?,
            };
            if hidden {
                self.past_capture((number, live), ordinal, candidate)?;
            }
            if hidden || !self.was_seen(&lookup, candidate)? {
                return Ok(true);
            }
        }
        let (mut copy, mut head) = (false, None);
        let may_be_copy = wanted.digest.is_some() && candidate.distance == 0;
        let is_chosen = may_be_copy || wanted.excluded_epoch.is_some() || wanted.classes.is_some();
        // Reading the record costs another wait for memory. Without a digest, class or epoch to
        // check, the record is not read.
        if is_chosen || F::WANTS_HEAD {
            head = live.head(&PageRef { ordinal, record: record.read()? })?;
        }
        if is_chosen {
            if !self.is_of_class(&url, head.as_ref())? {
                return Ok(true);
            }
            let in_force = in_force_on(head.as_ref());
            if wanted.is_left_out(&in_force) {
                // The search in the newest epoch finds the page by another fingerprint, or not at all.
                self.past_capture((number, live), ordinal, candidate)?;
                return Ok(true);
            }
            copy = may_be_copy && in_force.first().is_some_and(|c| c.digest == wanted.digest);
            if !copy {
                // A page may have had this content before another one with an equal fingerprint.
                self.past_capture((number, live), ordinal, candidate)?;
            }
            // The content of a past time was compared above, in the page's history.
            if wanted.is_by_digest() && !copy && wanted.versions == Versions::InForce {
                return Ok(true);
            }
        }
        let location = PageAddress { component, page: ordinal };
        self.take(url, candidate, (head.as_ref(), copy), location)?;
        Ok(true)
    }

    /// Examines the pages of a fingerprint in a memtable. Returns whether all were examined.
    fn memory(
        &mut self,
        component: ComponentId,
        memtable: &Memtable,
        candidate: &Candidate,
    ) -> Result<bool> {
        /// The number of pages copied from a list at a time.
        const AT_ONCE: usize = 64;
        let wanted = self.wanted;
        // `at` is an index that is not after the position of the last page taken, because the list
        // only grows.
        let (mut last, mut at, before) = (None, 0, self.output.near.len());
        loop {
            let list = (wanted.epoch, candidate.ordinal);
            let pages = listed(memtable, list, (&mut last, &mut at), AT_ONCE)?;
            if pages.is_empty() {
                return Ok(true);
            }
            for number in pages {
                if wanted.digest.is_none() && self.output.near.len() - before > wanted.limit {
                    // The list is in SURT order, so later pages are not needed. Copies may come
                    // late in the list.
                    return Ok(true);
                }
                if !self.budget.page() {
                    return Ok(false);
                }
                self.memory_page(component, memtable, number, candidate)?;
            }
        }
    }

    /// Examines one page of a memtable.
    pub(crate) fn memory_page(
        &mut self,
        component: ComponentId,
        memtable: &Memtable,
        number: u32,
        candidate: &Candidate,
    ) -> Result<()> {
        // The memtable is locked for one page at a time, and released before other components are
        // read: `was_seen` may lock this memtable again, which could wait forever behind a waiting
        // writer.
        let (view, wanted, sequence) = (self.view, self.wanted, self.sequence);
        let inner = memtable.read();
        let page = inner.page(number);
        if wanted.exclude == Some(page.url()) {
            self.budget.give_back();
            return Ok(());
        }
        // The page arrived after this snapshot was taken.
        if !page.is_here(sequence) {
            return Ok(());
        }
        let url = page.url().to_owned();
        let lookup = Lookup::new(&url, view.seed);
        if wanted.under.is_some_and(|prefix| !prefix.contains(lookup.key())) {
            return Ok(());
        }
        let is_wanted = |content: &Content| wanted.matches(content, candidate);
        let (mut copy, mut head) = (false, None);
        let visible = if wanted.versions == Versions::InForce {
            head = page.head_at(sequence);
            let first = self.first_with_digest(&page, candidate);
            // The lock is released before `superseded` reads newer components, which have locks of
            // their own.
            drop(inner);
            let in_force = in_force_on(head.as_ref());
            let own = in_force.iter().find(|content| is_wanted(content));
            copy = candidate.distance == 0
                && own.is_some_and(|c| c.digest.is_some() && c.digest == wanted.digest);
            let visible = own.is_some()
                && !wanted.is_left_out(&in_force)
                && !view.superseded(&lookup, sequence, component)?;
            if !(visible && copy) {
                self.add_capture(&lookup, component, first)?;
            }
            visible
        } else {
            // A page's head may include content from an older component. Only entries of this
            // memtable count, so that one version is not reported twice.
            let here = page
                .entries_at(sequence)
                .any(|entry| entry.content().as_ref().is_some_and(is_wanted));
            drop(inner);
            here && !view.forgotten(&lookup, sequence, component)?
        };
        // The cheapest test comes first: the other tests read histories of other components.
        if visible && self.was_seen(&lookup, candidate)? && self.is_of_class(&url, head.as_ref())? {
            let location = PageAddress { component, page: number };
            self.take(url, candidate, (head.as_ref(), copy), location)?;
        }
        Ok(())
    }

    /// Reads the first capture of the searched digest on a page of a segment that no longer has it,
    /// if the search is for the first capture. The number of pages read is bounded.
    fn past_capture(
        &mut self,
        (number, live): (u32, &LiveSegment),
        page: u32,
        candidate: &Candidate,
    ) -> Result<()> {
        let Some(version) = self.captured(candidate) else { return Ok(()) };
        if !self.captures.page() {
            return Ok(());
        }
        let mut url = Vec::new();
        let record = live.segment.page(page, &mut url)?.read()?;
        let first = live.first_seen(&PageRef { ordinal: page, record }, &[version])?;
        let url = live.segment.owned_text(url)?;
        let lookup = Lookup::new(&url, self.view.seed);
        self.add_capture(&lookup, ComponentId::Segment(number), first)
    }

    /// The time of the first entry in a memtable in which a page has the searched digest, if the
    /// search is for the first capture.
    fn first_with_digest(
        &mut self,
        page: &MemtablePage<'_>,
        candidate: &Candidate,
    ) -> Option<Time> {
        self.captured(candidate)?;
        if !self.captures.page() {
            return None;
        }
        let is_it = |content: Content| content.digest == self.wanted.digest;
        let with_it = |entry: &Entry| entry.content().is_some_and(is_it);
        page.entries_at(self.sequence).filter(with_it).map(|entry| entry.time()).min()
    }

    /// The content whose first capture is searched, if the candidate may have it.
    fn captured(&self, candidate: &Candidate) -> Option<Content> {
        let is_wanted = self.wanted.first_capture && candidate.distance == 0;
        let digest = self.wanted.digest.filter(|_| is_wanted)?;
        // Versions with a digest are compared by it alone.
        Some(Content { fingerprint: None, digest: Some(digest), epoch: Epoch(self.wanted.epoch) })
    }

    /// Adds a capture on a page that was not forgotten since, and is not the excluded page.
    fn add_capture(
        &mut self,
        lookup: &Lookup<'_>,
        component: ComponentId,
        first: Option<Time>,
    ) -> Result<()> {
        let Some(time) = first.filter(|_| self.wanted.exclude != Some(lookup.url)) else {
            return Ok(());
        };
        if self.view.forgotten(lookup, self.sequence, component)? {
            return Ok(());
        }
        let capture = Capture { time, url: lookup.url.to_owned() };
        let known = self.output.first_capture.take();
        self.output.first_capture = known.into_iter().chain([capture]).min();
        Ok(())
    }

    /// Whether there are as many copies as one list may have: far more than are returned. The
    /// returned copies were first seen earliest.
    fn has_enough_copies(&self) -> bool {
        self.output.copies.len() >= LookupBudget::of(self.wanted.limit).left
    }

    /// Adds a page that has a fingerprint.
    fn take(
        &mut self,
        url: String,
        candidate: &Candidate,
        (head, copy): (Option<&PageHead>, bool),
        location: PageAddress,
    ) -> Result<()> {
        if copy && self.has_enough_copies() {
            self.output.complete = false;
            return Ok(());
        }
        let &Candidate { distance, fingerprint, .. } = candidate;
        let near = NearMatch { url, distance: distance.into(), fingerprint };
        let found = F::of(near, head, location)?;
        let SearchOutput { copies, near, .. } = &mut self.output;
        let (found_like, order) =
            if copy { (copies, &mut self.order_of_copies) } else { (near, &mut self.order) };
        found_like.push(found);
        order.add(location);
        Ok(())
    }
}

/// The next pages of a fingerprint's list in a memtable, by epoch and ordinal: up to `most` pages
/// after the last page taken. `at` is an index that is not after the position of the last page.
///
/// The pages are copied, and the lock is not held: the list may grow meanwhile, by pages that are
/// not needed.
pub(crate) fn listed(
    memtable: &Memtable,
    (epoch, ordinal): (u32, u32),
    (last, at): (&mut Option<u32>, &mut usize),
    most: usize,
) -> Result<Vec<u32>, Bug> {
    let inner = memtable.read();
    let all = inner.postings(epoch, ordinal);
    let mut from = 0;
    if let Some(last) = last {
        // Pages may have been inserted since, and moved later pages. So the last page is searched
        // for from its old index.
        let place = all.iter().skip(*at).position(|page| page == last);
        *at += place.or_bug("a posted page stays in its posting list")?;
        from = *at + 1;
    }
    let pages: Vec<u32> = all.iter().skip(from).take(most).copied().collect();
    // `at` stays at the first page of this batch, a lower bound of the last page's position.
    if let Some(page) = pages.last() {
        (*last, *at) = (Some(*page), from);
    }
    Ok(pages)
}
