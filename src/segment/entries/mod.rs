//! Packs entries, each as its difference from the previous entry. An unchanged visit takes two to
//! five bytes, and a small change stores the flipped bits of the fingerprint.

use crate::layout::{Cursor, PutInteger, put_signed, put_varint};
use crate::page::{
    Content, Digest, ETag, Entry, Epoch, Property, PropertyEntry, Restated, Seen, Target, Visit,
    Weight,
};
use crate::time::Time;

/// The low two bits of a tag: the kind of result.
pub(super) const FAILED: u8 = 0;
pub(super) const NOT_MODIFIED: u8 = 1;
pub(super) const GONE: u8 = 2;
pub(super) const CONTENT: u8 = 3;
pub(super) const SEEN_MASK: u8 = 3;
/// The status equals the status of the previous entry.
pub(super) const SAME_STATUS: u8 = 1 << 2;
/// The content equals the content of the previous entry.
pub(super) const SAME_CONTENT: u8 = 1 << 3;
/// The fingerprint is stored as flipped bits; the epoch equals the epoch of the previous entry.
pub(super) const MOVED_BITS: u8 = 1 << 4;
/// A digest follows.
pub(super) const HAS_DIGEST: u8 = 1 << 5;
/// The time since the previous entry is in whole seconds, not in milliseconds.
pub(super) const SECONDS: u8 = 1 << 6;

/// The content is restated. A restatement has no status, and two bits have another meaning.
/// `HAS_FINGERPRINT`: the content has a fingerprint. `SAME_DIGEST`: its digest equals the digest of
/// the previous content.
pub(super) const RESTATED: u8 = 1 << 7;
pub(super) const HAS_FINGERPRINT: u8 = SAME_STATUS;
pub(super) const SAME_DIGEST: u8 = SAME_CONTENT;

/// The entry is only a property: a weight, or another kind. The entity tag or the target may equal
/// the last entity tag or target, and is then not stored.
pub(super) const GIVEN: u8 = RESTATED | FAILED;
pub(super) const CLASS: u8 = SAME_STATUS;
pub(super) const ETAG: u8 = SAME_CONTENT;
pub(super) const TARGET: u8 = SAME_STATUS | SAME_CONTENT;
pub(super) const KIND_MASK: u8 = SAME_STATUS | SAME_CONTENT;
pub(super) const SAME_VALUE: u8 = MOVED_BITS;
const SAME_ETAG: u8 = ETAG | SAME_VALUE;
const SAME_TARGET: u8 = TARGET | SAME_VALUE;

/// A separate tag before the tag of a visit. The modification date comes after the visit, in
/// seconds or milliseconds before the visit. With `SAME_DATE`, the date equals the last known date
/// and is not stored.
pub(super) const DATED: u8 = RESTATED | NOT_MODIFIED;
pub(super) const SAME_DATE: u8 = SAME_STATUS;

/// A separate tag before the tag of a visit, and before the tag of its date. With `HAS_BYTES`, the
/// number of bytes comes last, as the difference from the last known number.
pub(super) const REQUEST: u8 = RESTATED | GONE;
pub(super) const CONDITIONAL: u8 = SAME_STATUS;
pub(super) const HAS_BYTES: u8 = SAME_CONTENT;

/// A content that is not restated has no fingerprint, and its epoch follows.
pub(super) const NO_FINGERPRINT: u8 = SAME_CONTENT | MOVED_BITS;

/// The maximum number of flipped bits that are stored one by one. With more flipped bits, the whole
/// fingerprint is not longer.
const MOVED_MAX: u32 = 6;

/// The state that the next entry is packed against.
#[derive(Default)]
struct PackContext {
    time: i64,
    status: Option<u16>,
    modified: Option<i64>,
    bytes: u64,
    content: Option<Content>,
    etag: Option<ETag>,
    target: Option<Target>,
}

impl PackContext {
    fn follow(&mut self, entry: &Entry) {
        self.time = entry.time().as_ms();
        if let Entry::Visit(visit) = entry {
            self.status = visit.status;
            // A visit without a date keeps the previous date, because a later visit may repeat it.
            self.modified = visit.modified.map(Time::as_ms).or(self.modified);
            self.bytes = visit.bytes.unwrap_or(self.bytes);
        }
        if let Entry::Property(given) = entry {
            match &given.property {
                Property::ETag(etag) => self.etag = Some(etag.clone()),
                Property::Target(target) => self.target = Some(target.clone()),
                Property::Weight(_) | Property::Class(_) => {}
            }
        }
        if let Some(content) = entry.content() {
            self.content = Some(content);
        }
    }

    /// Returns the flipped bits of a content's fingerprint if their encoding is shorter than the
    /// fingerprint.
    fn moved(&self, content: &Content) -> Option<u64> {
        // Fingerprints of two epochs have nothing in common: their difference is as long as a whole
        // fingerprint.
        let then = self.content.filter(|then| then.epoch == content.epoch)?;
        let moved = content.fingerprint? ^ then.fingerprint?;
        (moved.count_ones() <= MOVED_MAX).then_some(moved)
    }
}

/// Counts the visits among entries.
pub(crate) fn count_visits(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| entry.is_visit()).count()
}

/// Packs entries in order of time.
///
/// # Panics
///
/// If an entry is earlier than the previous entry, because the packed entries could not be
/// unpacked.
pub(crate) fn put_entries(out: &mut Vec<u8>, entries: &[Entry]) {
    let mut before = PackContext::default();
    for (i, entry) in entries.iter().enumerate() {
        let modified = entry.visit().and_then(|visit| visit.modified);
        let date = modified
            .map(|modified| PackedDate::of(modified.as_ms(), entry.time().as_ms(), &before));
        // These tags come before their visit. The number of the date comes after the visit, because
        // it is a difference from the visit's time.
        let request = entry.visit().map_or(0, request_tag);
        if request != 0 {
            out.push(request);
        }
        date.iter().for_each(|date| out.push(date.tag()));
        put_entry(out, entry, &before, i == 0);
        date.iter().for_each(|date| date.put(out));
        if let Some(bytes) = entry.visit().and_then(|visit| visit.bytes) {
            put_signed(out, bytes.wrapping_sub(before.bytes).cast_signed());
        }
        before.follow(entry);
    }
}

/// Returns the tag of a visit's request; 0 if nothing is stored about the request.
fn request_tag(visit: &Visit) -> u8 {
    let parts = [(visit.conditional, CONDITIONAL), (visit.bytes.is_some(), HAS_BYTES)];
    let flags: u8 = parts.into_iter().map(|(has, flag)| u8::from(has) * flag).sum();
    if flags == 0 { 0 } else { REQUEST | flags }
}

/// The modification date of a page, as packed with a visit.
enum PackedDate {
    /// The date equals the last known date.
    Same,
    /// The date is this number of seconds before the second of the visit.
    Seconds(i64),
    /// The date is this number of milliseconds before the visit.
    Milliseconds(i64),
}

impl PackedDate {
    fn of(modified: i64, time: i64, before: &PackContext) -> PackedDate {
        if before.modified == Some(modified) {
            PackedDate::Same
        } else if modified % 1000 == 0 {
            // The time is rounded down, even before 1970. The division of the date is exact.
            PackedDate::Seconds(time.div_euclid(1000).wrapping_sub(modified / 1000))
        } else {
            PackedDate::Milliseconds(time.wrapping_sub(modified))
        }
    }

    fn tag(&self) -> u8 {
        match self {
            PackedDate::Same => DATED | SAME_DATE,
            PackedDate::Seconds(_) => DATED | SECONDS,
            PackedDate::Milliseconds(_) => DATED,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            PackedDate::Same => {}
            PackedDate::Seconds(earlier) | PackedDate::Milliseconds(earlier) => {
                put_signed(out, *earlier)
            }
        }
    }
}

/// Returns the kind bits of a tag. For a visit, also returns the status, if it differs from the
/// previous status.
fn kind_of(entry: &Entry, before: &PackContext) -> (u8, Option<Option<u16>>) {
    match entry {
        Entry::Restated(Restated { fingerprint: Some(_), .. }) => {
            (CONTENT | RESTATED | HAS_FINGERPRINT, None)
        }
        Entry::Restated(_) => (CONTENT | RESTATED, None),
        Entry::Property(given) => {
            let kind = match &given.property {
                Property::Weight(_) => 0,
                Property::Class(_) => CLASS,
                Property::ETag(etag) if before.etag.as_ref() == Some(etag) => SAME_ETAG,
                Property::ETag(_) => ETAG,
                Property::Target(target) if before.target.as_ref() == Some(target) => SAME_TARGET,
                Property::Target(_) => TARGET,
            };
            (GIVEN | kind, None)
        }
        Entry::Visit(visit) => {
            let seen = match visit.seen {
                Seen::Failed => FAILED,
                Seen::NotModified { .. } => NOT_MODIFIED,
                Seen::Gone => GONE,
                Seen::Content(_) => CONTENT,
            };
            // The outer option tells whether a status is written. The inner option tells whether
            // the visit has a status.
            let other = (visit.status != before.status).then_some(visit.status);
            (if other.is_none() { seen | SAME_STATUS } else { seen }, other)
        }
    }
}

fn put_entry(out: &mut Vec<u8>, entry: &Entry, before: &PackContext, first: bool) {
    let (mut tag, status) = kind_of(entry, before);
    assert!(first || before.time <= entry.time().as_ms(), "entries are packed in order");
    // Before the first entry the time is 0. So for the first entry the difference is its time,
    // which may be negative.
    let since = entry.time().as_ms().wrapping_sub(before.time);
    let seconds = since % 1000 == 0;
    if seconds {
        tag |= SECONDS;
    }
    let (content, digest) = (entry.content(), entry.digest());
    let restated = entry.is_restated();
    // For restated content, the bit for "same content" means "same digest".
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
    if let Some(given) = entry.property().filter(|_| tag & SAME_VALUE == 0) {
        put_property(out, &given.property);
    }
    if same {
        return;
    }
    if let Some(mut moved) = moved {
        // At most six bits, at positions below 64. The masks lose nothing.
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

/// Appends a property. The kind of the property is stored elsewhere, in a flag or a tag.
pub(super) fn put_property(out: &mut Vec<u8>, property: &Property) {
    let put_bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
        put_varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    };
    match property {
        Property::Weight(weight) => out.put_u32(weight.to_bits()),
        Property::Class(class) => put_varint(out, (*class).into()),
        Property::ETag(etag) => put_bytes(out, etag.as_bytes()),
        Property::Target(target) => {
            let (shared, rest) = target.parts();
            put_varint(out, shared.into());
            put_bytes(out, rest.as_bytes());
        }
    }
}

/// Reads a property of a kind; `None` if the bytes are invalid.
pub(super) fn take_property(cursor: &mut Cursor<'_>, kind: u8) -> Option<Property> {
    match kind {
        CLASS => u32::try_from(cursor.varint()?).ok().map(Property::Class),
        ETAG => {
            let len = cursor.count()?;
            ETag::new(cursor.take(len)?).map(Property::ETag)
        }
        TARGET => {
            let shared = u16::try_from(cursor.varint()?).ok()?;
            let len = cursor.count()?;
            let rest = std::str::from_utf8(cursor.take(len)?).ok()?;
            Target::from_parts(shared, rest).map(Property::Target)
        }
        _ => Weight::from_bits(cursor.u32()?).map(Property::Weight),
    }
}

/// Unpacks entries one after another. If the bytes of an entry are invalid, its item is `None`, and
/// the iterator ends.
pub(crate) struct PackedEntries<'a> {
    cursor: Cursor<'a>,
    left: usize,
    first: bool,
    before: PackContext,
}

impl<'a> PackedEntries<'a> {
    pub(crate) fn new(cursor: Cursor<'a>, count: usize) -> Self {
        PackedEntries { cursor, left: count, first: true, before: PackContext::default() }
    }

    /// Returns the bytes after the entries. All entries must have been read.
    pub(crate) fn rest(&self) -> Cursor<'a> {
        self.cursor
    }

    #[inline]
    fn entry(&mut self) -> Option<Entry> {
        let mut tag = self.cursor.u8()?;
        // No entry is both "restated" and "gone" or "not modified". So these bits mark a request
        // and a date.
        let request = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == REQUEST);
        if request.is_some() {
            tag = self.cursor.u8()?;
        }
        let date = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == DATED);
        if date.is_some() {
            tag = self.cursor.u8()?;
        }
        // Only a visit has a request and a date. So neither a restatement nor a second date may
        // follow.
        if (request.is_some() || date.is_some()) && tag & RESTATED != 0 {
            return None;
        }
        let given = tag & (RESTATED | SEEN_MASK | HAS_DIGEST) == GIVEN;
        let restated = tag & RESTATED != 0 && !given;
        if restated && tag & SEEN_MASK != CONTENT {
            return None;
        }
        let since = if self.first {
            self.cursor.signed()?
        } else {
            // Unsigned: no entry is earlier than the previous entry, even in damaged bytes.
            i64::try_from(self.cursor.varint()?).ok()?
        };
        let since = if tag & SECONDS == 0 { since } else { since.checked_mul(1000)? };
        let ms = self.before.time.checked_add(since)?;
        let time = Time::from_ms_unchecked(ms);
        let entry = if given {
            let property = match tag & (KIND_MASK | SAME_VALUE) {
                SAME_ETAG => Property::ETag(self.before.etag.clone()?),
                SAME_TARGET => Property::Target(self.before.target.clone()?),
                // A weight or a class is always stored.
                kind if kind & SAME_VALUE != 0 => return None,
                kind => take_property(&mut self.cursor, kind)?,
            };
            Entry::Property(PropertyEntry { time, property })
        } else if restated {
            let (fingerprint, epoch) = match tag & (HAS_FINGERPRINT | MOVED_BITS) {
                0 => (None, self.epoch()?),
                // The bits mean flipped bits of a fingerprint that is absent.
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
                Some(date) => Some(self.modified(date, ms)?),
            };
            let (bytes, conditional) = self.request(request)?;
            Entry::Visit(Visit { time, seen, status, modified, bytes, conditional })
        };
        self.first = false;
        self.before.follow(&entry);
        Some(entry)
    }

    /// Reads the modification date of a page visited at `time`.
    fn modified(&mut self, tag: u8, time: i64) -> Option<Time> {
        let ms = match tag & !DATED {
            SAME_DATE => self.before.modified,
            SECONDS => {
                let second = time.div_euclid(1000).checked_sub(self.cursor.signed()?)?;
                second.checked_mul(1000)
            }
            0 => time.checked_sub(self.cursor.signed()?),
            _ => None,
        };
        ms.map(Time::from_ms_unchecked)
    }

    /// Reads the number of bytes of a visit, and whether its request was conditional.
    fn request(&mut self, tag: Option<u8>) -> Option<(Option<u64>, bool)> {
        let Some(tag) = tag else { return Some((None, false)) };
        let flags = tag & !REQUEST;
        if flags == 0 || flags & !(CONDITIONAL | HAS_BYTES) != 0 {
            return None;
        }
        let bytes = if flags & HAS_BYTES == 0 {
            None
        } else {
            Some(self.before.bytes.wrapping_add(self.cursor.signed()?.cast_unsigned()))
        };
        Some((bytes, flags & CONDITIONAL != 0))
    }

    #[expect(clippy::option_option, reason = "damaged, absent and present are three things")]
    fn digest(&mut self, tag: u8) -> Option<Option<Digest>> {
        if tag & HAS_DIGEST == 0 { Some(None) } else { Some(Some(Digest(self.cursor.array()?))) }
    }

    /// Reads the content that a visit saw.
    fn content(&mut self, tag: u8) -> Option<Content> {
        let (fingerprint, epoch) = match tag & NO_FINGERPRINT {
            // `None` at the start of a list: there is no previous content, so the bytes are
            // damaged.
            SAME_CONTENT => return self.before.content,
            NO_FINGERPRINT => (None, self.epoch()?),
            _ => self.some_fingerprint(tag)?,
        };
        Some(Content { fingerprint, digest: self.digest(tag)?, epoch })
    }

    fn epoch(&mut self) -> Option<Epoch> {
        u32::try_from(self.cursor.varint()?).ok().map(Epoch)
    }

    /// Reads the fingerprint of a content that has a fingerprint, and its epoch.
    fn some_fingerprint(&mut self, tag: u8) -> Option<(Option<u64>, Epoch)> {
        if tag & MOVED_BITS == 0 {
            let epoch = self.epoch()?;
            return Some((Some(self.cursor.u64()?), epoch));
        }
        let then = self.before.content?;
        let count = self.cursor.u8()?;
        let mut moved = 0;
        // All positions are read in one piece, so bounds are checked once. A position above 63 is
        // damage.
        for bit in self.cursor.take(count.into())? {
            moved |= 1u64.checked_shl((*bit).into())?;
        }
        Some((Some(then.fingerprint? ^ moved), then.epoch))
    }
}

impl Iterator for PackedEntries<'_> {
    type Item = Option<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let entry = self.entry();
        if entry.is_none() {
            // The cursor is somewhere within an entry, so no later bytes can be read.
            self.left = 0;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests;
