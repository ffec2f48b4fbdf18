//! The end of a segment file: the section table, and the trailer that locates it.

use std::collections::HashSet;

use super::correct::{WITH_OWN_SUM, corrected};
use super::head::damage;
use super::integers::PutInteger;
use super::{BLOCK_BYTES, Cursor, Delta, HEAD_BYTES, SectionKind, SectionTag, SegmentFlaw, Stamp};

const TRAILER_MAGIC: [u8; 8] = *b"simkend\0";

/// Bytes of the trailer at the end of the file.
pub(crate) const TRAILER_BYTES: u64 = TRAILER_LEN as u64;
const TRAILER_LEN: usize = 64;
/// The offset of the nonce in the trailer.
const NONCE_AT: usize = 48;
const ENTRY_BYTES: usize = 24;
const NUMBERS: usize = 16;
const NUMBERS_BYTES: usize = NUMBERS * 8;
/// The maximum number of sections of a segment: enough for any realistic number of epochs.
const SECTIONS_MAX: u64 = 1 << 20;

/// The alignment of sections: each begins at a multiple of this number.
pub(crate) const ALIGN: u64 = 64;

const _: () = assert!(HEAD_BYTES.is_multiple_of(ALIGN));

/// The position of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionEntry {
    pub(crate) tag: SectionTag,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// The upper bound (exclusive) of a segment's pages.
pub(crate) const PAGES_MAX: u64 = 1 << 30;

/// The numbers that describe a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentSummary {
    /// The sequence number of the first operation in the segment.
    pub(crate) first_sequence: u64,
    /// The sequence number of the last operation in the segment.
    pub(crate) last_sequence: u64,
    /// The number of page records.
    pub(crate) pages: u64,
    /// The number of visits in the page records.
    pub(crate) visits: u64,
    /// Distinct fingerprints, counted once for each epoch.
    pub(crate) fingerprints: u64,
    /// The number of records that hide all older data of their page.
    pub(crate) resets: u64,
    /// The change that the segment makes to the store's totals.
    pub(crate) delta: Delta,
    /// The depth of merges: 0 for a sealed memtable; for a merged segment, one more than for its
    /// inputs.
    pub(crate) tier: u64,
    /// The earliest and latest possible time of the segment's visits; `None` without visits.
    pub(crate) times: Option<(i64, i64)>,
    /// The largest number of pages that have or had one fingerprint.
    pub(crate) longest_list: u64,
    /// The time at which the segment was written, in milliseconds since 1970.
    pub(crate) written: i64,
}

impl SegmentSummary {
    /// Extends `times` to include a range.
    pub(crate) fn cover(&mut self, (first, last): (i64, i64)) {
        let (from, to) = self.times.unwrap_or((first, last));
        self.times = Some((from.min(first), to.max(last)));
    }

    fn to_words(self) -> [u64; NUMBERS] {
        let [pages, visits, in_force, gone] = self.delta.numbers().map(i64::cast_unsigned);
        let (first, last) = self.times.unwrap_or_default();
        [
            self.first_sequence,
            self.last_sequence,
            self.pages,
            self.visits,
            self.fingerprints,
            self.resets,
            pages,
            visits,
            self.tier,
            in_force,
            gone,
            first.cast_unsigned(),
            last.cast_unsigned(),
            self.longest_list,
            self.written.cast_unsigned(),
            0,
        ]
    }

    fn parse(cursor: &mut Cursor<'_>) -> Option<SegmentSummary> {
        let mut words = [0; NUMBERS];
        for word in &mut words {
            *word = cursor.u64()?;
        }
        let [
            first_sequence,
            last_sequence,
            pages,
            visits,
            fingerprints,
            resets,
            page,
            visit,
            tier,
            in_force,
            gone,
            first,
            last,
            longest_list,
            written,
            0,
        ] = words
        else {
            return None;
        };
        let times = (first.cast_signed(), last.cast_signed());
        let delta = Delta::of([page, visit, in_force, gone].map(u64::cast_signed));
        let possible = first_sequence <= last_sequence
            && last_sequence < 1 << 62
            && resets <= pages
            && pages < PAGES_MAX
            && tier < 1 << 16
            && longest_list <= pages
            && times.0 <= times.1
            && (visits > 0 || times == (0, 0))
            && delta.is_possible();
        possible.then_some(SegmentSummary {
            first_sequence,
            last_sequence,
            pages,
            visits,
            fingerprints,
            resets,
            delta,
            tier,
            times: (visits > 0).then_some(times),
            longest_list,
            written: written.cast_signed(),
        })
    }
}

/// A segment's table of sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionTable {
    pub(crate) numbers: SegmentSummary,
    pub(crate) sections: Vec<SectionEntry>,
    /// Checksums of the blocks of the [`SectionKind::Sums`] section.
    pub(crate) roots: Vec<u32>,
}

/// Encodes the section table and the trailer of a segment, to be written at `offset`. The bytes
/// pass the reader's checks.
pub(crate) fn encode_table(stamp: &Stamp, offset: u64, table: &SectionTable) -> Vec<u8> {
    let mut out = Vec::new();
    for word in table.numbers.to_words() {
        out.put_u64(word);
    }
    for section in &table.sections {
        out.extend_from_slice(&section.tag.to_bytes());
        out.put_u64(section.offset);
        out.put_u64(section.len);
    }
    for root in &table.roots {
        out.put_u32(*root);
    }
    let len = out.len() as u64;
    let (sections, roots) = (table.sections.len() as u64, table.roots.len() as u64);
    let readable = parse_sections(&out, offset, sections, roots).is_ok_and(|read| read == *table);
    assert!(readable, "sections follow each other, each once, and numbers are possible");
    let sum = crc32fast::hash(&out);
    let mut trailer = Vec::with_capacity(TRAILER_LEN);
    trailer.extend_from_slice(&TRAILER_MAGIC);
    trailer.put_u64(stamp.id);
    trailer.put_u64(offset);
    trailer.put_u64(len);
    trailer.put_u64(sections);
    trailer.put_u64(roots);
    trailer.put_u64(stamp.nonce);
    trailer.put_u32(sum);
    trailer.put_u32(crc32fast::hash(&trailer));
    out.extend_from_slice(&trailer);
    out
}

/// The position of the section table according to a trailer, and the numbers needed to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// The offset of the section table. The table ends where the trailer begins.
    pub(crate) offset: u64,
    /// The length of the section table in bytes.
    pub(crate) len: u64,
    /// The checksum of the trailer. The trailer's checksum covers the checksum of the table, which
    /// in turn covers the checksums of the blocks. So the trailer's checksum identifies the whole
    /// segment.
    pub(crate) checksum: u32,
    at: u64,
    sections: u64,
    roots: u64,
    table_sum: u32,
}

/// Parses the trailer at the end of a file of `file_len` bytes; `stamp` comes from the head of the
/// file.
pub(crate) fn parse_trailer(
    trailer: &[u8],
    file_len: u64,
    stamp: &Stamp,
) -> Result<Trailer, SegmentFlaw> {
    let at = file_len.saturating_sub(TRAILER_BYTES);
    let Ok(trailer) = <&[u8; TRAILER_LEN]>::try_from(trailer) else {
        return damage(0, "it is too short to have a trailer");
    };
    let mut cursor = Cursor::new(trailer);
    let fields = (|| {
        let magic = cursor.array()?;
        let mut words = [0; 6];
        for word in &mut words {
            *word = cursor.u64()?;
        }
        Some((magic, words, cursor.u32()?, cursor.u32()?))
    })();
    let checksum = crc32fast::hash(trailer.split_at(TRAILER_LEN - 4).0);
    let Some((TRAILER_MAGIC, [id, offset, len, sections, roots, nonce], table_sum, _)) =
        fields.filter(|(_, _, _, sum)| *sum == checksum)
    else {
        return damage(at, "the trailer is damaged, or the file was cut short");
    };
    if id != stamp.id {
        return damage(
            at + 8,
            format!(
                "expected the trailer of segment {}, found the trailer of segment {id}",
                stamp.id
            ),
        );
    }
    if nonce != stamp.nonce {
        let what = format!(
            "head and trailer belong to different files, with the nonces {:016x} and {nonce:016x}",
            stamp.nonce
        );
        return damage(at + NONCE_AT as u64, what);
    }
    if offset.checked_add(len) != Some(at) || offset < HEAD_BYTES {
        return damage(at, "the section table does not end where the trailer begins");
    }
    // A damaged trailer may claim more bytes than any real file has.
    let blocks = (at / BLOCK_BYTES).saturating_add(sections);
    if sections > SECTIONS_MAX || roots > blocks / (BLOCK_BYTES / 4) + 1 {
        return damage(
            at,
            "the section table claims more sections or checksums than the file can contain",
        );
    }
    let expected = (NUMBERS_BYTES as u64)
        .checked_add(sections.saturating_mul(ENTRY_BYTES as u64))
        .and_then(|n| n.checked_add(roots.saturating_mul(4)));
    if expected != Some(len) {
        return damage(at, "the length of the section table does not match its counts");
    }
    Ok(Trailer { offset, len, checksum, at, sections, roots, table_sum })
}

/// Parses the section table that a trailer locates. Checks every number that later reads rely on.
pub(crate) fn parse_table(bytes: &[u8], trailer: &Trailer) -> Result<SectionTable, SegmentFlaw> {
    let &Trailer { offset, len, at, sections, roots, table_sum, .. } = trailer;
    if bytes.len() as u64 != len {
        return damage(at, "the section table lies outside the file");
    }
    if crc32fast::hash(bytes) != table_sum {
        return damage(offset, "the section table is damaged");
    }
    parse_sections(bytes, offset, sections, roots)
}

/// Returns the bytes of a trailer of which one byte may be damaged, and the nonce in them.
pub(crate) fn correct_trailer(trailer: &[u8]) -> Option<(Vec<u8>, u64)> {
    let trailer = corrected(trailer, WITH_OWN_SUM)?;
    let nonce = trailer.get(NONCE_AT..)?.first_chunk::<8>().copied()?;
    Some((trailer, u64::from_le_bytes(nonce)))
}

/// Parses the section table that a trailer locates, and of which one byte may be damaged.
pub(crate) fn correct_table(bytes: &[u8], trailer: &Trailer) -> Option<SectionTable> {
    parse_table(&corrected(bytes, trailer.table_sum)?, trailer).ok()
}

fn parse_sections(
    bytes: &[u8],
    offset: u64,
    sections: u64,
    roots: u64,
) -> Result<SectionTable, SegmentFlaw> {
    let mut cursor = Cursor::new(bytes);
    let Some(numbers) = SegmentSummary::parse(&mut cursor) else {
        return damage(offset, "a number in the section table is out of bounds");
    };
    let mut table = SectionTable { numbers, sections: Vec::new(), roots: Vec::new() };
    let mut tags = HashSet::new();
    let mut end = HEAD_BYTES;
    for _ in 0..sections {
        let entry = (|| {
            let kind = SectionKind::parse(cursor.u16()?)?;
            let (part, epoch) = (cursor.u16()?, cursor.u32()?);
            let tag = SectionTag { kind, part, epoch };
            Some(SectionEntry { tag, offset: cursor.u64()?, len: cursor.u64()? })
        })();
        let Some(entry) = entry else {
            return damage(offset, "the section table names an unknown kind of section");
        };
        let fits = entry.offset >= end
            && entry.offset.is_multiple_of(ALIGN)
            && entry.offset.checked_add(entry.len).is_some_and(|end| end <= offset);
        if !fits {
            return damage(
                offset,
                "the sections in the section table overlap, or end after the table begins",
            );
        }
        end = entry.offset + entry.len;
        if !tags.insert(entry.tag) {
            return damage(offset, "the section table names a section twice");
        }
        table.sections.push(entry);
    }
    for _ in 0..roots {
        let Some(root) = cursor.u32() else {
            return damage(offset, "the section table ends too soon");
        };
        table.roots.push(root);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::super::{encode_head, parse_head};
    use super::*;

    const STAMP: Stamp = Stamp { id: 4, store: 11, nonce: 12 };

    fn sample() -> (SectionTable, Vec<u8>) {
        let table = SectionTable {
            numbers: SegmentSummary {
                first_sequence: 3,
                last_sequence: 9,
                pages: 2,
                ..SegmentSummary::default()
            },
            sections: vec![
                SectionEntry { tag: SectionTag::of(SectionKind::Pages), offset: 64, len: 10 },
                SectionEntry {
                    tag: SectionTag::table(SectionKind::Rest, 3, 7),
                    offset: 128,
                    len: 64,
                },
            ],
            roots: vec![5],
        };
        let mut file = encode_head(&STAMP).to_vec();
        file.resize(192, 1);
        file.extend(encode_table(&STAMP, 192, &table));
        (table, file)
    }

    fn table_of(file: &[u8], stamp: &Stamp) -> Result<SectionTable, SegmentFlaw> {
        let at = file.len().saturating_sub(TRAILER_LEN);
        let trailer = parse_trailer(&file[at..], file.len() as u64, stamp)?;
        parse_table(&file[usize::try_from(trailer.offset).unwrap()..at], &trailer)
    }

    #[test]
    fn section_table_round_trips() {
        let (table, file) = sample();
        assert_eq!(parse_head(&file, 4), Ok(STAMP));
        assert_eq!(table_of(&file, &STAMP), Ok(table));
    }

    #[test]
    fn every_bit_flip_of_the_frame_is_detected() {
        let (_, file) = sample();
        for at in (0..64).chain(192..file.len()) {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[at] ^= 1 << bit;
                assert!(
                    parse_head(&bad, 4).is_err() || table_of(&bad, &STAMP).is_err(),
                    "byte {at} bit {bit}"
                );
            }
        }
    }

    #[test]
    fn every_truncation_is_detected() {
        let (_, file) = sample();
        for len in 0..file.len() {
            assert!(table_of(&file[..len], &STAMP).is_err(), "{len}");
        }
    }

    #[test]
    fn trailer_of_another_segment_is_refused() {
        let (_, file) = sample();
        assert!(matches!(table_of(&file, &Stamp { id: 5, ..STAMP }), Err(SegmentFlaw::Damage(..))));
        assert!(matches!(
            table_of(&file, &Stamp { nonce: 13, ..STAMP }),
            Err(SegmentFlaw::Damage(..))
        ));
    }
}
