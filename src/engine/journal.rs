//! Encoding and replay of the journal's operations.
//!
//! A record includes the data that the store had looked up for the operation: whether older
//! segments have the page, and the page's head. So replay reads no segment.

use super::delta::page_delta;
use super::memtable::{Effect, MemtableContents};
use super::totals::StoreTotals;
use crate::bug::{Bug, ensure};
use crate::catalog::{Journal, JournalFrame};
use crate::disk::FileName;
use crate::error::{Error, Result};
use crate::layout::{Cursor, Delta, put_varint};
use crate::page::{Entry, EpochInfo, PageState, Prefix};
use crate::segment::{PackedEntries, put_entries, take_history, url_hash};

/// The kinds of operations, in the low two bits of a record's first byte.
const ENTRY: u8 = 0;
const FORGET_URL: u8 = 1;
const FORGET_PREFIX: u8 = 2;
const KIND: u8 = 3;
/// A flag: the operation adds the page to the memtable, so the page's URL follows, not its number.
const NEW_PAGE: u8 = 4;
/// A flag: older components have the page.
const EARLIER: u8 = 8;
/// A flag: the page's change statistics and head follow.
const HEAD: u8 = 16;

/// A reference to a page in a journal record.
pub(crate) enum JournalPage<'a> {
    /// The number of a page in the memtable.
    Known(u32),
    /// A page that this operation adds to the memtable.
    New { url: &'a str, earlier: bool, head: &'a [u8] },
}

fn put_page(out: &mut Vec<u8>, kind: u8, page: &JournalPage<'_>) {
    match page {
        JournalPage::Known(number) => {
            out.push(kind);
            put_varint(out, (*number).into());
        }
        JournalPage::New { url, earlier, head } => {
            let earlier = if *earlier { EARLIER } else { 0 };
            // There are two flags: a forgotten page may have a record in older components, but no
            // head.
            out.push(kind | NEW_PAGE | earlier | if head.is_empty() { 0 } else { HEAD });
            put_varint(out, url.len() as u64);
            out.extend_from_slice(url.as_bytes());
            out.extend_from_slice(head);
        }
    }
}

/// Packs an entry.
pub(crate) fn put_entry(out: &mut Vec<u8>, page: &JournalPage<'_>, entry: &Entry) {
    put_page(out, ENTRY, page);
    put_entries(out, std::slice::from_ref(entry));
}

/// Packs the forgetting of a page, with the page's contribution to the totals.
pub(crate) fn put_forget_url(out: &mut Vec<u8>, page: &JournalPage<'_>, known: &StoreTotals) {
    put_page(out, FORGET_URL, page);
    put_varint(out, known.visits);
    // The page is in force, gone, or neither.
    out.push(u8::from(known.in_force > 0) | u8::from(known.gone > 0) << 1);
}

/// Packs the forgetting of a prefix, with the contribution of its pages to the totals.
pub(crate) fn put_forget_prefix(out: &mut Vec<u8>, prefix: &Prefix, known: &StoreTotals) {
    out.push(FORGET_PREFIX);
    let prefix = prefix.to_bytes();
    put_varint(out, prefix.len() as u64);
    out.extend_from_slice(prefix);
    let StoreTotals { pages, visits, in_force, gone } = *known;
    for number in [pages, visits, in_force, gone] {
        put_varint(out, number);
    }
}

/// Reads a number of pages or visits, small enough that sums do not overflow.
fn count(cursor: &mut Cursor<'_>) -> Option<i64> {
    i64::try_from(cursor.varint()?).ok().filter(|count| *count < 1 << 48)
}

/// A decoded operation.
pub(crate) enum JournalOperation<'a> {
    Entry(JournalPage<'a>, Entry),
    ForgetUrl(JournalPage<'a>, Delta),
    ForgetPrefix(Prefix, Delta),
}

impl<'a> JournalOperation<'a> {
    /// Reads an operation; `None` if it is unreadable.
    pub(crate) fn take(cursor: &mut Cursor<'a>) -> Option<Self> {
        let tag = cursor.u8().filter(|tag| tag & !(KIND | NEW_PAGE | EARLIER | HEAD) == 0)?;
        if tag & KIND == FORGET_PREFIX {
            let len = cursor.count()?;
            let prefix = Prefix::from_bytes(cursor.take(len)?)?;
            let mut known = [0; 4];
            for number in &mut known {
                *number = count(cursor)?;
            }
            return Some(JournalOperation::ForgetPrefix(prefix, Delta::of(known)));
        }
        let page = if tag & NEW_PAGE == 0 {
            JournalPage::Known(u32::try_from(cursor.varint()?).ok()?)
        } else {
            let len = cursor.count()?;
            let url = std::str::from_utf8(cursor.take(len)?).ok()?;
            // The head is decoded only to find its end and to check it. The memtable keeps it
            // packed.
            let packed = cursor.rest();
            if tag & HEAD != 0 {
                take_history(cursor)?;
            }
            let head = packed.get(..packed.len() - cursor.rest().len())?;
            JournalPage::New { url, earlier: tag & EARLIER != 0, head }
        };
        match tag & KIND {
            ENTRY => {
                // Each entry is packed without reference to other records, so that each record can
                // be read alone.
                let mut entries = PackedEntries::new(*cursor, 1);
                let entry = entries.next().flatten()?;
                *cursor = entries.rest();
                Some(JournalOperation::Entry(page, entry))
            }
            FORGET_URL => {
                let visits = count(cursor)?;
                let state = match cursor.u8()? {
                    0 => PageState::Unseen,
                    1 => PageState::InForce,
                    2 => PageState::Gone,
                    _ => return None,
                };
                Some(JournalOperation::ForgetUrl(page, page_delta(state, visits)))
            }
            _ => None,
        }
    }

    /// Applies the operation; `None` if it is impossible.
    fn apply(
        self,
        sequence: u64,
        (seed, epochs): (u64, &[EpochInfo]),
        inner: &mut MemtableContents,
    ) -> Result<Option<()>, Bug> {
        let known = match &self {
            JournalOperation::Entry(..) => Delta::default(),
            JournalOperation::ForgetUrl(_, known) | JournalOperation::ForgetPrefix(_, known) => {
                *known
            }
        };
        // The totals are checked before the operation is applied: damage in a record must become an
        // error, not a bug.
        if !inner.can_lose(known) {
            return Ok(None);
        }
        match self {
            JournalOperation::Entry(page, entry) => {
                let Some(number) = page.in_memtable(sequence, seed, inner)? else {
                    return Ok(None);
                };
                // No epochs are passed, because the verdict was given when the operation was
                // accepted. Only the states and the content in force matter during a replay.
                let effect = Effect::of(&mut inner.page(number).head(), &entry, &[], &[]);
                inner.apply_entry(sequence, number, entry, &effect, epochs)?;
            }
            JournalOperation::ForgetUrl(page, known) => {
                let Some(number) = page.in_memtable(sequence, seed, inner)? else {
                    return Ok(None);
                };
                inner.forget_page(sequence, number, known)?;
            }
            JournalOperation::ForgetPrefix(prefix, known) => {
                inner.forget_prefix(sequence, prefix, known)?;
            }
        }
        Ok(Some(()))
    }
}

impl JournalPage<'_> {
    /// Returns the number of the operation's page, and adds the page if it is new; `None` if the
    /// operation is impossible.
    fn in_memtable(
        self,
        sequence: u64,
        seed: u64,
        inner: &mut MemtableContents,
    ) -> Result<Option<u32>, Bug> {
        match self {
            JournalPage::Known(number) => Ok(inner.has(number).then_some(number)),
            JournalPage::New { url, earlier, head } => {
                let hash = url_hash(url, seed);
                // A second record that adds a page would give the page two numbers.
                if inner.find(hash, url, u64::MAX).is_some() {
                    return Ok(None);
                }
                inner.add_page(sequence, url, hash, earlier, head).map(Some)
            }
        }
    }
}

/// Applies a blob to a memtable whose last operation precedes the blob. `of_store` has the seed and
/// the epochs of the store, or no epochs if they are unknown.
pub(crate) fn replay(
    blob: &JournalFrame,
    (seed, epochs): (u64, &[EpochInfo]),
    inner: &mut MemtableContents,
) -> Result<()> {
    let mut cursor = Cursor::new(&blob.bytes);
    for nth in 0..u64::from(blob.count) {
        let sequence = blob.first_sequence.checked_add(nth).ok_or_else(|| damaged(u64::MAX))?;
        let applied = match JournalOperation::take(&mut cursor) {
            Some(operation) => operation.apply(sequence, (seed, epochs), inner)?,
            None => None,
        };
        applied.ok_or_else(|| damaged(sequence))?;
    }
    // Remaining bytes mean that the blob's count is wrong.
    if cursor.is_empty() { Ok(()) } else { Err(damaged(blob.last_sequence())) }
}

fn damaged(sequence: u64) -> Error {
    Error::corrupt(
        FileName::Catalog,
        0,
        format!("operation {sequence} of the journal is not readable"),
    )
}

/// The size at which a blob is complete.
const BLOB_BYTES_MAX: usize = 16 << 20;

/// Operations that are applied in memory but not in the journal yet.
#[derive(Debug, Default)]
pub(crate) struct PendingOperations {
    blobs: Vec<(Journal, JournalFrame)>,
    bytes: usize,
}

impl PendingOperations {
    /// Adds the next operation.
    ///
    /// # Errors
    ///
    /// A bug if the operation is not the next one: a journal with a gap cannot be read.
    pub(crate) fn push(
        &mut self,
        journal: Journal,
        sequence: u64,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Bug> {
        let follows = |(_, blob): &(Journal, JournalFrame)| blob.last_sequence() + 1 == sequence;
        ensure(self.blobs.last().is_none_or(follows), "operations are numbered consecutively")?;
        // A commit may have operations of two memtables, if a new memtable was started meanwhile.
        // Each memtable has its journal.
        let fits = |(last, blob): &&mut (Journal, JournalFrame)| {
            *last == journal && blob.bytes.len() < BLOB_BYTES_MAX
        };
        let (_, blob) = match self.blobs.last_mut().filter(fits) {
            Some(last) => last,
            None => {
                let blob = JournalFrame { first_sequence: sequence, count: 0, bytes: Vec::new() };
                self.blobs.push_mut((journal, blob))
            }
        };
        let before = blob.bytes.len();
        put(&mut blob.bytes);
        blob.count += 1;
        self.bytes += blob.bytes.len() - before;
        Ok(())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The blobs to write to the journals, in order.
    pub(crate) fn blobs(&self) -> &[(Journal, JournalFrame)] {
        &self.blobs
    }
}
