//! The contents of the journal in memory: pages, their entries, and a small search index.
//!
//! One thread at a time writes, under the store's write lock. Readers run concurrently and see only
//! acknowledged operations, because all data has a sequence number. Nothing is removed before the
//! memtable is sealed: a forgotten page keeps its visits for earlier snapshots.

mod effect;
mod fingerprints;
mod hidden_keys;
mod key_index;
mod operations;
mod order;
mod page;
mod url_hash_table;

use std::time::Instant;

use super::delta::entry_delta;
use super::memo::Memo;
use super::options::Options;
use crate::bug::{Bug, OrBug, ensure};
use crate::catalog::Journal;
use crate::error::{Error, Result};
use crate::layout::Delta;
use crate::page::{Content, Entry, EpochInfo, Prefix, TableKey, surt};
use crate::process::ProcessId;
use crate::search::{Bounds, Candidate, Completeness, SearchPlan};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LockRank, RankedReadGuard, RankedRwLock, RankedWriteGuard};
use crate::time::Time;
use fingerprints::FingerprintIndex;
use hidden_keys::HiddenKeys;
use key_index::KeyIndex;
use operations::{ForgetOperation, ForgetTarget};
use page::PageColumns;
use url_hash_table::UrlHashTable;

pub(crate) use effect::Effect;
pub(crate) use operations::MemtableOperation;
pub(crate) use page::MemtablePage;

/// The approximate number of bytes for a forgotten prefix, besides nine copies of its ends.
const BURIED_BYTES: usize = 256;

/// The observations since the last seal.
#[derive(Debug)]
pub(crate) struct Memtable {
    pub(crate) journal: Journal,
    inner: RankedRwLock<MemtableContents>,
    /// Whether the lock was ever taken for writing.
    touched: AtomicBool,
    /// The process whose threads write the memtable.
    process: ProcessId,
    /// The cached times since when pages have their content in force. Each is valid as of one
    /// arrival of its page.
    pub(crate) since: Memo<(Option<u32>, Time)>,
}

/// The contents behind the lock. Pages are stored in a few long columns, not in a small allocation
/// each.
#[derive(Debug, Default)]
pub(crate) struct MemtableContents {
    pages: PageColumns,
    numbers: UrlHashTable,
    fingerprints: FingerprintIndex,
    /// The forgotten prefixes, with the operations that forgot them.
    pub(crate) hidden_keys: HiddenKeys,
    by_key: KeyIndex,
    /// The first and the last sequence number; `None` if there are no operations.
    pub(crate) sequences: Option<(u64, u64)>,
    /// The change of the store's totals.
    pub(crate) delta: Delta,
    /// The forgotten pages and prefixes, in order of operations.
    forgotten: Vec<ForgetOperation>,
    /// The number of visits and other operations.
    pub(crate) operations: usize,
    /// The number of bytes outside of the columns.
    bytes: usize,
    /// The time of the memtable's first operation.
    pub(crate) since: Option<Instant>,
}

impl Memtable {
    pub(crate) fn new(journal: Journal) -> Memtable {
        let process = ProcessId::current();
        let inner = RankedRwLock::new(LockRank::Memtable, MemtableContents::default());
        let (touched, since) = (AtomicBool::new(false), Memo::default());
        Memtable { journal, inner, touched, process, since }
    }

    /// Creates a memtable that marks the contents as unknown in a forked process: the thread that
    /// was writing does not exist in that process.
    pub(crate) fn torn(process: ProcessId) -> Memtable {
        let torn = Memtable { process, ..Memtable::new(Journal::A) };
        torn.touched.store(true, Ordering::Release);
        torn.inner.write_for_ever();
        torn
    }

    /// Checks that the contents are accessible.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a process that was forked while another thread wrote to the memtable:
    /// that thread does not exist, and its lock remains. In other processes, only the lock is
    /// checked.
    pub(crate) fn check(&self) -> Result<()> {
        let torn =
            !self.is_untouched() && self.inner.try_read().is_none() && !self.process.is_current();
        if torn { Err(Error::Forked) } else { Ok(()) }
    }

    /// Whether the memtable belongs to this process, not to a parent.
    pub(crate) fn is_own(&self) -> bool {
        self.process.is_current()
    }

    pub(crate) fn with_journal(self, journal: Journal) -> Memtable {
        Memtable { journal, ..self }
    }

    /// Creates an empty memtable in the memory of this memtable.
    pub(crate) fn emptied(mut self) -> Memtable {
        self.inner.get_mut().clear();
        *self.touched.get_mut() = false;
        self.since = Memo::default();
        self
    }

    /// Whether the memtable is empty for a reader that has read a sequence number. Takes no lock.
    /// Later writes may change the result.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        !self.touched.load(Ordering::Acquire)
    }

    pub(crate) fn read(&self) -> RankedReadGuard<'_, MemtableContents> {
        self.inner.read()
    }

    pub(crate) fn write(&self) -> RankedWriteGuard<'_, MemtableContents> {
        // The flag is set before the operation becomes visible: a reader that sees the operation
        // must not skip this memtable.
        if self.is_untouched() {
            self.touched.store(true, Ordering::Release);
        }
        self.inner.write()
    }
}

impl MemtableContents {
    fn clear(&mut self) {
        // Columns and hash tables keep their memory for the next memtable. All other fields are
        // new.
        let MemtableContents { mut pages, mut numbers, mut fingerprints, .. } =
            std::mem::take(self);
        pages.clear();
        numbers.clear();
        fingerprints.clear();
        *self = MemtableContents { pages, numbers, fingerprints, ..MemtableContents::default() };
    }

    /// Prefetches the memory that a search for the fingerprint `fingerprint` reads.
    pub(crate) fn prefetch(&self, epoch: u32, fingerprint: u64) {
        self.fingerprints.prefetch(epoch, fingerprint);
    }

    /// Prefetches the number of the page with the hash `hash`.
    pub(crate) fn prefetch_number(&self, hash: u64) {
        self.numbers.prefetch(hash);
    }

    /// Prefetches the page, once the page's number has been prefetched.
    pub(crate) fn prefetch_page(&self, hash: u64) {
        // The first candidate is nearly always the page: slots compare half of the hash.
        if let Some(number) = self.numbers.candidates(hash).next() {
            self.page(number).prefetch_page();
        }
    }

    /// Prefetches the contents of the page, once the page itself has been prefetched.
    pub(crate) fn prefetch_contents(&self, hash: u64) {
        if let Some(number) = self.numbers.candidates(hash).next() {
            self.page(number).prefetch();
        }
    }

    /// The page with the URL `url`, if it was added to the memtable at or before `sequence`.
    pub(crate) fn find(&self, hash: u64, url: &str, sequence: u64) -> Option<u32> {
        let same = |&number: &u32| {
            let page = self.page(number);
            page.hash() == hash && page.url() == url
        };
        let number = self.numbers.candidates(hash).find(same)?;
        // The writer may have added the page after the reader's snapshot was taken.
        self.page(number).is_here(sequence).then_some(number)
    }

    /// Whether a page has a number that comes from a journal.
    pub(crate) fn has(&self, number: u32) -> bool {
        number < self.pages.len()
    }

    /// The page with a number.
    #[inline]
    pub(crate) fn page(&self, number: u32) -> MemtablePage<'_> {
        self.pages.page(number)
    }

    /// All pages, in order of arrival.
    pub(crate) fn pages(&self) -> impl Iterator<Item = MemtablePage<'_>> {
        self.pages.iter()
    }

    /// The numbers of the pages under a prefix, or of all pages, in SURT order. Reads all pages,
    /// and temporarily takes the memory of their keys.
    pub(crate) fn order(&self, prefix: Option<&Prefix>) -> Vec<u32> {
        order::order(&self.pages, prefix)
    }

    /// All pages in SURT order, for sequential reading.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = MemtablePage<'_>> {
        order::in_order(&self.pages)
    }

    /// The numbers of the pages under a prefix, in SURT order. May leave out pages that were
    /// forgotten with a prefix at or before `sequence` and did not come back.
    ///
    /// Costs a few binary searches for each page added since the last call. If `sequence` is older
    /// than a forgotten prefix, costs a pass over all pages.
    pub(crate) fn under(&self, prefix: &Prefix, sequence: u64) -> Vec<u32> {
        // `by_key` has the current state. An older snapshot still has the pages that were forgotten
        // since.
        if !self.hidden_keys.is_as_of(sequence) {
            return self.order(Some(prefix));
        }
        self.by_key.under(&self.pages, prefix)
    }

    /// The number of bytes of used memory, without unused capacity.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
            + self.pages.bytes()
            + self.numbers.memory_bytes()
            + self.fingerprints.memory_bytes()
            + self.by_key.memory_bytes()
    }

    /// Whether the memtable must be sealed before it takes more operations.
    #[inline]
    pub(crate) fn is_full(&self, options: &Options) -> bool {
        self.operations >= options.memtable_observations
            // The tables of a recycled memtable count even while it is empty. The memtable must
            // accept at least one operation, or writers would be blocked forever.
            || self.operations > 0 && self.bytes() >= options.memtable_bytes
    }

    /// Adds a page; `head` is its packed head in older components.
    ///
    /// # Errors
    ///
    /// A bug if there are more pages than numbers, or the URL is too long.
    pub(crate) fn add_page(
        &mut self,
        sequence: u64,
        url: &str,
        hash: u64,
        earlier: bool,
        head: &[u8],
    ) -> Result<u32, Bug> {
        let number = self.pages.add(sequence, url, hash, earlier, head)?;
        let pages = &self.pages;
        self.numbers.insert(hash, number, |number| pages.page(number).hash());
        Ok(number)
    }

    /// Indexes a page by the fingerprint of a content, or by its digest if it has no fingerprint.
    fn index(&mut self, content: Content, number: u32) {
        let Some(TableKey { table, value }) = content.table_key() else { return };
        let MemtableContents { pages, fingerprints, .. } = self;
        // Keys are not stored. They are computed in `add`, and only for a fingerprint of several
        // pages.
        fingerprints.add(table, value, number, |number| {
            let url = pages.page(number).url();
            (surt::key_of(url), url)
        });
    }

    fn operation(&mut self, sequence: u64) -> Result<(), Bug> {
        // Sequence numbers start at 1, so this does not underflow.
        let (first, last) = self.sequences.unwrap_or((sequence, sequence - 1));
        ensure(last.checked_add(1) == Some(sequence), "operations are numbered consecutively")?;
        self.sequences = Some((first, sequence));
        self.operations += 1;
        self.since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Applies an entry that the page does not have yet, with its effect. `epochs` are the epochs
    /// of the store, or none if they are unknown.
    ///
    /// # Errors
    ///
    /// A bug if no page has this number, or the operation is out of sequence.
    pub(crate) fn apply_entry(
        &mut self,
        sequence: u64,
        number: u32,
        entry: Entry,
        effect: &Effect,
        epochs: &[EpochInfo],
    ) -> Result<(), Bug> {
        self.operation(sequence)?;
        let content = entry.content();
        let sum = self.delta.plus(entry_delta(effect.states, &entry));
        self.delta = sum.or_bug("a memtable holds fewer than 2^63 entries")?;
        let before = self.pages.enter(sequence, number, entry, effect, epochs)?;
        // The page was forgotten with a prefix and comes back. `forget_prefix` had removed it from
        // the order by key.
        if before.was_forgotten {
            self.by_key.put_back(number);
        }
        // Before the page's first entry in this memtable, only older components index its contents
        // in force. From this entry on the memtable represents the page, so it indexes all these
        // contents.
        let indexed = |content: &Content| {
            before.had_entries && effect.in_force().any(|(after, kept)| kept && after == content)
        };
        // Indexes the new content and the contents in force now, which may be an older version.
        if let Some(content) = content.filter(|content| !indexed(content)) {
            self.index(content, number);
        }
        for (after, kept) in effect.in_force() {
            if !(kept && before.had_entries) && Some(*after) != content {
                self.index(*after, number);
            }
        }
        Ok(())
    }

    fn mark_forgotten(&mut self, number: u32, sequence: u64, with_prefix: bool) -> Result<(), Bug> {
        self.bytes += 4 * size_of::<(u32, u64)>();
        self.pages.reset(sequence, number, with_prefix)
    }

    /// Forgets a page of this memtable. `known` is the page's contribution to the totals.
    pub(crate) fn forget_page(
        &mut self,
        sequence: u64,
        number: u32,
        known: Delta,
    ) -> Result<(), Bug> {
        self.operation(sequence)?;
        self.mark_forgotten(number, sequence, false)?;
        self.subtract(ForgetOperation { sequence, known, target: ForgetTarget::Page(number) })
    }

    /// Forgets all pages under a prefix. `known` is their contribution to the totals.
    pub(crate) fn forget_prefix(
        &mut self,
        sequence: u64,
        prefix: Prefix,
        known: Delta,
    ) -> Result<(), Bug> {
        self.operation(sequence)?;
        // Only pages of this memtable are removed. The tombstone hides the pages of older
        // components.
        for number in self.by_key.take_out(&self.pages, &prefix)? {
            self.mark_forgotten(number, sequence, true)?;
        }
        self.bytes += BURIED_BYTES + 9 * prefix.to_bytes().len();
        self.hidden_keys.add(sequence, prefix.clone());
        self.subtract(ForgetOperation { sequence, known, target: ForgetTarget::Prefix(prefix) })
    }

    /// Whether `known`, which comes from a journal, can be subtracted from the totals.
    pub(crate) fn can_lose(&self, known: Delta) -> bool {
        self.delta.minus(known).is_some_and(|rest| rest.is_possible())
    }

    fn subtract(&mut self, forgotten: ForgetOperation) -> Result<(), Bug> {
        let rest = self.delta.minus(forgotten.known);
        self.delta =
            rest.or_bug("forgotten pages and visits are at most the known pages and visits")?;
        self.forgotten.push(forgotten);
        self.bytes += size_of::<ForgetOperation>();
        Ok(())
    }

    /// The change of the totals by the operations up to `sequence`. Costs a pass over the
    /// operations after `sequence`.
    ///
    /// # Errors
    ///
    /// A bug if the operations remove more than was ever added.
    pub(crate) fn delta_at(&self, sequence: u64) -> Result<Delta, Bug> {
        // Goes backwards from the current state, because most snapshots are recent: only the few
        // operations after the snapshot are undone.
        let mut entries = self.pages.deltas_after(sequence);
        let delta = entries.try_fold(self.delta, Delta::minus);
        let forgotten = self.forgotten.iter().rev().take_while(|f| f.sequence > sequence);
        let delta = forgotten.fold(delta, |delta, forgotten| delta?.plus(forgotten.known));
        delta.or_bug("subtracting the added totals leaves valid totals")
    }

    /// The times of the first and the last visit among the operations up to `sequence`. Costs a
    /// pass over all operations.
    pub(crate) fn times_at(&self, sequence: u64) -> Option<(Time, Time)> {
        self.pages.times_at(sequence)
    }

    /// Finds the distinct fingerprints of an epoch within `k` bits.
    pub(crate) fn near(&self, epoch: u32, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        self.fingerprints.near(epoch, fingerprint, k, out);
    }

    /// Finds the nearest fingerprints, within bounds.
    pub(crate) fn nearest(
        &self,
        wanted: (u32, u64, u32),
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Completeness {
        self.fingerprints.nearest(wanted, bounds, out)
    }

    /// The estimated cost of a search of an epoch's fingerprints; `None` if the epoch has none.
    pub(crate) fn plan(&self, epoch: u32, k: u32) -> Option<SearchPlan> {
        self.fingerprints.plan(epoch, k)
    }

    /// Whether there are fingerprints of an epoch other than `epoch`.
    pub(crate) fn has_others(&self, epoch: u32) -> bool {
        self.fingerprints.has_others(epoch)
    }

    /// Returns a copy of all distinct fingerprints of an epoch, in order of arrival.
    pub(crate) fn all_fingerprints(&self, epoch: u32) -> Vec<u64> {
        self.fingerprints.all(epoch)
    }

    /// The number of distinct fingerprints of an epoch.
    pub(crate) fn fingerprints(&self, epoch: u32) -> u32 {
        self.fingerprints.count(epoch)
    }

    /// The pages that have or had a fingerprint, in SURT order.
    pub(crate) fn postings(&self, epoch: u32, ordinal: u32) -> &[u32] {
        self.fingerprints.postings(epoch, ordinal)
    }
}
