//! Dumps lists of entries.

use super::reader::{DumpResult, DumpStop, SectionReader};
use super::words::{day, epoch, many, number};
use crate::segment::entries::{
    CLASS, CONTENT, DATED, FAILED, GIVEN, GONE, HAS_DIGEST, HAS_FINGERPRINT, MOVED_BITS,
    NO_FINGERPRINT, NOT_MODIFIED, RESTATED, SAME_CONTENT, SAME_DATE, SAME_DIGEST, SAME_STATUS,
    SECONDS, SEEN_MASK,
};

/// Shows a list of `count` entries. `name` returns the name of an entry with a special role, by its
/// index.
pub(super) fn entries(
    reader: &mut SectionReader<'_, '_, '_>,
    count: u64,
    name: &dyn Fn(u64) -> &'static str,
) -> DumpResult {
    for place in 0..count {
        entry(reader, place == 0, name(place))?;
    }
    Ok(())
}

/// Returns the unit of a time and the number of milliseconds in the unit.
fn unit(tag: u8) -> (&'static str, i64) {
    if tag & SECONDS == 0 { ("ms", 1) } else { ("s", 1000) }
}

fn entry(reader: &mut SectionReader<'_, '_, '_>, first: bool, name: &str) -> DumpResult {
    let mut tag = reader.u8()?;
    // No entry is both "restated" and "not modified", so these bits mark a date, and the visit's
    // tag follows.
    let date = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == DATED);
    if let Some(date) = date {
        reader.line(format!("tag of a date: {}", of_date(date)?))?;
        tag = reader.u8()?;
    }
    let prefix = if name.is_empty() { "tag: " } else { name };
    let restated = tag & RESTATED != 0;
    // A failed visit cannot be restated, so these bits mark a property.
    let given = tag & !(SECONDS | CLASS) == GIVEN;
    let seen = tag & SEEN_MASK;
    // `Entries`, which reads the bytes for queries, also treats them as damage.
    if restated && (date.is_some() || !given && seen != CONTENT) {
        return Err(DumpStop::Impossible("an invalid tag"));
    }
    reader.line(format!("{prefix}{}", of_tag(tag)))?;
    time(reader, tag, first)?;
    if given {
        return property(reader, tag & CLASS != 0);
    }
    if !restated && tag & SAME_STATUS == 0 {
        let status = reader.varint()?;
        reader.line(match status.checked_sub(1) {
            None => "no status".to_owned(),
            Some(status) => format!("status: {status} + 1"),
        })?;
    }
    // After "same content" no content follows. For restated content this bit has another meaning.
    if seen == CONTENT && (restated || tag & NO_FINGERPRINT != SAME_CONTENT) {
        content(reader, tag)?;
    }
    if tag & HAS_DIGEST != 0 && (seen == CONTENT || seen == NOT_MODIFIED) {
        reader.take(16)?;
        reader.line("digest")?;
    }
    match date {
        Some(date) if date & SAME_DATE == 0 => {
            let (unit, _) = unit(date);
            let earlier = reader.signed()?;
            reader.line(format!("modified {} {unit} before", number(earlier)))
        }
        _ => Ok(()),
    }
}

/// Describes the bytes after the tag of a date.
fn of_date(date: u8) -> DumpResult<&'static str> {
    match date & !DATED {
        0 => Ok("in milliseconds"),
        SECONDS => Ok("in seconds"),
        SAME_DATE => Ok("as before"),
        _ => Err(DumpStop::Impossible("an invalid tag of a date")),
    }
}

/// Describes a tag.
fn of_tag(tag: u8) -> String {
    let seconds = tag & SECONDS != 0;
    if tag & !(SECONDS | CLASS) == GIVEN {
        let what = if tag & CLASS == 0 { "weight" } else { "class" };
        return format!("a {what}, in {}", if seconds { "seconds" } else { "milliseconds" });
    }
    let restated = tag & RESTATED != 0;
    let seen = tag & SEEN_MASK;
    let content = seen == CONTENT;
    let mut said = vec![match seen {
        _ if restated => "restated",
        FAILED => "failed",
        NOT_MODIFIED => "not modified",
        GONE => "gone",
        _ => "content",
    }];
    let none = content && !restated && tag & NO_FINGERPRINT == NO_FINGERPRINT;
    for (is_said, what) in [
        (restated && tag & HAS_FINGERPRINT != 0, "fingerprint"),
        (!restated && tag & SAME_STATUS != 0, "same status"),
        (none, "no fingerprint"),
        (content && !restated && !none && tag & SAME_CONTENT != 0, "same content"),
        (content && !none && tag & MOVED_BITS != 0, "moved bits"),
        (restated && tag & SAME_DIGEST != 0, "same digest"),
        (tag & HAS_DIGEST != 0, "digest"),
        (seconds, "seconds"),
    ] {
        said.extend(is_said.then_some(what));
    }
    said.join(", ")
}

/// Shows the value of a property.
pub(super) fn property(reader: &mut SectionReader<'_, '_, '_>, is_class: bool) -> DumpResult {
    if is_class {
        let class = reader.varint()?;
        return reader.line(format!("class {class}"));
    }
    let weight = reader.u32()?;
    reader.line(f32::from_bits(weight).to_string())
}

fn time(reader: &mut SectionReader<'_, '_, '_>, tag: u8, first: bool) -> DumpResult {
    let (name, ms) = unit(tag);
    if !first {
        // Shown as a difference, in the way it is stored: the dump adds up no times, so none can
        // overflow.
        let later = reader.varint()?;
        return reader.line(format!("{} {name} later", number(later)));
    }
    let time = reader.signed()?;
    let whole =
        time.checked_mul(ms).ok_or(DumpStop::Impossible("a time outside of the possible range"))?;
    reader.line(format!("{} {name}: {}", number(time), day(whole)))
}

/// Shows the epoch and the fingerprint, or the bits that changed.
fn content(reader: &mut SectionReader<'_, '_, '_>, tag: u8) -> DumpResult {
    let restated = tag & RESTATED != 0;
    // A restatement has a bit for its fingerprint. A visit without a fingerprint has two bits that
    // otherwise exclude each other.
    let has_none = match restated {
        true => tag & HAS_FINGERPRINT == 0,
        false => tag & NO_FINGERPRINT == NO_FINGERPRINT,
    };
    if tag & MOVED_BITS != 0 && !has_none {
        let moved = reader.u8()?;
        // No bit moved if the fingerprint is the same and only the digest differs.
        let colon = if moved == 0 { "" } else { ":" };
        reader.line(format!("{} moved{colon}", many(moved.into(), "bit", "bits")))?;
        if moved > 0 {
            let bits: Vec<String> = reader.take(moved.into())?.iter().map(u8::to_string).collect();
            let bits = bits.join(", ");
            reader.line(format!("{} {bits}", if moved == 1 { "bit" } else { "bits" }))?;
        }
        return Ok(());
    }
    let of = reader.varint()?;
    let of = u32::try_from(of)
        .map_err(|_| DumpStop::Impossible("an epoch number of more than 32 bits"))?;
    reader.line(epoch(of))?;
    if has_none {
        return Ok(());
    }
    let fingerprint = reader.u64()?;
    reader.line(format!("fingerprint {fingerprint:016x}"))
}
