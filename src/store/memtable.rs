//! What the journal holds, in memory: pages, their visits, and a small search index.
//!
//! One thread at a time writes, under the store's write lock; readers come and go beside it and see
//! what was acknowledged, since everything bears its sequence number. Nothing is taken away before
//! the memtable is sealed: a page that is forgotten keeps its visits for snapshots from before.

use std::collections::BTreeSet;
use std::time::Instant;

use parking_lot::RwLock;

use super::places::Places;
use super::snapshot::judge;
use crate::catalog::Journal;
use crate::layout::Cursor;
use crate::page::{Content, Head, Prefix, Verdict, Visit, surt};
use crate::search::{Candidate, Chains, prefetch_value};
use crate::segment::{Carried, Record, Tombstone, put_carried};

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
    /// Heads as older components know them, packed as in the journal.
    heads: Vec<u8>,
    arrivals: Vec<Arrival>,
    checkpoints: Vec<Checkpoint>,
    places: Places,
    epochs: Vec<EpochIndex>,
    /// Pages that were forgotten, and when.
    resets: BTreeSet<(u32, u64)>,
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
    /// Bytes of what is not in a column.
    bytes: usize,
    /// When its first operation came.
    pub(crate) since: Option<Instant>,
}

/// A page of which something was observed since the last seal.
#[derive(Debug)]
struct MemPage {
    /// Where its URL lies among the URLs.
    url: usize,
    url_len: u32,
    hash: u64,
    first_sequence: u64,
    /// Where its head lies among the heads; of no length if older components know none.
    head: usize,
    head_len: u32,
    /// Its first and last arrival.
    arrivals: Option<(u32, u32)>,
    /// Its last checkpoint, and how many arrivals came after.
    checkpoint: Option<u32>,
    arrivals_since: u32,
    earlier: bool,
    /// Whether it was ever forgotten here.
    reset: bool,
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

/// A page and where its SURT key is, to be sorted.
struct Keyed {
    /// Bytes that decide most comparisons.
    decisive: u64,
    start: usize,
    end: usize,
    number: u32,
}

/// A page's head on the way, so that a page that is visited often is not folded from its first
/// visit again and again.
#[derive(Debug)]
struct Checkpoint {
    /// The last operation in it.
    sequence: u64,
    /// The last arrival in it.
    arrival: u32,
    /// Where it lies among the heads.
    head: usize,
    head_len: u32,
    /// The one before, of the same page.
    before: Option<u32>,
}

/// Arrivals of a page after which there is a checkpoint.
const CHECKPOINT_ARRIVALS: u32 = 32;

/// What a visit does to its page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// What it means; none if that takes a look at the visits that were before.
    pub(crate) verdict: Option<Verdict>,
    /// Whether the page was not known before.
    pub(crate) first: bool,
    /// What was in force before, and what is after.
    pub(crate) before: Option<Content>,
    pub(crate) after: Option<Content>,
}

impl Effect {
    /// The effect on a page with this head, which takes the visit in.
    pub(crate) fn of(head: &mut Option<Head>, visit: &Visit) -> Effect {
        let in_force =
            |head: &Option<Head>| head.as_ref().and_then(Head::in_force).map(|v| v.content);
        let verdict = match &*head {
            Some(head) if *visit == head.last => Some(Verdict::Known),
            Some(head) if visit.time < head.first => Some(Verdict::OutOfOrder),
            Some(head) if *visit < head.last => None,
            head => Some(judge(head.as_ref(), visit)),
        };
        let (first, before) = (head.is_none(), in_force(head));
        match head.as_mut() {
            Some(head) => head.absorb(*visit),
            None => *head = Some(Head::of(*visit)),
        }
        Effect { verdict, first, before, after: in_force(head) }
    }
}

/// The word is the place of a list.
const LIST: u32 = 1 << 31;

/// A page of a memtable.
#[derive(Clone, Copy)]
pub(crate) struct PageOf<'a> {
    inner: &'a Inner,
    number: u32,
    page: &'a MemPage,
}

impl<'a> PageOf<'a> {
    pub(crate) fn url(&self) -> &'a str {
        self.inner.url(self.page)
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

    /// The page as of `sequence`; none if it is forgotten. Costs unpacking a head, and a few visits
    /// here: those since the last checkpoint.
    pub(crate) fn head_at(&self, sequence: u64) -> Option<Head> {
        let reset = self.last_reset(sequence);
        let checkpoint = self
            .checkpoints()
            .find(|c| c.sequence <= sequence)
            .filter(|c| reset.is_none_or(|reset| reset < c.sequence));
        let (mut head, first) = match checkpoint {
            Some(c) => {
                let next = self.inner.arrivals.get(c.arrival as usize).and_then(|a| a.next);
                (self.inner.unpack(c.head, c.head_len), next)
            }
            None => {
                let MemPage { head, head_len, arrivals, .. } = *self.page;
                let older = reset.is_none().then(|| self.inner.unpack(head, head_len)).flatten();
                (older, arrivals.map(|(first, _)| first))
            }
        };
        for visit in self.visits_from(first, reset.unwrap_or(0), sequence) {
            match &mut head {
                Some(head) => head.absorb(visit),
                none => *none = Some(Head::of(visit)),
            }
        }
        head
    }

    /// Its checkpoints, latest first.
    fn checkpoints(&self) -> impl Iterator<Item = &'a Checkpoint> + use<'a> {
        let checkpoints = &self.inner.checkpoints;
        let of = move |at: Option<u32>| at.and_then(|at| checkpoints.get(at as usize));
        std::iter::successors(of(self.page.checkpoint), move |c| of(c.before))
    }

    /// The page as of the last operation.
    pub(crate) fn head(&self) -> Option<Head> {
        self.head_at(u64::MAX)
    }

    fn prefetch(&self) {
        let MemPage { url, head, arrivals, .. } = *self.page;
        if let Some(arrival) = arrivals.and_then(|(at, _)| self.inner.arrivals.get(at as usize)) {
            prefetch_value(arrival);
        }
        for byte in [self.inner.urls.as_bytes().get(url), self.inner.heads.get(head)] {
            byte.into_iter().for_each(prefetch_value);
        }
    }

    /// When the page was last forgotten, at or before `sequence`.
    fn last_reset(&self, sequence: u64) -> Option<u64> {
        if !self.page.reset {
            return None;
        }
        let upto = (self.number, 0)..=(self.number, sequence);
        self.inner.resets.range(upto).next_back().map(|&(_, sequence)| sequence)
    }

    /// Whether the page was forgotten at or before `sequence`.
    pub(crate) fn reset_by(&self, sequence: u64) -> bool {
        self.last_reset(sequence).is_some()
    }

    /// The visits in force at `sequence`, in order of arrival.
    pub(crate) fn visits_at(&self, sequence: u64) -> impl Iterator<Item = Visit> + use<'a> {
        let after = self.last_reset(sequence).unwrap_or(0);
        self.visits_from(self.page.arrivals.map(|(first, _)| first), after, sequence)
    }

    /// Of the arrivals from `first` on, those after one operation and up to another.
    fn visits_from(
        &self,
        first: Option<u32>,
        after: u64,
        sequence: u64,
    ) -> impl Iterator<Item = Visit> + use<'a> {
        let arrivals = &self.inner.arrivals;
        let of = |at: Option<u32>| at.and_then(|at| arrivals.get(at as usize));
        std::iter::successors(of(first), move |arrival| of(arrival.next))
            .take_while(move |a| a.sequence <= sequence)
            .filter(move |a| a.sequence > after)
            .map(|a| a.visit)
    }

    /// What a sealed segment keeps of this page.
    pub(crate) fn record(&self) -> Record {
        let mut visits: Vec<Visit> = self.visits_at(u64::MAX).collect();
        visits.sort_unstable();
        Record {
            reset: self.page.reset && self.page.earlier,
            earlier: self.page.earlier && !self.page.reset,
            head: self.head(),
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
        emptied.heads.clear();
        emptied.arrivals.clear();
        emptied.checkpoints.clear();
        emptied.places.clear();
        for index in &mut emptied.epochs {
            index.chains.clear();
            index.pages.clear();
            index.lists.clear();
        }
        let Inner { pages, urls, heads, arrivals, checkpoints, places, epochs, .. } = emptied;
        *self =
            Inner { pages, urls, heads, arrivals, checkpoints, places, epochs, ..Inner::default() };
    }

    /// A head that was packed here.
    fn unpack(&self, start: usize, len: u32) -> Option<Head> {
        let bytes = self.heads.get(start..start + len as usize)?;
        Carried::take(&mut Cursor::new(bytes))?.join(std::iter::empty())
    }

    /// Keeps the head of a page as it is now.
    fn keep_head(&mut self, number: u32, sequence: u64, arrival: u32) {
        let Some(page) = self.page(number) else { return };
        let (packed, before) = (page.head(), page.page.checkpoint);
        let head = self.heads.len();
        if let Some(packed) = packed {
            put_carried(&mut self.heads, &packed, &[]);
        }
        let head_len = u32::try_from(self.heads.len() - head).unwrap_or(0);
        let place = u32::try_from(self.checkpoints.len()).ok();
        self.checkpoints.push(Checkpoint { sequence, arrival, head, head_len, before });
        if let Some(page) = self.pages.get_mut(number as usize) {
            page.checkpoint = place;
            page.arrivals_since = 0;
        }
    }

    fn url(&self, page: &MemPage) -> &str {
        self.urls.get(page.url..page.url + page.url_len as usize).unwrap_or("")
    }

    /// Tells the processor what a search for this fingerprint will read.
    pub(crate) fn prefetch(&self, epoch: u32, fingerprint: u64) {
        if let Some(index) = self.epochs.iter().find(|e| e.epoch == epoch) {
            index.chains.prefetch(fingerprint);
        }
    }

    /// The same for the place of a page with this hash.
    pub(crate) fn prefetch_place(&self, hash: u64) {
        self.places.prefetch(hash);
    }

    /// The same for the page, whose place has come.
    pub(crate) fn prefetch_page(&self, hash: u64) {
        let number = self.places.candidates(hash).next();
        if let Some(page) = number.and_then(|number| self.pages.get(number as usize)) {
            prefetch_value(page);
        }
    }

    /// The page with this URL, if it was brought here at or before `sequence`.
    pub(crate) fn find(&self, hash: u64, url: &str, sequence: u64) -> Option<u32> {
        let same =
            |&number: &u32| self.page(number).is_some_and(|p| p.hash() == hash && p.url() == url);
        let number = self.places.candidates(hash).find(same)?;
        self.page(number).filter(|p| p.is_here(sequence)).map(|_| number)
    }

    pub(crate) fn page(&self, number: u32) -> Option<PageOf<'_>> {
        self.pages.get(number as usize).map(|page| PageOf { inner: self, number, page })
    }

    /// All pages, in order of arrival.
    pub(crate) fn pages(&self) -> impl Iterator<Item = PageOf<'_>> {
        (0..).zip(&self.pages).map(|(number, page)| PageOf { inner: self, number, page })
    }

    /// Whether an operation at or before `sequence` hides what older components have under `key`.
    pub(crate) fn buries(&self, key: &[u8], sequence: u64) -> bool {
        self.tombstones.iter().any(|t| t.sequence <= sequence && t.prefix.contains(key))
    }

    /// The bytes that all this takes, room that is not used yet left out.
    pub(crate) fn bytes(&self) -> usize {
        let epochs = self.epochs.iter().map(|e| e.chains.memory_bytes() + e.pages.len() * 4);
        self.bytes
            + size_of_val(self.pages.as_slice())
            + self.urls.len()
            + self.heads.len()
            + size_of_val(self.arrivals.as_slice())
            + size_of_val(self.checkpoints.as_slice())
            + self.places.memory_bytes()
            + epochs.sum::<usize>()
    }

    /// Brings a page here; `head` is what older components know of it, packed.
    pub(crate) fn add_page(
        &mut self,
        sequence: u64,
        url: &str,
        hash: u64,
        earlier: bool,
        head: &[u8],
    ) -> u32 {
        let number = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.pages.push(MemPage {
            url: self.urls.len(),
            url_len: u32::try_from(url.len()).unwrap_or(0),
            hash,
            first_sequence: sequence,
            head: self.heads.len(),
            head_len: u32::try_from(head.len()).unwrap_or(0),
            arrivals: None,
            checkpoint: None,
            arrivals_since: 0,
            earlier,
            reset: false,
        });
        self.urls.push_str(url);
        self.heads.extend_from_slice(head);
        let pages = &self.pages;
        self.places.insert(hash, number, |n| pages.get(n as usize).map_or(0, |p| p.hash));
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
            self.bytes += size_of::<Vec<u32>>() + 4 * size_of::<u32>();
            *word = LIST | u32::try_from(index.lists.len() - 1).unwrap_or(0);
        }
        let Some(list) = index.lists.get_mut((*word & !LIST) as usize) else { return };
        let (pages, urls) = (&self.pages, &self.urls);
        let order = |n: u32| {
            let url = pages.get(n as usize);
            let url = url.and_then(|p| urls.get(p.url..p.url + p.url_len as usize)).unwrap_or("");
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

    /// Adds a visit that the page does not have yet, and that has this effect on it.
    pub(crate) fn visit(&mut self, sequence: u64, number: u32, visit: Visit, effect: &Effect) {
        self.operation(sequence);
        let Some(page) = self.pages.get_mut(number as usize) else { return };
        // What is in force before the page's first visit here is only in older tables, and they
        // speak for the page until now.
        let indexed = page.arrivals.and(effect.before);
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
        page.arrivals_since += 1;
        let is_due = page.arrivals_since >= CHECKPOINT_ARRIVALS;
        self.arrivals.push(Arrival { sequence, visit, first: effect.first, next: None });
        if is_due {
            self.keep_head(number, sequence, place);
        }
        self.page_delta += i64::from(effect.first);
        self.visit_delta += 1;
        // What was seen; and what is in force now, which may be an older version.
        let seen = visit.seen.content().copied();
        if let Some(content) = seen.filter(|_| seen != indexed) {
            self.index(content, number);
        }
        let after = effect.after;
        if let Some(content) = after.filter(|_| after != indexed && after != seen) {
            self.index(content, number);
        }
    }

    fn forget(&mut self, number: u32, sequence: u64) {
        if let Some(page) = self.pages.get_mut(number as usize) {
            page.reset = true;
            self.bytes += 4 * size_of::<(u32, u64)>();
            self.resets.insert((number, sequence));
        }
    }

    /// Forgets a page that is here: `visits` of it were known.
    pub(crate) fn reset(&mut self, sequence: u64, number: u32, visits: u64) {
        self.operation(sequence);
        self.forget(number, sequence);
        self.take_away(sequence, 1, visits);
    }

    /// Forgets everything under a prefix: so many pages and visits were known.
    pub(crate) fn bury(&mut self, sequence: u64, prefix: Prefix, pages: u64, visits: u64) {
        self.operation(sequence);
        let under = self.pages().filter(|page| prefix.contains(&surt_key(page.url())));
        let under: Vec<u32> = under.map(|page| page.number).collect();
        under.into_iter().for_each(|number| self.forget(number, sequence));
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

    /// All pages in SURT order, to be read one after another.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = PageOf<'_>> {
        /// How many pages ahead the processor is told what will be read: of a page, and of what
        /// belongs to it.
        const AHEAD: (usize, usize) = (8, 4);
        let order = self.sorted_pages();
        (0..order.len()).filter_map(move |at| {
            if let Some(ahead) = order.get(at + AHEAD.0) {
                prefetch_value(ahead.page);
            }
            if let Some(ahead) = order.get(at + AHEAD.1) {
                ahead.prefetch();
            }
            order.get(at).copied()
        })
    }

    fn sorted_pages(&self) -> Vec<PageOf<'_>> {
        let mut keys = Vec::new();
        let mut order: Vec<Keyed> = Vec::with_capacity(self.pages.len());
        for (page, number) in self.pages.iter().zip(0..) {
            let start = keys.len();
            surt::key(self.url(page), &mut keys);
            order.push(Keyed { decisive: 0, start, end: keys.len(), number });
        }
        // Keys are alike at their beginning; the eight bytes after what all share tell most apart.
        let key = |keyed: &Keyed| keys.get(keyed.start..keyed.end).unwrap_or(&[]);
        let first = order.first().map_or(&[][..], key);
        let shared = order.iter().fold(first, |shared, keyed| {
            let same = shared.iter().zip(key(keyed)).take_while(|(a, b)| a == b).count();
            shared.get(..same).unwrap_or(&[])
        });
        let skipped = shared.len();
        for keyed in &mut order {
            let mut decisive = [0; 8];
            let rest = keys.get(keyed.start + skipped..keyed.end).unwrap_or(&[]);
            decisive.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            keyed.decisive = u64::from_be_bytes(decisive);
        }
        let url = |keyed: &Keyed| self.pages.get(keyed.number as usize).map(|page| self.url(page));
        order.sort_unstable_by(|a, b| {
            let whole = || key(a).cmp(key(b)).then_with(|| url(a).cmp(&url(b)));
            a.decisive.cmp(&b.decisive).then_with(whole)
        });
        order.iter().filter_map(|keyed| self.page(keyed.number)).collect()
    }

    /// The pages in SURT order, with their keys, those under a range of keys only.
    pub(crate) fn sorted(&self, within: impl Fn(&[u8]) -> bool) -> Vec<(Vec<u8>, u32)> {
        let mut sorted = Vec::new();
        for page in self.pages() {
            let key = surt_key(page.url());
            if within(&key) {
                sorted.push((key, page.number));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::{Epoch, Seen};

    fn fold(visits: impl Iterator<Item = Visit>, head: Option<Head>) -> Option<Head> {
        visits.fold(head, |head, visit| match head {
            None => Some(Head::of(visit)),
            Some(mut head) => {
                head.absorb(visit);
                Some(head)
            }
        })
    }

    proptest! {
        /// With any number of checkpoints, at every sequence, forgotten now and then.
        #[test]
        fn a_head_is_the_fold_of_what_came(
            older in prop::option::of(0i64..50),
            came in prop::collection::vec((0i64..1000, 0u64..12, 0u8..50), 1..200),
        ) {
            let visit = |time, fingerprint: u64| {
                let content = Content { fingerprint, digest: None, epoch: Epoch(0) };
                let seen = if fingerprint == 11 { Seen::Gone } else { Seen::Content(content) };
                Visit { time, seen, status: None }
            };
            let older = older.map(|time| Head::of(visit(time, 3)));
            let mut packed = Vec::new();
            if let Some(head) = &older {
                put_carried(&mut packed, head, &[]);
            }
            let (mut inner, url) = (Inner::default(), "http://a.example/");
            let number = inner.add_page(1, url, 7, older.is_some(), &packed);
            let mut heads = vec![(0, older.clone())];
            for (sequence, (time, fingerprint, chance)) in (1..).zip(came) {
                let mut head = heads.last().unwrap().1.clone();
                if chance == 0 && head.is_some() {
                    inner.reset(sequence, number, 1);
                    head = None;
                } else {
                    let visit = visit(time, fingerprint);
                    let effect = Effect::of(&mut head.clone(), &visit);
                    inner.visit(sequence, number, visit, &effect);
                    head = fold(std::iter::once(visit), head);
                }
                heads.push((sequence, head));
            }
            let page = inner.page(number).unwrap();
            for (sequence, head) in heads {
                prop_assert_eq!(page.head_at(sequence), head);
            }
            prop_assert_eq!(page.head(), page.head_at(u64::MAX));
        }
    }
}
