//! How visits are packed: each as its difference from the one before, so that an unchanged visit
//! takes two to five bytes and a small change names the bits that moved.

use crate::layout::{Cursor, put_signed, put_varint};
use crate::page::{Content, Digest, Epoch, Seen, Visit};

/// Low two bits of a tag: what was seen.
const FAILED: u8 = 0;
const NOT_MODIFIED: u8 = 1;
const GONE: u8 = 2;
const CONTENT: u8 = 3;
const SEEN_MASK: u8 = 3;
/// The status is the one before's.
const SAME_STATUS: u8 = 1 << 2;
/// The content is the one before's.
const SAME_CONTENT: u8 = 1 << 3;
/// The fingerprint is given by the bits that moved; the epoch is the one before's.
const MOVED_BITS: u8 = 1 << 4;
/// A digest follows.
const HAS_DIGEST: u8 = 1 << 5;
/// The time since the one before is in whole seconds, not in milliseconds.
const SECONDS: u8 = 1 << 6;

/// The content is restated; instead of [`SAME_CONTENT`]'s own meaning, its digest is that of the
/// content before. There is no status.
const RESTATED: u8 = 1 << 7;
const SAME_DIGEST: u8 = SAME_CONTENT;

/// More bits than this are not named one by one: the whole fingerprint takes no more room.
const MOVED_MAX: u32 = 6;

/// What the next visit is packed against.
#[derive(Default)]
struct Before {
    time: i64,
    status: Option<u16>,
    content: Option<Content>,
}

impl Before {
    fn follow(&mut self, visit: &Visit) {
        self.time = visit.time;
        if !visit.seen.is_restated() {
            self.status = visit.status;
        }
        if let Some(content) = visit.seen.content() {
            self.content = Some(*content);
        }
    }
}

/// How many of these are visits, and not restated.
pub(crate) fn count_visits(visits: &[Visit]) -> usize {
    visits.iter().filter(|visit| !visit.seen.is_restated()).count()
}

/// Packs visits that are in order.
///
/// # Panics
///
/// If one is earlier than the one before: it could not be read again.
pub(crate) fn put_visits(out: &mut Vec<u8>, visits: &[Visit]) {
    let mut before = Before::default();
    for (i, visit) in visits.iter().enumerate() {
        put_visit(out, visit, &before, i == 0);
        before.follow(visit);
    }
}

fn put_visit(out: &mut Vec<u8>, visit: &Visit, before: &Before, first: bool) {
    let mut tag = match visit.seen {
        Seen::Failed => FAILED,
        Seen::NotModified { .. } => NOT_MODIFIED,
        Seen::Gone => GONE,
        Seen::Content(_) => CONTENT,
        Seen::Restated(_) => CONTENT | RESTATED,
    };
    assert!(first || before.time <= visit.time, "visits are packed in order");
    let since = visit.time.wrapping_sub(before.time);
    let seconds = since % 1000 == 0;
    if seconds {
        tag |= SECONDS;
    }
    let restated = visit.seen.is_restated();
    if restated || visit.status == before.status {
        tag |= SAME_STATUS;
    }
    let content = visit.seen.content();
    let same = !restated && content.is_some() && content == before.content.as_ref();
    let moved = match (content, &before.content) {
        (Some(now), Some(then)) if now.epoch == then.epoch => {
            let moved = now.fingerprint ^ then.fingerprint;
            (moved.count_ones() <= MOVED_MAX).then_some(moved)
        }
        _ => None,
    };
    let digest = visit.seen.digest();
    let same_digest = restated && before.content.is_some_and(|then| then.digest == digest);
    if same_digest {
        tag |= SAME_DIGEST;
        if moved.is_some() {
            tag |= MOVED_BITS;
        }
    } else if same {
        tag |= SAME_CONTENT;
    } else {
        if digest.is_some() {
            tag |= HAS_DIGEST;
        }
        if moved.is_some() {
            tag |= MOVED_BITS;
        }
    }
    out.push(tag);
    let since = if seconds { since / 1000 } else { since };
    if first {
        put_signed(out, since);
    } else {
        put_varint(out, since.cast_unsigned());
    }
    if tag & SAME_STATUS == 0 {
        put_varint(out, visit.status.map_or(0, |s| u64::from(s) + 1));
    }
    if same {
        return;
    }
    if let Some(content) = content {
        if let Some(mut moved) = moved {
            out.push((moved.count_ones() & 0xff) as u8);
            while moved != 0 {
                out.push((moved.trailing_zeros() & 0xff) as u8);
                moved &= moved - 1;
            }
        } else {
            put_varint(out, content.epoch.0.into());
            out.extend_from_slice(&content.fingerprint.to_le_bytes());
        }
    }
    if let Some(digest) = digest.filter(|_| !same_digest) {
        out.extend_from_slice(&digest.0);
    }
}

/// Unpacks visits one after another; `None` in an item where the bytes cannot be, and then no more.
pub(crate) struct Visits<'a> {
    cursor: Cursor<'a>,
    left: usize,
    first: bool,
    before: Before,
}

impl<'a> Visits<'a> {
    pub(crate) fn new(cursor: Cursor<'a>, count: usize) -> Self {
        Visits { cursor, left: count, first: true, before: Before::default() }
    }

    /// What comes after the visits, once all have been taken.
    pub(crate) fn rest(&self) -> Cursor<'a> {
        self.cursor
    }

    #[inline]
    fn visit(&mut self) -> Option<Visit> {
        let tag = self.cursor.u8()?;
        let restated = tag & RESTATED != 0;
        if restated && tag & (SEEN_MASK | SAME_STATUS) != CONTENT | SAME_STATUS {
            return None;
        }
        let since = if self.first {
            self.cursor.signed()?
        } else {
            i64::try_from(self.cursor.varint()?).ok()?
        };
        let since = if tag & SECONDS == 0 { since } else { since.checked_mul(1000)? };
        let time = self.before.time.checked_add(since)?;
        let status = if restated {
            None
        } else if tag & SAME_STATUS == 0 {
            match self.cursor.varint()? {
                0 => None,
                s => Some(u16::try_from(s - 1).ok()?),
            }
        } else {
            self.before.status
        };
        let seen = match tag & SEEN_MASK {
            FAILED => Seen::Failed,
            NOT_MODIFIED => Seen::NotModified { digest: self.digest(tag)? },
            GONE => Seen::Gone,
            _ if restated => Seen::Restated(self.content(tag)?),
            _ => Seen::Content(self.content(tag)?),
        };
        let visit = Visit { time, seen, status };
        self.first = false;
        self.before.follow(&visit);
        Some(visit)
    }

    #[expect(clippy::option_option, reason = "damaged, absent and present are three things")]
    fn digest(&mut self, tag: u8) -> Option<Option<Digest>> {
        if tag & HAS_DIGEST == 0 { Some(None) } else { Some(Some(Digest(self.cursor.array()?))) }
    }

    fn content(&mut self, tag: u8) -> Option<Content> {
        let same_digest = tag & RESTATED != 0 && tag & SAME_DIGEST != 0;
        if tag & SAME_CONTENT != 0 && !same_digest {
            return self.before.content;
        }
        let (fingerprint, epoch) = if tag & MOVED_BITS == 0 {
            let epoch = Epoch(u32::try_from(self.cursor.varint()?).ok()?);
            (self.cursor.u64()?, epoch)
        } else {
            let then = self.before.content?;
            let count = self.cursor.u8()?;
            let mut moved = 0;
            for bit in self.cursor.take(count.into())? {
                moved |= 1u64.checked_shl((*bit).into())?;
            }
            (then.fingerprint ^ moved, then.epoch)
        };
        let digest = if same_digest { self.before.content?.digest } else { self.digest(tag)? };
        Some(Content { fingerprint, digest, epoch })
    }
}

impl Iterator for Visits<'_> {
    type Item = Option<Visit>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let visit = self.visit();
        if visit.is_none() {
            self.left = 0;
        }
        Some(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "visits are packed in order")]
    fn visits_that_are_not_in_order_are_not_packed() {
        let visit = |time| Visit { time, seen: Seen::Gone, status: None };
        put_visits(&mut Vec::new(), &[visit(2), visit(1)]);
    }
}
