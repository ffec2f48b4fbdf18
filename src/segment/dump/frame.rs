//! Dumps the frame of a segment: its head, its section table and its trailer. A segment opens only
//! if the frame is sound.

use super::reader::{DumpOutput, DumpResult, DumpStop};
use super::words::{day, many, number, section};
use crate::layout::{Cursor, HEAD_BYTES, TRAILER_BYTES};
use crate::segment::frame::SegmentFrame;

/// The bytes of a part of the frame, which are shown field by field.
struct FieldDump<'f, 'o, 'b> {
    out: &'f mut DumpOutput<'o>,
    offset: u64,
    cursor: Cursor<'b>,
}

impl<'b> FieldDump<'_, '_, 'b> {
    fn take(&mut self, len: usize) -> DumpResult<&'b [u8]> {
        // Opening checked all these lengths. Only a file that was cut since then is too short.
        self.cursor
            .take(len)
            .ok_or(DumpStop::Impossible("the file became shorter after it was opened"))
    }

    /// Shows a line of `len` bytes.
    fn line(&mut self, len: usize, meaning: impl Into<String>) -> DumpResult {
        let bytes = self.take(len)?;
        let offset = self.offset;
        self.offset += len as u64;
        self.out.show(offset, bytes, meaning)
    }
}

fn fields<'f, 'o, 'b>(
    out: &'f mut DumpOutput<'o>,
    offset: u64,
    bytes: &'b [u8],
) -> FieldDump<'f, 'o, 'b> {
    FieldDump { out, offset, cursor: Cursor::new(bytes) }
}

/// Shows the head from its bytes.
pub(super) fn head(out: &mut DumpOutput<'_>, frame: &SegmentFrame, bytes: &[u8]) -> DumpResult {
    let mut fields = fields(out, 0, bytes);
    fields.line(8, "\"simkseg\", 0")?;
    // The version is not read from the bytes, because a segment of another version is not opened.
    fields.line(4, format!("format version {}", crate::layout::VERSION))?;
    fields.line(4, "reserved")?;
    fields.line(8, format!("segment {}", frame.id()))?;
    fields.line(8, "the store")?;
    fields.line(8, "the nonce")?;
    fields.line(20, "reserved")?;
    fields.line(4, "checksum of the 60 bytes before")
}

/// Shows the section table from its bytes.
pub(super) fn table(out: &mut DumpOutput<'_>, frame: &SegmentFrame, bytes: &[u8]) -> DumpResult {
    let numbers = frame.numbers();
    let mut fields = fields(out, frame.table_at(), bytes);
    let signed = |name: &str, value: i64| format!("{name}: {}", number(value));
    let unsigned = |name: &str, value: u64| format!("{name}: {}", number(value));
    fields.line(8, unsigned("first sequence number", numbers.first_sequence))?;
    fields.line(8, unsigned("last sequence number", numbers.last_sequence))?;
    fields.line(8, unsigned("pages", numbers.pages))?;
    fields.line(8, unsigned("visits", numbers.visits))?;
    fields.line(8, unsigned("fingerprints", numbers.fingerprints))?;
    fields.line(8, unsigned("resets", numbers.resets))?;
    fields.line(8, signed("page delta", numbers.delta.pages))?;
    fields.line(8, signed("visit delta", numbers.delta.visits))?;
    fields.line(8, unsigned("tier", numbers.tier))?;
    fields.line(8, signed("delta of pages in force", numbers.delta.in_force))?;
    fields.line(8, signed("delta of pages that are gone", numbers.delta.gone))?;
    let time = |ms: i64| format!("{}: {}", number(ms), day(ms));
    // Without visits both words are zero, but zero is also a valid time. The number of visits
    // decides.
    match numbers.times {
        Some((first, last)) => {
            fields.line(8, format!("no visit before {}", time(first)))?;
            fields.line(8, format!("nor after {}", time(last)))?;
        }
        None => {
            fields.line(8, "no visit")?;
            fields.line(8, "no visit")?;
        }
    }
    let longest = many(numbers.longest_list, "page", "pages");
    fields.line(8, format!("the longest list: {longest}"))?;
    fields.line(8, format!("written {}", time(numbers.written)))?;
    fields.line(8, "reserved")?;
    for of in frame.sections() {
        fields.line(8, section(of.tag()))?;
        let bytes = many(of.bytes(), "byte", "bytes");
        fields.line(16, format!("at {:04x}, {bytes}", of.offset()))?;
    }
    let mut block = 0_u64;
    // The rest of the section table is roots. Opening compared the length of the table with its
    // counts.
    while !fields.cursor.is_empty() {
        fields.line(4, format!("root: checksum of block {} of the checksums", number(block)))?;
        block += 1;
    }
    Ok(())
}

/// Shows the trailer from its bytes.
pub(super) fn trailer(out: &mut DumpOutput<'_>, frame: &SegmentFrame, bytes: &[u8]) -> DumpResult {
    // The subtraction does not saturate, because a file without a trailer is not opened.
    let at = frame.bytes().saturating_sub(TRAILER_BYTES);
    let table = frame.table_at();
    let mut fields = fields(out, at, bytes);
    fields.line(8, "\"simkend\", 0")?;
    fields.line(8, format!("segment {}", frame.id()))?;
    fields.line(8, format!("the table is at {table:04x}"))?;
    fields.line(8, format!("and has {}", many(at - table, "byte", "bytes")))?;
    fields.line(8, many(frame.sections().len() as u64, "section", "sections"))?;
    fields.line(8, many(frame.roots(), "root", "roots"))?;
    fields.line(8, "the nonce")?;
    fields.line(4, "checksum of the table")?;
    fields.line(4, "checksum of the 60 bytes before")
}

const _: () = assert!(HEAD_BYTES == 64 && TRAILER_BYTES == 64, "both are as long as their fields");
