//! A view: the components that are live at one moment, and lookups of a page across them.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::component::{
    Component, ComponentId, LocatedHead, PageAddress, PageSlice, PageWithChanges, entries_across,
    page_with_changes_across,
};
use super::epochs::Epochs;
use super::files::FileNaming;
use super::lifecycle::Poison;
use super::live_segment::LiveSegment;
use super::lookup::Lookup;
use super::memtables::Memtables;
use crate::bug::{Bug, OrBug, ensure};
use crate::disk::Disk;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::order::sort_few_by_key;
use crate::page::{Changes, Content, Entry, InForceContents, InForceVisit, PageHistory, Visit};
use crate::segment::{PagePart, page_across};
use crate::time::Time;

/// The live components at one moment. A view never changes: a new view replaces it.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The seed of the URL hash.
    pub(crate) seed: u64,
    /// The live segments, the oldest first.
    pub(crate) segments: Arc<[Arc<LiveSegment>]>,
    pub(crate) memtables: Memtables,
    pub(crate) epochs: Arc<Epochs>,
    /// The distance of near pages; `None` if each epoch determines it.
    pub(crate) near_distance: Option<u32>,
    /// The disk of the store.
    pub(crate) disk: Arc<dyn Disk>,
    /// The naming scheme of the files on the disk.
    pub(crate) files: FileNaming,
    /// The state that records a bug met in this or another view of the store.
    pub(crate) poison: Arc<Poison>,
    /// The metrics to notify.
    pub(crate) metrics: Metrics,
}

/// The version of a page that was in force at some time.
pub(crate) struct PastVersion {
    /// The last visit up to that time that saw the version.
    pub(crate) visit: Visit,
    /// The content, with each of its valid fingerprints.
    pub(crate) contents: InForceContents,
}

impl View {
    /// Checks that the view may be read.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`](crate::Error::Forked) in a forked process in which the state of the
    /// memtables is unknown; [`Error::Poisoned`](crate::Error::Poisoned) after a bug.
    pub(crate) fn check(&self) -> Result<()> {
        self.poison.check_read()?;
        self.memtables.iter().try_for_each(|memtable| memtable.check())
    }

    /// The number of a segment's fingerprints in ended epochs.
    pub(crate) fn ended_fingerprints(&self, live: &LiveSegment) -> u64 {
        let ended = self.epochs.iter().filter(|info| info.ended);
        let tables = ended.filter_map(|info| live.tables(info.epoch.0));
        tables.map(|tables| u64::from(tables.tables.len())).sum()
    }

    /// The position of the segments with the numbers `ids`, which are neighbours.
    pub(crate) fn place_of(&self, ids: &[u64]) -> Result<usize, Bug> {
        let of = |live: &Arc<LiveSegment>| live.segment.id();
        // The segments are searched by number: seals and other merges may have changed the list
        // since the inputs were chosen.
        let from = self.segments.iter().position(|live| ids.first() == Some(&of(live)));
        let from = from.or_bug("merged segments are live")?;
        let there = self.segments.iter().skip(from).take(ids.len()).map(of);
        ensure(there.eq(ids.iter().copied()), "merged segments are adjacent")?;
        Ok(from)
    }

    /// The segments with their numbers, the oldest first.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a published has fewer segments than 2^32")]
    fn numbered(&self) -> impl DoubleEndedIterator<Item = (u32, &Arc<LiveSegment>)> {
        self.segments.iter().enumerate().map(|(number, live)| (number as u32, live))
    }

    /// All components, the newest first.
    #[inline]
    pub(crate) fn components(&self) -> impl DoubleEndedIterator<Item = Component<'_>> {
        let memtables = self.memtables.with_ids().rev();
        let memtables = memtables.map(|(id, memtable)| Component::Memtable(id, memtable));
        let segments = self.numbered().rev();
        memtables.chain(segments.map(|(number, live)| Component::Segment(number, live)))
    }

    /// The components that are newer than the component `id`, the oldest of them first.
    #[inline]
    pub(crate) fn newer_than(&self, id: ComponentId) -> impl Iterator<Item = Component<'_>> {
        let from = match id {
            ComponentId::Segment(number) => number as usize + 1,
            // No segment is newer than a memtable.
            ComponentId::Sealing | ComponentId::Active => self.segments.len(),
        };
        let segments = self.numbered().skip(from);
        let segments = segments.map(|(number, live)| Component::Segment(number, live));
        // The variants of `ComponentId` are in order of age, and so are the numbers of segments.
        let memtables = self.memtables.with_ids().filter(move |(newer, _)| *newer > id);
        segments.chain(memtables.map(|(id, memtable)| Component::Memtable(id, memtable)))
    }

    /// The component of a hit, or of a page location.
    #[inline]
    pub(crate) fn component(&self, id: ComponentId) -> Result<Component<'_>, Bug> {
        let Memtables { sealing, active } = &self.memtables;
        let component = match id {
            ComponentId::Segment(number) => {
                let live = self.segments.get(number as usize);
                live.map(|live| Component::Segment(number, live))
            }
            ComponentId::Sealing => {
                sealing.as_ref().map(|sealing| Component::Memtable(id, sealing))
            }
            ComponentId::Active => Some(Component::Memtable(id, active)),
        };
        component.or_bug("each requested component is in the view")
    }

    /// The data about a page as of `sequence`.
    pub(crate) fn locate_page(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<LocatedHead> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        let mut known = LocatedHead::default();
        known.fill_from(|| lookup.key(), pages)?;
        Ok(known)
    }

    /// Adds the data about a page in the memtables. Returns whether the data is complete, so that
    /// segments need not be read.
    pub(crate) fn fill_from_memtables(
        &self,
        lookup: &Lookup<'_>,
        known: &mut LocatedHead,
    ) -> Result<bool> {
        let memtables = self.memtables.with_ids().rev();
        let pages = memtables
            .map(|(id, memtable)| Component::Memtable(id, memtable).page(lookup, u64::MAX));
        known.fill_from(|| lookup.key(), pages)
    }

    /// Looks up many pages in the segments, in order of their hashes, which is the order of each
    /// segment's filter and index. Passes to `found` the index in `lookups` of each page with a
    /// record that is not forgotten.
    ///
    /// This function takes the steps of [`page_across`] for all pages at once, segment by segment.
    #[expect(clippy::indexing_slicing, reason = "each index is the index of a lookup")]
    pub(crate) fn locate_in_segments(
        &self,
        lookups: &[Lookup<'_>],
        mut found: impl FnMut(usize, PageAddress, PageHistory) -> Result<(), Bug>,
    ) -> Result<()> {
        let mut order: Vec<(u64, usize)> =
            lookups.iter().enumerate().map(|(place, lookup)| (lookup.hash, place)).collect();
        order.sort_unstable();
        for (number, live) in self.numbered().rev() {
            let wanted = order.iter().map(|&(hash, place)| (hash, lookups[place].url));
            // A segment that has a record of a page has the page's head, too. So older segments are
            // searched only for the remaining pages.
            let mut answered = vec![false; order.len()];
            for (at, page) in live.segment.find_many(wanted)? {
                let location =
                    PageAddress { component: ComponentId::Segment(number), page: page.ordinal };
                let changes = page.record.changes(&self.epochs);
                let changes = Some(changes.ok_or_else(|| live.unreadable())?);
                found(order[at].1, location, PageHistory { head: live.head(&page)?, changes })?;
                answered[at] = true;
            }
            let mut answered = answered.into_iter();
            order.retain(|&(_, place)| {
                let rest = PageSlice::Segment { number, live, page: None };
                // `retain` visits the pages in their order, which is also the order of `answered`.
                // A page under a prefix that this segment forgot is not searched in older segments.
                answered.next() == Some(false) && !rest.covers(|| lookups[place].key())
            });
        }
        Ok(())
    }

    /// Passes the data about a page in each component to `take`, the newest component first, back
    /// to the component that forgot the page. `take` breaks when it has enough data.
    pub(crate) fn each_part(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        take: impl FnMut(&PageSlice<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        page_across(|| lookup.key(), pages, take).map(drop)
    }

    /// Returns a page with its change statistics; `None` if the page is unknown. If a late visit
    /// was not sealed yet, reads all data about the page.
    pub(crate) fn page_with_changes(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
    ) -> Result<Option<PageWithChanges>> {
        let parts = || self.components().map(|component| component.page(lookup, sequence));
        page_with_changes_across(|| lookup.key(), parts, &self.epochs)
    }

    /// Returns a page with its change statistics, by the location of its newest record.
    pub(crate) fn page_with_changes_at(
        &self,
        location: PageAddress,
        lookup: &Lookup<'_>,
        sequence: u64,
    ) -> Result<Option<PageWithChanges>> {
        let newest = self.component(location.component)?;
        // The newest record is at this location, so newer components have no record of the page.
        let older = || self.components().filter(|older| older.id() < location.component);
        let parts = || {
            let older = older().map(|component| component.page(lookup, sequence));
            std::iter::once(newest.page_at(location.page, lookup, sequence)).chain(older)
        };
        page_with_changes_across(|| lookup.key(), parts, &self.epochs)
    }

    /// The URL of the page at a location.
    pub(crate) fn url_at(&self, location: PageAddress) -> Result<String> {
        match self.component(location.component)? {
            Component::Segment(_, live) => {
                let mut url = Vec::new();
                live.segment.page(location.page, &mut url)?;
                live.segment.owned_text(url)
            }
            Component::Memtable(_, memtable) => {
                Ok(memtable.read().page(location.page).url().to_owned())
            }
        }
    }

    /// The change statistics of a page in a memtable, if the statistics are known without reading
    /// the page's history.
    pub(crate) fn changes_in_memory(&self, location: PageAddress) -> Result<Option<Changes>, Bug> {
        let Component::Memtable(_, memtable) = self.component(location.component)? else {
            return Ok(None);
        };
        Ok(memtable.read().page(location.page).history_at(u64::MAX, &self.epochs).changes)
    }

    /// All entries of a page in the segments, in order.
    pub(crate) fn sealed_entries(&self, lookup: &Lookup<'_>) -> Result<Vec<Entry>> {
        let segments = self.numbered().rev();
        let segments = segments.map(|(number, live)| Component::Segment(number, live));
        // All data in a segment is acknowledged, so no sequence number limits it.
        entries_across(|| lookup.key(), segments.map(|segment| segment.page(lookup, u64::MAX)))
    }

    /// All entries of a page, in order.
    pub(crate) fn entries(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<Vec<Entry>> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        entries_across(|| lookup.key(), pages)
    }

    /// The time when a page was first seen, or restated, with a content of a version. Costs reading
    /// the data about the page in each component up to that time.
    pub(crate) fn first_seen(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        version: &[Content],
    ) -> Result<Option<Time>> {
        let mut first = None::<Time>;
        self.each_part(lookup, sequence, |page| {
            // Visits may come late, so a newer component can have the earlier time. So all
            // components are read.
            first = first.into_iter().chain(page.first_seen(version)?).min();
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(first)
    }

    /// The entries of a page at one time.
    pub(crate) fn entries_at(&self, lookup: &Lookup<'_>, time: Time) -> Result<Vec<Entry>> {
        let mut all = Vec::new();
        self.each_part(lookup, u64::MAX, |page| {
            all.append(&mut page.entries_at(time)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// The number of visits of a page at or after a time, and the time of the page's first visit of
    /// all.
    pub(crate) fn visits_since(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        time: Time,
    ) -> Result<(u64, Option<Time>)> {
        let (mut count, mut first) = (0, None::<Time>);
        self.each_part(lookup, sequence, |page| {
            count += page.visits_since(time)?.len() as u64;
            // A head includes the visits of older components. The minimum over all heads is the
            // time of the first visit, and no history is read.
            let earliest = page.head()?.map(|head| head.first);
            first = first.into_iter().chain(earliest).min();
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((count, first))
    }

    /// The version that was in force at a time.
    pub(crate) fn version_at(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        time: Time,
    ) -> Result<Option<PastVersion>> {
        let (mut found, mut contents) = (InForceVisit::default(), Vec::new());
        self.each_part(lookup, sequence, |page| {
            for entry in page.entries_until(time)? {
                entry.visit().into_iter().for_each(|visit| found.take(*visit));
                contents.extend(entry.content().map(|content| (entry, content)));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found.visit().map(|visit| {
            // All entries with one time and digest are one version, with one valid fingerprint per
            // epoch.
            let of = |entry: &Entry| (entry.time(), entry.digest());
            contents.retain(|(e, _)| of(e) == (visit.time, visit.seen.digest()));
            // The contents are in the order of a head: within an epoch a restatement comes first,
            // then the greatest fingerprint.
            let ranked =
                |(e, c): &(Entry, Content)| Reverse((c.epoch, e.is_restated(), c.fingerprint));
            sort_few_by_key(&mut contents, ranked);
            contents.dedup_by_key(|(_, content)| content.epoch);
            PastVersion {
                visit,
                contents: contents.into_iter().map(|(_, content)| content).collect(),
            }
        }))
    }

    /// Whether all components newer than `id` are empty.
    pub(crate) fn is_newest(&self, id: ComponentId) -> bool {
        self.newer_than(id).all(Component::is_untouched)
    }

    /// Whether a newer component has the page or forgot it, so that the data in the component `id`
    /// is not in force. Any newer component may supersede the data, so they are read in the faster
    /// order.
    pub(crate) fn superseded(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        id: ComponentId,
    ) -> Result<bool> {
        if id == ComponentId::Active {
            return Ok(false);
        }
        // All filters are prefetched before the first filter is read, so one wait for memory serves
        // all segments.
        self.newer_than(id).for_each(|component| component.prefetch(lookup.hash));
        // A record in any newer component supersedes the data, whether or not the record ends the
        // page. So any order works.
        let newer = self.newer_than(id).map(|component| component.page(lookup, sequence));
        let end = page_across(|| lookup.key(), newer, |_| Ok(ControlFlow::Break(())))?;
        Ok(end.is_some())
    }

    /// Whether a newer component forgot all data of the page that the component `id` has.
    pub(crate) fn forgotten(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        id: ComponentId,
    ) -> Result<bool> {
        // A record by itself is not enough here: only a record that ends the page, or a tombstone,
        // counts.
        let newer = self.newer_than(id).map(|component| component.find_reset(lookup, sequence));
        let end = page_across(|| lookup.key(), newer, |_| Ok(ControlFlow::Continue(())))?;
        Ok(end.is_some())
    }
}
