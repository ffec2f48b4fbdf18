//! A view: the components that are live at one moment, and what they know together of a page.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::component::{
    Changing, Component, ComponentId, Known, PageIn, PageLocation, changing_across, entries_across,
};
use super::epochs::Epochs;
use super::files::Files;
use super::lifecycle::Poison;
use super::live_segment::LiveSegment;
use super::lookup::Lookup;
use super::memtables::Memtables;
use crate::bug::{Bug, OrBug, ensure};
use crate::disk::Disk;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::page::{Changes, Content, Course, Entry, InForce, InForceVisit, Visit};
use crate::segment::{PartOfPage, page_across};
use crate::time::Time;

/// The live components at one moment. Never changed: a new one takes its place.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Seed of the URL hash.
    pub(crate) seed: u64,
    /// Oldest first.
    pub(crate) segments: Arc<[Arc<LiveSegment>]>,
    pub(crate) memtables: Memtables,
    pub(crate) epochs: Arc<Epochs>,
    /// Within which distance pages are near, unless that is for their epoch to say.
    pub(crate) near_distance: Option<u32>,
    /// Where all of it is.
    pub(crate) disk: Arc<dyn Disk>,
    /// What the files are called there.
    pub(crate) files: Files,
    /// Whether a bug was met, here or in another view of the store.
    pub(crate) poison: Arc<Poison>,
    /// Who is told of it.
    pub(crate) metrics: Metrics,
}

/// The version of a page that was in force at some time.
pub(crate) struct VersionAt {
    /// The last visit that saw it until then.
    pub(crate) visit: Visit,
    /// The content, with each of its fingerprints that count.
    pub(crate) contents: InForce,
}

impl View {
    /// Whether this may be read.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a forked process that cannot know what the memtables hold;
    /// [`Error::Poisoned`] if a bug was met.
    pub(crate) fn check(&self) -> Result<()> {
        self.poison.check_read()?;
        self.memtables.iter().try_for_each(|memtable| memtable.check())
    }

    /// How many fingerprints a segment has of epochs that have ended.
    pub(crate) fn ended_fingerprints(&self, live: &LiveSegment) -> u64 {
        let ended = self.epochs.iter().filter(|info| info.ended);
        let tables = ended.filter_map(|info| live.tables(info.epoch.0));
        tables.map(|tables| u64::from(tables.tables.len())).sum()
    }

    /// Where segments with these numbers stand, which are neighbours.
    pub(crate) fn place_of(&self, ids: &[u64]) -> Result<usize, Bug> {
        let of = |live: &Arc<LiveSegment>| live.segment.id();
        // Looked for by number: seals and other merges may have changed the list since the inputs were
        // chosen.
        let from = self.segments.iter().position(|live| ids.first() == Some(&of(live)));
        let from = from.or_bug("what is merged is live")?;
        let there = self.segments.iter().skip(from).take(ids.len()).map(of);
        ensure(there.eq(ids.iter().copied()), "what is merged are neighbours")?;
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

    /// The components that are newer than one, the oldest of them first.
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

    /// The component of a hit, or of a page that stands in it.
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
        component.or_bug("a component that was named is in the view")
    }

    /// What is known of a page as of `sequence`.
    pub(crate) fn known(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<Known> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        let mut known = Known::default();
        known.take_in(|| lookup.key(), pages)?;
        Ok(known)
    }

    /// Adds what the memtables know of a page. Returns whether that is all, or the segments have to
    /// be asked.
    pub(crate) fn take_in_memory(&self, lookup: &Lookup<'_>, known: &mut Known) -> Result<bool> {
        let memtables = self.memtables.with_ids().rev();
        let pages = memtables
            .map(|(id, memtable)| Component::Memtable(id, memtable).page(lookup, u64::MAX));
        known.take_in(|| lookup.key(), pages)
    }

    /// What the segments know of many pages, looked up in order of their hashes, which is the order
    /// of each segment's filter and index. Passes on the index in `lookups` of each page of which a
    /// segment has a record that is not forgotten.
    ///
    /// These are the steps of [`page_across`], taken by all pages at once, segment by segment.
    #[expect(
        clippy::indexing_slicing,
        reason = "places are those of the lookups, and what is found is of what is wanted"
    )]
    pub(crate) fn known_in_segments(
        &self,
        lookups: &[Lookup<'_>],
        mut found: impl FnMut(usize, PageLocation, Course) -> Result<(), Bug>,
    ) -> Result<()> {
        let mut order: Vec<(u64, usize)> =
            lookups.iter().enumerate().map(|(place, lookup)| (lookup.hash, place)).collect();
        order.sort_unstable();
        for (number, live) in self.numbered().rev() {
            let wanted = order.iter().map(|&(hash, place)| (hash, lookups[place].url));
            // A segment that has a record of a page has its head, too. So older ones are asked only for
            // the rest.
            let mut answered = vec![false; order.len()];
            for (at, page) in live.segment.find_many(wanted)? {
                let location =
                    PageLocation { component: ComponentId::Segment(number), page: page.ordinal };
                let changes = page.record.changes(&self.epochs);
                let changes = Some(changes.ok_or_else(|| live.unreadable())?);
                found(order[at].1, location, Course { head: live.head(&page)?, changes })?;
                answered[at] = true;
            }
            let mut answered = answered.into_iter();
            order.retain(|&(_, place)| {
                let rest = PageIn::Segment { number, live, page: None };
                // `retain` visits the pages in their order, so `answered` goes along. A page under a
                // prefix that this segment forgot is not known further back.
                answered.next() == Some(false) && !rest.buries(|| lookups[place].key())
            });
        }
        Ok(())
    }

    /// Passes on what components have of a page, the newest first, back to where it was forgotten.
    /// `take` breaks when it has enough.
    pub(crate) fn each_part(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        take: impl FnMut(&PageIn<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        page_across(|| lookup.key(), pages, take).map(drop)
    }

    /// A page, and how it changes; none if it is not known. If a visit came late, and was not sealed
    /// yet, this costs reading all that is known of the page.
    pub(crate) fn changing(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<Option<Changing>> {
        let parts = || self.components().map(|component| component.page(lookup, sequence));
        changing_across(|| lookup.key(), parts, &self.epochs)
    }

    /// A page whose newest record stands there, and how it changes.
    pub(crate) fn changing_at(
        &self,
        location: PageLocation,
        lookup: &Lookup<'_>,
        sequence: u64,
    ) -> Result<Option<Changing>> {
        let newest = self.component(location.component)?;
        // The newest record is at this location, so newer components have none.
        let older = || self.components().filter(|older| older.id() < location.component);
        let parts = || {
            let older = older().map(|component| component.page(lookup, sequence));
            std::iter::once(newest.page_at(location.page, lookup, sequence)).chain(older)
        };
        changing_across(|| lookup.key(), parts, &self.epochs)
    }

    /// The page that stands there.
    pub(crate) fn url_at(&self, location: PageLocation) -> Result<String> {
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

    /// How a page changes that a memtable has, if that is known without reading its history.
    pub(crate) fn changes_in_memory(&self, location: PageLocation) -> Result<Option<Changes>, Bug> {
        let Component::Memtable(_, memtable) = self.component(location.component)? else {
            return Ok(None);
        };
        Ok(memtable.read().page(location.page).course_at(u64::MAX, &self.epochs).changes)
    }

    /// All entries of a page in the segments, in order.
    pub(crate) fn sealed_entries(&self, lookup: &Lookup<'_>) -> Result<Vec<Entry>> {
        let segments = self.numbered().rev();
        let segments = segments.map(|(number, live)| Component::Segment(number, live));
        // Everything in a segment is acknowledged, so no sequence number limits it.
        entries_across(|| lookup.key(), segments.map(|segment| segment.page(lookup, u64::MAX)))
    }

    /// All entries of a page, in order.
    pub(crate) fn entries(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<Vec<Entry>> {
        let pages = self.components().map(|component| component.page(lookup, sequence));
        entries_across(|| lookup.key(), pages)
    }

    /// When a page was first seen, or restated, with a content of a version. Costs reading what each
    /// component has of the page until then.
    pub(crate) fn first_seen(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        version: &[Content],
    ) -> Result<Option<Time>> {
        let mut first = None::<Time>;
        self.each_part(lookup, sequence, |page| {
            // Visits may come late, so a newer component can have the earlier time: all of them are
            // asked.
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

    /// How many visits of a page there are at or after a time, and when the first one of all was.
    pub(crate) fn visits_since(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        time: Time,
    ) -> Result<(u64, Option<Time>)> {
        let (mut count, mut first) = (0, None::<Time>);
        self.each_part(lookup, sequence, |page| {
            count += page.visits_since(time)?.len() as u64;
            // A head counts visits of older components too. The minimum of all is the same, and no
            // history is read.
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
    ) -> Result<Option<VersionAt>> {
        let (mut found, mut contents) = (InForceVisit::default(), Vec::new());
        self.each_part(lookup, sequence, |page| {
            for entry in page.entries_until(time)? {
                contents.extend(entry.content().map(|content| (entry, content)));
                entry.visit().into_iter().for_each(|visit| found.take(*visit));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found.visit().map(|visit| {
            // All of one time and digest are one version, with one fingerprint that counts an epoch.
            let of = |entry: &Entry| (entry.time(), entry.digest());
            contents.retain(|(e, _)| of(e) == (visit.time, visit.seen.digest()));
            // As a head ranks them: of an epoch restated content comes first, then the greatest
            // fingerprint.
            contents.sort_by_key(|(e, c)| Reverse((c.epoch, e.is_restated(), c.fingerprint)));
            contents.dedup_by_key(|(_, content)| content.epoch);
            VersionAt {
                visit,
                contents: contents.into_iter().map(|(_, content)| content).collect(),
            }
        }))
    }

    /// Whether no component newer than this one has anything to say.
    pub(crate) fn is_newest(&self, id: ComponentId) -> bool {
        self.newer_than(id).all(Component::is_untouched)
    }

    /// Whether a component newer than this one knows the page or forgot it, so that what this one
    /// says of it is not in force. Any of them may be the one, so they are asked in the order that
    /// is quicker.
    pub(crate) fn superseded(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        id: ComponentId,
    ) -> Result<bool> {
        if id == ComponentId::Active {
            return Ok(false);
        }
        // All filters are prefetched before the first one is read: one wait for memory serves all
        // segments.
        self.newer_than(id).for_each(|component| component.prefetch(lookup.hash));
        // A record in any newer component supersedes, whether or not it ends the page. So the order is
        // free.
        let newer = self.newer_than(id).map(|component| component.page(lookup, sequence));
        let end = page_across(|| lookup.key(), newer, |_| Ok(ControlFlow::Break(())))?;
        Ok(end.is_some())
    }

    /// Whether what this component ever saw of the page was forgotten by a newer one, whichever.
    pub(crate) fn forgotten(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        id: ComponentId,
    ) -> Result<bool> {
        // Here a record alone decides nothing: only one that ends the page, or a tombstone.
        let newer = self.newer_than(id).map(|component| component.reset(lookup, sequence));
        let end = page_across(|| lookup.key(), newer, |_| Ok(ControlFlow::Continue(())))?;
        Ok(end.is_some())
    }
}
