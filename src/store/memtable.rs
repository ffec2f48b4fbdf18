//! What the journal holds, in memory: pages, their visits, and a small search index.
//!
//! One thread at a time writes, under the store's write lock; readers come and go beside it and see
//! what was acknowledged, since everything bears its sequence number. Nothing is taken away before
//! the memtable is sealed: a page that is forgotten keeps its visits for snapshots from before.

use std::ops::Range;
use std::time::Instant;

use hashbrown::HashTable;
use parking_lot::RwLock;

use crate::catalog::Journal;
use crate::page::{Content, Head, LastSeen, Prefix, Visit, surt};
use crate::search::{Candidate, Chains};
use crate::segment::{Record, Tombstone};

/// The observations since the last seal.
#[derive(Debug)]
pub(crate) struct Memtable {
    pub(crate) journal: Journal,
    inner: RwLock<Inner>,
}

/// The inside, behind the lock. What belongs to pages lies in a few long columns, not in a small
/// allocation for each.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pages: Vec<MemPage>,
    urls: String,
    arrivals: Vec<Arrival>,
    lookup: HashTable<u32>,
    epochs: Vec<EpochIndex>,
    pub(crate) tombstones: Vec<Tombstone>,
    /// First and last sequence number, once there is one.
    pub(crate) sequences: Option<(u64, u64)>,
    /// What it adds to the store's pages and visits.
    pub(crate) page_delta: i64,
    pub(crate) visit_delta: i64,
    /// What was forgotten: sequence number, pages and visits.
    forgotten: Vec<(u64, u64, u64)>,
    /// Visits and other operations.
    pub(crate) operations: usize,
    bytes: usize,
    /// When its first operation came.
    pub(crate) since: Option<Instant>,
}

/// A page of which something was observed since the last seal.
#[derive(Debug)]
struct MemPage {
    /// Where its URL lies among the URLs.
    url: Range<usize>,
    hash: u64,
    earlier: bool,
    first_sequence: u64,
    last_sequence: u64,
    head: Option<Head>,
    /// Its first and last arrival.
    arrivals: Option<(u32, u32)>,
    /// When the page was forgotten.
    resets: Vec<u64>,
}

/// A visit as it came.
#[derive(Debug)]
struct Arrival {
    sequence: u64,
    visit: Visit,
    /// Whether the page was not known before.
    first: bool,
    /// The next of the same page.
    next: Option<u32>,
}

/// The distinct fingerprints of one epoch, and the pages that have or had each.
#[derive(Debug)]
struct EpochIndex {
    epoch: u32,
    chains: Chains,
    /// A page, or [`LIST`] and the place of a list.
    pages: Vec<u32>,
    /// Pages in SURT order.
    lists: Vec<Vec<u32>>,
}

/// The word is the place of a list.
const LIST: u32 = 1 << 31;

/// A page of a memtable.
#[derive(Clone, Copy)]
pub(crate) struct PageOf<'a> {
    inner: &'a Inner,
    page: &'a MemPage,
}

impl MemPage {
    fn forget(&mut self, sequence: u64) {
        self.resets.push(sequence);
        self.last_sequence = sequence;
        self.head = None;
    }
}

impl<'a> PageOf<'a> {
    pub(crate) fn url(&self) -> &'a str {
        self.inner.urls.get(self.page.url.clone()).unwrap_or("")
    }

    pub(crate) fn hash(&self) -> u64 {
        self.page.hash
    }

    /// Whether older components know the page.
    pub(crate) fn earlier(&self) -> bool {
        self.page.earlier
    }

    /// Whether an operation at or before `sequence` brought the page here.
    pub(crate) fn is_here(&self, sequence: u64) -> bool {
        self.page.first_sequence <= sequence
    }

    /// The page as of the last operation; none if it is forgotten.
    pub(crate) fn head(&self) -> Option<&'a Head> {
        self.page.head.as_ref()
    }

    /// The head, if no later operation than `sequence` has gone into it.
    pub(crate) fn head_at(&self, sequence: u64) -> Option<&'a Option<Head>> {
        (self.page.last_sequence <= sequence).then_some(&self.page.head)
    }

    /// Whether the page was forgotten at or before `sequence`.
    pub(crate) fn reset_by(&self, sequence: u64) -> bool {
        self.page.resets.iter().any(|&s| s <= sequence)
    }

    /// The visits in force at `sequence`, in order of arrival.
    pub(crate) fn visits_at(&self, sequence: u64) -> impl Iterator<Item = Visit> + use<'a> {
        let resets = self.page.resets.iter().copied();
        let after = resets.filter(|&s| s <= sequence).max().unwrap_or(0);
        let arrivals = &self.inner.arrivals;
        let first = self.page.arrivals.map(|(first, _)| first);
        let of = |at: Option<u32>| at.and_then(|at| arrivals.get(at as usize));
        std::iter::successors(of(first), move |arrival| of(arrival.next))
            .filter(move |a| a.sequence > after && a.sequence <= sequence)
            .map(|a| a.visit)
    }

    /// What a sealed segment keeps of this page.
    pub(crate) fn record(&self) -> Record {
        let reset = !self.page.resets.is_empty();
        let mut visits: Vec<Visit> = self.visits_at(u64::MAX).collect();
        visits.sort_unstable();
        Record {
            reset: reset && self.page.earlier,
            earlier: self.page.earlier && !reset,
            head: self.page.head.clone(),
            visits,
        }
    }
}

impl Memtable {
    pub(crate) fn new(journal: Journal) -> Memtable {
        Memtable { journal, inner: RwLock::default() }
    }

    pub(crate) fn with_journal(self, journal: Journal) -> Memtable {
        Memtable { journal, ..self }
    }

    /// An empty memtable in the memory of this one.
    pub(crate) fn emptied(mut self) -> Memtable {
        self.inner.get_mut().clear();
        self
    }

    pub(crate) fn read(&self) -> parking_lot::RwLockReadGuard<'_, Inner> {
        self.inner.read()
    }

    pub(crate) fn write(&self) -> parking_lot::RwLockWriteGuard<'_, Inner> {
        self.inner.write()
    }
}

impl Inner {
    fn clear(&mut self) {
        let mut emptied = std::mem::take(self);
        emptied.pages.clear();
        emptied.urls.clear();
        emptied.arrivals.clear();
        emptied.lookup.clear();
        for index in &mut emptied.epochs {
            index.chains.clear();
            index.pages.clear();
            index.lists.clear();
        }
        let Inner { pages, urls, arrivals, lookup, epochs, .. } = emptied;
        *self = Inner { pages, urls, arrivals, lookup, epochs, ..Inner::default() };
    }

    /// Tells the processor what a search for this fingerprint will read.
    pub(crate) fn prefetch(&self, epoch: u32, fingerprint: u64) {
        if let Some(index) = self.epochs.iter().find(|e| e.epoch == epoch) {
            index.chains.prefetch(fingerprint);
        }
    }

    /// The page with this URL, if it was brought here at or before `sequence`.
    pub(crate) fn find(&self, hash: u64, url: &str, sequence: u64) -> Option<u32> {
        let same =
            |&number: &u32| self.page(number).is_some_and(|p| p.hash() == hash && p.url() == url);
        let number = *self.lookup.find(hash, same)?;
        self.page(number).filter(|p| p.is_here(sequence)).map(|_| number)
    }

    pub(crate) fn page(&self, number: u32) -> Option<PageOf<'_>> {
        self.pages.get(number as usize).map(|page| PageOf { inner: self, page })
    }

    /// All pages, in order of arrival.
    pub(crate) fn pages(&self) -> impl ExactSizeIterator<Item = PageOf<'_>> {
        self.pages.iter().map(|page| PageOf { inner: self, page })
    }

    /// Whether an operation at or before `sequence` hides what older components have under `key`.
    pub(crate) fn buries(&self, key: &[u8], sequence: u64) -> bool {
        self.tombstones.iter().any(|t| t.sequence <= sequence && t.prefix.contains(key))
    }

    /// Roughly the bytes that all this takes.
    pub(crate) fn bytes(&self) -> usize {
        let epochs = self.epochs.iter().map(|e| e.chains.memory_bytes() + e.pages.capacity() * 4);
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
        self.bytes += size_of::<MemPage>() + 16 + url.len() + versions * size_of::<LastSeen>();
        let in_force = head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
        let start = self.urls.len();
        self.urls.push_str(url);
        self.pages.push(MemPage {
            url: start..self.urls.len(),
            hash,
            earlier,
            first_sequence: sequence,
            last_sequence: sequence,
            head,
            arrivals: None,
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
        let at = self.epochs.iter().position(|e| e.epoch == epoch).unwrap_or_else(|| {
            let (chains, pages, lists) = (Chains::new(), Vec::new(), Vec::new());
            self.epochs.push(EpochIndex { epoch, chains, pages, lists });
            self.epochs.len() - 1
        });
        let Some(index) = self.epochs.get_mut(at) else { return };
        let mut equal = Vec::new();
        index.chains.find(content.fingerprint, 0, &mut equal);
        let Some(equal) = equal.first() else {
            index.chains.push(content.fingerprint);
            index.pages.push(page);
            return;
        };
        let Some(word) = index.pages.get_mut(equal.ordinal as usize) else { return };
        if *word & LIST == 0 {
            if *word == page {
                return;
            }
            index.lists.push(vec![*word]);
            *word = LIST | u32::try_from(index.lists.len() - 1).unwrap_or(0);
        }
        let Some(list) = index.lists.get_mut((*word & !LIST) as usize) else { return };
        let (pages, urls) = (&self.pages, &self.urls);
        let order = |n: u32| {
            let url = pages.get(n as usize).and_then(|p| urls.get(p.url.clone())).unwrap_or("");
            (surt_key(url), url)
        };
        let own = order(page);
        let at = list.partition_point(|&n| n != page && order(n) < own);
        if list.get(at) != Some(&page) {
            list.insert(at, page);
            self.bytes += 8;
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
        let in_force = |head: &Option<Head>| {
            head.as_ref().and_then(|h| h.in_force()).map(|version| version.content)
        };
        let before = in_force(&page.head);
        match &mut page.head {
            Some(head) => head.absorb(visit),
            none => *none = Some(Head::of(visit)),
        }
        let after = in_force(&page.head);
        page.last_sequence = sequence;
        let place = u32::try_from(self.arrivals.len()).unwrap_or(u32::MAX);
        page.arrivals = match page.arrivals {
            None => Some((place, place)),
            Some((first, last)) => {
                if let Some(last) = self.arrivals.get_mut(last as usize) {
                    last.next = Some(place);
                }
                Some((first, place))
            }
        };
        self.arrivals.push(Arrival { sequence, visit, first, next: None });
        self.page_delta += i64::from(first);
        self.visit_delta += 1;
        self.bytes += size_of::<Arrival>();
        // What was seen; and what is in force now, which may be an older version.
        for content in [visit.seen.content().copied(), after].into_iter().flatten() {
            if Some(content) != before {
                self.index(content, number);
            }
        }
    }

    /// Forgets a page that is here: `visits` of it were known.
    pub(crate) fn reset(&mut self, sequence: u64, number: u32, visits: u64) {
        self.operation(sequence);
        if let Some(page) = self.pages.get_mut(number as usize) {
            page.forget(sequence);
        }
        self.take_away(sequence, 1, visits);
    }

    /// Forgets everything under a prefix: so many pages and visits were known.
    pub(crate) fn bury(&mut self, sequence: u64, prefix: Prefix, pages: u64, visits: u64) {
        self.operation(sequence);
        for page in &mut self.pages {
            let url = self.urls.get(page.url.clone()).unwrap_or("");
            if prefix.contains(&surt_key(url)) {
                page.forget(sequence);
            }
        }
        self.bytes += 2 * prefix.to_bytes().len() + size_of::<Tombstone>();
        self.tombstones.push(Tombstone { sequence, prefix });
        self.take_away(sequence, pages, visits);
    }

    fn take_away(&mut self, sequence: u64, pages: u64, visits: u64) {
        self.page_delta -= pages.cast_signed();
        self.visit_delta -= visits.cast_signed();
        self.forgotten.push((sequence, pages, visits));
        self.bytes += size_of::<(u64, u64, u64)>();
    }

    /// What the operations up to `sequence` add to the store's pages and visits. Costs the
    /// operations after it.
    pub(crate) fn deltas_at(&self, sequence: u64) -> (i64, i64) {
        let (mut pages, mut visits) = (self.page_delta, self.visit_delta);
        for arrival in self.arrivals.iter().rev().take_while(|a| a.sequence > sequence) {
            pages -= i64::from(arrival.first);
            visits -= 1;
        }
        for (_, p, v) in self.forgotten.iter().rev().take_while(|f| f.0 > sequence) {
            pages += p.cast_signed();
            visits += v.cast_signed();
        }
        (pages, visits)
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
        let place = index.and_then(|i| i.pages.get(ordinal as usize).map(|word| (i, word)));
        match place {
            None => &[],
            Some((_, word)) if word & LIST == 0 => std::slice::from_ref(word),
            Some((index, word)) => {
                index.lists.get((word & !LIST) as usize).map_or(&[], Vec::as_slice)
            }
        }
    }

    /// All pages in SURT order.
    pub(crate) fn in_order(&self) -> Vec<PageOf<'_>> {
        let (mut keys, mut order) = (Vec::new(), Vec::with_capacity(self.pages.len()));
        for page in self.pages() {
            let start = keys.len();
            surt::key(page.url(), &mut keys);
            order.push((start..keys.len(), page));
        }
        order.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let key = |range: &Range<usize>| keys.get(range.clone());
            key(a).cmp(&key(b)).then_with(|| of_a.url().cmp(of_b.url()))
        });
        order.into_iter().map(|(_, page)| page).collect()
    }

    /// The pages in SURT order, with their keys, those under a range of keys only.
    pub(crate) fn sorted(&self, within: impl Fn(&[u8]) -> bool) -> Vec<(Vec<u8>, u32)> {
        let mut sorted = Vec::new();
        for (number, page) in (0u32..).zip(self.pages()) {
            let key = surt_key(page.url());
            if within(&key) {
                sorted.push((key, number));
            }
        }
        sorted.sort_unstable_by(|a, b| {
            let url = |n: u32| self.page(n).map(|p| p.url());
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
