//! Dumps the pages of a segment: groups and the records in them.

use super::reader::{DumpResult, DumpStop, SectionReader};
use super::record;
use super::words::{many, number, quoted};
use crate::layout::{GROUP_PAGES, SectionKind, SectionTag};
use crate::segment::frame::{Section, SegmentFrame};
use crate::url::URL_BYTES_MAX;

/// The start of each record of a group, and the end of the last record.
struct GroupRecords {
    starts: Vec<u64>,
    end: u64,
}

pub(super) fn pages(reader: &mut SectionReader<'_, '_, '_>, frame: &SegmentFrame) -> DumpResult {
    let index = frame.place(SectionTag::of(SectionKind::PageIndex));
    let groups = frame.numbers().pages.div_ceil(GROUP_PAGES);
    let mut group = first_group(reader, &index, groups)?;
    while group < groups {
        let bounds = (start(reader, &index, group)?, start(reader, &index, group + 1)?);
        // An index entry that points back is ignored, because the bytes there have been shown.
        if let Some(from) = bounds.0.filter(|from| *from >= reader.mark()) {
            // The bytes before the group belong to a damaged group.
            reader.rest(from, Some("these bytes belong to no page"))?;
            reader.go_to(from);
        }
        // The limit stops a damaged length in this group from reaching into the next group.
        reader.end = bounds.1.unwrap_or(reader.section.bytes()).min(reader.section.bytes());
        group += 1;
        match one_group(reader, (group - 1) * GROUP_PAGES, bounds.1) {
            Ok(()) => {}
            Err(stop) => {
                // Continues with the first whole group. The groups before it are named with the
                // damage.
                let from = reader.damaged_to(&stop);
                let mut next = None;
                while group < groups && next.is_none() {
                    next = start(reader, &index, group)?.filter(|start| *start >= from);
                    group += u64::from(next.is_none());
                }
                reader.end = reader.section.bytes();
                reader.pass_over(stop, next.into_iter())?;
            }
        }
    }
    let end = reader.section.bytes();
    reader.rest(end, Some("these bytes belong to no page"))
}

/// Finds the last group that begins at or before the wanted offset.
fn first_group(
    reader: &mut SectionReader<'_, '_, '_>,
    index: &Section,
    groups: u64,
) -> DumpResult<u64> {
    let wanted = reader.out.from.saturating_sub(reader.section.offset());
    let (mut low, mut high) = (0, groups);
    while high - low > 1 {
        let middle = low.midpoint(high);
        // If the index is damaged, nothing is skipped.
        match start(reader, index, middle)? {
            Some(start) if start <= wanted => low = middle,
            Some(_) => high = middle,
            None => return Ok(0),
        }
    }
    // The first group begins at the reader's position.
    if let Some(from) = start(reader, index, low)?.filter(|_| low > 0) {
        reader.go_to(from);
    }
    Ok(low)
}

/// Returns the start of a group; for the group after the last, the end of the section. `None` if
/// the index is damaged there.
fn start(
    reader: &mut SectionReader<'_, '_, '_>,
    index: &Section,
    group: u64,
) -> DumpResult<Option<u64>> {
    let bytes = reader.section.bytes();
    Ok(reader.blocks.number_at(index, group, 8)?.filter(|start| *start <= bytes))
}

/// Shows a group up to `end`, if the end is known. `first` is the ordinal of the group's first
/// page.
fn one_group(reader: &mut SectionReader<'_, '_, '_>, first: u64, end: Option<u64>) -> DumpResult {
    let count = reader.varint()?;
    if count > GROUP_PAGES {
        return Err(DumpStop::Impossible("a group with more pages than allowed"));
    }
    reader.line(format!("{} in this group", many(count, "page", "pages")))?;
    let heads = reader.varint()?;
    reader.line(format!("{} of heads", many(heads, "byte", "bytes")))?;
    let records = heads_of(reader, first, count, heads)?;
    if let Some(end) = end.filter(|end| *end < records.end) {
        reader.end = end;
        return Err(DumpStop::Impossible("the records end beyond their group"));
    }
    for (start, page) in records.starts.iter().zip(first..) {
        // Earlier damage extended into this record, so the record was skipped.
        if reader.mark() > *start {
            continue;
        }
        let after = records.starts.iter().copied().chain([records.end]);
        // After damage, reading continues at the first record that begins after the damage, or at
        // the group's end.
        let mut after = after.filter(|place| place > start);
        reader.end = after.clone().next().unwrap_or(records.end);
        if let Err(stop) = record::record(reader, page) {
            reader.end = reader.section.bytes();
            if reader.damaged_to(&stop) > records.end {
                // The damage covers the rest of the group, and possibly more.
                return Err(stop);
            }
            reader.pass_over(stop, &mut after)?;
        }
    }
    reader.end = end.unwrap_or(records.end);
    if end.is_some_and(|end| end != reader.mark()) {
        return Err(DumpStop::Impossible("these bytes belong to no page"));
    }
    Ok(())
}

/// Shows the heads of a group's pages.
fn heads_of(
    reader: &mut SectionReader<'_, '_, '_>,
    first: u64,
    count: u64,
    heads: u64,
) -> DumpResult<GroupRecords> {
    let end = reader.mark().saturating_add(heads);
    let beyond = DumpStop::Impossible("the heads extend beyond their group");
    if end > reader.end {
        return Err(beyond);
    }
    let of_group = std::mem::replace(&mut reader.end, end);
    let (mut starts, mut at) = (Vec::new(), end);
    for page in first..first + count {
        let shared = reader.varint()?;
        let shared = many(shared, "byte", "bytes");
        reader.line(format!("page {}: shares {shared} with the URL before", number(page)))?;
        let added = reader.varint()?;
        reader.line(format!("and adds {}", number(added)))?;
        let record = reader.varint()?;
        reader.line(format!("its record has {}", many(record, "byte", "bytes")))?;
        starts.push(at);
        // The length is not verified yet: the sum of the lengths is compared with the end of the
        // group below.
        at = at.saturating_add(record);
        if added > URL_BYTES_MAX as u64 {
            return Err(DumpStop::Impossible("a URL that is too long"));
        }
        if added > 0 {
            let text = quoted(reader.take(added)?);
            reader.line(text)?;
        }
    }
    if reader.mark() != end {
        return Err(DumpStop::Impossible("the heads are shorter than their stated length"));
    }
    reader.end = of_group;
    if at > of_group { Err(beyond) } else { Ok(GroupRecords { starts, end: at }) }
}
