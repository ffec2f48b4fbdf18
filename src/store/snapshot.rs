//! A consistent view of the store, and everything that is read from one.

use std::cmp::Ordering;
use std::sync::Arc;

use super::answer::{History, Page, SegmentStats, Stats, Version};
use super::epochs::{has_table, known};
use super::memtable::{Memtable, PageOf};
use super::query::{Matches, Query};
use super::view::{Lookup, Part, View, unreadable};
use crate::bug::OrBug;
use crate::error::{Error, Result};
use crate::page::{Content, Epoch, EpochInfo, Head, Prefix, Seen, Visit, check_url, judge, surt};
use crate::segment::{PageCursor, RecordRef};

/// A consistent view: every operation up to a sequence number, and none after it.
///
/// Cheap to make and to clone. It stays as it is whatever is observed, sealed, merged or forgotten
/// later; the files that it needs stay until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) view: Arc<View>,
    pub(super) sequence: u64,
}

impl Snapshot {
    /// The number of the last operation in it.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// All epochs, by number.
    pub fn epochs(&self) -> &[EpochInfo] {
        &self.view.epochs
    }

    /// The epoch that was registered last.
    pub fn newest_epoch(&self) -> Epoch {
        self.view.newest_epoch()
    }

    /// A public call. If it meets a bug, the store that this is of is poisoned.
    #[inline]
    pub(super) fn heed<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.view.poison.heed(call())
    }

    fn lookup<'a>(&self, url: &'a str) -> Result<Lookup<'a>> {
        self.view.check()?;
        check_url(url)?;
        Ok(Lookup::new(url, self.view.seed))
    }

    /// All visits of a page, with what each meant; see [`Store::history`](super::Store::history).
    pub fn history(&self, url: &str) -> Result<History> {
        self.heed(|| Ok(fold(&self.visits(&self.lookup(url)?)?)))
    }

    /// All visits of a page, in order.
    pub(super) fn visits(&self, lookup: &Lookup<'_>) -> Result<Vec<Visit>> {
        let mut all = Vec::new();
        self.view.visits(lookup, self.sequence, |part| {
            all.extend(match part {
                Part::Memory(visits) => visits,
                Part::Segment(record) => record.visits()?,
            });
            Some(true)
        })?;
        all.sort_unstable();
        Ok(all)
    }

    /// The visit whose content was in force at a time; see
    /// [`Store::as_of`](super::Store::as_of).
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        self.heed(|| self.view.as_of(&self.lookup(url)?, self.sequence, time))
    }

    /// A page as it stands; see [`Store::latest`](super::Store::latest).
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.heed(|| {
            let head = self.view.head(&self.lookup(url)?, self.sequence)?.head;
            Ok(head.map(|head| page(url, &head)))
        })
    }

    /// Pages near a fingerprint; see [`Store::near`](super::Store::near).
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near many fingerprints; see [`Store::near_batch`](super::Store::near_batch).
    pub fn near_batch(&self, fingerprints: &[u64], k: u32) -> Result<Vec<Matches>> {
        self.search_many(fingerprints, &Query::new(0, k))
    }

    /// The nearest pages; see [`Store::nearest`](super::Store::nearest).
    pub fn nearest(&self, fingerprint: u64, count: usize) -> Result<Matches> {
        self.search(&Query::nearest(fingerprint, count))
    }

    /// Reads the fingerprint tables into memory; see [`Store::warm_up`](super::Store::warm_up).
    pub fn warm_up(&self) -> Result<()> {
        self.heed(|| {
            self.view.poison.check_read()?;
            self.view.segments.iter().try_for_each(|live| live.segment.warm_up_tables())
        })
    }

    /// Sizes of what is seen; those of the catalog's file are for others to say.
    pub(super) fn sizes(&self, epoch_visits: u64) -> Result<Stats> {
        let mut stats =
            Stats { epochs: self.epochs().to_vec(), sequence: self.sequence, ..Stats::default() };
        for live in self.view.segments.iter() {
            let numbers = live.segment.numbers();
            stats.segment_bytes += live.segment.file_bytes();
            stats.segments.push(SegmentStats {
                id: live.segment.id(),
                pages: numbers.pages,
                visits: numbers.visits,
                fingerprints: numbers.fingerprints,
                bytes: live.segment.file_bytes(),
            });
        }
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            let visits = |page: PageOf<'_>| {
                page.visits_at(self.sequence).filter(|v| !v.seen.is_restated()).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        (stats.pages, stats.visits) = self.count()?;
        let newest = known(self.epochs(), self.newest_epoch());
        // There may be fewer than when it began: some were forgotten.
        stats.epoch_visits = newest.map_or(0, |info| stats.visits.saturating_sub(info.begun));
        stats.epoch_due = newest.is_some_and(has_table) && stats.epoch_visits >= epoch_visits;
        Ok(stats)
    }

    /// Pages and visits.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the segments and the journal take away more than there was.
    pub(super) fn count(&self) -> Result<(u64, u64)> {
        let segments = self.view.segments.iter().map(|live| live.segment.numbers());
        let segments = segments.map(|numbers| (numbers.page_delta, numbers.visit_delta));
        let memtables = self.view.memtables.iter().map(|m| m.read().deltas_at(self.sequence));
        let sum = |(pages, visits): (i64, i64), (p, v)| {
            Some((pages.checked_add(p)?, visits.checked_add(v)?))
        };
        let sums = segments.chain(memtables).try_fold((0, 0), sum);
        let counts = sums.and_then(|(p, v)| Some((u64::try_from(p).ok()?, u64::try_from(v).ok()?)));
        let what = "the sums of their pages or visits cannot be";
        counts.ok_or_else(|| Error::corrupt("segments", 0, what))
    }

    /// Pages in SURT order; see [`Store::scan`](super::Store::scan).
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        self.heed(|| Scan::new(self, prefix, None)).unwrap_or_else(|e| Scan::failed(self, e))
    }
}

impl Snapshot {
    /// Pages after one, in SURT order.
    pub(super) fn scan_after(&self, after: Option<&str>) -> Scan {
        self.heed(|| Scan::new(self, None, after)).unwrap_or_else(|e| Scan::failed(self, e))
    }

    /// No pages.
    pub(super) fn no_scan(&self) -> Scan {
        Scan::empty(self)
    }
}

/// Visits in order, each with what it meant.
#[expect(clippy::indexing_slicing, reason = "behind each visit there is a rest, if an empty one")]
fn fold(visits: &[Visit]) -> History {
    let mut head: Option<Head> = None;
    let mut history = Vec::with_capacity(visits.len());
    let mut also = Vec::new();
    for (at, &visit) in visits.iter().enumerate() {
        also.clear();
        if matches!(visit.seen, Seen::Content(_)) {
            also.extend(restated(&visit, &visits[at + 1..]));
        }
        let verdict = judge(head.as_ref(), &visit, &also);
        Head::absorb_into(&mut head, visit);
        history.push(Version { visit, verdict });
    }
    history
}

/// What is restated of a visit by what follows it.
fn restated(visit: &Visit, following: &[Visit]) -> impl Iterator<Item = Content> {
    let of = |v: &Visit| (v.time, v.seen.digest());
    let of_it = of(visit);
    let restated = following.iter().take_while(move |v| v.seen.is_restated() && of(v) == of_it);
    restated.filter_map(|v| v.seen.content().copied())
}

fn page(url: &str, head: &Head) -> Page {
    let in_force = head.in_force();
    Page {
        url: url.to_owned(),
        visits: head.visits,
        first: head.first,
        last: head.last,
        content: in_force.map(|v| v.content),
        content_seen: in_force.map(|v| v.time),
        gone: head.gone(),
    }
}

/// Pages in SURT order, from [`Store::scan`](super::Store::scan).
///
/// Reads as it goes; memory for the unsealed pages under the prefix and one page of each segment.
/// After an error there is nothing more.
#[derive(Debug)]
pub struct Scan {
    snapshot: Snapshot,
    /// First key past the end; none for no end.
    end: Option<Vec<u8>>,
    segments: Vec<SegmentScan>,
    memtables: Vec<MemoryScan>,
    failed: Option<Error>,
}

/// A segment's number and a cursor that stands at a page.
struct SegmentScan {
    number: usize,
    cursor: PageCursor,
}

impl std::fmt::Debug for SegmentScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SegmentScan({})", self.number)
    }
}

#[derive(Debug)]
struct MemoryScan {
    memtable: Arc<Memtable>,
    /// In reverse order: the next page is the last.
    pages: Vec<u32>,
}

impl MemoryScan {
    /// Key and URL of the next page.
    fn next(&self) -> Option<(Vec<u8>, String)> {
        let inner = self.memtable.read();
        let url = inner.page(*self.pages.last()?).url();
        Some((surt::key_of(url), url.to_owned()))
    }
}

impl Scan {
    fn empty(snapshot: &Snapshot) -> Scan {
        Scan {
            snapshot: snapshot.clone(),
            end: None,
            segments: Vec::new(),
            memtables: Vec::new(),
            failed: None,
        }
    }

    fn failed(snapshot: &Snapshot, error: Error) -> Scan {
        Scan { failed: Some(error), ..Scan::empty(snapshot) }
    }

    fn new(snapshot: &Snapshot, prefix: Option<&Prefix>, after: Option<&str>) -> Result<Scan> {
        snapshot.view.check()?;
        let mut scan = Scan::empty(snapshot);
        scan.end = prefix.map(|p| p.range().1.to_vec());
        let after = after.map(|url| (surt::key_of(url), url));
        let comes = |key: &[u8], url: &str| match &after {
            Some((after, after_url)) => (key, url) > (after.as_slice(), *after_url),
            None => true,
        };
        // Newest first, down to one that hides all that older ones have under the prefix.
        let mut hidden = false;
        for memtable in snapshot.view.memtables.iter().rev() {
            if hidden {
                break;
            }
            let inner = memtable.read();
            let mut pages = match prefix {
                Some(prefix) => inner.under(prefix, snapshot.sequence),
                None => inner.order(None),
            };
            hidden = prefix.is_some_and(|p| inner.buried.hides_all(p, snapshot.sequence));
            if after.is_some() {
                let url = |number: &u32| inner.page(*number).url();
                let passed = pages.partition_point(|n| !comes(&surt::key_of(url(n)), url(n)));
                pages.drain(..passed);
            }
            drop(inner);
            pages.reverse();
            scan.memtables.push(MemoryScan { memtable: Arc::clone(memtable), pages });
        }
        for (number, live) in snapshot.view.segments.iter().enumerate().rev() {
            if hidden {
                break;
            }
            hidden = prefix.is_some_and(|p| live.tombstones.covers_all(p));
            let start = prefix.map(|prefix| prefix.range().0);
            let start = start.into_iter().chain(after.as_ref().map(|(key, _)| key.as_slice()));
            let from = match start.max() {
                Some(start) => live.segment.lower_bound(start)?,
                None => 0,
            };
            let mut cursor = PageCursor::new(Arc::clone(&live.segment), from)?;
            let mut more = cursor.advance()?;
            while more && !comes(cursor.key(), cursor.url()?) {
                more = cursor.advance()?;
            }
            if more {
                scan.segments.push(SegmentScan { number, cursor });
            }
        }
        // Oldest first.
        scan.segments.reverse();
        Ok(scan)
    }

    /// The next page that any component has, visible or not, and what `read` makes of it.
    fn step<T>(&mut self, read: impl Fn(&Scan, &Standing<'_>) -> Result<T>) -> Result<Option<T>> {
        self.snapshot.view.check()?;
        let mut least: Option<&SegmentScan> = None;
        for scan in &self.segments {
            // Of equal ones the newest, which is the last.
            let place = |scan: &SegmentScan| {
                Ok::<_, Error>((scan.cursor.key().to_vec(), scan.cursor.url()?.to_owned()))
            };
            if least.map_or(Ok(true), |least| Ok::<_, Error>(place(scan)? <= place(least)?))? {
                least = Some(scan);
            }
        }
        let mut at = None;
        let mut in_memory = false;
        for (key, url) in self.memtables.iter().filter_map(MemoryScan::next) {
            let order = match (&at, least) {
                (Some((least_key, least_url)), _) => (&key, &url).cmp(&(least_key, least_url)),
                (None, Some(least)) => {
                    (key.as_slice(), url.as_str()).cmp(&(least.cursor.key(), least.cursor.url()?))
                }
                (None, None) => Ordering::Less,
            };
            if order.is_lt() {
                at = Some((key, url));
                least = None;
            }
            in_memory |= order.is_le();
        }
        let (key, url) = match (at, least) {
            (Some(at), _) => at,
            (None, Some(least)) => (least.cursor.key().to_vec(), least.cursor.url()?.to_owned()),
            (None, None) => return Ok(None),
        };
        if self.end.as_ref().is_some_and(|end| key >= *end) {
            return Ok(None);
        }
        let newest = least.filter(|_| !in_memory);
        let standing = Standing { key: &key, url: &url, newest };
        let found = read(self, &standing)?;
        for scan in &mut self.memtables {
            if scan.next().is_some_and(|(_, next)| next == url) {
                scan.pages.pop();
            }
        }
        let mut failed = None;
        self.segments.retain_mut(|scan| {
            // One that cannot be read says so when it comes first.
            let here = scan.cursor.url().is_ok_and(|at| at == url);
            if !here {
                return true;
            }
            scan.cursor.advance().unwrap_or_else(|e| {
                failed = Some(e);
                false
            })
        });
        match failed {
            Some(e) => Err(e),
            None => Ok(Some(found)),
        }
    }

    /// The record that says all there is to say of the head of a page; `None` if the page must be
    /// looked up.
    #[expect(clippy::option_option, reason = "hidden and not alone are two things")]
    fn record<'s>(&'s self, at: &Standing<'s>) -> Result<Option<Option<RecordRef<'s>>>> {
        // The newest segment that has the page says what it is, unless it is hidden since.
        let Some(scan) = at.newest else { return Ok(None) };
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let mut newer = view.segments.iter().skip(scan.number + 1);
        let hidden = newer.any(|live| live.tombstones.cover(at.key))
            || view.memtables.iter().any(|memtable| !memtable.is_untouched())
                && view.forgotten_in_memory(&Lookup::new(at.url, view.seed), *sequence, 0);
        if hidden { Ok(Some(None)) } else { scan.cursor.record().map(|record| Some(Some(record))) }
    }

    fn unreadable(&self, at: &Standing<'_>) -> Error {
        let live = at.newest.and_then(|scan| self.snapshot.view.segments.get(scan.number));
        let live = live.or_bug("a record is in a segment of the snapshot");
        live.map_or_else(Error::from, |live| unreadable(&live.segment))
    }

    fn head(&self, at: &Standing<'_>) -> Result<Option<Head>> {
        let Snapshot { view, sequence, .. } = &self.snapshot;
        match self.record(at)? {
            Some(None) => Ok(None),
            Some(Some(record)) => record.head().ok_or_else(|| self.unreadable(at)),
            None => view.head(&Lookup::new(at.url, view.seed), *sequence).map(|known| known.head),
        }
    }

    fn visits(&self, at: &Standing<'_>) -> Result<Vec<Visit>> {
        match self.record(at)? {
            Some(None) => Ok(Vec::new()),
            Some(Some(record)) if !record.earlier() => {
                record.visits().ok_or_else(|| self.unreadable(at))
            }
            _ => self.snapshot.visits(&Lookup::new(at.url, self.snapshot.view.seed)),
        }
    }

    /// The next page that there is, and what `read` makes of it.
    fn next_with<T>(
        &mut self,
        read: impl Fn(&Scan, &Standing<'_>) -> Result<Option<T>>,
    ) -> Option<Result<T>> {
        let failed = match self.failed.take() {
            Some(e) => e,
            None => loop {
                let stepped = self.step(&read);
                match self.snapshot.heed(|| stepped) {
                    Ok(None) => return None,
                    Ok(Some(None)) => {}
                    Ok(Some(Some(found))) => return Some(Ok(found)),
                    Err(e) => break e,
                }
            },
        };
        self.segments.clear();
        self.memtables.clear();
        Some(Err(failed))
    }

    /// The next page with its visits, in order.
    pub(super) fn next_visits(&mut self) -> Option<Result<(String, Vec<Visit>)>> {
        self.next_with(|scan, at| {
            let visits = scan.visits(at)?;
            Ok((!visits.is_empty()).then(|| (at.url.to_owned(), visits)))
        })
    }
}

/// Where a scan stands.
struct Standing<'s> {
    key: &'s [u8],
    url: &'s str,
    /// The newest segment that has the page, unless a memtable has it, too.
    newest: Option<&'s SegmentScan>,
}

impl Iterator for Scan {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_with(|scan, at| Ok(scan.head(at)?.map(|head| page(at.url, &head))))
    }
}
