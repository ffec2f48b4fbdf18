//! Dumps sections with elements of equal length: sections of pages and of fingerprints.

use super::reader::{DumpResult, DumpStop, SectionReader};
use super::words::{day, flags, key, many, number, section};
use crate::bug::OrBug;
use crate::layout::{BLOCK_BYTES, SectionKind, SectionTag, block_count};
use crate::search::BucketLayout;
use crate::segment::frame::SegmentFrame;
use crate::segment::schedule::{self, ScheduleRow};
use crate::time::Time;
use crate::url::URL_BYTES_MAX;

/// Reads the elements of a section, which have `width` bytes each, beginning with the first wanted
/// element. Each call of `one` reads one or more elements. Skips damaged elements.
pub(super) fn each<'r, 'f, 'o>(
    reader: &mut SectionReader<'r, 'f, 'o>,
    width: u64,
    one: impl FnMut(&mut SectionReader<'r, 'f, 'o>, u64) -> DumpResult,
) -> DumpResult {
    // Elements before the wanted offset are skipped, and their blocks are not read.
    let before = reader.out.from.saturating_sub(reader.section.offset()) / width;
    each_from(reader, width, before, one)
}

/// Reads elements in the way of [`each`], beginning with element `before`.
fn each_from<'r, 'f, 'o>(
    reader: &mut SectionReader<'r, 'f, 'o>,
    width: u64,
    before: u64,
    mut one: impl FnMut(&mut SectionReader<'r, 'f, 'o>, u64) -> DumpResult,
) -> DumpResult {
    let count = reader.section.bytes() / width;
    let mut index = before.min(count);
    while index < count {
        // Needed only at the first element: later elements begin at the reader's position, even
        // after damage.
        if reader.at != index * width {
            reader.go_to(index * width);
        }
        match one(reader, index) {
            // One call may read several elements, for example in `shards`.
            Ok(()) => index = reader.at / width,
            Err(stop) => {
                reader.pass_over(stop, (index + 1..=count).map(|index| index * width))?;
                index = reader.at / width;
            }
        }
    }
    let end = reader.section.bytes();
    reader.rest(end, Some("it is shorter than an element of the section"))
}

/// Shows the offsets of groups of pages.
pub(super) fn page_index(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    // The last number is the end of the last group, and belongs to no other group.
    let groups = (reader.section.bytes() / 8).saturating_sub(1);
    each(reader, 8, |reader, group| {
        let start = number(reader.u64()?);
        reader.line(match group {
            group if group < groups => format!("group {} starts at {start}", number(group)),
            0 => format!("no group starts at {start}: the section ends there"),
            _ => format!("and ends at {start}, with the section"),
        })
    })
}

pub(super) fn hashes(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 8, |reader, _| {
        let hash = reader.u64()?;
        reader.line(format!("{hash:016x}"))
    })
}

/// Shows the page of each hash. Leaves out URLs, since reading them is random access.
pub(super) fn hash_pages(
    reader: &mut SectionReader<'_, '_, '_>,
    frame: &SegmentFrame,
) -> DumpResult {
    let pages = frame.numbers().pages;
    each(reader, 4, |reader, _| {
        let page = reader.u32()?;
        if u64::from(page) >= pages {
            return Err(DumpStop::Impossible("a page number that the segment does not have"));
        }
        reader.line(format!("page {}", number(page)))
    })
}

pub(super) fn hash_directory(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let buckets = (reader.section.bytes() / 4).saturating_sub(1);
    each(reader, 4, |reader, bucket| {
        let below = match reader.u32()? {
            0 => "no hash is".to_owned(),
            1 => "1 hash is".to_owned(),
            hashes => format!("{} hashes are", number(hashes)),
        };
        let not = if bucket == buckets { ", the end of the buckets" } else { "" };
        reader.line(format!("{below} below bucket {}{not}", number(bucket)))
    })
}

pub(super) fn filter(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 64, |reader, block| {
        reader.take(64)?;
        reader.line(format!("block {}", number(block)))
    })
}

/// Shows the rows of the schedule in order of hash.
pub(super) fn schedule(reader: &mut SectionReader<'_, '_, '_>, frame: &SegmentFrame) -> DumpResult {
    let pages = frame.place(SectionTag::of(SectionKind::HashPages));
    each(reader, 16, |reader, place| {
        // The row is checked as a whole before its fields are shown one by one.
        let packed: [u8; 16] = reader.peek()?;
        let row = ScheduleRow::unpack(&packed)
            .ok_or(DumpStop::Impossible("an invalid row of the schedule"))?;
        // Rows are in the order of the hashes, so the page of a row is at the same index in *hash
        // pages*.
        let page = match reader.blocks.number_at(&pages, place, 4)? {
            Some(page) => format!("page {}", number(page)),
            None => "a page".to_owned(),
        };
        if !row.known {
            reader.take(16)?;
            return reader.line(format!("{page}: not known"));
        }
        let seconds = row.seconds();
        let time = i64::try_from(seconds).ok().or_bug("seconds of 40 bits")?.saturating_mul(1000);
        reader.take(5)?;
        let time = day(time.saturating_add(Time::MIN.as_ms()));
        reader.line(format!("{page}: {} s: {time}", number(seconds)))?;
        let bits = reader.u8()?;
        let named = flags(bits, schedule::NAMES).ok_or(DumpStop::Impossible("an unknown flag"))?;
        reader.line(format!("flags: {named}"))?;
        let slot = reader.u16()?;
        reader.line(format!("slot {slot:04x}"))?;
        let code = reader.u32()?;
        reader.line(evidence(code, &row))?;
        reader.take(2)?;
        reader.line(format!("weight {}", row.weight()))?;
        reader.take(2)?;
        reader.line(match row.failing_seconds() {
            None => "not failing".to_owned(),
            Some(seconds) => format!("failing for some {} s", number(seconds)),
        })
    })
}

fn evidence(code: u32, row: &ScheduleRow) -> String {
    if code == 0 {
        return "no evidence".to_owned();
    }
    let summary = row.code.summary();
    let changes = match summary.changes {
        0 => "no changes".to_owned(),
        changes => format!("some {}", many(changes, "change", "changes")),
    };
    let of = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {} {what}", number(count)),
    };
    let (dated, returned) = (of(summary.dated, "dated"), of(summary.returned, "back"));
    let unchanged = number(summary.quiet_ms / 1000);
    format!("{changes}{dated}{returned}, unchanged for some {unchanged} s")
}

/// Shows the forgotten prefixes.
pub(super) fn tombstones(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let shown = (|| {
        while reader.at < reader.end {
            let operation = reader.u64()?;
            reader.line(format!("operation {}", number(operation)))?;
            let len = reader.varint()?;
            reader.line(format!("a prefix of {}:", many(len, "byte", "bytes")))?;
            // The length is checked before the bytes are read, because they are held in memory
            // until the line is complete.
            if len > 2 * URL_BYTES_MAX as u64 {
                return Err(DumpStop::Impossible("a prefix that is too long"));
            }
            if len > 0 {
                let prefix = key(reader.take(len)?);
                reader.line(prefix)?;
            }
        }
        Ok(())
    })();
    // The start of a tombstone follows only from the tombstones before it, so there is no place to
    // continue.
    shown.or_else(|stop| reader.pass_over(stop, std::iter::empty()))
}

pub(super) fn fingerprints(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 8, |reader, ordinal| {
        let fingerprint = reader.u64()?;
        let bits = many(fingerprint.count_ones().into(), "bit", "bits");
        reader.line(format!("ordinal {}: {fingerprint:016x}, {bits} set", number(ordinal)))
    })
}

/// Shows, for each popcount, the number of fingerprints with fewer bits set. Equal numbers share a
/// line.
pub(super) fn shards(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let count = reader.section.bytes() / 4;
    // Begins with the first number, whatever the wanted offset. Only the numbers before a run of
    // equal numbers determine where the run begins.
    each_from(reader, 4, 0, |reader, bits| {
        let fewer = reader.u32()?;
        let mut next = bits + 1;
        while next < count && reader.peek()? == fewer.to_le_bytes() {
            reader.take(4)?;
            next += 1;
        }
        let have = match fewer {
            0 => "none has".to_owned(),
            1 => "1 has".to_owned(),
            fewer => format!("{} have", number(fewer)),
        };
        let than = match next - bits {
            1 => format!("{bits}"),
            2 => format!("{bits} or {}", bits + 1),
            3 => format!("{bits}, {} or {}", bits + 1, bits + 2),
            _ => format!("{bits}, {} ... {}", bits + 1, next - 1),
        };
        reader.line(format!("{have} fewer than {than} bits set"))
    })
}

pub(super) fn shape(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 16, |reader, _| {
        let words = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        let shape = match words {
            [0, 0, 0, 0] => "no more tables".to_owned(),
            [1, bits, lines, 0] if (BucketLayout { bits, lines }).is_possible() => {
                let lines = many(lines.into(), "line", "lines");
                format!("rotations by {}, {lines} a bucket", many(bits.into(), "bit", "bits"))
            }
            [2, 0, 0, cells] if cells > 0 => many(cells.into(), "cell", "cells"),
            _ => {
                return Err(DumpStop::Impossible(
                    "it describes a shape of tables that this version does not know",
                ));
            }
        };
        reader.line(format!("shape: {shape}"))
    })
}

pub(super) fn checksums(
    reader: &mut SectionReader<'_, '_, '_>,
    frame: &SegmentFrame,
) -> DumpResult {
    let mut sections = frame.sections().iter();
    let (mut of, mut from, mut blocks) = (None, 0, 0);
    each(reader, 4, |reader, number_of| {
        // Advances to the section that contains this block. Empty sections have no blocks, and are
        // skipped.
        while number_of - from >= blocks {
            from += blocks;
            let next = sections
                .next()
                .ok_or(DumpStop::Impossible("a checksum of a block that no section has"))?;
            (of, blocks) = (Some(next.tag()), block_count(next.bytes()));
        }
        reader.take(4)?;
        let of = section(of.or_bug("each block belongs to a section")?);
        reader.line(format!("block {} of: {of}", number(number_of - from)))
    })
}

const _: () = assert!(BLOCK_BYTES.is_multiple_of(64), "no element lies in two blocks");
