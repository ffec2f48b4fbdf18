//! What is live: segments and memtables, newest last; and how a page is looked up across them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::listed::{is_listed, open_listed};
use super::memtable::{Inner, Memtable};
use super::memtables::Memtables;
use super::poison::Poison;
use crate::bug::{Bug, OrBug, ensure};
use crate::catalog::SegmentRow;
use crate::disk::Disk;
use crate::error::Result;
use crate::page::{Epoch, EpochInfo, Head, Seen, Visit, surt};
use crate::segment::{EpochTables, PageRef, Segment, Tombstones, url_hash};
use crate::sync::RwLock;

/// Visits from which on a page is deep: to find its head takes a look over a long directory.
const DEEP: usize = 4096;

/// Heads of deep pages that are kept of a segment, at most.
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
    pub(crate) fn open(segment: Segment) -> Result<LiveSegment> {
        segment.read_plainly()?;
        let tombstones = segment.tombstones()?;
        let segment = Arc::new(segment);
        let tables = segment.epochs().map(|epoch| EpochTables::open(&segment, epoch));
        let tables = tables.collect::<Result<_>>()?;
        Ok(LiveSegment { segment, tombstones, tables, deep: RwLock::default() })
    }

    /// Opens what the catalog or `SNAPSHOT` names, unless it is among those that are open already.
    pub(crate) fn open_row(
        disk: &Arc<dyn Disk>,
        store: u64,
        row: &SegmentRow,
        open: &[Arc<LiveSegment>],
    ) -> Result<Arc<LiveSegment>> {
        if let Some(live) = open.iter().find(|live| is_listed(live.segment.frame(), store, row)) {
            return Ok(Arc::clone(live));
        }
        LiveSegment::open(open_listed(disk, store, row)?).map(Arc::new)
    }

    /// The tables of an epoch.
    pub(crate) fn tables(&self, epoch: u32) -> Option<&EpochTables> {
        self.tables.iter().find(|t| t.epoch == epoch)
    }

    /// What this segment says of a page; `None` where it leaves that to older ones.
    fn known(&self, lookup: &Lookup<'_>) -> Result<Option<Known>> {
        if let Some(page) = self.segment.find(lookup.hash, lookup.url)? {
            return Ok(Some(Known { earlier: true, head: self.head(&page)? }));
        }
        Ok(self.buries(lookup).then(Known::default))
    }

    /// The head of a page, at the same cost however long its history.
    fn head(&self, page: &PageRef<'_>) -> Result<Option<Head>> {
        let read = || page.record.head().ok_or_else(|| unreadable(&self.segment));
        if page.record.len() < DEEP {
            return read();
        }
        // Not waited for: after a fork whoever holds it may not be there.
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

    /// Whether it hides what older segments have of a page.
    fn buries(&self, lookup: &Lookup<'_>) -> bool {
        !self.tombstones.is_empty() && self.tombstones.cover(lookup.key())
    }
}

/// The live components at one moment. Never changed: a new one takes its place.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Seed of the URL hash.
    pub(crate) seed: u64,
    /// Oldest first.
    pub(crate) segments: Arc<[Arc<LiveSegment>]>,
    pub(crate) memtables: Memtables,
    /// All epochs, by number.
    pub(crate) epochs: Arc<[EpochInfo]>,
    /// Where all of it is.
    pub(crate) disk: Arc<dyn Disk>,
    /// Whether a bug was met, here or in another view of the store.
    pub(crate) poison: Arc<Poison>,
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

    /// The epoch that was registered last, of those that have not ended. Where nothing is known of any,
    /// a number that every store refuses.
    pub(crate) fn newest_epoch(&self) -> Epoch {
        let live = self.epochs.iter().rev().find(|info| !info.ended);
        live.map_or(Epoch(u32::MAX), |newest| newest.epoch)
    }
}

/// A URL, and what it takes to look it up.
pub(crate) struct Lookup<'a> {
    pub(crate) url: &'a str,
    pub(crate) hash: u64,
    key: std::cell::OnceCell<Vec<u8>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(url: &'a str, seed: u64) -> Self {
        Self::of(url, url_hash(url, seed))
    }

    /// A lookup where the hash is known.
    pub(crate) fn of(url: &'a str, hash: u64) -> Self {
        Lookup { url, hash, key: std::cell::OnceCell::new() }
    }

    /// The SURT key, made when it is first asked for.
    pub(crate) fn key(&self) -> &[u8] {
        self.key.get_or_init(|| {
            let mut key = Vec::new();
            surt::key(self.url, &mut key);
            key
        })
    }
}

/// What older components know of a page.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whether any has it, forgotten or not.
    pub(crate) earlier: bool,
    pub(crate) head: Option<Head>,
}

/// Where a page stands: the number of a segment, and of the page there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) segment: usize,
    pub(crate) page: u32,
}

/// What memtables know of a page as of `sequence`; `None` where they leave it to older components.
pub(crate) fn head_in<'m>(
    memtables: impl IntoIterator<Item = &'m Arc<Memtable>, IntoIter: DoubleEndedIterator>,
    lookup: &Lookup<'_>,
    sequence: u64,
) -> Option<Known> {
    memtables.into_iter().rev().find_map(|memtable| known_in(&memtable.read(), lookup, sequence).1)
}

/// The number of a page in a memtable, and what that knows of it as of `sequence`; `None` where it
/// leaves the page to older components.
pub(crate) fn known_in(
    inner: &Inner,
    lookup: &Lookup<'_>,
    sequence: u64,
) -> (Option<u32>, Option<Known>) {
    let number = inner.find(lookup.hash, lookup.url, sequence);
    if let Some(page) = number.map(|number| inner.page(number)) {
        return (number, Some(Known { earlier: true, head: page.head_at(sequence) }));
    }
    (None, buries(inner, lookup, sequence).then(Known::default))
}

/// Whether a memtable hides what older components have of a page, as of `sequence`.
fn buries(inner: &Inner, lookup: &Lookup<'_>, sequence: u64) -> bool {
    !inner.buried.is_empty() && inner.buried.hides(lookup.key(), sequence)
}

impl View {
    /// How many fingerprints a segment has of epochs that have ended.
    pub(crate) fn ended_fingerprints(&self, live: &LiveSegment) -> u64 {
        let ended = self.epochs.iter().filter(|info| info.ended);
        let tables = ended.filter_map(|info| live.tables(info.epoch.0));
        tables.map(|tables| u64::from(tables.tables.len())).sum()
    }

    /// The page's head as of `sequence`.
    pub(crate) fn head(&self, lookup: &Lookup<'_>, sequence: u64) -> Result<Known> {
        match head_in(&self.memtables, lookup, sequence) {
            Some(known) => Ok(known),
            None => self.head_in_segments(lookup),
        }
    }

    /// The page's head as the segments know it; what memtables say is not asked.
    pub(crate) fn head_in_segments(&self, lookup: &Lookup<'_>) -> Result<Known> {
        for live in self.segments.iter().rev() {
            if let Some(known) = live.known(lookup)? {
                return Ok(known);
            }
        }
        Ok(Known::default())
    }

    /// What the segments know of many pages: looked up in order of their hashes, which is that of each
    /// segment's filter and index. Hands over the place among `lookups` of each page of which any
    /// segment has a record that is not buried, and where that stands.
    #[expect(
        clippy::indexing_slicing,
        reason = "places are those of the lookups, and what is found is of what is wanted"
    )]
    pub(crate) fn heads_in_segments(
        &self,
        lookups: &[Lookup<'_>],
        mut found: impl FnMut(usize, Known, Standing) -> Result<(), Bug>,
    ) -> Result<()> {
        let mut order: Vec<(u64, usize)> =
            lookups.iter().enumerate().map(|(place, lookup)| (lookup.hash, place)).collect();
        order.sort_unstable();
        for (number, live) in self.segments.iter().enumerate().rev() {
            let wanted = order.iter().map(|&(hash, place)| (hash, lookups[place].url));
            let mut answered = vec![false; order.len()];
            for (at, page) in live.segment.find_many(wanted)? {
                let head = live.head(&page)?;
                let standing = Standing { segment: number, page: page.ordinal };
                found(order[at].1, Known { earlier: true, head }, standing)?;
                answered[at] = true;
            }
            let mut answered = answered.into_iter();
            order.retain(|&(_, place)| {
                answered.next() == Some(false) && !live.buries(&lookups[place])
            });
        }
        Ok(())
    }

    /// Hands the visits of a page to `take`, component by component, newest first, as far back as
    /// they are not forgotten. `take` says whether to go on.
    pub(crate) fn visits(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        mut take: impl FnMut(Part<'_>) -> Option<bool>,
    ) -> Result<()> {
        for memtable in self.memtables.iter().rev() {
            let inner = memtable.read();
            if let Some(page) = inner.find(lookup.hash, lookup.url, sequence).map(|n| inner.page(n))
            {
                let mut visits: Vec<Visit> = page.visits_at(sequence).collect();
                visits.sort_unstable();
                let more = take(Part::Memory(visits)).or_bug("what is in memory can be read")?;
                if !more || !page.earlier() || page.reset_by(sequence) {
                    return Ok(());
                }
            }
            if buries(&inner, lookup, sequence) {
                return Ok(());
            }
        }
        for live in self.segments.iter().rev() {
            if let Some(page) = live.segment.find(lookup.hash, lookup.url)? {
                let more = take(Part::Segment(page.record));
                let more = more.ok_or_else(|| unreadable(&live.segment))?;
                if !more || !page.record.earlier() {
                    return Ok(());
                }
            }
            if live.buries(lookup) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The visit whose content was in force at a time, with its fingerprint of the newest epoch.
    pub(crate) fn as_of(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        time: i64,
    ) -> Result<Option<Visit>> {
        let (mut settled, mut contents) = (None, Vec::new());
        self.visits(lookup, sequence, |part| {
            let visits = match part {
                Part::Memory(visits) => visits,
                Part::Segment(record) => {
                    record.visits_until(time, |v| matches!(v.seen, Seen::Content(_)))?
                }
            };
            for visit in visits.into_iter().filter(|v| v.time <= time && v.seen != Seen::Failed) {
                contents.extend(visit.seen.content().map(|_| visit));
                settled = settled.max((!visit.seen.is_restated()).then_some(visit));
            }
            Some(true)
        })?;
        let last = contents.iter().filter(|v| !v.seen.is_restated()).max().copied();
        let last = last.filter(|_| settled.is_some_and(|v: Visit| v.seen != Seen::Gone));
        Ok(last.map(|mut visit| {
            // All of one time and digest are one version.
            let of = |v: &Visit| (v.time, v.seen.digest());
            let version = contents.iter().filter(|v| of(v) == of(&visit));
            let all = version.filter_map(|v| Some((v.seen.content()?, v.seen.is_restated())));
            let newest =
                all.max_by_key(|(c, restated)| (c.epoch.count(), *restated, c.fingerprint));
            newest.into_iter().for_each(|(newest, _)| visit.seen = Seen::Content(*newest));
            visit
        }))
    }

    /// Where segments with these numbers stand, which are neighbours.
    pub(crate) fn place_of(&self, ids: &[u64]) -> Result<usize, Bug> {
        let of = |live: &Arc<LiveSegment>| live.segment.id();
        let from = self.segments.iter().position(|live| ids.first() == Some(&of(live)));
        let from = from.or_bug("what is merged is live")?;
        let there = self.segments.iter().skip(from).take(ids.len()).map(of);
        ensure(there.eq(ids.iter().copied()), "what is merged are neighbours")?;
        Ok(from)
    }

    /// Whether no component newer than segment `number` has anything to say.
    pub(crate) fn is_newest(&self, number: usize) -> bool {
        number + 1 == self.segments.len()
            && self.memtables.iter().all(|memtable| memtable.is_untouched())
    }

    /// Whether a component newer than segment `number` knows the page or forgot it, so that what
    /// that segment says of it is not in force.
    pub(crate) fn superseded(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        number: usize,
    ) -> Result<bool> {
        let newer = || self.segments.iter().skip(number + 1);
        newer().for_each(|live| live.segment.prefetch_filter(lookup.hash));
        for live in newer() {
            if live.buries(lookup) || live.segment.find(lookup.hash, lookup.url)?.is_some() {
                return Ok(true);
            }
        }
        Ok(self.superseded_in_memory(lookup, sequence, 0))
    }

    /// Whether one of the memtables from number `from` on knows the page or forgot it.
    pub(crate) fn superseded_in_memory(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        from: usize,
    ) -> bool {
        self.memtables.iter().skip(from).any(|memtable| {
            let inner = memtable.read();
            inner.find(lookup.hash, lookup.url, sequence).is_some()
                || buries(&inner, lookup, sequence)
        })
    }

    /// Whether what segment `number` ever saw of the page was forgotten by a newer component.
    pub(crate) fn forgotten(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        number: usize,
    ) -> Result<bool> {
        for live in self.segments.iter().skip(number + 1) {
            if live.buries(lookup) {
                return Ok(true);
            }
            if live.segment.numbers().resets > 0
                && let Some(page) = live.segment.find(lookup.hash, lookup.url)?
                && page.record.reset()
            {
                return Ok(true);
            }
        }
        Ok(self.forgotten_in_memory(lookup, sequence, 0))
    }

    /// Whether one of the memtables from number `from` on forgot the page.
    pub(crate) fn forgotten_in_memory(
        &self,
        lookup: &Lookup<'_>,
        sequence: u64,
        from: usize,
    ) -> bool {
        self.memtables.iter().skip(from).any(|memtable| {
            let inner = memtable.read();
            let page = inner.find(lookup.hash, lookup.url, sequence).map(|n| inner.page(n));
            page.is_some_and(|p| p.reset_by(sequence)) || buries(&inner, lookup, sequence)
        })
    }
}

/// What one component has of a page's visits.
pub(crate) enum Part<'a> {
    Memory(Vec<Visit>),
    Segment(crate::segment::RecordRef<'a>),
}

pub(crate) fn unreadable(segment: &Segment) -> crate::Error {
    let tag = crate::layout::Tag::of(crate::layout::Kind::Pages);
    segment.damaged(tag, 0, "a record that cannot be read")
}
