//! The pages of a memtable: the entries of each page, and its head as of any operation.

mod checkpoint;

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::effect::Effect;
use super::fingerprints::PAGES_MAX;
use crate::bug::{Bug, OrBug};
use crate::cpu::{prefetch, prefetch_value};
use crate::engine::delta::entry_delta;
use crate::layout::Delta;
use crate::page::{
    Changes, Content, Entry, EpochInfo, PageHead, PageHistory, PageState, drop_superseded,
};
use crate::segment::{SegmentRecord, head_of, unpack_head, unpack_history};
use crate::time::Time;
use checkpoint::{CHECKPOINT_ARRIVALS, Checkpoint, CheckpointKind};

/// A page with operations since the last seal.
#[derive(Debug)]
struct PageSlot {
    /// The position of the page's URL in the URLs.
    url: usize,
    url_len: u32,
    hash: u64,
    first_sequence: u64,
    /// The position of the page's head in the heads. The head has length 0 if older components do
    /// not have the page.
    head: usize,
    head_len: u32,
    /// The first and the last arrival of the page.
    arrivals: Option<(u32, u32)>,
    /// The last checkpoint of the page, and the number of arrivals after it.
    checkpoint: Option<u32>,
    arrivals_since: u32,
    earlier: bool,
    /// Whether the page was ever forgotten in this memtable.
    reset: bool,
    /// Whether the page was forgotten with a prefix and did not come back.
    forgotten_by_prefix: bool,
}

/// An entry, as it arrived.
#[derive(Debug)]
struct Arrival {
    sequence: u64,
    entry: Entry,
    /// The states of the page before and after the entry.
    states: (PageState, PageState),
    /// The number of the page.
    page: u32,
    /// The next arrival of the same page.
    next: Option<u32>,
}

/// The pages and their entries: a few long columns, not a small allocation for each page.
#[derive(Debug, Default)]
pub(super) struct PageColumns {
    pages: Vec<PageSlot>,
    urls: String,
    /// Packed heads, as in the journal: the heads of older components, and the heads of
    /// checkpoints.
    heads: Vec<u8>,
    arrivals: Vec<Arrival>,
    checkpoints: Vec<Checkpoint>,
    /// The forgotten pages, with the operations that forgot them.
    resets: BTreeSet<(u32, u64)>,
}

/// The state of a page before an entry.
pub(super) struct PriorEntries {
    /// Whether the page had any entry in this memtable.
    pub(super) had_entries: bool,
    /// Whether the page had been forgotten with a prefix.
    pub(super) was_forgotten: bool,
}

/// A page of a memtable.
#[derive(Clone, Copy)]
pub(crate) struct MemtablePage<'a> {
    pages: &'a PageColumns,
    number: u32,
    page: &'a PageSlot,
}

impl<'a> MemtablePage<'a> {
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn url(&self) -> &'a str {
        self.pages.url(self.page)
    }

    pub(crate) fn hash(&self) -> u64 {
        self.page.hash
    }

    /// Whether an operation at or before `sequence` added the page to the memtable.
    pub(crate) fn is_here(&self, sequence: u64) -> bool {
        self.page.first_sequence <= sequence
    }

    /// The page as of `sequence`; `None` if it is forgotten. Costs unpacking a head, and adding the
    /// visits since the last checkpoint.
    pub(crate) fn head_at(&self, sequence: u64) -> Option<PageHead> {
        let (packed, later) = self.since_checkpoint(sequence, |_| true);
        let mut head = unpack_head(packed);
        later.for_each(|(_, arrival)| PageHead::absorb_into(&mut head, &arrival.entry));
        head
    }

    /// The page with its change statistics as of `sequence`, unless a visit came late. Costs as
    /// much as [`head_at`](Self::head_at), plus a pass over the entries since the last checkpoint
    /// if all of them belong to one visit.
    pub(crate) fn history_at(&self, sequence: u64, epochs: &[EpochInfo]) -> PageHistory {
        // A checkpoint with only the head lacks the change statistics, so an earlier checkpoint is
        // used.
        let (packed, later) = self.since_checkpoint(sequence, |kind| kind != CheckpointKind::Head);
        let mut course = unpack_history(packed);
        let arrivals: SmallVec<[Entry; 4]> =
            later.map(|(_, arrival)| arrival.entry.clone()).collect();
        course.follow(&arrivals, epochs);
        course
    }

    /// The time when the page was first seen in this memtable, or restated, with a content, as of
    /// `sequence`. Costs a pass over the entries up to that time if they came in order, otherwise
    /// over all entries.
    pub(crate) fn first_seen(
        &self,
        sequence: u64,
        is_it: impl Fn(&Content) -> bool,
    ) -> Option<Time> {
        let has_it = |entry: &Entry| entry.content().as_ref().is_some_and(&is_it);
        let (after, start) = (self.last_reset(sequence).unwrap_or(0), self.page.arrivals?.0);
        let of = |first, sequence| self.entries_from(first, after, sequence);
        // Up to this checkpoint the times of the entries ascend.
        let ordered = self.checkpoint(sequence, |kind| kind != CheckpointKind::Head);
        let ordered = ordered.filter(|c| c.kind == CheckpointKind::Changes);
        // Up to the checkpoint the first match is the earliest. After the checkpoint all entries
        // are checked.
        let early = ordered.and_then(|c| of(Some(start), c.sequence).find(&has_it));
        let rest = ordered.map_or(Some(start), |c| self.after(c));
        let rest = of(rest, sequence).filter(&has_it);
        early.into_iter().chain(rest).map(|entry| entry.time()).min()
    }

    /// The last arrival of the page.
    pub(crate) fn last_arrival(&self) -> Option<u32> {
        self.page.arrivals.map(|(_, last)| last)
    }

    /// The page as of the last operation.
    pub(crate) fn head(&self) -> Option<PageHead> {
        self.head_at(u64::MAX)
    }

    /// Prefetches the page.
    pub(super) fn prefetch_page(&self) {
        prefetch_value(self.page);
    }

    /// Prefetches the contents of the page, once the page itself has been prefetched.
    #[expect(clippy::indexing_slicing, reason = "the columns have the parts of each page")]
    pub(super) fn prefetch(&self) {
        let PageSlot { url, url_len, head, head_len, arrivals, .. } = *self.page;
        if let Some((first, _)) = arrivals {
            prefetch_value(&self.pages.arrivals[first as usize]);
        }
        prefetch(&self.pages.urls.as_bytes()[url..url + url_len as usize]);
        prefetch(self.pages.packed(head, head_len));
    }

    /// The operation at or before `sequence` that last forgot the page.
    fn last_reset(&self, sequence: u64) -> Option<u64> {
        if !self.page.reset {
            return None;
        }
        // The set is ordered by page and then by operation.
        let upto = (self.number, 0)..=(self.number, sequence);
        self.pages.resets.range(upto).next_back().map(|&(_, sequence)| sequence)
    }

    /// Whether data in older components does not count as of `sequence`, because older components
    /// do not have the page, or the page was forgotten.
    pub(crate) fn ends_at(&self, sequence: u64) -> bool {
        !self.page.earlier || self.last_reset(sequence).is_some()
    }

    /// The entries in force at `sequence`, in order of arrival.
    pub(crate) fn entries_at(&self, sequence: u64) -> impl Iterator<Item = Entry> + use<'a> {
        // Operations start at 1, so 0 comes before all of them.
        let after = self.last_reset(sequence).unwrap_or(0);
        self.entries_from(self.page.arrivals.map(|(first, _)| first), after, sequence)
    }

    /// The entries of [`arrivals_from`](Self::arrivals_from).
    fn entries_from(
        &self,
        first: Option<u32>,
        after: u64,
        sequence: u64,
    ) -> impl Iterator<Item = Entry> + use<'a> {
        self.arrivals_from(first, after, sequence).map(|(_, arrival)| arrival.entry.clone())
    }

    /// The arrivals from `first` on that come after the operation `after`, up to the operation
    /// `sequence`. Each comes with its index.
    #[expect(clippy::indexing_slicing, reason = "each entry names the next entry of its page")]
    fn arrivals_from(
        &self,
        first: Option<u32>,
        after: u64,
        sequence: u64,
    ) -> impl Iterator<Item = (u32, &'a Arrival)> + use<'a> {
        let arrivals = &self.pages.arrivals;
        let of = |at: Option<u32>| at.map(|at| (at, &arrivals[at as usize]));
        // A page's arrivals are linked in order of sequence. So the walk can stop at `sequence`,
        // but must skip the arrivals before a reset.
        std::iter::successors(of(first), move |(_, arrival)| of(arrival.next))
            .take_while(move |(_, a)| a.sequence <= sequence)
            .filter(move |(_, a)| a.sequence > after)
    }

    /// Fills a buffer with the page's entries in force in this memtable, in order.
    pub(crate) fn take_entries(&self, entries: &mut Vec<Entry>) {
        entries.clear();
        entries.extend(self.entries_at(u64::MAX));
        entries.sort_unstable();
        drop_superseded(entries);
    }

    /// The record of this page in a sealed segment. `entries` are the page's entries in order.
    pub(crate) fn record<'v>(&self, entries: &'v [Entry], changes: Changes) -> SegmentRecord<'v>
    where
        'a: 'v,
    {
        let PageSlot { head, head_len, earlier, reset, .. } = *self.page;
        let before = if reset { &[] } else { head_of(self.pages.packed(head, head_len)) };
        // If older components do not have the page, a reset has nothing to hide.
        let (reset, earlier) = (reset && earlier, earlier && !reset);
        SegmentRecord { reset, earlier, before, entries, changes }
    }
}

impl PageColumns {
    /// Removes all pages, and keeps the memory.
    pub(super) fn clear(&mut self) {
        let PageColumns { pages, urls, heads, arrivals, checkpoints, resets } = self;
        pages.clear();
        urls.clear();
        heads.clear();
        arrivals.clear();
        checkpoints.clear();
        resets.clear();
    }

    /// The number of pages.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^31 are added")]
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.pages.len() as u32
    }

    /// The page with a number.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "pages are numbered here and never removed, and numbers from a journal are checked"
    )]
    pub(super) fn page(&self, number: u32) -> MemtablePage<'_> {
        MemtablePage { pages: self, number, page: &self.pages[number as usize] }
    }

    /// All pages, in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = MemtablePage<'_>> {
        (0..).zip(&self.pages).map(|(number, page)| MemtablePage { pages: self, number, page })
    }

    /// The number of bytes of the URLs.
    pub(super) fn url_bytes(&self) -> usize {
        self.urls.len()
    }

    /// The number of bytes of the columns, without unused capacity.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.pages.as_slice())
            + self.urls.len()
            + self.heads.len()
            + size_of_val(self.arrivals.as_slice())
            + size_of_val(self.checkpoints.as_slice())
    }

    /// Adds a page; `head` is its packed head in older components. Returns its number.
    ///
    /// # Errors
    ///
    /// A bug if there are more pages than numbers, or the URL is too long.
    #[inline]
    pub(super) fn add(
        &mut self,
        sequence: u64,
        url: &str,
        hash: u64,
        earlier: bool,
        head: &[u8],
    ) -> Result<u32, Bug> {
        // Bit 31 of a word marks a list, so page numbers have 31 bits.
        let number = u32::try_from(self.pages.len()).ok().filter(|number| *number < PAGES_MAX);
        let number = number.or_bug("a memtable has fewer than 2^31 pages")?;
        let url_len = u32::try_from(url.len()).ok().or_bug("a URL has less than 4 GiB")?;
        let head_len = u32::try_from(head.len()).ok().or_bug("a head has less than 4 GiB")?;
        // URLs and heads go into two long columns. Their positions stay valid, because nothing is
        // ever removed.
        self.pages.push(PageSlot {
            url: self.urls.len(),
            url_len,
            hash,
            first_sequence: sequence,
            head: self.heads.len(),
            head_len,
            arrivals: None,
            checkpoint: None,
            arrivals_since: 0,
            earlier,
            reset: false,
            forgotten_by_prefix: false,
        });
        self.urls.push_str(url);
        self.heads.extend_from_slice(head);
        Ok(number)
    }

    /// Adds an entry of a page, with its effect. `epochs` are the epochs of the store; without
    /// them, change statistics are not kept.
    #[inline]
    pub(super) fn enter(
        &mut self,
        sequence: u64,
        number: u32,
        entry: Entry,
        effect: &Effect,
        epochs: &[EpochInfo],
    ) -> Result<PriorEntries, Bug> {
        let page = self
            .pages
            .get_mut(number as usize)
            .or_bug("each entry belongs to a page of the memtable")?;
        let came = page.arrivals.is_some();
        let place = u32::try_from(self.arrivals.len()).ok();
        let place = place.or_bug("a memtable has fewer than 2^32 entries")?;
        page.arrivals = match page.arrivals {
            None => Some((place, place)),
            Some((first, last)) => {
                let last = self.arrivals.get_mut(last as usize);
                // The new entry is pushed below, at this index.
                last.or_bug("a page's last entry is in the memtable")?.next = Some(place);
                Some((first, place))
            }
        };
        // This entry brings the page back. The caller restores the page in the order by key.
        let taken_out = std::mem::take(&mut page.forgotten_by_prefix);
        page.arrivals_since += 1;
        let is_due = page.arrivals_since >= CHECKPOINT_ARRIVALS;
        let states = effect.states;
        self.arrivals.push(Arrival { sequence, entry, states, page: number, next: None });
        // Must come after the push, because the checkpoint includes this entry.
        if is_due {
            self.add_checkpoint(number, epochs)?;
        }
        Ok(PriorEntries { had_entries: came, was_forgotten: taken_out })
    }

    /// Forgets a page, either by itself or with a prefix.
    pub(super) fn reset(
        &mut self,
        sequence: u64,
        number: u32,
        with_prefix: bool,
    ) -> Result<(), Bug> {
        self.resets.insert((number, sequence));
        let page =
            self.pages.get_mut(number as usize).or_bug("each forgotten page is in the memtable")?;
        page.reset = true;
        // A page that is forgotten alone stays in the order by key.
        page.forgotten_by_prefix |= with_prefix;
        Ok(())
    }

    /// The entry of an operation, and the number of the entry's page; `None` if the operation has
    /// no entry.
    pub(super) fn entry_of(&self, sequence: u64) -> Option<(u32, &Entry)> {
        // Arrivals ascend by sequence number, with gaps for forgotten pages and prefixes.
        let at = self.arrivals.binary_search_by_key(&sequence, |arrival| arrival.sequence);
        self.arrivals.get(at.ok()?).map(|arrival| (arrival.page, &arrival.entry))
    }

    /// The changes of the totals by the entries after an operation, the last entry first.
    pub(super) fn deltas_after(&self, sequence: u64) -> impl Iterator<Item = Delta> {
        let after = self.arrivals.iter().rev().take_while(move |a| a.sequence > sequence);
        after.map(|arrival| entry_delta(arrival.states, &arrival.entry))
    }

    /// The times of the first and the last visit, forgotten or not, among the operations up to
    /// `sequence`.
    pub(super) fn times_at(&self, sequence: u64) -> Option<(Time, Time)> {
        let until = self.arrivals.iter().take_while(move |a| a.sequence <= sequence);
        let times = until.filter(|a| a.entry.is_visit()).map(|a| a.entry.time());
        times.fold(None, |times, time| {
            let (first, last) = times.unwrap_or((time, time));
            Some((first.min(time), last.max(time)))
        })
    }

    fn url(&self, page: &PageSlot) -> &str {
        &self.urls[page.url..page.url + page.url_len as usize]
    }

    /// A packed head in the column of heads.
    #[expect(clippy::indexing_slicing, reason = "heads are only added")]
    fn packed(&self, start: usize, len: u32) -> &[u8] {
        &self.heads[start..start + len as usize]
    }
}

#[cfg(test)]
mod tests;
