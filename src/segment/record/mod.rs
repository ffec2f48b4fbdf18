//! A page's record: its entries in this segment, and the parts of its head that these entries do
//! not determine.
//!
//! The head of a page is a fold over all its entries, including entries in older segments. Each
//! record carries the head forward: a record contains the head before its own entries, and a long
//! record contains the fold of all entries except the entries of the last chunk. So a verdict reads
//! only the newest segment that contains the page, and in this segment only the last chunk of
//! entries.

use super::carried::{CarriedHead, PartialHead, put_carried, take_head};
use super::changes::{put_changes, take_changes};
use super::entries::{PackedEntries, count_visits, put_entries};
use crate::cpu::prefetch;
use crate::layout::{Cursor, put_signed, put_varint};
use crate::page::{Changes, Content, Digest, Entry, EpochInfo, PageHead, is_of_version};
use crate::time::Time;

/// The number of entries in a chunk. Each chunk can be read without the other chunks.
pub(crate) const CHUNK_ENTRIES: usize = 64;

/// The record hides all older data of the page.
const RESET: u8 = 1;
/// Older segments contain the page.
const EARLIER: u8 = 2;
/// The record contains a carried part of the head.
pub(super) const CARRIED: u8 = 4;
/// Some of the entries are not visits.
pub(super) const OTHERS: u8 = 8;
/// Visits of the page were compared.
pub(super) const CHANGES: u8 = 16;

/// All flags with their names in the format.
pub(super) const FLAGS: &[(u8, &str)] = &[
    (RESET, "reset"),
    (EARLIER, "earlier"),
    (CARRIED, "carried"),
    (OTHERS, "others"),
    (CHANGES, "compared"),
];

/// The data that a segment stores about a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentRecord<'a> {
    /// Whether all older data of the page is hidden.
    pub(crate) reset: bool,
    /// Whether older segments contain the page and are not hidden.
    pub(crate) earlier: bool,
    /// The page's head before the entries of this record, packed by [`put_carried`]; empty without
    /// an older head.
    pub(crate) before: &'a [u8],
    /// The page's entries in this segment, in order.
    pub(crate) entries: &'a [Entry],
    /// The page's changes, including the entries of this record and all older entries.
    pub(crate) changes: Changes,
}

impl SegmentRecord<'_> {
    /// Returns the number of visits among the record's entries.
    pub(crate) fn visit_count(&self) -> usize {
        count_visits(self.entries)
    }

    /// Appends the packed record.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let many = self.entries.len() > CHUNK_ENTRIES;
        let mut flags = 0;
        // A new page with many entries also carries its head, so that reading the head unpacks only
        // one chunk.
        let carried = many || !self.before.is_empty();
        // A record without a carried part contains all entries of the page. A reader folds the
        // changes from the entries.
        let mut changes = Vec::new();
        if carried {
            put_changes(&mut changes, &self.changes);
        }
        let others = self.entries.len() - self.visit_count();
        for (bit, set) in [
            (RESET, self.reset),
            (EARLIER, self.earlier),
            (CARRIED, carried),
            (OTHERS, others > 0),
            (CHANGES, !changes.is_empty()),
        ] {
            if set {
                flags |= bit;
            }
        }
        out.push(flags);
        put_varint(out, self.entries.len() as u64);
        if others > 0 {
            put_varint(out, others as u64);
        }
        if !changes.is_empty() {
            put_varint(out, changes.len() as u64);
            out.extend_from_slice(&changes);
        }
        if many {
            self.put_chunks(out);
        } else {
            // The head before the record, and the entries of the record. A reader folds both into
            // the head of the segment's end.
            out.extend_from_slice(self.before);
            put_entries(out, self.entries);
        }
    }

    #[expect(clippy::expect_used, reason = "the head before was validated when it was read")]
    #[expect(clippy::indexing_slicing, reason = "no chunk is empty")]
    fn put_chunks(&self, out: &mut Vec<u8>) {
        let own = self.entries.iter().cloned().map(Some);
        let head = if self.before.is_empty() {
            PartialHead::of(own).and_then(PartialHead::head)
        } else {
            let before = CarriedHead::take(&mut Cursor::new(self.before));
            before.and_then(|before| before.join(own))
        };
        let chunks = self.entries.chunks(CHUNK_ENTRIES);
        let last = chunks.clone().next_back().expect("there are many");
        // The parts of the head that the last chunk determines are left out, because a reader of
        // the head unpacks the last chunk anyway.
        put_carried(out, &head.expect("a page that was visited has a head"), last);
        let (mut body, mut time) = (Vec::new(), 0);
        for chunk in chunks {
            let start = body.len();
            put_entries(&mut body, chunk);
            put_varint(out, (body.len() - start) as u64);
            let first = chunk[0].time().as_ms();
            // A reader uses the times of chunks to skip chunks without unpacking them.
            put_signed(out, first.wrapping_sub(time));
            time = first;
        }
        out.extend_from_slice(&body);
    }
}

/// A packed record. Every read returns `None` if the bytes are invalid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordRef<'a> {
    flags: u8,
    /// The number of entries.
    count: usize,
    /// The number of entries that are not visits.
    others: usize,
    /// The packed changes.
    changes: &'a [u8],
    body: Cursor<'a>,
}

impl<'a> RecordRef<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes);
        let known = RESET | EARLIER | CARRIED | OTHERS | CHANGES;
        let flags = cursor.u8().filter(|flags| flags & !known == 0)?;
        // An entry takes at least two bytes, so the count is at most the number of remaining bytes.
        let count = cursor.count()?;
        let others = if flags & OTHERS == 0 { 0 } else { cursor.count()? };
        let changes = if flags & CHANGES == 0 {
            &[]
        } else {
            let len = cursor.count().filter(|len| *len > 0 && flags & CARRIED != 0)?;
            cursor.take(len)?
        };
        // Either the record has a visit, or the page had a visit before.
        let possible = others < count || flags & CARRIED != 0 || count == 0;
        let body = cursor;
        (others <= count && possible).then_some(RecordRef { flags, count, others, changes, body })
    }

    /// Prefetches the record's cache lines.
    pub(crate) fn prefetch(&self) {
        prefetch(self.body.rest());
    }

    pub(crate) fn reset(&self) -> bool {
        self.flags & RESET != 0
    }

    pub(crate) fn earlier(&self) -> bool {
        self.flags & EARLIER != 0
    }

    /// Whether older segments do not count for the page.
    pub(crate) fn ends(&self) -> bool {
        self.reset() || !self.earlier()
    }

    /// Returns the number of entries in this record.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Returns the number of visits in this record.
    pub(crate) fn visit_count(&self) -> usize {
        self.count - self.others
    }

    /// Reads the carried part, and splits the entries into chunks. If there are several chunks,
    /// each chunk has its first time. Each chunk has a count and its bytes.
    fn open(&self) -> Option<(Option<CarriedHead>, RecordChunks<'a>)> {
        let mut cursor = self.body;
        let carried =
            if self.flags & CARRIED == 0 { None } else { Some(CarriedHead::take(&mut cursor)?) };
        if self.count <= CHUNK_ENTRIES {
            // A single chunk has no directory, and no time. With the least time, every filter by
            // time keeps the chunk.
            let only = RecordChunk { first: i64::MIN, count: self.count, cursor };
            return Some((carried, RecordChunks::One(only)));
        }
        let mut chunks = Vec::new();
        let (mut left, mut time) = (self.count, 0i64);
        while left > 0 {
            let len = cursor.count()?;
            let before = time;
            time = time.wrapping_add(cursor.signed()?);
            // Chunks ascend by time. The first chunk has no chunk before it, and may have any time.
            if left < self.count && time < before {
                return None;
            }
            let count = left.min(CHUNK_ENTRIES);
            chunks.push((len, RecordChunk { first: time, count, cursor }));
            left -= count;
        }
        // All lengths come before all chunks, so the chunks are separated in a second pass.
        let mut placed = Vec::with_capacity(chunks.len());
        for (len, chunk) in chunks {
            placed.push(RecordChunk { cursor: Cursor::new(cursor.take(len)?), ..chunk });
        }
        Some((carried, RecordChunks::Many(placed)))
    }

    /// Reads the carried part and the last chunk. Before the last chunk, reads only the chunk
    /// directory, which has an entry for each chunk.
    fn open_last(&self) -> Option<(Option<CarriedHead>, PackedEntries<'a>)> {
        let mut cursor = self.body;
        let carried =
            if self.flags & CARRIED == 0 { None } else { Some(CarriedHead::take(&mut cursor)?) };
        let chunks = self.count.div_ceil(CHUNK_ENTRIES);
        if chunks <= 1 {
            return Some((carried, PackedEntries::new(cursor, self.count)));
        }
        // Adds up the lengths of all chunks but the last, and skips these bytes unread.
        let (mut before, mut last) = (0usize, 0);
        for _ in 0..chunks {
            before = before.checked_add(last)?;
            last = cursor.count()?;
            cursor.signed()?;
        }
        cursor.take(before)?;
        let count = self.count - (chunks - 1) * CHUNK_ENTRIES;
        Some((carried, PackedEntries::new(Cursor::new(cursor.take(last)?), count)))
    }

    /// Returns the page's head as of the segment's end. Reads the chunk directory and one chunk.
    #[expect(clippy::option_option, reason = "damaged, absent and present are three things")]
    pub(crate) fn head(&self) -> Option<Option<PageHead>> {
        if self.count == 0 {
            return Some(None);
        }
        let (carried, own) = self.open_last()?;
        match carried {
            None => PartialHead::of(own).map(PartialHead::head),
            Some(carried) => carried.join(own).map(Some),
        }
    }

    /// Returns the page's changes as of the segment's end: the stored changes, or a fold of the
    /// entries. A record without stored changes has few entries.
    pub(crate) fn changes(&self, epochs: &[EpochInfo]) -> Option<Changes> {
        if self.flags & CARRIED != 0 {
            return take_changes(self.changes);
        }
        // A single entry has no other entry to be compared with, and need not be unpacked.
        if self.count < 2 {
            Some(Changes::default())
        } else {
            Some(Changes::of(&self.entries()?, epochs))
        }
    }

    /// Returns the stored changes. If `is_determined`, they may be missing, because the entries of
    /// the record to write determine them. `None` if the changes cannot be read.
    pub(super) fn changes_unless(&self, is_determined: bool) -> Option<Changes> {
        if self.flags & CARRIED == 0 {
            return is_determined.then(Changes::default);
        }
        take_changes(self.changes)
    }

    /// Returns all entries in order.
    pub(crate) fn entries(&self) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        self.append_entries(&mut entries)?;
        Some(entries)
    }

    /// Appends all entries in order. `None` if the number of entries that are not visits differs
    /// from the record's count.
    pub(super) fn append_entries(&self, entries: &mut Vec<Entry>) -> Option<()> {
        let mut others = 0;
        for chunk in self.open()?.1.iter() {
            for entry in chunk.entries() {
                let entry = entry?;
                others += usize::from(!entry.is_visit());
                entries.push(entry);
            }
        }
        (others == self.others).then_some(())
    }

    /// Returns the entries at or before `time`, in order. These entries go back to an entry that
    /// determines the content in force at `time`, according to `enough`. Costs the chunk directory
    /// and one or a few chunks.
    pub(crate) fn entries_until(
        &self,
        time: Time,
        enough: impl Fn(&Entry) -> bool,
    ) -> Option<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        for chunk in self.open()?.1.iter().rev().filter(|c| c.first <= time.as_ms()) {
            let mut earlier = Vec::with_capacity(chunk.count);
            for entry in chunk.entries() {
                earlier.extend(Some(entry?).filter(|e| e.time() <= time));
            }
            earlier.extend_from_slice(&entries);
            entries = earlier;
            // Entries at this chunk's first time may begin in the previous chunk. So an entry at
            // the first time is not enough to stop.
            if entries.iter().any(|entry| entry.time().as_ms() > chunk.first && enough(entry)) {
                break;
            }
        }
        Some(entries)
    }

    /// Returns the entries at or after `time` in order, and possibly some entries before `time`.
    /// Costs the chunk directory and the chunks with these entries.
    pub(crate) fn entries_since(&self, time: Time) -> Option<Vec<Entry>> {
        let chunks = self.open()?.1;
        // Strictly less, because entries at `time` may begin in the chunk before the chunk that
        // starts with `time`.
        let from = chunks.iter().rposition(|chunk| chunk.first < time.as_ms()).unwrap_or(0);
        let mut entries = Vec::new();
        for chunk in chunks.iter().skip(from) {
            for entry in chunk.entries() {
                entries.push(entry?);
            }
        }
        Some(entries)
    }

    /// Returns the time when the page was first seen, or restated, with a content of a version in
    /// this record. Costs the chunk directory and the chunks up to this entry. For a version with a
    /// digest, other chunks are only scanned for the digest's bytes.
    #[expect(clippy::option_option, reason = "damaged, absent and present are three things")]
    pub(crate) fn first_seen(&self, version: &[Content]) -> Option<Option<Time>> {
        for chunk in self.open()?.1.iter().filter(|chunk| chunk.may_have(version)) {
            for entry in chunk.entries() {
                let entry = entry?;
                if entry.content().is_some_and(|content| is_of_version(version, &content)) {
                    return Some(Some(entry.time()));
                }
            }
        }
        Some(None)
    }

    /// Returns the entries at one time, in order.
    pub(crate) fn entries_at(&self, time: Time) -> Option<Vec<Entry>> {
        let mut found = Vec::new();
        for chunk in self.open()?.1.iter().rev().filter(|c| c.first <= time.as_ms()) {
            for entry in chunk.entries() {
                found.extend(Some(entry?).filter(|e| e.time() == time));
            }
            // Entries at one time may begin in the previous chunk.
            if chunk.first < time.as_ms() {
                break;
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// Appends the packed head before this record's entries. Appends nothing if there was no head.
    /// Usually copies stored bytes. The result is valid.
    #[expect(clippy::indexing_slicing, reason = "what is carried is the front of the body")]
    pub(super) fn append_before(&self, out: &mut Vec<u8>) -> Option<()> {
        if self.count > CHUNK_ENTRIES {
            let mut head = self.head()??;
            head.visits = head.visits.checked_sub(self.visit_count() as u64)?;
            // The head has absorbed the visits of this record. Folding the visits in again changes
            // only their number, so their number is subtracted.
            if head.visits > 0 {
                put_carried(out, &head, &[]);
            }
        } else if self.flags & CARRIED != 0 {
            let mut cursor = self.body;
            take_head(&mut cursor)?;
            // The head is copied in its packed form. `take_head` only checks it and finds its end.
            let (all, rest) = (self.body.rest(), cursor.rest().len());
            out.extend_from_slice(&all[..all.len() - rest]);
        }
        Some(())
    }
}

/// The chunks of a record, usually one chunk.
enum RecordChunks<'a> {
    One(RecordChunk<'a>),
    Many(Vec<RecordChunk<'a>>),
}

impl<'a> std::ops::Deref for RecordChunks<'a> {
    type Target = [RecordChunk<'a>];

    fn deref(&self) -> &[RecordChunk<'a>] {
        match self {
            RecordChunks::One(chunk) => std::slice::from_ref(chunk),
            RecordChunks::Many(chunks) => chunks,
        }
    }
}

/// Some entries of a record, which can be read without the other entries.
struct RecordChunk<'a> {
    first: i64,
    count: usize,
    cursor: Cursor<'a>,
}

impl<'a> RecordChunk<'a> {
    fn entries(&self) -> PackedEntries<'a> {
        PackedEntries::new(self.cursor, self.count)
    }

    /// Whether an entry may have a content of a version. The first entry with a digest in a chunk
    /// stores the digest byte for byte.
    fn may_have(&self, version: &[Content]) -> bool {
        version.iter().any(|content| match content.digest {
            // A match may be chance, across two fields. A match only means that the chunk must be
            // unpacked.
            Some(Digest(digest)) => self.cursor.rest().windows(16).any(|bytes| *bytes == digest),
            None => true,
        })
    }
}

#[cfg(test)]
mod tests;
