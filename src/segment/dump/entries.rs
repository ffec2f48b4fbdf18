//! Dumps lists of entries.

use super::reader::{DumpResult, DumpStop, SectionReader};
use super::words::{day, epoch, many, number, quoted};
use crate::segment::entries::{
    CLASS, CONDITIONAL, CONTENT, DATED, ETAG, FAILED, GIVEN, GONE, HAS_BYTES, HAS_DIGEST,
    HAS_FINGERPRINT, KIND_MASK, MOVED_BITS, NO_FINGERPRINT, NOT_MODIFIED, REQUEST, RESTATED,
    SAME_CONTENT, SAME_DATE, SAME_DIGEST, SAME_STATUS, SAME_VALUE, SECONDS, SEEN_MASK, TARGET,
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
    // No entry is both "restated" and "gone" or "not modified". So these bits mark a request and a
    // date, and the visit's tag follows.
    let request = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == REQUEST);
    if let Some(request) = request {
        reader.line(format!("tag of a request: {}", of_request(request)?))?;
        tag = reader.u8()?;
    }
    let date = Some(tag).filter(|tag| tag & (RESTATED | SEEN_MASK) == DATED);
    if let Some(date) = date {
        reader.line(format!("tag of a date: {}", of_date(date)?))?;
        tag = reader.u8()?;
    }
    let prefix = if name.is_empty() { "tag: " } else { name };
    let restated = tag & RESTATED != 0;
    // A failed visit cannot be restated, so these bits mark a property.
    let given = tag & (RESTATED | SEEN_MASK | HAS_DIGEST) == GIVEN;
    let seen = tag & SEEN_MASK;
    let is_visit = date.is_some() || request.is_some();
    // `Entries`, which reads the bytes for queries, also treats them as damage.
    if restated && (is_visit || !given && seen != CONTENT) {
        return Err(DumpStop::Impossible("an invalid tag"));
    }
    reader.line(format!("{prefix}{}", of_tag(tag)))?;
    time(reader, tag, first)?;
    if given {
        return if tag & SAME_VALUE == 0 { property(reader, tag & KIND_MASK) } else { Ok(()) };
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
            reader.line(format!("modified {} {unit} before", number(earlier)))?;
        }
        _ => {}
    }
    match request {
        Some(request) if request & HAS_BYTES != 0 => {
            let more = reader.signed()?;
            reader.line(format!("{} more than before", many_bytes(more)))
        }
        _ => Ok(()),
    }
}

fn many_bytes(count: i64) -> String {
    format!("{} {}", number(count), if count == 1 { "byte" } else { "bytes" })
}

/// Describes the flags of the tag of a request.
fn of_request(request: u8) -> DumpResult<&'static str> {
    match request & !REQUEST {
        CONDITIONAL => Ok("conditional"),
        HAS_BYTES => Ok("bytes"),
        flags if flags == CONDITIONAL | HAS_BYTES => Ok("conditional, bytes"),
        _ => Err(DumpStop::Impossible("an invalid tag of a request")),
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
    if tag & (RESTATED | SEEN_MASK | HAS_DIGEST) == GIVEN {
        let what = match tag & KIND_MASK {
            CLASS => "a class",
            ETAG => "an entity tag",
            TARGET => "a target",
            _ => "a weight",
        };
        let same = if tag & SAME_VALUE == 0 { "" } else { ", as before" };
        return format!("{what}{same}, in {}", if seconds { "seconds" } else { "milliseconds" });
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

/// Shows the value of a property of a kind.
pub(super) fn property(reader: &mut SectionReader<'_, '_, '_>, kind: u8) -> DumpResult {
    match kind {
        CLASS => {
            let class = reader.varint()?;
            reader.line(format!("class {class}"))
        }
        ETAG => {
            let len = reader.varint()?;
            reader.line(format!("{}:", many(len, "byte", "bytes")))?;
            if len == 0 {
                return Ok(());
            }
            let etag = reader.take(len)?.escape_ascii().to_string();
            // An entity tag has quotation marks of its own.
            reader.line(format!("entity tag {}", etag.replace("\\\"", "\"")))
        }
        TARGET => {
            let shared = reader.varint()?;
            let shared = many(shared, "byte", "bytes");
            reader.line(format!("shares {shared} with the URL of the page"))?;
            let added = reader.varint()?;
            reader.line(format!("and adds {added}"))?;
            if added == 0 {
                return Ok(());
            }
            let text = quoted(reader.take(added)?);
            reader.line(text)
        }
        _ => {
            let weight = reader.u32()?;
            reader.line(f32::from_bits(weight).to_string())
        }
    }
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
