//! What the journal holds, in memory: pages, their visits, and a small search index.
//!
//! One thread at a time writes, under the store's write lock; readers come and go beside it and see
//! what was acknowledged, since everything bears its sequence number. Nothing is taken away before
//! the memtable is sealed: a page that is forgotten keeps its visits for snapshots from before.

use std::time::Instant;

use hashbrown::HashTable;
use parking_lot::RwLock;

use crate::catalog::Journal;
use crate::page::{Content, Head, Prefix, Seen, Visit, surt};
use crate::search::{Candidate, Chains};
use crate::segment::{Record, Tombstone};

/// The observations since the last seal.
#[derive(Debug)]
pub(crate) struct Memtable {
    pub(crate) journal: Journal,
    inner: RwLock<Inner>,
}

/// The inside, behind the lock.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) pages: Vec<MemPage>,
    lookup: HashTable<u32>,
    epochs: Vec<EpochIndex>,
    pub(crate) tombstones: Vec<Tombstone>,
    /// First and last sequence number, once there is one.
    pub(crate) sequences: Option<(u64, u64)>,
    /// What it adds to the store's pages and visits.
    pub(crate) page_delta: i64,
    pub(crate) visit_delta: i64,
    /// Visits and other operations.
    pub(crate) operations: usize,
    bytes: usize,
    /// When its first operation came.
    pub(crate) since: Option<Instant>,
}

/// A page of which something was observed since the last seal.
#[derive(Debug)]
pub(crate) struct MemPage {
    pub(crate) url: Box<str>,
    pub(crate) hash: u64,
    /// Whether older components know the page.
    pub(crate) earlier: bool,
    /// The sequence number of the operation that brought the page here.
    pub(crate) first_sequence: u64,
    /// The page as of the last operation; none if it is forgotten.
    pub(crate) head: Option<Head>,
    /// Visits by sequence number, in order of arrival.
    visits: Vec<(u64, Visit)>,
    /// When the page was forgotten.
    resets: Vec<u64>,
}

/// The distinct fingerprints of one epoch, and the pages that have or had each, in SURT order.
#[derive(Debug)]
struct EpochIndex {
    epoch: u32,
    chains: Chains,
    pages: Vec<Vec<u32>>,
}

impl MemPage {
    fn last_sequence(&self) -> u64 {
        let visit = self.visits.last().map_or(self.first_sequence, |(s, _)| *s);
        visit.max(self.resets.last().copied().unwrap_or(0))
    }

    /// Whether the page was forgotten at or before `sequence`.
    pub(crate) fn reset_by(&self, sequence: u64) -> bool {
        self.resets.iter().any(|&s| s <= sequence)
    }

    /// The visits in force at `sequence`, in order of arrival.
    pub(crate) fn visits_at(&self, sequence: u64) -> impl Iterator<Item = Visit> + '_ {
        let after = self.resets.iter().copied().filter(|&s| s <= sequence).max().unwrap_or(0);
        let within = move |s: u64| s > after && s <= sequence;
        self.visits.iter().filter(move |(s, _)| within(*s)).map(|(_, v)| *v)
    }

    /// The head, if no later operation than `sequence` has gone into it.
    pub(crate) fn head_at(&self, sequence: u64) -> Option<&Option<Head>> {
        (self.last_sequence() <= sequence).then_some(&self.head)
    }

    /// What a sealed segment keeps of this page.
    pub(crate) fn record(&self) -> Record {
        let reset = !self.resets.is_empty();
        let mut visits: Vec<Visit> = self.visits_at(u64::MAX).collect();
        visits.sort_unstable();
        Record {
            reset: reset && self.earlier,
            earlier: self.earlier && !reset,
            head: self.head.clone(),
            visits,
        }
    }
}

impl Memtable {
    pub(crate) fn new(journal: Journal) -> Memtable {
        Memtable { journal, inner: RwLock::default() }
    }

    pub(crate) fn read(&self) -> parking_lot::RwLockReadGuard<'_, Inner> {
        self.inner.read()
    }

    pub(crate) fn write(&self) -> parking_lot::RwLockWriteGuard<'_, Inner> {
        self.inner.write()
    }
}

impl Inner {
    /// The page with this URL, if it was brought here at or before `sequence`.
    pub(crate) fn find(&self, hash: u64, url: &str, sequence: u64) -> Option<u32> {
        let same = |&number: &u32| {
            self.pages.get(number as usize).is_some_and(|p| p.hash == hash && *p.url == *url)
        };
        let number = *self.lookup.find(hash, same)?;
        self.page(number).filter(|p| p.first_sequence <= sequence).map(|_| number)
    }

    pub(crate) fn page(&self, number: u32) -> Option<&MemPage> {
        self.pages.get(number as usize)
    }

    /// Whether an operation at or before `sequence` hides what older components have under `key`.
    pub(crate) fn buries(&self, key: &[u8], sequence: u64) -> bool {
        self.tombstones.iter().any(|t| t.sequence <= sequence && t.prefix.contains(key))
    }

    /// Roughly the bytes that all this takes.
    pub(crate) fn bytes(&self) -> usize {
        let epochs = self.epochs.iter().map(|e| e.chains.memory_bytes() + e.pages.capacity() * 24);
        self.bytes + epochs.sum::<usize>()
    }

    /// Brings a page here; `head` is what older components know of it.
    pub(crate) fn add_page(
        &mut self,
        sequence: u64,
        url: &str,
        hash: u64,
        earlier: bool,
        head: Option<Head>,
    ) -> u32 {
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        let versions = head.as_ref().map_or(0, |h| h.versions.len());
        self.bytes += size_of::<MemPage>() + 96 + url.len() + versions * 64;
        let in_force = head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
        self.pages.push(MemPage {
            url: url.into(),
            hash,
            earlier,
            first_sequence: sequence,
            head,
            visits: Vec::new(),
            resets: Vec::new(),
        });
        let pages = &self.pages;
        let rehash = |&n: &u32| pages.get(n as usize).map_or(0, |p| p.hash);
        self.lookup.insert_unique(hash, number, rehash);
        // Older components' tables no longer speak for this page, so what is in force goes here.
        if let Some(content) = in_force {
            self.index(content, number);
        }
        number
    }

    fn index(&mut self, content: Content, page: u32) {
        let epoch = content.epoch.0;
        let index = match self.epochs.iter_mut().position(|e| e.epoch == epoch) {
            Some(at) => self.epochs.get_mut(at),
            None => {
                self.epochs.push(EpochIndex { epoch, chains: Chains::new(), pages: Vec::new() });
                self.epochs.last_mut()
            }
        };
        let Some(index) = index else { return };
        let mut equal = Vec::new();
        index.chains.find(content.fingerprint, 0, &mut equal);
        let Some(equal) = equal.first() else {
            index.chains.push(content.fingerprint);
            index.pages.push(vec![page]);
            return;
        };
        let order = |n: u32| self.pages.get(n as usize).map(|p| (surt_key(&p.url), &p.url));
        if let Some(pages) = index.pages.get_mut(equal.ordinal as usize) {
            let own = order(page);
            let at = pages.partition_point(|&n| n != page && order(n) < own);
            if pages.get(at) != Some(&page) {
                pages.insert(at, page);
                self.bytes += 8;
            }
        }
    }

    fn operation(&mut self, sequence: u64) {
        let first = self.sequences.map_or(sequence, |(first, _)| first);
        self.sequences = Some((first, sequence));
        self.operations += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    /// Adds a visit that the page does not have yet.
    pub(crate) fn visit(&mut self, sequence: u64, number: u32, visit: Visit) {
        self.operation(sequence);
        let Some(page) = self.pages.get_mut(number as usize) else { return };
        let first = page.head.is_none();
        let known = match (&page.head, visit.seen) {
            (Some(head), Seen::Content(content)) => {
                head.in_force().is_some_and(|v| v.content == content)
            }
            _ => false,
        };
        match &mut page.head {
            Some(head) => head.absorb(visit),
            none => *none = Some(Head::of(visit)),
        }
        page.visits.push((sequence, visit));
        self.page_delta += i64::from(first);
        self.visit_delta += 1;
        self.bytes += size_of::<(u64, Visit)>() + if known { 0 } else { 64 };
        if let Seen::Content(content) = visit.seen
            && !known
        {
            self.index(content, number);
        }
    }

    /// Forgets a page that is here: `visits` of it were known.
    pub(crate) fn reset(&mut self, sequence: u64, number: u32, visits: u64) {
        self.operation(sequence);
        if let Some(page) = self.pages.get_mut(number as usize) {
            page.resets.push(sequence);
            page.head = None;
        }
        self.page_delta -= 1;
        self.visit_delta -= visits.cast_signed();
        self.bytes += 8;
    }

    /// Forgets everything under a prefix: so many pages and visits were known.
    pub(crate) fn bury(&mut self, sequence: u64, prefix: Prefix, pages: u64, visits: u64) {
        self.operation(sequence);
        for page in &mut self.pages {
            if prefix.contains(&surt_key(&page.url)) {
                page.resets.push(sequence);
                page.head = None;
            }
        }
        self.bytes += 2 * prefix.to_bytes().len() + size_of::<Tombstone>();
        self.tombstones.push(Tombstone { sequence, prefix });
        self.page_delta -= pages.cast_signed();
        self.visit_delta -= visits.cast_signed();
    }

    /// Distinct fingerprints of an epoch within `k`.
    pub(crate) fn near(&self, epoch: u32, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        if let Some(index) = self.epochs.iter().find(|e| e.epoch == epoch) {
            index.chains.find(fingerprint, k, out);
        }
    }

    /// The pages that have or had a fingerprint, in SURT order.
    pub(crate) fn postings(&self, epoch: u32, ordinal: u32) -> &[u32] {
        let index = self.epochs.iter().find(|e| e.epoch == epoch);
        index.and_then(|i| i.pages.get(ordinal as usize)).map_or(&[], Vec::as_slice)
    }

    /// The pages in SURT order, with their keys, those under a range of keys only.
    pub(crate) fn sorted(&self, within: impl Fn(&[u8]) -> bool) -> Vec<(Vec<u8>, u32)> {
        let mut sorted = Vec::new();
        for (number, page) in (0u32..).zip(&self.pages) {
            let key = surt_key(&page.url);
            if within(&key) {
                sorted.push((key, number));
            }
        }
        sorted.sort_unstable_by(|a, b| {
            let url = |n: u32| self.page(n).map(|p| &p.url);
            a.0.cmp(&b.0).then_with(|| url(a.1).cmp(&url(b.1)))
        });
        sorted
    }
}

fn surt_key(url: &str) -> Vec<u8> {
    let mut key = Vec::new();
    surt::key(url, &mut key);
    key
}
