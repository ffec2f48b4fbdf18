//! Runs become segments: one thread merges them and asks what the store knows of each page, another
//! one writes.

use std::ops::Range;
use std::sync::Arc;

use super::epochs::Settled;
use super::runs::{Joined, Runs, sort_tail};
use super::unlisted::Unlisted;
use crate::bug::{Bug, OrBug, ensure};
use crate::disk::{Disk, Name};
use crate::error::Result;
use crate::page::{
    Changes, Course, Entry, EpochInfo, Head, Restated, head_and_changes, restated_digest,
};
use crate::segment::{
    Layout, Record, SealPage, Sealer, Span, Tombstones, count_visits, head_of, host_slot,
    put_course, unpack_head, url_hash,
};
use crate::store::lookup::Lookup;
use crate::store::stamps::Stamps;
use crate::store::view::View;
use crate::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Pages that are passed on together.
const BATCH_PAGES: usize = 2048;

/// A batch with this many bytes of URLs, or this many entries, is passed on with fewer pages.
const BATCH_URL_BYTES: usize = 512 << 10;
const BATCH_ENTRIES: usize = 8 << 10;

/// Batches on their way from one thread to the other.
const BATCHES: usize = 4;

/// Pages that are ready to be written.
#[derive(Debug, Default)]
struct Batch {
    pages: Vec<Ready>,
    joined: Joined,
    heads: Vec<u8>,
}

/// A page of a batch.
#[derive(Debug)]
struct Ready {
    url: Range<usize>,
    hash: u64,
    /// The slot of its host.
    host: u16,
    /// Its entries that the store does not have.
    entries: Range<usize>,
    /// The page as the store has it, packed.
    head: Range<usize>,
    /// How it changes, these entries among all others; none if these are all.
    changes: Option<Changes>,
    /// Whether any segment has it.
    earlier: bool,
    /// Whether the store does not know it.
    new: bool,
}

impl Batch {
    fn clear(&mut self) {
        self.pages.clear();
        self.joined.clear();
        self.heads.clear();
    }

    fn is_full(&self) -> bool {
        self.pages.len() >= BATCH_PAGES
            || self.joined.urls.len() >= BATCH_URL_BYTES
            || self.joined.entries.len() >= BATCH_ENTRIES
    }

    fn url(&self, page: &Ready) -> Result<&str, Bug> {
        text(self.joined.urls.get(page.url.clone()))
    }

    /// The entries of a page that the store does not have.
    fn entries(&self, page: &Ready) -> Result<&[Entry], Bug> {
        let entries = self.joined.entries.get(page.entries.clone());
        entries.or_bug("a page's entries lie among those of its batch")
    }

    /// Finds out what the segments of a view know of these pages, and leaves out what they have.
    fn compare(&mut self, view: &View, epochs: &[EpochInfo]) -> Result<()> {
        if view.segments.is_empty() && self.joined.entries.iter().all(Entry::is_visit) {
            return Ok(());
        }
        let mut known: Vec<Option<Course>> = vec![None; self.pages.len()];
        let mut changes: Vec<Option<Changes>> = vec![None; self.pages.len()];
        let mut kept: Vec<(usize, Vec<Entry>)> = Vec::new();
        {
            let lookup = |page: &Ready| Ok(Lookup::of(self.url(page)?, page.hash));
            let lookups = self.pages.iter().map(lookup).collect::<Result<Vec<_>, Bug>>()?;
            view.known_in_segments(&lookups, |place, _, course| {
                *known.get_mut(place).or_bug("a place is that of a lookup")? = Some(course);
                Ok(())
            })?;
            let each = self.pages.iter().zip(&lookups).zip(&known).zip(&mut changes).enumerate();
            for (at, (((page, lookup), known), changes)) in each {
                let entries = self.entries(page)?;
                let head = known.as_ref().and_then(|course| course.head.as_ref());
                let is_new = |entry: &Entry| match (head, entry) {
                    (_, Entry::Restated(_)) | (None, Entry::Weighed(_)) => false,
                    (None, Entry::Visit(_)) => true,
                    (Some(head), Entry::Visit(visit)) => {
                        *visit > head.last || visit.time < head.first
                    }
                    (Some(head), Entry::Weighed(weighed)) => Some(*weighed) > head.weighed,
                };
                if !entries.iter().all(is_new) {
                    let old = view.entries(lookup, u64::MAX)?;
                    let resolved = entries.iter().filter_map(|e| resolve(e, entries, &old));
                    let mut new: Vec<Entry> =
                        resolved.filter(|e| old.binary_search(e).is_err()).collect();
                    new.sort_unstable();
                    new.dedup();
                    *changes = known.as_ref().map(|_| Changes::of(&joined(&old, &new), epochs));
                    kept.push((at, new));
                } else if let Some(known) = known {
                    let mut course = known.clone();
                    course.follow(entries, epochs);
                    *changes = course.changes;
                    if changes.is_none() {
                        let old = view.entries(lookup, u64::MAX)?;
                        *changes = Some(Changes::of(&joined(&old, entries), epochs));
                    }
                }
            }
        }
        for (at, entries) in kept {
            let page = self.pages.get_mut(at).or_bug("a place is that of a page")?;
            ensure(
                entries.len() <= page.entries.len(),
                "what is left of entries is no more than came",
            )?;
            page.entries.end = page.entries.start + entries.len();
            let place = self.joined.entries.get_mut(page.entries.clone());
            let place = place.or_bug("a page's entries lie among those of its batch")?;
            place.copy_from_slice(&entries);
        }
        for ((page, known), changes) in self.pages.iter_mut().zip(&known).zip(changes) {
            page.earlier = known.is_some();
            page.changes = changes;
            if let Some(head) = known.as_ref().and_then(|course| course.head.as_ref()) {
                page.new = false;
                let start = self.heads.len();
                put_course(&mut self.heads, head, None);
                page.head = start..self.heads.len();
            }
        }
        Ok(())
    }
}

/// Entries that the store has and others, in order.
fn joined(old: &[Entry], new: &[Entry]) -> Vec<Entry> {
    let mut all = [old, new].concat();
    all.sort_unstable();
    all
}

/// A URL of a batch. It was text when it arrived, and has been covered by a checksum since.
fn text(url: Option<&[u8]>) -> Result<&str, Bug> {
    let url = url.or_bug("a URL lies among those of its batch")?;
    std::str::from_utf8(url).ok().or_bug("a URL is UTF-8")
}

/// A visit is returned as it is, and a weight if its page has any visit. Restated content gets the
/// digest of its visit, which is among these entries; `None` if there is no such visit.
fn resolve(entry: &Entry, entries: &[Entry], old: &[Entry]) -> Option<Entry> {
    let restated = match *entry {
        Entry::Visit(_) => return Some(*entry),
        Entry::Weighed(_) => {
            let is_known = entries.iter().chain(old).any(Entry::is_visit);
            return Some(*entry).filter(|_| is_known);
        }
        Entry::Restated(restated) => restated,
    };
    let of_time = |entries: &'_ [Entry]| {
        let start = entries.partition_point(|other| other.time() < restated.time);
        let end = entries.partition_point(|other| other.time() <= restated.time);
        start..end
    };
    let (new, old) = (entries.get(of_time(entries))?, old.get(of_time(old))?);
    let seen = new.iter().chain(old).filter_map(Entry::visit).filter_map(|v| v.seen.content());
    let digest = restated_digest(restated.digest, seen.map(|content| content.digest))?;
    Some(Entry::Restated(Restated { digest, ..restated }))
}

/// What the merging thread sends to the writing one. Without the end, nothing may be finished.
enum Message {
    Batch(Batch),
    End,
}

/// The merging half.
pub(super) struct Merger {
    batches: SyncSender<Message>,
    done: Receiver<Batch>,
}

/// The writing half's ends.
pub(super) struct Batches {
    batches: Receiver<Message>,
    done: SyncSender<Batch>,
}

/// What the two halves talk through.
pub(super) fn pair() -> (Merger, Batches) {
    let (batches, to_write) = sync_channel(BATCHES);
    let (written, done) = sync_channel(BATCHES + 2);
    (Merger { batches, done }, Batches { batches: to_write, done: written })
}

impl Merger {
    /// Passes all pages on, with what the segments of `view` know of them, and their epochs numbered as
    /// in the store. `watch` is told of visits as they are merged. An error of the writing half is told
    /// there: here nothing more is done.
    pub(super) fn run(
        self,
        runs: &Runs,
        view: &View,
        epochs: &Settled,
        mut watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut merge = runs.merge()?;
        loop {
            // Those that were written are filled again.
            let mut batch = self.done.try_recv().unwrap_or_default();
            batch.clear();
            let mut more = true;
            while more && !batch.is_full() {
                let (url, entries) = (batch.joined.urls.len(), batch.joined.entries.len());
                more = merge.next(&mut batch.joined)?;
                if more {
                    let mut renumbered = false;
                    for entry in batch.joined.entries.iter_mut().skip(entries) {
                        renumbered |= epochs.renumber(entry)?;
                    }
                    if renumbered {
                        sort_tail(&mut batch.joined.entries, entries);
                    }
                    let of = text(batch.joined.urls.get(url..))?;
                    let (hash, host) = (url_hash(of, view.seed), host_slot(of, view.seed));
                    let url = url..batch.joined.urls.len();
                    let entries = entries..batch.joined.entries.len();
                    let (head, earlier, new) = (0..0, false, true);
                    let changes = None;
                    let page = Ready { url, hash, host, entries, head, changes, earlier, new };
                    batch.pages.push(page);
                }
            }
            batch.compare(view, &epochs.all)?;
            let taken = batch.joined.taken;
            if self.batches.send(Message::Batch(batch)).is_err() {
                return Ok(());
            }
            watch(taken)?;
            if !more {
                // If nobody hears it, the writing half has failed.
                let _ = self.batches.send(Message::End);
                return Ok(());
            }
        }
    }
}

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) segments: Vec<u64>,
    pub(super) files: Unlisted,
    /// The last operation of the last of them.
    pub(super) sequence: u64,
    /// Pages with visits that the store did not have, and those visits.
    pub(super) pages: u64,
    pub(super) visits: u64,
    /// What was restated beside, and weighed.
    pub(super) restated: u64,
    pub(super) weighed: u64,
    /// The pages that it did not know.
    pub(super) new_pages: u64,
    /// Bytes of the segments.
    pub(super) bytes: u64,
}

/// How segments are written.
pub(super) struct Writing<'d> {
    pub(super) disk: &'d Arc<dyn Disk>,
    pub(super) stamps: &'d Stamps,
    /// All epochs of the store, as they are when the load is live.
    pub(super) epochs: &'d [EpochInfo],
    /// The last operation before the load.
    pub(super) sequence: u64,
    /// Pages of a segment, at most.
    pub(super) segment_pages: u64,
    pub(super) memory_bytes: usize,
    /// How the tables are made, in memory that is free again by then.
    pub(super) layout: Layout,
    /// The tier of a segment with this many entries.
    pub(super) tier: &'d (dyn Fn(u64) -> u64 + Sync),
}

/// A segment that is being written.
struct Open {
    id: u64,
    sealer: Sealer,
    pages: u64,
    new_pages: u64,
    /// All entries, and of them visits and weights.
    operations: u64,
    visits: u64,
    weighed: u64,
}

impl Written {
    /// Nothing, after the last operation before the load.
    pub(super) fn nothing(disk: &Arc<dyn Disk>, sequence: u64) -> Written {
        Written {
            segments: Vec::new(),
            files: Unlisted::new(disk),
            sequence,
            pages: 0,
            visits: 0,
            restated: 0,
            weighed: 0,
            new_pages: 0,
            bytes: 0,
        }
    }
}

impl Writing<'_> {
    /// Writes all that comes. `None` if the end of it did not come.
    pub(super) fn run(&self, batches: Batches) -> Result<Option<Written>> {
        let mut open: Option<Open> = None;
        let mut written = Written::nothing(self.disk, self.sequence);
        for message in batches.batches {
            let Message::Batch(batch) = message else {
                if let Some(open) = open {
                    self.finish(open, &mut written)?;
                }
                return Ok(Some(written));
            };
            for page in batch.pages.iter().filter(|page| !page.entries.is_empty()) {
                let full = open.take_if(|open| open.pages >= self.segment_pages);
                full.map_or(Ok(()), |full| self.finish(full, &mut written))?;
                let open = match &mut open {
                    Some(open) => open,
                    none => none.insert(self.begin()?),
                };
                open.push(&batch, page, self.epochs)?;
            }
            // Nobody is there to take it once all has been merged.
            let _ = batches.done.try_send(batch);
        }
        Ok(None)
    }

    fn begin(&self) -> Result<Open> {
        let stamp = self.stamps.stamp(&**self.disk);
        let sealer = Sealer::new(self.disk, stamp, self.memory_bytes / 16 * 15)?;
        let (pages, new_pages, operations, visits, weighed) = (0, 0, 0, 0, 0);
        Ok(Open { id: stamp.id, sealer, pages, new_pages, operations, visits, weighed })
    }

    fn finish(&self, open: Open, written: &mut Written) -> Result<()> {
        let Open { id, sealer, pages, new_pages, operations, visits, weighed } = open;
        ensure(new_pages <= pages && pages <= operations, "a page of a load has a visit")?;
        let sequences = (written.sequence + 1, written.sequence + operations);
        let deltas = (new_pages.cast_signed(), visits.cast_signed());
        let span = Span { sequences, deltas, tier: (self.tier)(operations) };
        written.bytes += sealer.finish(span, &Tombstones::default(), &self.layout)?;
        written.segments.push(id);
        written.files.push(Name::Segment(id));
        written.sequence = sequences.1;
        written.pages += pages;
        written.visits += visits;
        written.restated += operations - visits - weighed;
        written.weighed += weighed;
        written.new_pages += new_pages;
        Ok(())
    }
}

impl Open {
    fn push(&mut self, batch: &Batch, page: &Ready, epochs: &[EpochInfo]) -> Result<()> {
        let entries = batch.entries(page)?;
        let before = batch.heads.get(page.head.clone());
        let before = before.or_bug("a head lies among those of its batch")?;
        let (head, changes) = match page.changes {
            Some(changes) => {
                let mut head = unpack_head(before);
                // A weight may be of a time before the first visit, and counts from that on.
                for visits in [true, false] {
                    let of = entries.iter().filter(|entry| entry.is_visit() == visits);
                    of.for_each(|entry| Head::absorb_into(&mut head, *entry));
                }
                (head, changes)
            }
            None => head_and_changes(entries, epochs),
        };
        let (earlier, before) = (page.earlier, head_of(before));
        let record = Record { reset: false, earlier, before, entries, changes };
        let (url, head, hash, host) = (batch.url(page)?, head.as_ref(), page.hash, page.host);
        self.sealer.push(SealPage { url, hash, record, head, host })?;
        self.pages += 1;
        self.new_pages += u64::from(page.new);
        self.operations += entries.len() as u64;
        self.visits += count_visits(entries) as u64;
        self.weighed += entries.iter().filter(|entry| entry.weight().is_some()).count() as u64;
        Ok(())
    }
}
