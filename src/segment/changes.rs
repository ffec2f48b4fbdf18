//! The packed form of a page's change statistics.

use crate::layout::{Cursor, put_signed, put_varint};
use crate::page::{Changes, LENGTHS};
use crate::time::Time;

/// The flags in the first byte.
pub(super) const UNCHANGED: u8 = 1;
pub(super) const DATED: u8 = 2;
pub(super) const UNDATED: u8 = 4;
/// The time when the page was last found changed is stored. `DISTANCE`: the distance of this change
/// is stored.
pub(super) const LAST: u8 = 8;
pub(super) const DISTANCE: u8 = 16;

/// All flags with their names in the format.
pub(super) const FLAGS: &[(u8, &str)] = &[
    (UNCHANGED, "unchanged"),
    (DATED, "dated"),
    (UNDATED, "undated"),
    (LAST, "last"),
    (DISTANCE, "distance"),
];

/// Appends the changes of a page. Appends nothing if there is no comparison.
pub(crate) fn put_changes(out: &mut Vec<u8>, changes: &Changes) {
    // A page with one visit has no comparison, and takes no byte.
    if *changes == Changes::default() {
        return;
    }
    let c = changes;
    let last = c.last_change();
    // There are eight length classes, so a byte has a bit for each, and the sum of distinct bits
    // cannot overflow.
    let lengths: u8 =
        (0..LENGTHS).filter(|length| c.undated(*length) > (0, 0)).map(|length| 1 << length).sum();
    let mut flags = 0;
    for (bit, is_set) in [
        (UNCHANGED, c.unchanged > 0),
        (DATED, c.dated > 0),
        (UNDATED, lengths > 0),
        (LAST, last.is_some()),
        (DISTANCE, last.is_some_and(|last| last.distance.is_some())),
    ] {
        flags |= if is_set { bit } else { 0 };
    }
    out.push(flags);
    if c.unchanged > 0 {
        out.push(c.unchanged);
        put_varint(out, c.unchanged_ms);
    }
    if c.dated > 0 {
        out.push(c.dated);
        put_varint(out, c.dated_ms);
        put_varint(out, c.quiet_ms);
    }
    if lengths > 0 {
        out.push(lengths);
    }
    let counts = c.sums.iter().zip(&c.changed).zip(&c.returned);
    for ((sum, changed), returned) in counts.filter(|((_, c), r)| (**c, **r) > (0, 0)) {
        // The low bit tells whether a number of returns follows, so a length class without returns
        // takes no byte for returns.
        put_varint(out, u64::from(*changed) << 1 | u64::from(*returned > 0));
        if *returned > 0 {
            out.push(*returned);
        }
        put_varint(out, u64::from(*sum));
    }
    if let Some(last) = last {
        put_signed(out, last.time.as_ms());
        if last.distance.is_some() {
            out.push(c.last_bits);
        }
        put_varint(out, c.recent_bits());
    }
}

/// Unpacks the changes of a page, which fill `packed`; `None` if the bytes are invalid.
#[expect(clippy::indexing_slicing, reason = "each length is below the number of lengths")]
pub(super) fn take_changes(packed: &[u8]) -> Option<Changes> {
    let mut c = Changes::default();
    if packed.is_empty() {
        return Some(c);
    }
    let mut cursor = Cursor::new(packed);
    let flags = cursor.u8().filter(|flags| flags >> 5 == 0)?;
    let is_set = |bit: u8| flags & bit != 0;
    if is_set(UNCHANGED) {
        c.unchanged = cursor.u8()?;
        c.unchanged_ms = cursor.varint()?;
    }
    if is_set(DATED) {
        c.dated = cursor.u8()?;
        c.dated_ms = cursor.varint()?;
        c.quiet_ms = cursor.varint()?;
    }
    let lengths = if is_set(UNDATED) { cursor.u8().filter(|lengths| *lengths > 0)? } else { 0 };
    for length in (0..LENGTHS).filter(|length| lengths >> length & 1 == 1) {
        let count = cursor.varint()?;
        c.changed[length] = u8::try_from(count >> 1).ok()?;
        c.returned[length] = if count & 1 == 1 { cursor.u8().filter(|n| *n > 0)? } else { 0 };
        c.sums[length] = u32::try_from(cursor.varint()?).ok()?;
    }
    if is_set(LAST) {
        let time = cursor.signed()?;
        let bits = if is_set(DISTANCE) { Some(cursor.u8()?) } else { None };
        c.note(Time::from_ms_unchecked(time), bits.map(u32::from));
        c.bits = cursor.varint()?;
    }
    // Each value has exactly one packed form, so equal changes have equal bytes. Any other bytes
    // are damage.
    let mut again = Vec::with_capacity(packed.len());
    put_changes(&mut again, &c);
    (c.is_possible() && cursor.is_empty() && again == packed).then_some(c)
}
