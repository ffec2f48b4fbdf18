//! Formats numbers with the terms of the pages in `format/`.

use std::fmt::{Display, Write as _};

use crate::layout::SectionTag;
use crate::page::{DIGESTS, Epoch};
use crate::time::Time;

/// Formats a number with thousands separators.
pub(super) fn number(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count with its noun: "1 byte", "2 bytes".
pub(super) fn many(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { several })
}

/// Formats milliseconds since 1970 as the day, and the time of day if it is not midnight. The text
/// is exact and as short as possible.
pub(super) fn day(ms: i64) -> String {
    let time = Time::from_ms_unchecked(ms).to_string();
    let time = time.trim_end_matches('Z');
    time.strip_suffix("T00:00:00").map_or_else(|| time.replace('T', " "), str::to_owned)
}

/// Returns the names of the bits that are set; `None` if a bit has no name.
pub(super) fn flags(bits: u8, names: &[(u8, &'static str)]) -> Option<String> {
    let set = names.iter().filter(|(bit, _)| bits & bit != 0);
    let known = set.clone().fold(0, |known, (bit, _)| known | bit);
    let named: Vec<&str> = set.map(|(_, name)| *name).collect();
    let none = || "none".to_owned();
    // A bit without a name is damage, and must not be shown as no flag.
    (known == bits).then(|| if named.is_empty() { none() } else { named.join(", ") })
}

/// Formats an epoch.
pub(super) fn epoch(number: u32) -> String {
    if number == DIGESTS {
        return "digests".to_owned();
    }
    let epoch = Epoch(number);
    // The mask clears the leading bits, which are reserved.
    let reserved = epoch.mask().leading_zeros();
    match reserved {
        0 => format!("epoch {}", epoch.count()),
        _ => format!("epoch {}, {} reserved", epoch.count(), many(reserved.into(), "bit", "bits")),
    }
}

/// Returns the name of a section.
pub(super) fn section(tag: SectionTag) -> String {
    let mut name = tag.kind.name().to_owned();
    if tag.kind.has_parts() {
        push(&mut name, &format_args!(", part {}", tag.part));
    }
    if tag.kind.is_of_epoch() {
        match tag.epoch {
            DIGESTS => push(&mut name, &", digests"),
            epoch => push(&mut name, &format_args!(", epoch {}", Epoch(epoch).count())),
        }
    }
    name
}

/// Quotes text; invalid UTF-8 is shown as bytes, since a text may be cut anywhere.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    // Front coding may cut a URL within a character.
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| push(&mut out, &format_args!("\\x{byte:02x}")));
    }
    out + "\""
}

/// Formats a part of a SURT key: its text in quotation marks, and its separators as bytes.
pub(super) fn key(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| (0x20..0xff).contains(byte);
    let parts = bytes.chunk_by(|one, other| is_text(one) && is_text(other));
    let shown = parts.map(|part| match part {
        [byte] if !is_text(byte) => format!("{byte:02x}"),
        text => quoted(text),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn push(out: &mut String, text: &dyn Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{text}");
}
