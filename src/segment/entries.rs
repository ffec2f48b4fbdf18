//! How entries are packed: each as its difference from the one before, so that an unchanged visit
//! takes two to five bytes and a small change names the bits that moved.

use crate::layout::{Cursor, Put, put_signed, put_varint};
use crate::page::{Content, Digest, Entry, Epoch, Restated, Seen, Visit, Weighed, Weight};

/// Low two bits of a tag: what was seen.
pub(super) const FAILED: u8 = 0;
pub(super) const NOT_MODIFIED: u8 = 1;
pub(super) const GONE: u8 = 2;
pub(super) const CONTENT: u8 = 3;
pub(super) const SEEN_MASK: u8 = 3;
/// The status is the one before's.
pub(super) const SAME_STATUS: u8 = 1 << 2;
/// The content is the one before's.
pub(super) const SAME_CONTENT: u8 = 1 << 3;
/// The fingerprint is given by the bits that moved; the epoch is the one before's.
pub(super) const MOVED_BITS: u8 = 1 << 4;
/// A digest follows.
pub(super) const HAS_DIGEST: u8 = 1 << 5;
/// The time since the one before is in whole seconds, not in milliseconds.
pub(super) const SECONDS: u8 = 1 << 6;

/// The content is restated. It has no status, and two bits have another meaning: it has a
/// fingerprint; its digest is that of the content before.
pub(super) const RESTATED: u8 = 1 << 7;
pub(super) const HAS_FINGERPRINT: u8 = SAME_STATUS;
pub(super) const SAME_DIGEST: u8 = SAME_CONTENT;

/// The entry is a weight, and has nothing else.
pub(super) const WEIGHED: u8 = RESTATED | FAILED;

/// A tag of its own before that of a visit. The visit is followed by when the page was modified, in
/// seconds or milliseconds before it, unless that is what it was when last heard of.
pub(super) const DATED: u8 = RESTATED | NOT_MODIFIED;
pub(super) const SAME_DATE: u8 = SAME_STATUS;

/// Of content that is not restated: it has no fingerprint, and its epoch follows.
pub(super) const NO_FINGERPRINT: u8 = SAME_CONTENT | MOVED_BITS;

/// More bits than this are not named one by one: the whole fingerprint takes no more room.
const MOVED_MAX: u32 = 6;

/// What the next entry is packed against.
#[derive(Default)]
struct Before {
    time: i64,
    status: Option<u16>,
    modified: Option<i64>,
    content: Option<Content>,
}

impl Before {
    fn follow(&mut self, entry: &Entry) {
        self.time = entry.time();
        if let Entry::Visit(visit) = entry {
            self.status = visit.status;
            self.modified = visit.modified.or(self.modified);
        }
        if let Some(content) = entry.content() {
            self.content = Some(content);
        }
    }

    /// The bits in which a content's fingerprint is another one, if these tell it more briefly than
    /// the whole of it does.
    fn moved(&self, content: &Content) -> Option<u64> {
        let then = self.content.filter(|then| then.epoch == content.epoch)?;
        let moved = content.fingerprint? ^ then.fingerprint?;
        (moved.count_ones() <= MOVED_MAX).then_some(moved)
    }
}

/// How many of these are visits.
pub(crate) fn count_visits(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| entry.is_visit()).count()
}

/// Packs entries that are in order.
///
/// # Panics
///
/// If one is earlier than the one before: it could not be read again.
pub(crate) fn put_entries(out: &mut Vec<u8>, entries: &[Entry]) {
    let mut before = Before::default();
    for (i, entry) in entries.iter().enumerate() {
        let modified = entry.visit().and_then(|visit| visit.modified);
        let date = modified.map(|modified| Date::of(modified, entry.time(), &before));
        date.iter().for_each(|date| out.push(date.tag()));
        put_entry(out, entry, &before, i == 0);
        date.iter().for_each(|date| date.put(out));
        before.follow(entry);
    }
}

/// When a page was modified, as it is packed with a visit.
enum Date {
    /// As when it was last heard of.
    Same,
    /// So many seconds before the second of the visit.
    Seconds(i64),
    /// So many milliseconds before the visit.
    Milliseconds(i64),
}

impl Date {
    fn of(modified: i64, time: i64, before: &Before) -> Date {
        if before.modified == Some(modified) {
            Date::Same
        } else if modified % 1000 == 0 {
            Date::Seconds(time.div_euclid(1000).wrapping_sub(modified / 1000))
        } else {
            Date::Milliseconds(time.wrapping_sub(modified))
        }
    }

    fn tag(&self) -> u8 {
        match self {
            Date::Same => DATED | SAME_DATE,
            Date::Seconds(_) => DATED | SECONDS,
            Date::Milliseconds(_) => DATED,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Date::Same => {}
            Date::Seconds(earlier) | Date::Milliseconds(earlier) => put_signed(out, *earlier),
        }
    }
}

fn put_entry(out: &mut Vec<u8>, entry: &Entry, before: &Before, first: bool) {
    let (mut tag, status) = match entry {
        Entry::Restated(Restated { fingerprint: Some(_), .. }) => {
            (CONTENT | RESTATED | HAS_FINGERPRINT, None)
        }
        Entry::Restated(_) => (CONTENT | RESTATED, None),
        Entry::Weighed(_) => (WEIGHED, None),
        Entry::Visit(visit) => {
            let seen = match visit.seen {
                Seen::Failed => FAILED,
                Seen::NotModified { .. } => NOT_MODIFIED,
                Seen::Gone => GONE,
                Seen::Content(_) => CONTENT,
            };
            let other = (visit.status != before.status).then_some(visit.status);
            (if other.is_none() { seen | SAME_STATUS } else { seen }, other)
        }
    };
    assert!(first || before.time <= entry.time(), "entries are packed in order");
    let since = entry.time().wrapping_sub(before.time);
    let seconds = since % 1000 == 0;
    if seconds {
        tag |= SECONDS;
    }
    let (content, digest) = (entry.content(), entry.digest());
    let restated = entry.is_restated();
    let same = !restated && content.is_some() && content == before.content;
    let moved = content.and_then(|content| before.moved(&content)).filter(|_| !same);
    let same_digest = restated && before.content.is_some_and(|then| then.digest == digest);
    if same {
        tag |= SAME_CONTENT;
    } else if !restated && content.is_some_and(|content| content.fingerprint.is_none()) {
        tag |= NO_FINGERPRINT;
    } else if moved.is_some() {
        tag |= MOVED_BITS;
    }
    if same_digest {
        tag |= SAME_DIGEST;
    } else if !same && digest.is_some() {
        tag |= HAS_DIGEST;
    }
    out.push(tag);
    let since = if seconds { since / 1000 } else { since };
    if first {
        put_signed(out, since);
    } else {
        put_varint(out, since.cast_unsigned());
    }
    if let Some(status) = status {
        put_varint(out, status.map_or(0, |s| u64::from(s) + 1));
    }
    if let Some(weight) = entry.weight() {
        out.put_u32(weight.to_bits());
    }
    if same {
        return;
    }
    if let Some(mut moved) = moved {
        out.push((moved.count_ones() & 0xff) as u8);
        while moved != 0 {
            out.push((moved.trailing_zeros() & 0xff) as u8);
            moved &= moved - 1;
        }
    } else if let Some(content) = content {
        put_varint(out, content.epoch.0.into());
        content.fingerprint.into_iter().for_each(|fingerprint| out.put_u64(fingerprint));
    }
    if let Some(digest) = digest.filter(|_| !same_digest) {
        out.extend_from_slice(&digest.0);
    }
}

/// Unpacks entries one after another; `None` in an item where the bytes cannot be, and then no more.
pub(crate) struct Entries<'a> {
    cursor: Cursor<'a>,
    left: usize,
    first: bool,
    before: Before,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(cursor: Cursor<'a>, count: usize) -> Self {
        Entries { cursor, left: count, first: true, before: Before::default() }
    }

    /// What comes after the entries, once all have been taken.
    pub(crate) fn rest(&self) -> Cursor<'a> {
        self.cursor
    }

    #[inline]
    fn entry(&mut self) -> Option<Entry> {
        let mut tag = self.cursor.u8()?;
        let date = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == DATED);
        if date.is_some() {
            tag = self.cursor.u8().filter(|tag| tag & RESTATED == 0)?;
        }
        let weighed = tag & !SECONDS == WEIGHED;
        let restated = tag & RESTATED != 0 && !weighed;
        if restated && tag & SEEN_MASK != CONTENT {
            return None;
        }
        let since = if self.first {
            self.cursor.signed()?
        } else {
            i64::try_from(self.cursor.varint()?).ok()?
        };
        let since = if tag & SECONDS == 0 { since } else { since.checked_mul(1000)? };
        let time = self.before.time.checked_add(since)?;
        let entry = if weighed {
            Entry::Weighed(Weighed { time, weight: Weight::from_bits(self.cursor.u32()?)? })
        } else if restated {
            let (fingerprint, epoch) = match tag & (HAS_FINGERPRINT | MOVED_BITS) {
                0 => (None, self.epoch()?),
                MOVED_BITS => return None,
                _ => self.some_fingerprint(tag)?,
            };
            let digest = if tag & SAME_DIGEST == 0 {
                self.digest(tag)?
            } else {
                self.before.content?.digest
            };
            Entry::Restated(Restated { time, fingerprint, digest, epoch })
        } else {
            let status = if tag & SAME_STATUS == 0 {
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
                _ => Seen::Content(self.content(tag)?),
            };
            let modified = match date {
                None => None,
                Some(date) => Some(self.modified(date, time)?),
            };
            Entry::Visit(Visit { time, seen, status, modified })
        };
        self.first = false;
        self.before.follow(&entry);
        Some(entry)
    }

    /// When the page was modified that was visited at this time.
    fn modified(&mut self, tag: u8, time: i64) -> Option<i64> {
        match tag & !DATED {
            SAME_DATE => self.before.modified,
            SECONDS => {
                let second = time.div_euclid(1000).checked_sub(self.cursor.signed()?)?;
                second.checked_mul(1000)
            }
            0 => time.checked_sub(self.cursor.signed()?),
            _ => None,
        }
    }

    #[expect(clippy::option_option, reason = "damaged, absent and present are three things")]
    fn digest(&mut self, tag: u8) -> Option<Option<Digest>> {
        if tag & HAS_DIGEST == 0 { Some(None) } else { Some(Some(Digest(self.cursor.array()?))) }
    }

    /// The content that a visit saw.
    fn content(&mut self, tag: u8) -> Option<Content> {
        let (fingerprint, epoch) = match tag & NO_FINGERPRINT {
            SAME_CONTENT => return self.before.content,
            NO_FINGERPRINT => (None, self.epoch()?),
            _ => self.some_fingerprint(tag)?,
        };
        Some(Content { fingerprint, digest: self.digest(tag)?, epoch })
    }

    fn epoch(&mut self) -> Option<Epoch> {
        u32::try_from(self.cursor.varint()?).ok().map(Epoch)
    }

    /// A fingerprint that is there, and its epoch.
    fn some_fingerprint(&mut self, tag: u8) -> Option<(Option<u64>, Epoch)> {
        if tag & MOVED_BITS == 0 {
            let epoch = self.epoch()?;
            return Some((Some(self.cursor.u64()?), epoch));
        }
        let then = self.before.content?;
        let count = self.cursor.u8()?;
        let mut moved = 0;
        for bit in self.cursor.take(count.into())? {
            moved |= 1u64.checked_shl((*bit).into())?;
        }
        Some((Some(then.fingerprint? ^ moved), then.epoch))
    }
}

impl Iterator for Entries<'_> {
    type Item = Option<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let entry = self.entry();
        if entry.is_none() {
            self.left = 0;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{TIME_MAX, TIME_MIN};

    #[test]
    #[should_panic(expected = "entries are packed in order")]
    fn entries_that_are_not_in_order_are_not_packed() {
        let gone =
            |time| Entry::Visit(Visit { time, seen: Seen::Gone, status: None, modified: None });
        put_entries(&mut Vec::new(), &[gone(2), gone(1)]);
    }

    #[test]
    fn content_without_a_fingerprint_takes_its_epoch_in_place_of_it() {
        let saw = |time, fingerprint| {
            let content = Content { fingerprint, digest: Some(Digest([1; 16])), epoch: Epoch(2) };
            Entry::Visit(Visit { time, seen: Seen::Content(content), status: None, modified: None })
        };
        // Without one, with one, the other way round, and as before.
        let entries = [saw(0, None), saw(1, Some(7)), saw(2, None), saw(3, None), saw(4, Some(6))];
        let mut bytes = Vec::new();
        put_entries(&mut bytes, &entries);
        let read: Option<Vec<Entry>> = Entries::new(Cursor::new(&bytes), 5).collect();
        assert_eq!(read.as_deref(), Some(&entries[..]));
        let (mut with, mut without) = (Vec::new(), Vec::new());
        put_entries(&mut with, &[saw(0, Some(7))]);
        put_entries(&mut without, &[saw(0, None)]);
        assert_eq!(with.len() - without.len(), 8);
    }

    #[test]
    fn a_date_takes_a_byte_where_it_is_the_one_before_and_few_where_it_is_near() {
        let visit = |time, modified| {
            let seen = Seen::NotModified { digest: None };
            Entry::Visit(Visit { time, seen, status: None, modified })
        };
        let day = 86_400_000;
        let cases = [
            // Of what comes second: the seconds, so that a visit within one has a short date, too.
            (Some(0), 1),
            (Some(day + 999), 3),
            (Some(day + 1_000), 2),
            (Some(day + 60_000), 2),
            (Some(-29 * day), 5),
            (Some(TIME_MIN), 7),
            (Some(TIME_MAX), 8),
            (None, 0),
        ];
        for (modified, bytes) in cases {
            let entries =
                [visit(0, Some(0)), visit(day + 1_234, modified), visit(day + 1_235, Some(0))];
            let (mut with, mut without) = (Vec::new(), Vec::new());
            put_entries(&mut with, &entries[..2]);
            put_entries(&mut without, &[entries[0], visit(day + 1_234, None)]);
            assert_eq!(with.len() - without.len(), bytes, "{modified:?}");
            with.clear();
            put_entries(&mut with, &entries);
            let read: Option<Vec<Entry>> = Entries::new(Cursor::new(&with), 3).collect();
            assert_eq!(read.as_deref(), Some(&entries[..]));
        }
    }

    #[test]
    fn a_weight_passes_on_neither_status_nor_content() {
        let content = Content { fingerprint: Some(7), digest: None, epoch: Epoch(0) };
        let visit = |time| {
            let seen = Seen::Content(content);
            Entry::Visit(Visit { time, seen, status: Some(200), modified: Some(-500) })
        };
        let weighed =
            |time, weight: f64| Entry::Weighed(Weighed { time, weight: Weight::from(weight) });
        let entries = [weighed(-5, 1e-45), visit(0), weighed(0, 0.3), visit(1), weighed(7, 1e38)];
        let mut bytes = Vec::new();
        put_entries(&mut bytes, &entries);
        let read = |bytes: &[u8]| Entries::new(Cursor::new(bytes), 5).collect::<Option<Vec<_>>>();
        assert_eq!(read(&bytes).as_deref(), Some(&entries[..]));
        // A tag, a time and the number; and no number that is no weight.
        assert_eq!(bytes[..6], [WEIGHED, 9, 1, 0, 0, 0]);
        bytes[2] = 0;
        assert_eq!(read(&bytes), None);
        bytes[2] = 1;
        bytes[0] |= SAME_STATUS;
        assert_eq!(read(&bytes), None);
    }

    #[test]
    fn a_date_that_cannot_be_is_not_read() {
        let read = |bytes: &[u8]| Entries::new(Cursor::new(bytes), 1).collect::<Option<Vec<_>>>();
        // A tag of a date, a visit that failed at 0, without a status, and the date.
        let date = |tag| [tag, FAILED | SAME_STATUS, 0, 0];
        assert!(read(&date(DATED)).is_some() && read(&date(DATED | SECONDS)).is_some());
        assert_eq!(read(&date(DATED | SAME_DATE)), None);
        assert_eq!(read(&date(DATED | MOVED_BITS)), None);
        assert_eq!(read(&[DATED, DATED, FAILED | SAME_STATUS, 0, 0, 0]), None);
        assert_eq!(read(&[DATED, CONTENT | RESTATED, 0, 0, 0]), None);
        let mut far = date(DATED | SECONDS)[..3].to_vec();
        put_signed(&mut far, i64::MIN);
        assert_eq!(read(&far), None);
    }

    #[test]
    fn what_is_restated_without_a_fingerprint_has_any_digest_and_passes_on_no_status() {
        let (one, two) = (Some(Digest([1; 16])), Some(Digest([2; 16])));
        let content = Content { fingerprint: None, digest: one, epoch: Epoch(0) };
        let visit =
            Visit { time: 0, seen: Seen::Content(content), status: Some(200), modified: None };
        let restated = |time, fingerprint, digest| {
            Entry::Restated(Restated { time, fingerprint, digest, epoch: Epoch(1) })
        };
        let later = Visit { time: 5, ..visit };
        // With the digest before, with another, with none; after a fingerprint, and before it.
        let entries = [
            Entry::Visit(visit),
            restated(0, None, one),
            restated(1, None, two),
            restated(2, Some(7), two),
            restated(3, None, None),
            restated(4, None, one),
            Entry::Visit(later),
        ];
        let mut bytes = Vec::new();
        put_entries(&mut bytes, &entries);
        let read = |bytes: &[u8]| Entries::new(Cursor::new(bytes), 7).collect::<Option<Vec<_>>>();
        assert_eq!(read(&bytes).as_deref(), Some(&entries[..]));
        // Tag, time, status, epoch and digest; then a tag that names bits of no fingerprint.
        let tag = bytes.get_mut(21).unwrap();
        assert_eq!(*tag, CONTENT | RESTATED | SAME_DIGEST | SECONDS);
        *tag |= MOVED_BITS;
        assert_eq!(read(&bytes), None);
    }
}
