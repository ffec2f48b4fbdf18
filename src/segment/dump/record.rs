//! Dumps the record of a page: its flags, its changes, the carried part of its head, and its
//! entries.

use super::entries::{entries, property};
use super::reader::{DumpResult, DumpStop, SectionReader};
use super::words::{day, flags, many, number};
use crate::page::LENGTHS;
use crate::segment::record::CHUNK_ENTRIES;
use crate::segment::{carried, changes, record};

/// Shows the record of the page with ordinal `page`. Reads nothing beyond the end of the record.
pub(super) fn record(reader: &mut SectionReader<'_, '_, '_>, page: u64) -> DumpResult {
    let bits = reader.u8()?;
    let named = flags(bits, record::FLAGS).ok_or(UNKNOWN)?;
    reader.line(format!("record of page {}: {named}", number(page)))?;
    let count = reader.varint()?;
    reader.line(many(count, "entry", "entries"))?;
    if bits & record::OTHERS != 0 {
        let others = reader.varint()?;
        let are = if others == 1 { "is not a visit" } else { "are not visits" };
        reader.line(format!("{} of them {are}", number(others)))?;
    }
    if bits & record::CHANGES != 0 {
        let len = reader.varint()?;
        reader.line(format!("{} of changes:", many(len, "byte", "bytes")))?;
        let end = reader.mark().saturating_add(len);
        if end > reader.end {
            return Err(DumpStop::Impossible("the changes extend beyond their record"));
        }
        // The limit stops the changes from extending into later fields. After an error the caller
        // sets the end again.
        let of_record = std::mem::replace(&mut reader.end, end);
        changes_of(reader)?;
        if reader.mark() != end {
            return Err(DumpStop::Impossible("the changes are shorter than their stated length"));
        }
        reader.end = of_record;
    }
    if bits & record::CARRIED != 0 {
        carried_of(reader)?;
    }
    let chunk = CHUNK_ENTRIES as u64;
    // Up to 64 entries are one list, and have no chunk directory.
    if count <= chunk {
        entries(reader, count, &|_| "")?;
    } else {
        let chunks = count.div_ceil(chunk);
        for number_of in 0..chunks {
            let bytes = reader.varint()?;
            let bytes = many(bytes, "byte", "bytes");
            reader.line(format!("chunk {}: {bytes}", number(number_of)))?;
            let time = reader.signed()?;
            let meaning = match number_of {
                0 => format!("from {}", day(time)),
                _ => format!("from {} ms later", number(time)),
            };
            reader.line(meaning)?;
        }
        // Each chunk is a separate list: its first entry is packed against nothing.
        for before in 0..chunks {
            entries(reader, (count - before * chunk).min(chunk), &|_| "")?;
        }
    }
    // The caller has set the end to the end of the record.
    if reader.mark() == reader.end {
        Ok(())
    } else {
        Err(DumpStop::Impossible("these bytes belong to no entry"))
    }
}

/// Shows the changes of the page.
fn changes_of(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let bits = reader.u8()?;
    let named = flags(bits, changes::FLAGS).ok_or(UNKNOWN)?;
    reader.line(format!("changes: {named}"))?;
    if bits & changes::UNCHANGED != 0 {
        let count = reader.u8()?;
        reader.line(format!("{} unchanged", many(count.into(), "comparison", "comparisons")))?;
        let time = reader.varint()?;
        reader.line(format!("{} ms between these visits", number(time)))?;
    }
    if bits & changes::DATED != 0 {
        let count = reader.u8()?;
        reader.line(format!("{} with a date", many(count.into(), "change", "changes")))?;
        let time = reader.varint()?;
        reader.line(format!("{} ms between these visits", number(time)))?;
        let time = reader.varint()?;
        reader.line(format!("{} ms from these changes to the visits after them", number(time)))?;
    }
    if bits & changes::UNDATED != 0 {
        let lengths = reader.u8()?;
        let of: Vec<usize> = (0..LENGTHS).filter(|length| lengths >> length & 1 == 1).collect();
        let names: Vec<String> = of.iter().map(usize::to_string).collect();
        reader.line(format!("others after intervals of length {}", names.join(", ")))?;
        for length in of {
            let count = reader.varint()?;
            let changes = many(count >> 1, "change", "changes");
            let returns = if count & 1 == 1 { ", and there are returns" } else { "" };
            reader.line(format!("length {length}: {changes}{returns}"))?;
            if count & 1 == 1 {
                let returns = reader.u8()?;
                reader.line(many(returns.into(), "return", "returns"))?;
            }
            let sum = reader.varint()?;
            // There are eight lengths, so the shift is 14 at most.
            let unit = number(1_i64 << (2 * length));
            reader.line(format!("intervals of {} times {unit} ms in all", number(sum)))?;
        }
    }
    if bits & changes::LAST != 0 {
        let time = reader.signed()?;
        reader.line(format!("last changed: {}", day(time)))?;
        if bits & changes::DISTANCE != 0 {
            let distance = reader.u8()?;
            reader.line(format!("by {}", many(distance.into(), "bit", "bits")))?;
        }
        let last = reader.varint()?;
        reader.line(format!("the last comparisons, the latest in the lowest bit: {last:b}"))?;
    }
    Ok(())
}

/// Shows the carried part of the head.
fn carried_of(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let bits = reader.u8()?;
    let named = flags(bits, carried::FLAGS).ok_or(UNKNOWN)?;
    reader.line(format!("carried: {named}"))?;
    let visits = reader.varint()?;
    reader.line(many(visits, "other visit", "other visits"))?;
    let first = reader.signed()?;
    reader.line(format!("first visit: {}", day(first)))?;
    if bits & carried::MODIFIED != 0 {
        let heard = reader.signed()?;
        reader.line(format!("modified, as a visit {} ms later said:", number(heard)))?;
        let before = reader.signed()?;
        reader.line(format!("{} ms before that visit", number(before)))?;
    }
    let names = ["a weight", "a class", "an entity tag", "a target"];
    for ((flag, kind), what) in carried::PROPERTY_FLAGS.into_iter().zip(names) {
        if bits & flag != 0 {
            let later = reader.signed()?;
            reader.line(format!("{what}, given {} ms later:", number(later)))?;
            property(reader, kind)?;
        }
    }
    let contents = reader.varint()?;
    reader.line(match contents {
        0 => "no other contents".to_owned(),
        _ => many(contents, "other content", "other contents"),
    })?;
    let settled = u64::from(bits & carried::SETTLED != 0);
    let last = u64::from(bits & carried::LAST != 0);
    // One list: the contents, then the settled visit, then the last visit. The index of an entry
    // determines its role.
    let count = contents.saturating_add(settled + last);
    // Each content takes at least a byte, so there are at most as many contents as remaining bytes.
    if contents > reader.end - reader.mark() {
        return Err(DumpStop::Impossible("more contents than the rest of the record can have"));
    }
    entries(reader, count, &move |at| match at.checked_sub(contents) {
        None => "a content before: ",
        Some(0) if settled == 1 => "the settled visit before: ",
        Some(_) => "the last visit before: ",
    })
}

const UNKNOWN: DumpStop = DumpStop::Impossible("it has an unknown flag");
