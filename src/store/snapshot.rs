//! A consistent view of the store, and everything that is read from one.

use std::sync::Arc;

use super::answer::{History, Page, Version};
use super::memtable::Memtable;
use super::view::{Lookup, Part, View, unreadable};
use crate::error::{Error, Result};
use crate::page::{Epoch, Head, Prefix, Seen, Verdict, Visit, check_url, surt};
use crate::segment::PageCursor;

/// A consistent view: every operation up to a sequence number, and none after it.
///
/// Cheap to make and to clone. It stays as it is whatever is observed, sealed, merged or forgotten
/// later; the files that it needs stay until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) view: Arc<View>,
    pub(super) sequence: u64,
    pub(super) newest_epoch: Epoch,
}

impl Snapshot {
    /// The number of the last operation in it.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    fn lookup<'a>(&self, url: &'a str) -> Result<Lookup<'a>> {
        check_url(url)?;
        Ok(Lookup::new(url, self.view.seed))
    }

    /// All visits of a page, with what each meant; see [`Store::history`](super::Store::history).
    pub fn history(&self, url: &str) -> Result<History> {
        Ok(fold(self.visits(&self.lookup(url)?)?))
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
        self.view.as_of(&self.lookup(url)?, self.sequence, time)
    }

    /// A page as it stands; see [`Store::latest`](super::Store::latest).
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        let head = self.view.head(&self.lookup(url)?, self.sequence)?.head;
        Ok(head.map(|head| page(url, &head)))
    }

    /// Pages in SURT order; see [`Store::scan`](super::Store::scan).
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        match Scan::new(self, prefix) {
            Ok(scan) => scan,
            Err(e) => Scan { failed: Some(e), ..Scan::empty(self) },
        }
    }
}

/// Visits in order, each with what it meant.
fn fold(visits: Vec<Visit>) -> History {
    let mut head: Option<Head> = None;
    let mut history = Vec::with_capacity(visits.len());
    for visit in visits {
        let verdict = judge(head.as_ref(), &visit);
        Head::absorb_into(&mut head, visit);
        history.push(Version { visit, verdict });
    }
    history
}

/// What a visit after all others of a page means.
pub(super) fn judge(head: Option<&Head>, visit: &Visit) -> Verdict {
    match (head, visit.seen) {
        (Some(head), _) => head.judge(visit),
        (None, Seen::Gone) => Verdict::Gone,
        (None, Seen::Failed) => Verdict::Failed,
        (None, Seen::Content(_) | Seen::NotModified { .. }) => Verdict::New,
    }
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
        let url = inner.page(*self.pages.last()?)?.url();
        let mut key = Vec::new();
        surt::key(url, &mut key);
        Some((key, url.to_owned()))
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

    fn new(snapshot: &Snapshot, prefix: Option<&Prefix>) -> Result<Scan> {
        let mut scan = Scan::empty(snapshot);
        scan.end = prefix.map(|p| p.range().1.to_vec());
        for memtable in &snapshot.view.memtables {
            let mut pages = memtable.read().order(prefix);
            pages.reverse();
            scan.memtables.push(MemoryScan { memtable: Arc::clone(memtable), pages });
        }
        for (number, live) in snapshot.view.segments.iter().enumerate() {
            let from = match prefix {
                Some(prefix) => live.segment.lower_bound(prefix.range().0)?,
                None => 0,
            };
            let mut cursor = PageCursor::new(Arc::clone(&live.segment), from, true)?;
            if cursor.advance()? {
                scan.segments.push(SegmentScan { number, cursor });
            }
        }
        Ok(scan)
    }

    /// The next page that any component has, visible or not, and its head.
    fn step(&mut self) -> Result<Option<(String, Option<Head>)>> {
        let mut least: Option<(Vec<u8>, String)> = None;
        for scan in &self.segments {
            let at = (scan.cursor.key().to_vec(), scan.cursor.url()?.to_owned());
            if least.as_ref().is_none_or(|l| at < *l) {
                least = Some(at);
            }
        }
        for at in self.memtables.iter().filter_map(MemoryScan::next) {
            if least.as_ref().is_none_or(|l| at < *l) {
                least = Some(at);
            }
        }
        let Some((key, url)) = least else { return Ok(None) };
        if self.end.as_ref().is_some_and(|end| key >= *end) {
            return Ok(None);
        }
        let lookup = Lookup::new(&url, self.snapshot.view.seed);
        let (view, sequence) = (&self.snapshot.view, self.snapshot.sequence);
        let mut in_memory = false;
        for scan in &mut self.memtables {
            if scan.next().is_some_and(|(_, next)| next == url) {
                scan.pages.pop();
                in_memory = true;
            }
        }
        let mut newest = None;
        for scan in self.segments.iter().rev() {
            if scan.cursor.url()? == url {
                newest = Some(scan);
                break;
            }
        }
        let head = match newest {
            // The newest segment that has the page says what it is, unless it is hidden since.
            Some(scan) if !in_memory => {
                let newer = view.segments.iter().skip(scan.number + 1);
                let hidden =
                    newer.flat_map(|live| &live.tombstones).any(|t| t.prefix.contains(&key))
                        || view.forgotten_in_memory(&lookup, sequence, 0);
                let damaged = || {
                    view.segments
                        .get(scan.number)
                        .map_or(Error::Closed, |live| unreadable(&live.segment))
                };
                if hidden { None } else { scan.cursor.record()?.head().ok_or_else(damaged)? }
            }
            _ => view.head(&lookup, sequence)?.head,
        };
        let mut failed = None;
        self.segments.retain_mut(|scan| {
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
            None => Ok(Some((url, head))),
        }
    }
}

impl Iterator for Scan {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(e) = self.failed.take() {
            self.segments.clear();
            self.memtables.clear();
            return Some(Err(e));
        }
        loop {
            match self.step() {
                Ok(None) => return None,
                Ok(Some((_, None))) => {}
                Ok(Some((url, Some(head)))) => return Some(Ok(page(&url, &head))),
                Err(e) => {
                    self.segments.clear();
                    self.memtables.clear();
                    return Some(Err(e));
                }
            }
        }
    }
}
