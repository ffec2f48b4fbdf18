//! Dumps the tables that find fingerprints, and the postings of each fingerprint.

use super::columns::each;
use super::reader::{DumpResult, DumpStop, SectionReader};
use super::words::{many, number};
use crate::layout::{SectionKind, SectionTag};
use crate::search::GOES_ON;
use crate::segment::frame::SegmentFrame;
use crate::segment::postings::{LIST, Posting};

fn posting(word: u32) -> String {
    let posting = Posting::parse(word);
    let not = if posting.in_force { "" } else { "not " };
    format!("page {}, {not}in force", number(posting.page))
}

pub(super) fn postings(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 4, |reader, ordinal| {
        let word = reader.u32()?;
        let of = match word & LIST {
            0 => posting(word),
            _ => format!("the list at word {}", number(word & !LIST)),
        };
        reader.line(format!("ordinal {}: {of}", number(ordinal)))
    })
}

/// Shows the posting lists. There are no gaps between the lists: the end of the previous list or a
/// posting is the start of the next list.
pub(super) fn lists(reader: &mut SectionReader<'_, '_, '_>, frame: &SegmentFrame) -> DumpResult {
    let postings =
        frame.place(SectionTag::table(SectionKind::Postings, 0, reader.section.tag().epoch));
    let mut ordinal = 0;
    while reader.at < reader.section.bytes() {
        let Err(stop) = list(reader) else { continue };
        // Lists are in the order of their fingerprints. So the search for the next whole list
        // continues where the last search stopped, and all searches together scan the postings
        // once.
        let from = reader.damaged_to(&stop);
        let mut next = None;
        while next.is_none() && ordinal < postings.bytes() / 4 {
            let word = reader.blocks.number_at(&postings, ordinal, 4)?;
            let list = word.filter(|word| word & u64::from(LIST) != 0);
            next = list.map(|word| (word & !u64::from(LIST)) * 4).filter(|at| *at >= from);
            ordinal += 1;
        }
        reader.pass_over(stop, next.into_iter())?;
    }
    Ok(())
}

fn list(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let pages = reader.u32()?;
    reader.line(format!("a list of {},", many(pages.into(), "page", "pages")))?;
    let tags = reader.u32()?;
    reader.line(match tags {
        0 => "and no tags:".to_owned(),
        _ => format!("and {}:", many(tags.into(), "tag", "tags")),
    })?;
    // The number is not reliable: reading ends at the section's end at the latest.
    for _ in 0..pages {
        let word = reader.u32()?;
        if word & LIST != 0 {
            return Err(DumpStop::Impossible("a list that refers to another list"));
        }
        reader.line(posting(word))?;
    }
    for _ in 0..tags {
        let tag = reader.u32()?;
        reader.line(format!("tag {tag:08x}: the digest begins like that"))?;
        let page = reader.u32()?;
        reader.line(format!("on page {}", number(page)))?;
    }
    Ok(())
}

pub(super) fn ordinals(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 4, |reader, place| {
        let ordinal = reader.u32()?;
        reader.line(format!("number {}: ordinal {}", number(place), number(ordinal)))
    })
}

/// Shows the lines of buckets. The shape contains the number of lines of a bucket.
pub(super) fn buckets(reader: &mut SectionReader<'_, '_, '_>, frame: &SegmentFrame) -> DumpResult {
    let shape = frame.place(SectionTag::table(SectionKind::Shape, 0, reader.section.tag().epoch));
    // The third word of *shape*. If it is damaged, lines are shown without their bucket.
    let lines = reader.blocks.number_at(&shape, 2, 4)?.filter(|lines| *lines > 0);
    each(reader, 64, |reader, line| {
        let Some(lines) = lines else {
            reader.take(64)?;
            return reader.line(format!("line {}, of a bucket", number(line)));
        };
        let (bucket, line) = (number(line / lines), line % lines);
        // Only the first line of a bucket has a number, and the flag that the bucket continues.
        if line > 0 {
            reader.take(64)?;
            let (first, last) = (32 * line, 32 * line + 31);
            return reader.line(format!("bucket {bucket}: places {first} to {last}, entries"));
        }
        let whole: [u8; 64] = reader.peek()?;
        // The top bit of the line's last number selects the meaning of bytes 52 to 59.
        let goes_on = whole.last().is_some_and(|byte| byte & 0x80 != 0);
        reader.take(52)?;
        reader.line(format!("bucket {bucket}: places 0 to 25, entries"))?;
        if goes_on {
            let from = reader.u32()?;
            reader.line(format!("it goes on in rest at {}", number(from)))?;
            let more = reader.u32()?;
            reader.line(format!("with {}", many(more.into(), "entry", "entries")))?;
        } else {
            reader.take(8)?;
            reader.line("places 26 to 29, entries")?;
        }
        first_entry(reader)
    })
}

/// Shows the number of the first entry, and whether further entries are in another section.
fn first_entry(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let word = reader.u32()?;
    let on = if word & GOES_ON == 0 { "" } else { ", and it goes on" };
    reader.line(format!("the first entry is number {}{on}", number(word & !GOES_ON)))
}

pub(super) fn rest(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    each(reader, 2, |reader, entry| {
        reader.take(2)?;
        reader.line(format!("entry {}", number(entry)))
    })
}

/// Shows the lines of cells or their further lines.
pub(super) fn cells(reader: &mut SectionReader<'_, '_, '_>) -> DumpResult {
    let what = if reader.section.tag().kind == SectionKind::Cells { "cell" } else { "line" };
    each(reader, 64, |reader, line| {
        let whole: [u8; 64] = reader.peek()?;
        let goes_on = whole.last().is_some_and(|byte| byte & 0x80 != 0);
        // Two planes, in the layout that the kernels compare: 16 bits of each entry, then 8 more
        // bits of each entry.
        reader.take(36)?;
        reader.line(format!("{what} {}: bits 0 to 15 of entries 0 to 17", number(line)))?;
        if goes_on {
            let next = reader.u32()?;
            reader.line(format!("it goes on in line {} of further", number(next)))?;
        } else {
            reader.take(4)?;
            reader.line("bits 0 to 15 of entries 18 and 19")?;
        }
        reader.take(18)?;
        reader.line("bits 16 to 23 of entries 0 to 17")?;
        reader.take(2)?;
        reader.line(if goes_on { "unused" } else { "bits 16 to 23 of entries 18 and 19" })?;
        first_entry(reader)
    })
}
