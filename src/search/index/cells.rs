//! Builds one table of cells.

use std::ops::Range;

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::bucket_sorter::{self, BucketSorter, turn_into_starts};
use super::source::{STRIDE, SourceColumn, TableColumn, TableSink};
use crate::search::cells::{FingerprintHalf, cell_of};
use crate::search::hamming;
use crate::search::kernel::{FULL_ENTRIES, LINE_ENTRIES, NEXT, put_entry};
use crate::search::line::{CacheLine, GOES_ON, NUMBER, put};
use crate::search::scratch::ScratchMemory;

/// Returns the cell of a fingerprint.
fn cell(fingerprint: u64, half: FingerprintHalf, cells: u32) -> u32 {
    // Lookups use the same functions, so building and lookup always agree on the cell.
    cell_of(hamming::nearest(half.cut(fingerprint).0), cells)
}

/// Returns the cells in ranges that can be counted in memory: 4 bytes a cell.
pub(super) fn ranges(cells: u32, memory_bytes: usize) -> impl Iterator<Item = Range<u32>> {
    // With memory for more than 2^32 cells, all cells are one range.
    let length = u32::try_from(memory_bytes / 4).unwrap_or(u32::MAX).max(64);
    (0..cells)
        .step_by(length as usize)
        .map(move |start| start..start.saturating_add(length).min(cells))
}

/// Counts the entries of each cell of a range, and appends a 0.
fn count<E>(
    column: &SourceColumn<'_, E>,
    cells: u32,
    half: FingerprintHalf,
    range: &Range<u32>,
) -> Result<ScratchMemory<u32>, E> {
    bucket_sorter::count(column, range.len(), |fingerprint| {
        cell(fingerprint, half, cells).wrapping_sub(range.start)
    })
}

/// Returns the number of entries in the next line of a cell with `left` more entries.
fn taken(left: u32) -> u32 {
    // A line that continues uses two slots for the number of the next line.
    if left <= LINE_ENTRIES { left } else { FULL_ENTRIES }
}

/// Returns the number of further lines of a cell with this many entries.
fn further_lines(mut left: u32) -> u64 {
    let mut lines = 0;
    left -= taken(left);
    while left > 0 {
        lines += 1;
        left -= taken(left);
    }
    lines
}

/// The result of counting.
pub(super) struct CellCounts {
    half: FingerprintHalf,
    /// The number of further lines of the table.
    pub(super) further: u64,
    /// The start of each cell, if `keep` was set.
    starts: Option<ScratchMemory<u32>>,
}

/// Counts all entries of a table. With `keep`, which requires a single range of all cells, the
/// result includes the start of each cell.
pub(super) fn count_all<E>(
    column: &SourceColumn<'_, E>,
    cells: u32,
    half: FingerprintHalf,
    ranges: impl Iterator<Item = Range<u32>>,
    keep: bool,
) -> Result<CellCounts, E> {
    let mut counted = CellCounts { half, further: 0, starts: None };
    for range in ranges {
        let mut counts = count(column, cells, half, &range)?;
        // The further lines must be known before the first write: the sink reserves the space of
        // every column first.
        counted.further += counts.iter().map(|count| further_lines(*count)).sum::<u64>();
        if keep {
            turn_into_starts(&mut counts);
            counted.starts = Some(counts);
        }
    }
    Ok(counted)
}

/// Writes the table of one half.
#[expect(clippy::indexing_slicing, reason = "the current cell is one of them; windows of two")]
pub(super) fn build<E, S: TableSink<Error = E>>(
    column: &SourceColumn<'_, E>,
    cells: u32,
    ranges: impl Iterator<Item = Range<u32>>,
    table: usize,
    counted: &CellCounts,
    dealer: &mut BucketSorter,
    sink: &S,
) -> Result<(), E> {
    let CellCounts { half, further, ref starts } = *counted;
    let mut lines = LineWriter::new(table, sink);
    let mut ordinals = Vec::new();
    for range in ranges {
        let anew;
        let starts: &[u32] = if let Some(starts) = starts {
            assert_eq!(starts.len(), range.len() + 1, "there is one range");
            starts
        } else {
            let mut counts = count(column, cells, half, &range)?;
            turn_into_starts(&mut counts);
            anew = counts;
            &anew
        };
        let of_range: u64 = starts.windows(2).map(|pair| further_lines(pair[1] - pair[0])).sum();
        let (entries, more) =
            (lines.entries + starts[range.len()], u64::from(lines.next) + of_range);
        // A column that changed between the passes could make the writer exceed its reserved space.
        // A changed column is an error, since the caller's data caused it.
        column.same(entries <= column.n && more <= further)?;
        let (mut cell, mut number) = (0, 0_u32);
        let aim = |fingerprint| {
            let (own, other) = half.cut(fingerprint);
            // Cells below the range wrap to large numbers, which the dealer rejects, as it rejects
            // cells above the range.
            (cell_of(hamming::nearest(own), cells).wrapping_sub(range.start), other)
        };
        dealer.each_in_order(column, starts, aim, |entries| {
            // Entries are processed in pieces, so that the buffer of ordinals stays small and in
            // the cache.
            for piece in entries.chunks(STRIDE as usize) {
                ordinals.clear();
                ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
                sink.write(TableColumn::Ordinals(table), ordinals.as_bytes())?;
            }
            for entry in entries {
                // Empty cells before this entry get their own lines, and a cell's head is written
                // before its first entry.
                while let Some(&[start, end]) = starts.get(cell..).and_then(<[u32]>::first_chunk)
                    && start <= number
                {
                    if end > number {
                        if start == number {
                            lines.cell(end - start)?;
                        }
                        break;
                    }
                    if start == end {
                        lines.cell(0)?;
                    }
                    cell += 1;
                }
                lines.entry(entry.bits)?;
                number += 1;
            }
            Ok(())
        })?;
        // Only the empty cells after the last entry remain: the loop above began the non-empty
        // cells.
        for pair in starts[cell..].windows(2) {
            if pair[0] == pair[1] {
                lines.cell(0)?;
            }
        }
    }
    column.same(lines.entries == column.n && u64::from(lines.next) == further)?;
    lines.finish(cells)
}

/// Writes entries into lines.
struct LineWriter<'s, S> {
    table: usize,
    sink: &'s S,
    cells: Vec<CacheLine>,
    further: Vec<CacheLine>,
    /// The number of the next further line.
    next: u32,
    /// The numbers of entries and cells so far.
    entries: u32,
    begun: u32,
    /// The current line, its number of entries so far, and its final number of entries.
    line: CacheLine,
    filled: u32,
    capacity: u32,
    /// Whether the current line is the first line of a cell, not a further line.
    first: bool,
    /// The number of entries of the cell after this line.
    left: u32,
}

impl<'s, E, S: TableSink<Error = E>> LineWriter<'s, S> {
    fn new(table: usize, sink: &'s S) -> Self {
        LineWriter {
            table,
            sink,
            cells: Vec::new(),
            further: Vec::new(),
            next: 0,
            entries: 0,
            begun: 0,
            line: CacheLine::default(),
            filled: 0,
            capacity: 0,
            first: true,
            left: 0,
        }
    }

    /// Begins the next cell, which has this many entries.
    fn cell(&mut self, entries: u32) -> Result<(), E> {
        // Cells have no entry count on disk. A cell with too few
        // entries would show the next cell's entries as its own.
        assert_eq!(self.filled, self.capacity, "a cell has as many entries as were counted");
        self.first = true;
        self.begun += 1;
        self.begin(entries);
        if entries == 0 { self.end() } else { Ok(()) }
    }

    fn begin(&mut self, entries: u32) {
        self.capacity = taken(entries);
        self.left = entries - self.capacity;
        self.filled = 0;
        self.line = CacheLine::default();
        let goes_on = if self.left > 0 { GOES_ON } else { 0 };
        put(&mut self.line, NUMBER, self.entries | goes_on);
        if self.left > 0 {
            // A further line gets its number when the previous line is begun, so the lines of a
            // chain are consecutive and ascending.
            put(&mut self.line, NEXT, self.next);
            self.next += 1;
        }
    }

    fn entry(&mut self, bits: u32) -> Result<(), E> {
        if self.filled == 0 {
            // Unused slots are filled with the complement of the first entry. No bits are farther
            // from the first entry, so a query near this cell seldom matches an unused slot.
            for at in 1..if self.left == 0 { LINE_ENTRIES } else { FULL_ENTRIES } {
                put_entry(&mut self.line, at, !bits);
            }
        }
        put_entry(&mut self.line, self.filled, bits);
        self.filled += 1;
        self.entries += 1;
        if self.filled == self.capacity { self.end() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), E> {
        let (lines, part) = if self.first {
            (&mut self.cells, TableColumn::Cells(self.table))
        } else {
            (&mut self.further, TableColumn::Further(self.table))
        };
        // A cell's line and its further lines go to two columns, each written front to end.
        lines.push(self.line);
        if lines.len() >= LINES {
            self.sink.write(part, lines.as_bytes())?;
            lines.clear();
        }
        if self.left > 0 {
            self.first = false;
            self.begin(self.left);
        }
        Ok(())
    }

    /// Writes the remaining lines of all `cells` cells.
    fn finish(self, cells: u32) -> Result<(), E> {
        assert_eq!(
            (self.begun, self.filled),
            (cells, self.capacity),
            "every cell is written whole"
        );
        self.sink.write(TableColumn::Cells(self.table), self.cells.as_bytes())?;
        self.sink.write(TableColumn::Further(self.table), self.further.as_bytes())
    }
}

/// The number of lines per write.
const LINES: usize = 1024;
