//! Compares cache lines of entries with a query.

use arrayvec::ArrayVec;
use zerocopy::IntoBytes;

use crate::cpu::prefetch_at;
use crate::search::line::{CacheLine, GOES_ON, NUMBER, number};

/// The bits of an entry: 16 in a place, and 8 in half of a later place.
pub(in crate::search) const ENTRY_BITS: u32 = 24;

/// The entries of the last line of a cell.
pub(in crate::search) const LINE_ENTRIES: u32 = 20;

/// The entries of a line whose cell continues in another line.
pub(in crate::search) const FULL_ENTRIES: u32 = 18;

/// The first of the two entry indexes at which a full line stores the number of the next line.
pub(in crate::search) const NEXT: u32 = FULL_ENTRIES;

const _: () = assert!(LINE_ENTRIES + LINE_ENTRIES / 2 == NUMBER, "halves of places fill the line");

/// Returns the entries of a line, read as the last line of its cell.
#[inline(always)]
pub(in crate::search) fn entries(line: &CacheLine) -> impl Iterator<Item = u32> {
    // The 16 low bits of all entries come first and their 8 high bits after them, so vector code
    // compares each group without unpacking. `zip` ends after 20 entries, before the head.
    let (low, rest) = line.split_at(LINE_ENTRIES as usize);
    let high = rest.as_bytes();
    low.iter().zip(high).map(|(low, high)| u32::from(low.get()) | u32::from(*high) << 16)
}

/// Writes an entry to a line at index `at`, below [`LINE_ENTRIES`].
#[expect(clippy::indexing_slicing, reason = "callers pass an index below `LINE_ENTRIES`")]
#[expect(clippy::cast_possible_truncation, reason = "takes some of the bits")]
pub(in crate::search) fn put_entry(line: &mut CacheLine, at: u32, entry: u32) {
    let (low, rest) = line.split_at_mut(LINE_ENTRIES as usize);
    low[at as usize].set(entry as u16);
    rest.as_mut_bytes()[at as usize] = (entry >> 16) as u8;
}

/// The maximum number of lines that are compared together: some kilobytes, and more than a core can
/// fetch concurrently.
pub(in crate::search) const GATHERED: usize = 256;

/// A line to compare, with the message that selected it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::search) struct SelectedLine {
    pub(in crate::search) line: u32,
    pub(in crate::search) message: u32,
}

/// A near entry of a table, with the message that selected its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct NearEntry {
    pub(in crate::search) entry: u32,
    pub(in crate::search) message: u32,
}

/// The lines to compare, with the query and the limit.
#[derive(Clone, Copy)]
pub(in crate::search) struct LineBatch<'l> {
    /// All lines of a column.
    pub(in crate::search) all: &'l [CacheLine],
    /// The further lines, in which cells continue.
    pub(in crate::search) further: &'l [CacheLine],
    /// Whether `all` are the further lines. A further line continues only in a later line, so that
    /// even a damaged cell ends.
    pub(in crate::search) are_further: bool,
    /// The lines of `all` to compare; the caller has checked that they exist.
    pub(in crate::search) sought: &'l [SelectedLine],
    /// The bits of the query that entries store.
    pub(in crate::search) query: u32,
    /// The largest distance of a near entry.
    pub(in crate::search) most: u32,
}

/// The further lines in which cells continue.
pub(in crate::search) type FurtherLines = ArrayVec<SelectedLine, GATHERED>;

pub(super) type NearInLines = unsafe fn(LineBatch<'_>, &mut Vec<NearEntry>, &mut FurtherLines);

/// The portable version.
#[inline(always)]
pub(super) fn near_in_lines(
    lines: LineBatch<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut FurtherLines,
) {
    let LineBatch { query, most, .. } = lines;
    near_in_lines_where(lines, near, onward, |line| any_near(line, query, most));
}

/// The source of all versions: `any_near` returns whether any entry of a line is near.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the lines sought are there")]
pub(super) fn near_in_lines_where(
    lines: LineBatch<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut FurtherLines,
    any_near: impl Fn(&CacheLine) -> bool,
) {
    let LineBatch { all, sought, .. } = lines;
    // Lines are compared in chunks of 32, so that the flags of a chunk fit in one `u32`.
    for sought in sought.chunks(AT_ONCE) {
        // Nearly always no line has a near entry, and few cells continue. Near entries and
        // continuations facts are collected
        // as bits: a branch per line would be mispredicted, and a call
        // would spill the loop's
        // registers.
        let (mut nears, mut onwards) = (0_u32, 0_u32);
        for (bit, sought) in sought.iter().enumerate() {
            let line = &all[sought.line as usize];
            onwards |= (number(line, NUMBER) >> 31) << bit;
            nears |= u32::from(any_near(line)) << bit;
        }
        // Continuations are processed first, so that their prefetches run while the near entries
        // are collected.
        for sought in each_set(onwards, sought) {
            lines.add_onward(sought, onward);
        }
        for sought in each_set(nears, sought) {
            lines.add_near(sought, near);
        }
    }
}

/// The number of lines that are compared before lines with near entries are processed.
const AT_ONCE: usize = 32;

/// Returns the lines whose bits are set.
#[inline(always)]
fn each_set(mut bits: u32, sought: &[SelectedLine]) -> impl Iterator<Item = SelectedLine> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        sought.get(bit as usize).copied()
    })
}

impl LineBatch<'_> {
    /// Adds the further line of a cell, and prefetches it.
    #[expect(clippy::indexing_slicing, reason = "the lines sought are there")]
    fn add_onward(&self, SelectedLine { line, message }: SelectedLine, onward: &mut FurtherLines) {
        let next = number(&self.all[line as usize], NEXT);
        // Further lines are written in ascending order, so a chain that points to an earlier line
        // is damaged. `u32::MAX` exceeds every column, and the caller then reports the damage
        // instead of following a cycle.
        let next = if self.are_further && next <= line { u32::MAX } else { next };
        prefetch_at(self.further.as_bytes(), u64::from(next) * size_of::<CacheLine>() as u64);
        onward.push(SelectedLine { line: next, message });
    }

    /// Adds the near entries of a line.
    #[expect(clippy::indexing_slicing, reason = "the lines sought are there")]
    fn add_near(&self, SelectedLine { line, message }: SelectedLine, near: &mut Vec<NearEntry>) {
        let line = &self.all[line as usize];
        let head = number(line, NUMBER);
        let (first, goes_on) = (head & !GOES_ON, head & GOES_ON != 0);
        // In a full line, places 18 and 19 store the number of the next line instead of entries.
        let count = if goes_on { FULL_ENTRIES } else { LINE_ENTRIES };
        for (number, entry) in (0..count).zip(entries(line)) {
            if (entry ^ self.query).count_ones() <= self.most {
                // The sum cannot wrap: `first` has 31 bits. The caller drops entries beyond the
                // last.
                near.push(NearEntry { entry: first.wrapping_add(number), message });
            }
        }
    }
}

#[inline(always)]
pub(super) fn any_near(line: &CacheLine, query: u32, most: u32) -> bool {
    // The two places with the number of the next line are compared like entries here. A false hit
    // only costs a call of `add_near`.
    entries(line).fold(u32::MAX, |nearest, entry| nearest.min((entry ^ query).count_ones())) <= most
}

/// Returns a line whose entries all equal `entry`.
pub(super) fn line_of(entry: u32) -> CacheLine {
    let mut line = CacheLine::default();
    (0..LINE_ENTRIES).for_each(|at| put_entry(&mut line, at, entry));
    line
}
