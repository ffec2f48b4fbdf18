//! What the journal holds, in memory: pages, their visits, and a small search index.
//!
//! One thread at a time writes, under the store's write lock; readers come and go beside it and see
//! what was acknowledged, since everything bears its sequence number. Nothing is taken away before
//! the memtable is sealed: a page that is forgotten keeps its visits for snapshots from before.

mod buried;
mod effect;
mod fingerprints;
mod order;
mod page;
mod places;
mod under;

use std::collections::BTreeSet;
use std::time::Instant;

use buried::Buried;
pub(crate) use effect::Effect;
use fingerprints::Fingerprints;
pub(crate) use page::PageOf;
use page::{Arrival, CHECKPOINT_ARRIVALS, Checkpoint, MemPage};
use places::Places;
use under::ByKey;

use crate::catalog::Journal;
use crate::cpu::prefetch_value;
use crate::error::{Error, Result};
use crate::page::{Content, Prefix, Visit, surt};
use crate::process::Process;
use crate::search::{Bounds, Candidate, Extent, Plan};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// About what it takes to know that a prefix was forgotten, beside eight copies of its ends.
const BURIED_BYTES: usize = 256;

/// The observations since the last seal.
#[derive(Debug)]
pub(crate) struct Memtable {
    pub(crate) journal: Journal,
    inner: RwLock<Inner>,
    /// Whether the lock was ever taken to write.
    touched: AtomicBool,
    /// The process whose threads write it.
    process: Process,
}

/// The inside, behind the lock. What belongs to pages lies in a few long columns, not in a small
/// allocation for each.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pages: Vec<MemPage>,
    urls: String,
    /// Heads, packed as in the journal: as older components know them, and of checkpoints.
    heads: Vec<u8>,
    arrivals: Vec<Arrival>,
    checkpoints: Vec<Checkpoint>,
    places: Places,
    fingerprints: Fingerprints,
    /// Pages that were forgotten, and when.
    resets: BTreeSet<(u32, u64)>,
    /// Prefixes that were forgotten, and when.
    pub(crate) buried: Buried,
    by_key: ByKey,
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

impl Memtable {
    pub(crate) fn new(journal: Journal) -> Memtable {
        let process = Process::current();
        Memtable { journal, inner: RwLock::default(), touched: AtomicBool::new(false), process }
    }

    /// What a forked process has of memtables that it cannot know: one that another thread writes for
    /// ever.
    pub(crate) fn torn(process: Process) -> Memtable {
        let torn = Memtable { process, ..Memtable::new(Journal::A) };
        std::mem::forget(torn.write());
        torn
    }

    /// # Errors
    ///
    /// [`Error::Forked`] in a process that was forked while another thread wrote here: that thread is
    /// not there, and its lock stays. In all others nothing is looked up but the lock.
    pub(crate) fn check(&self) -> Result<()> {
        let torn =
            !self.is_untouched() && self.inner.try_read().is_none() && !self.process.is_current();
        if torn { Err(Error::Forked) } else { Ok(()) }
    }

    pub(crate) fn with_journal(self, journal: Journal) -> Memtable {
        Memtable { journal, ..self }
    }

    /// An empty memtable in the memory of this one.
    pub(crate) fn emptied(mut self) -> Memtable {
        self.inner.get_mut().clear();
        *self.touched.get_mut() = false;
        self
    }

    /// Whether nothing was written that a reader knows of, who has read a sequence number: told without
    /// the lock. What is written later may make it say no.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        !self.touched.load(Ordering::Acquire)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read()
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        // Long before a reader can know of the operation.
        if self.is_untouched() {
            self.touched.store(true, Ordering::Release);
        }
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
        emptied.fingerprints.clear();
        let Inner { pages, urls, heads, arrivals, checkpoints, places, fingerprints, .. } = emptied;
        *self = Inner {
            pages,
            urls,
            heads,
            arrivals,
            checkpoints,
            places,
            fingerprints,
            ..Inner::default()
        };
    }

    /// Tells the processor what a search for this fingerprint will read.
    pub(crate) fn prefetch(&self, epoch: u32, fingerprint: u64) {
        self.fingerprints.prefetch(epoch, fingerprint);
    }

    /// The same for the place of a page with this hash.
    pub(crate) fn prefetch_place(&self, hash: u64) {
        self.places.prefetch(hash);
    }

    /// The same for the page, whose place has come.
    pub(crate) fn prefetch_page(&self, hash: u64) {
        if let Some(page) = self.places.candidates(hash).next().and_then(|n| self.page(n)) {
            prefetch_value(page.page);
        }
    }

    /// The same for what the page has, once the page itself has come.
    pub(crate) fn prefetch_contents(&self, hash: u64) {
        if let Some(page) = self.places.candidates(hash).next().and_then(|n| self.page(n)) {
            page.prefetch();
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

    /// The bytes that all this takes, room that is not used yet left out.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
            + size_of_val(self.pages.as_slice())
            + self.urls.len()
            + self.heads.len()
            + size_of_val(self.arrivals.as_slice())
            + size_of_val(self.checkpoints.as_slice())
            + self.places.memory_bytes()
            + self.fingerprints.memory_bytes()
            + self.by_key.memory_bytes()
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
            current: false,
            reset: false,
            taken_out: false,
        });
        self.urls.push_str(url);
        self.heads.extend_from_slice(head);
        let pages = &self.pages;
        self.places.insert(hash, number, |n| pages.get(n as usize).map_or(0, |p| p.hash));
        number
    }

    /// Enters a page under a fingerprint.
    fn index(&mut self, content: Content, number: u32) {
        let Inner { pages, urls, fingerprints, .. } = self;
        fingerprints.add(content, number, |number| {
            let url = pages.get(number as usize).map_or("", |page| page.url_in(urls));
            (surt::key_of(url), url)
        });
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
        if std::mem::take(&mut page.taken_out) {
            self.by_key.put_back(number);
        }
        let seen = visit.seen.content().copied();
        page.current = seen.is_some() && seen == effect.after;
        page.arrivals_since += 1;
        let is_due = page.arrivals_since >= CHECKPOINT_ARRIVALS;
        self.arrivals.push(Arrival { sequence, visit, first: effect.first, next: None });
        if is_due {
            self.keep_head(number, sequence, place);
        }
        self.page_delta += i64::from(effect.first);
        self.visit_delta += i64::from(!visit.seen.is_restated());
        // What was seen; and what is in force now, which may be an older version.
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
            page.current = false;
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
        for number in self.by_key.take_out(&self.pages, &self.urls, &prefix) {
            self.forget(number, sequence);
            if let Some(page) = self.pages.get_mut(number as usize) {
                page.taken_out = true;
            }
        }
        self.bytes += BURIED_BYTES + 8 * prefix.to_bytes().len();
        self.buried.add(sequence, prefix);
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
            visits -= i64::from(!arrival.visit.seen.is_restated());
        }
        for (_, p, v) in self.forgotten.iter().rev().take_while(|f| f.0 > sequence) {
            pages += p.cast_signed();
            visits += v.cast_signed();
        }
        (pages, visits)
    }

    /// Distinct fingerprints of an epoch within `k`.
    pub(crate) fn near(&self, epoch: u32, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        self.fingerprints.near(epoch, fingerprint, k, out);
    }

    /// What is nearest of it, within bounds.
    pub(crate) fn nearest(
        &self,
        wanted: (u32, u64, u32),
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Extent {
        self.fingerprints.nearest(wanted, bounds, out)
    }

    /// What a search of the fingerprints of an epoch is expected to cost; `None` if there are none.
    pub(crate) fn plan(&self, epoch: u32, k: u32) -> Option<Plan> {
        self.fingerprints.plan(epoch, k)
    }

    /// Whether there are fingerprints of another epoch.
    pub(crate) fn has_others(&self, epoch: u32) -> bool {
        self.fingerprints.has_others(epoch)
    }

    /// All distinct fingerprints of an epoch, in order of arrival: a copy.
    pub(crate) fn all_fingerprints(&self, epoch: u32) -> Vec<u64> {
        self.fingerprints.all(epoch)
    }

    /// How many distinct fingerprints of an epoch there are.
    pub(crate) fn fingerprints(&self, epoch: u32) -> u32 {
        self.fingerprints.count(epoch)
    }

    /// The pages that have or had a fingerprint, in SURT order.
    pub(crate) fn postings(&self, epoch: u32, ordinal: u32) -> &[u32] {
        self.fingerprints.postings(epoch, ordinal)
    }
}
