//! The carried part of a page's head in a record: the data that the record's own entries do not
//! determine.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::changes::{put_changes, take_changes};
use super::entries::{
    CLASS, ETAG, PackedEntries, TARGET, count_visits, put_entries, put_property, take_property,
};
use crate::layout::{Cursor, put_signed, put_varint};
use crate::page::{
    CONTENTS_MAX, Changes, Content, Entry, HISTORY_WINDOW, KINDS, LastSeenContent, ModifiedReport,
    PageHead, PageHistory, Properties, Property, PropertyEntry, Restated, Seen, Visit,
};
use crate::time::Time;

/// Flags of the carried part. `LAST`: the last visit is stored. `SETTLED`: the last successful
/// visit is stored, because it is another visit.
pub(super) const LAST: u8 = 1;
pub(super) const SETTLED: u8 = 2;
/// The modification date is stored, because none of the visits in the record has it.
pub(super) const MODIFIED: u8 = 4;
/// The current weight and its time are stored. `CLASSED`: the current class and its time are
/// stored. `TAGGED`: the entity tag of the last content. `POINTING`: the target of the last content.
pub(super) const WEIGHED: u8 = 8;
pub(super) const CLASSED: u8 = 16;
pub(super) const TAGGED: u8 = 32;
pub(super) const POINTING: u8 = 64;

/// All flags with their names in the format.
pub(super) const FLAGS: &[(u8, &str)] = &[
    (LAST, "last"),
    (SETTLED, "settled"),
    (MODIFIED, "modified"),
    (WEIGHED, "weighed"),
    (CLASSED, "classed"),
    (TAGGED, "tagged"),
    (POINTING, "pointing"),
];

/// The flags of properties in the order of the file, each with the kind of its property.
pub(super) const PROPERTY_FLAGS: [(u8, u8); KINDS] =
    [(WEIGHED, 0), (CLASSED, CLASS), (TAGGED, ETAG), (POINTING, TARGET)];
/// The upper limit of the number of a page's visits, so that sums of such numbers cannot overflow.
const VISITS_MAX: u64 = 1 << 48;

/// Appends a page according to older components: its changes, if known, and its head, without
/// entries of the current record.
#[expect(clippy::cast_possible_truncation, reason = "changes take less than 128 bytes")]
pub(crate) fn put_history(out: &mut Vec<u8>, head: &PageHead, changes: Option<&Changes>) {
    let start = out.len();
    out.push(0);
    if let Some(changes) = changes {
        put_changes(out, changes);
        let len = out.len() - start;
        // The length includes its own byte. So 1 means that the changes are known and there is no
        // comparison, and 0 is free for unknown changes.
        out.splice(start..=start, [len as u8]);
    }
    put_carried(out, head, &[]);
}

/// Unpacks a page that was packed in memory or validated before. Empty input is an unknown page.
#[expect(clippy::expect_used, reason = "a packed page was validated before")]
pub(crate) fn unpack_history(packed: &[u8]) -> PageHistory {
    let take =
        || take_history(&mut Cursor::new(packed)).expect("a page that was packed can be read");
    if packed.is_empty() { PageHistory::default() } else { take() }
}

/// Unpacks only the head of a packed page; `None` for empty input.
#[expect(clippy::expect_used, reason = "a packed page was validated before")]
pub(crate) fn unpack_head(packed: &[u8]) -> Option<PageHead> {
    let head = head_of(packed);
    let take = || take_head(&mut Cursor::new(head)).expect("a head that was packed can be read");
    (!head.is_empty()).then(take)
}

/// Returns the packed head of a packed page; empty for empty input.
pub(crate) fn head_of(packed: &[u8]) -> &[u8] {
    // The first byte is the length of itself and the changes. The byte is 0 if the changes are not
    // known.
    let before = packed.first().map_or(0, |len| usize::from(*len).max(1));
    packed.get(before..).unwrap_or(&[])
}

/// Reads a packed page; `None` if the bytes are invalid.
pub(crate) fn take_history(cursor: &mut Cursor<'_>) -> Option<PageHistory> {
    let changes = match cursor.u8()? {
        0 => None,
        len => Some(take_changes(cursor.take(usize::from(len) - 1)?)?),
    };
    Some(PageHistory { head: Some(take_head(cursor)?), changes })
}

/// Reads a head that was packed without entries of its record; `None` if the bytes are invalid.
pub(crate) fn take_head(cursor: &mut Cursor<'_>) -> Option<PageHead> {
    CarriedHead::take(cursor)?.join(std::iter::empty())
}

/// Appends the parts of `head` that the `own` entries of the record do not determine.
#[expect(clippy::expect_used, reason = "a head counts all visits of its page")]
pub(crate) fn put_carried(out: &mut Vec<u8>, head: &PageHead, own: &[Entry]) {
    let mut own_parts = PartialHead::default();
    // A reader folds the record's own entries anyway. The parts of the head that these entries
    // determine are not stored.
    own.iter().for_each(|entry| own_parts.take(entry));
    let last = own_parts.head.as_ref().is_none_or(|t| t.last != head.last).then_some(head.last);
    // The last visit is stored, so the parts of the head that this visit determines are not stored
    // either.
    last.into_iter().for_each(|visit| own_parts.take(&visit.into()));
    let settled = head
        .last_successful
        .filter(|s| own_parts.head.as_ref().and_then(|t| t.last_successful) != Some(*s));
    settled.into_iter().for_each(|visit| own_parts.take(&visit.into()));
    let own_head = own_parts.head();
    let modified = head.modified.filter(|m| own_head.as_ref().and_then(|t| t.modified) != Some(*m));
    let is_determined =
        |v: &LastSeenContent| own_head.as_ref().is_some_and(|t| t.contents.contains(v));
    let contents: SmallVec<[&LastSeenContent; HISTORY_WINDOW]> =
        head.contents.iter().filter(|v| !is_determined(v)).collect();
    let own_properties = own_head.map_or_else(Properties::default, |head| head.properties);
    let given: ArrayVec<PropertyEntry, KINDS> = head
        .properties
        .iter()
        .filter(|given| own_properties.of_kind(&given.property).as_ref() != Some(given))
        .collect();
    let parts =
        [(last.is_some(), LAST), (settled.is_some(), SETTLED), (modified.is_some(), MODIFIED)];
    let parts = parts.into_iter().map(|(has, flag)| u8::from(has) * flag);
    // Flags are distinct bits, so their sum is their union.
    out.push(parts.chain(given.iter().map(|given| flag(&given.property))).sum());
    let others = head.visits.checked_sub(count_visits(own) as u64);
    put_varint(out, others.expect("a head counts the other visits"));
    put_signed(out, head.first.as_ms());
    if let Some(ModifiedReport { reported_at: heard, time }) = modified {
        // Storable times lie in the years 1 to 9999, so the difference of two times never
        // overflows.
        put_signed(out, heard.as_ms().wrapping_sub(head.first.as_ms()));
        put_signed(out, heard.as_ms().wrapping_sub(time.as_ms()));
    }
    for PropertyEntry { time, property } in given {
        put_signed(out, time.as_ms().wrapping_sub(head.first.as_ms()));
        put_property(out, &property);
    }
    put_varint(out, contents.len() as u64);
    // One run of entries, the oldest first, so that each entry is packed against the previous
    // entry.
    let mut run: SmallVec<[Entry; HISTORY_WINDOW + 2]> =
        contents.iter().rev().map(|seen| as_entry(seen)).collect();
    // No content is later than the settled visit, and the settled visit is not later than the last
    // visit. `put_entries` panics on any other order.
    run.extend(settled.into_iter().chain(last).map(Entry::Visit));
    put_entries(out, &run);
}

/// Returns the flag for a property of the same kind as `property`.
fn flag(property: &Property) -> u8 {
    match property {
        Property::Weight(_) => WEIGHED,
        Property::Class(_) => CLASSED,
        Property::ETag(_) => TAGGED,
        Property::Target(_) => POINTING,
    }
}

fn as_entry(version: &LastSeenContent) -> Entry {
    let LastSeenContent { content, time, restated } = *version;
    if !restated {
        return Entry::Visit(Visit::new(time, Seen::Content(content)));
    }
    let Content { fingerprint, digest, epoch } = content;
    Entry::Restated(Restated { time, fingerprint, digest, epoch })
}

/// The carried part of a page's head.
pub(super) struct CarriedHead {
    visits: u64,
    first: i64,
    last: Option<Visit>,
    settled: Option<Visit>,
    contents: SmallVec<[LastSeenContent; HISTORY_WINDOW]>,
    modified: Option<ModifiedReport>,
    properties: Properties,
}

impl CarriedHead {
    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<CarriedHead> {
        let known = LAST | SETTLED | MODIFIED | WEIGHED | CLASSED | TAGGED | POINTING;
        let flags = cursor.u8().filter(|flags| flags & !known == 0)?;
        let visits = cursor.varint().filter(|visits| *visits < VISITS_MAX)?;
        let first = cursor.signed()?;
        let modified = if flags & MODIFIED == 0 {
            None
        } else {
            let heard = first.checked_add(cursor.signed()?)?;
            Some(ModifiedReport {
                reported_at: Time::from_ms_unchecked(heard),
                time: Time::from_ms_unchecked(heard.checked_sub(cursor.signed()?)?),
            })
        };
        let mut properties = Properties::default();
        for (_, kind) in PROPERTY_FLAGS.into_iter().filter(|(flag, _)| flags & flag != 0) {
            let time = Time::from_ms_unchecked(first.checked_add(cursor.signed()?)?);
            properties.take(PropertyEntry { time, property: take_property(cursor, kind)? });
        }
        let count = cursor.count().filter(|count| *count <= CONTENTS_MAX)?;
        let ends = usize::from(flags & LAST != 0) + usize::from(flags & SETTLED != 0);
        let mut run = PackedEntries::new(*cursor, count.checked_add(ends)?);
        let mut contents = SmallVec::new();
        for _ in 0..count {
            let entry = run.next().flatten()?;
            let (content, restated) = (entry.content()?, entry.is_restated());
            contents.push(LastSeenContent { content, time: entry.time(), restated });
        }
        let mut visit = || run.next().flatten()?.visit().copied();
        let settled = if flags & SETTLED == 0 { None } else { Some(visit()?) };
        let last = if flags & LAST == 0 { None } else { Some(visit()?) };
        *cursor = run.rest();
        Some(CarriedHead { visits, first, last, settled, contents, modified, properties })
    }

    /// Combines the carried part with the last entries `own` to the head of the page. `None` if an
    /// entry cannot be read, or if a version was seen after all visits.
    pub(super) fn join(self, own: impl Iterator<Item = Option<Entry>>) -> Option<PageHead> {
        let mut parts = PartialHead::of(own)?;
        let count = parts.head.as_ref().map_or(0, |head| head.visits);
        // `visits` already counts the last and the settled visit. So `count` was computed before,
        // and the sum is set below.
        self.last.into_iter().chain(self.settled).for_each(|visit| parts.take(&visit.into()));
        let mut head = parts.head()?;
        head.visits = self.visits + count;
        head.first = head.first.min(Time::from_ms_unchecked(self.first));
        head.modified = head.modified.max(self.modified);
        self.properties.iter().for_each(|given| head.set_property(given));
        self.contents.into_iter().for_each(|version| head.add_content(version));
        let settled = head.last_successful.map(|visit| visit.time);
        // Each content was seen by some settled visit. If a content is later than all settled
        // visits, the bytes are damaged.
        let possible = head.contents.iter().all(|version| Some(version.time) <= settled);
        possible.then_some(head)
    }
}

/// The parts of a head that some entries determine. Restated content may belong to a visit that is
/// not among the entries, and a property may be older than the entries.
#[derive(Default)]
pub(super) struct PartialHead {
    head: Option<PageHead>,
    restated: Vec<LastSeenContent>,
    properties: Properties,
}

impl PartialHead {
    /// Folds entries; `None` if an entry cannot be read.
    pub(super) fn of(entries: impl Iterator<Item = Option<Entry>>) -> Option<PartialHead> {
        let mut parts = PartialHead::default();
        for entry in entries {
            parts.take(&entry?);
        }
        Some(parts)
    }

    fn take(&mut self, entry: &Entry) {
        match (&self.head, entry) {
            // Without a visit there is no head to fold the restatement into. The visit may be in
            // the carried part, so the restatement waits.
            (None, Entry::Restated(restated)) => {
                let (content, time) = (restated.content(), restated.time);
                self.restated.push(LastSeenContent { content, time, restated: true });
            }
            (None, Entry::Property(given)) => self.properties.take(given.clone()),
            _ => PageHead::absorb_into(&mut self.head, entry),
        }
    }

    /// Returns the head that these entries alone determine; `None` if no entry is a visit.
    pub(super) fn head(self) -> Option<PageHead> {
        let mut head = self.head?;
        self.restated.into_iter().for_each(|version| head.add_content(version));
        self.properties.iter().for_each(|given| head.set_property(given));
        Some(head)
    }
}
