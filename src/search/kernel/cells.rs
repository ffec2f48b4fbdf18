//! Comparing memory lines of entries with one query.

use arrayvec::ArrayVec;

use super::super::cells::GATHERED;
use super::super::column::Line;
use super::{Kernel, prefetch_line};

/// Entries of a line that is the last of its cell.
pub(in super::super) const LINE_ENTRIES: u32 = 15;

/// Entries of a line whose cell goes on in another.
pub(in super::super) const FULL_ENTRIES: u32 = 14;

/// In the last word of a line: the entry before it is no entry but the number of the line in which
/// the cell goes on.
pub(in super::super) const GOES_ON: u32 = 1 << 31;

/// The entries that a line has, as bits.
const ENTRIES: u32 = (1 << LINE_ENTRIES) - 1;

/// A line to look into, and the message for which it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Sought {
    pub(in super::super) line: u32,
    pub(in super::super) message: u32,
}

/// An entry of a table that is near, and the message for which its line was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct NearEntry {
    pub(in super::super) entry: u32,
    pub(in super::super) message: u32,
}

/// The lines to compare, and with what.
#[derive(Clone, Copy)]
pub(in super::super) struct Lines<'l> {
    /// All lines of a column.
    pub(in super::super) all: &'l [Line],
    /// The lines in which they go on.
    pub(in super::super) further: &'l [Line],
    /// Whether `all` are those further lines themselves: then each goes on behind itself, so that
    /// even a damaged cell ends.
    pub(in super::super) are_further: bool,
    /// Which of `all` to look into; those that there are not are passed over.
    pub(in super::super) sought: &'l [Sought],
    /// What entries are compared with.
    pub(in super::super) query: u32,
    /// The least distance that counts as near.
    pub(in super::super) least: u32,
    /// The greatest.
    pub(in super::super) most: u32,
}

/// What is near, and where cells go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Found {
    pub(in super::super) entries: Vec<NearEntry>,
    pub(in super::super) onward: ArrayVec<Sought, GATHERED>,
}

pub(super) type NearInLines = unsafe fn(Lines<'_>, &mut Found);

impl Kernel {
    /// Replaces `found` by every entry of the lines whose distance from the query is near, in order,
    /// and the lines in which cells go on, which are asked for ahead.
    ///
    /// Entries that a line does not have may be among them, since it does not say how many it has.
    /// A cell that does not go on where it should goes on in the line `u32::MAX`. There is room for
    /// `GATHERED` of those: no more lines are looked into at once.
    pub(in super::super) fn near_in_lines(self, lines: Lines<'_>, found: &mut Found) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_in_lines)(lines, found);
        }
    }
}

/// Tells the processor that these lines will be read soon.
#[inline]
pub(in super::super) fn prefetch_lines(all: &[Line], sought: &[Sought]) {
    for sought in sought {
        prefetch_line(all.as_ptr().wrapping_add(sought.line as usize).cast());
    }
}

/// The source of all versions: `near` says which of the entries of a line are, as bits; what it says
/// of words that are no entries does not matter.
#[inline(always)]
pub(super) fn near_in_lines(
    lines: Lines<'_>,
    found: &mut Found,
    near: impl Fn(&Line, u32, u32, u32) -> u32,
) {
    let Lines { all, further, are_further, sought, query, least, most } = lines;
    let span = most.saturating_sub(least);
    found.entries.clear();
    // Cells go on so often that a branch would be mispredicted: there is room for all, and what is
    // written last stays only if it counts.
    found.onward.clear();
    for &Sought { line: number, message } in sought {
        let Some(line) = all.get(number as usize) else { continue };
        let [.., before_last, last] = line;
        let goes_on = last.get() >> 31;
        let next = before_last.get();
        let next = if are_further && next <= number { u32::MAX } else { next };
        // A line that is there already costs nothing.
        let ahead = further.as_ptr().wrapping_add(next as usize);
        prefetch_line(if goes_on == 1 { ahead } else { std::ptr::from_ref(line) }.cast());
        let kept = found.onward.len() + goes_on as usize;
        let _ = found.onward.try_push(Sought { line: next, message });
        found.onward.truncate(kept);
        let mut entries = near(line, query, least, span) & (ENTRIES >> goes_on);
        while entries != 0 {
            let first = last.get() & !GOES_ON;
            let entry = first.wrapping_add(entries.trailing_zeros());
            found.entries.push(NearEntry { entry, message });
            entries &= entries - 1;
        }
    }
}

#[inline(always)]
pub(super) fn near_by_words(line: &Line, query: u32, least: u32, span: u32) -> u32 {
    let beyond =
        |word: &zerocopy::little_endian::U32| (word.get() ^ query).count_ones().wrapping_sub(least);
    // Nearly always nothing is near, which vector code can tell without telling what.
    let mut nearest = u32::MAX;
    for word in line {
        nearest = nearest.min(beyond(word));
    }
    if nearest > span {
        return 0;
    }
    (0..).zip(line).fold(0, |near, (entry, word)| near | u32::from(beyond(word) <= span) << entry)
}
