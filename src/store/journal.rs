//! The operations of the journal, packed, and how they are replayed.
//!
//! A record carries what the store had looked up when the operation came: whether older segments
//! know the page, and its head. So a replay reads no segment.

use super::memtable::{Effect, Inner};
use crate::catalog::Blob;
use crate::disk::Name;
use crate::error::{Error, Result};
use crate::layout::{Cursor, put_varint};
use crate::page::{Prefix, Visit};
use crate::segment::{Visits, put_visits, take_head, url_hash};

/// Low two bits of a record's first byte.
const VISIT: u8 = 0;
const FORGET_URL: u8 = 1;
const FORGET_PREFIX: u8 = 2;
const KIND: u8 = 3;
/// The page comes into the memtable with this operation: its URL follows, not its number.
const NEW_PAGE: u8 = 4;
/// Older components know the page.
const EARLIER: u8 = 8;
/// Its head follows.
const HEAD: u8 = 16;

/// How an operation names its page.
pub(super) enum Place<'a> {
    /// A page that is in the memtable.
    Known(u32),
    /// A page that comes in now.
    New { url: &'a str, earlier: bool, head: &'a [u8] },
}

fn put_place(out: &mut Vec<u8>, kind: u8, place: &Place<'_>) {
    match place {
        Place::Known(number) => {
            out.push(kind);
            put_varint(out, (*number).into());
        }
        Place::New { url, earlier, head } => {
            let earlier = if *earlier { EARLIER } else { 0 };
            out.push(kind | NEW_PAGE | earlier | if head.is_empty() { 0 } else { HEAD });
            put_varint(out, url.len() as u64);
            out.extend_from_slice(url.as_bytes());
            out.extend_from_slice(head);
        }
    }
}

/// Packs a visit.
pub(super) fn put_visit(out: &mut Vec<u8>, place: &Place<'_>, visit: &Visit) {
    put_place(out, VISIT, place);
    put_visits(out, std::slice::from_ref(visit));
}

/// Packs the forgetting of a page of which so many visits were known.
pub(super) fn put_forget_url(out: &mut Vec<u8>, place: &Place<'_>, visits: u64) {
    put_place(out, FORGET_URL, place);
    put_varint(out, visits);
}

/// Packs the forgetting of a prefix under which so many pages and visits were known.
pub(super) fn put_forget_prefix(out: &mut Vec<u8>, prefix: &Prefix, pages: u64, visits: u64) {
    out.push(FORGET_PREFIX);
    let prefix = prefix.to_bytes();
    put_varint(out, prefix.len() as u64);
    out.extend_from_slice(prefix);
    put_varint(out, pages);
    put_varint(out, visits);
}

/// Applies a blob to a memtable.
pub(super) fn replay(blob: &Blob, seed: u64, inner: &mut Inner) -> Result<()> {
    let mut cursor = Cursor::new(&blob.bytes);
    let mut sequence = blob.first_sequence;
    for _ in 0..blob.count {
        replay_one(&mut cursor, sequence, seed, inner).ok_or_else(|| damaged(sequence))?;
        sequence += 1;
    }
    if cursor.is_empty() { Ok(()) } else { Err(damaged(sequence)) }
}

fn damaged(sequence: u64) -> Error {
    Error::corrupt(Name::Catalog, 0, format!("operation {sequence} of the journal is none"))
}

fn replay_one(cursor: &mut Cursor<'_>, sequence: u64, seed: u64, inner: &mut Inner) -> Option<()> {
    let tag = cursor.u8().filter(|tag| tag & !(KIND | NEW_PAGE | EARLIER | HEAD) == 0)?;
    if tag & KIND == FORGET_PREFIX {
        let len = cursor.count()?;
        let prefix = Prefix::from_bytes(cursor.take(len)?)?;
        let (pages, visits) = (cursor.varint()?, cursor.varint()?);
        inner.bury(sequence, prefix, pages, visits);
        return Some(());
    }
    let number = if tag & NEW_PAGE == 0 {
        let number = u32::try_from(cursor.varint()?).ok()?;
        inner.page(number)?;
        number
    } else {
        let len = cursor.count()?;
        let url = std::str::from_utf8(cursor.take(len)?).ok()?;
        let packed = cursor.rest();
        if tag & HEAD != 0 {
            take_head(cursor)?;
        }
        let head = packed.get(..packed.len() - cursor.rest().len())?;
        let hash = url_hash(url, seed);
        if inner.find(hash, url, u64::MAX).is_some() {
            return None;
        }
        inner.add_page(sequence, url, hash, tag & EARLIER != 0, head)
    };
    match tag & KIND {
        VISIT => {
            let mut visits = Visits::new(*cursor, 1);
            let visit = visits.next().flatten()?;
            *cursor = visits.rest();
            let effect = Effect::of(&mut inner.page(number)?.head(), &visit, &[]);
            inner.visit(sequence, number, visit, &effect);
        }
        FORGET_URL => inner.reset(sequence, number, cursor.varint()?),
        _ => return None,
    }
    Some(())
}
