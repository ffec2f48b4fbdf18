//! A consistent view of the store, and everything that is read from one.

use std::sync::Arc;

use super::answer::{History, Page, SegmentStats, Stats, Version};
use super::epochs::{has_table, known};
use super::lookup::Lookup;
use super::memtable::PageOf;
use super::query::{Matches, Query};
use super::scan::Scan;
use super::view::View;
use crate::error::{Error, Result};
use crate::page::{Content, Epoch, EpochInfo, Head, Prefix, Seen, Visit, check_url, judge};

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
        self.heed(|| Ok(fold(&self.view.visits(&self.lookup(url)?, self.sequence)?)))
    }

    /// The visit whose content was in force at a time; see
    /// [`Store::as_of`](super::Store::as_of).
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        self.heed(|| self.view.as_of(&self.lookup(url)?, self.sequence, time))
    }

    /// A page as it stands; see [`Store::latest`](super::Store::latest).
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.heed(|| {
            let head = self.view.known(&self.lookup(url)?, self.sequence)?.head;
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
        let mut deltas = self.view.components().map(|component| component.deltas(self.sequence));
        let sum = |(pages, visits): (i64, i64), (p, v)| {
            Some((pages.checked_add(p)?, visits.checked_add(v)?))
        };
        let sums = deltas.try_fold((0, 0), sum);
        let counts = sums.and_then(|(p, v)| Some((u64::try_from(p).ok()?, u64::try_from(v).ok()?)));
        let what = "the sums of their pages or visits cannot be";
        counts.ok_or_else(|| Error::corrupt("segments", 0, what))
    }

    /// Pages in SURT order; see [`Store::scan`](super::Store::scan).
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        self.heed(|| Scan::new(self, prefix, None)).unwrap_or_else(|e| Scan::none(self, Some(e)))
    }
}

impl Snapshot {
    /// Pages after one, in SURT order.
    pub(super) fn scan_after(&self, after: Option<&str>) -> Scan {
        self.heed(|| Scan::new(self, None, after)).unwrap_or_else(|e| Scan::none(self, Some(e)))
    }

    /// No pages.
    pub(super) fn no_scan(&self) -> Scan {
        Scan::none(self, None)
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

pub(super) fn page(url: &str, head: &Head) -> Page {
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
