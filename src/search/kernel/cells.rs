//! Comparing memory lines of entries with one query.

use arrayvec::ArrayVec;

use super::super::column::Line;
use super::{Kernel, prefetch_line};

/// Entries of a line that is the last of its cell.
pub(in super::super) const LINE_ENTRIES: u32 = 15;

/// Entries of a line whose cell goes on in another.
pub(in super::super) const FULL_ENTRIES: u32 = 14;

/// In the last word of a line: the entry before it is no entry but the number of the line in which
/// the cell goes on.
pub(in super::super) const GOES_ON: u32 = 1 << 31;

/// Lines that are looked into at once, at most: some kilobytes of them, and more than a core can wait
/// for at once.
pub(in super::super) const GATHERED: usize = 256;

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

/// Lines in which cells go on.
pub(in super::super) type Onward = ArrayVec<Sought, GATHERED>;

pub(super) type NearInLines = unsafe fn(Lines<'_>, &mut Vec<NearEntry>, &mut Onward);

impl Kernel {
    /// Appends to `near` every entry of the lines whose distance from the query is near, in order,
    /// and to `onward` the lines in which cells go on, which are asked for ahead.
    ///
    /// Entries that a line does not have may be among them, since it does not say how many it has.
    /// A cell that does not go on where it should goes on in the line `u32::MAX`. There is room for
    /// [`GATHERED`] of those: no more lines are looked into at once.
    pub(in super::super) fn near_in_lines(
        self,
        lines: Lines<'_>,
        near: &mut Vec<NearEntry>,
        onward: &mut Onward,
    ) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `Kernel` exists only where the processor has the features its functions need,
        // and they ask for nothing else.
        unsafe {
            (self.near_in_lines)(lines, near, onward);
        }
    }
}

/// The source of all versions: `any_near` says whether any word of a line is within a distance.
#[inline(always)]
pub(super) fn near_in_lines(
    lines: Lines<'_>,
    near: &mut Vec<NearEntry>,
    onward: &mut Onward,
    any_near: impl Fn(&Line, u32, u32) -> bool,
) {
    let Lines { all, further, are_further, sought, query, least, most } = lines;
    for &Sought { line: number, message } in sought {
        let Some(line) = all.get(number as usize) else { continue };
        let [.., before_last, last] = line;
        let goes_on = last.get() >> 31;
        let next = before_last.get();
        let next = if are_further && next <= number { u32::MAX } else { next };
        // A line that is there already costs nothing.
        let ahead = further.as_ptr().wrapping_add(next as usize);
        prefetch_line(if goes_on == 1 { ahead } else { std::ptr::from_ref(line) }.cast());
        // Cells go on so often that a branch would be mispredicted: there is room for all, and what
        // is written last stays only if it counts.
        let kept = onward.len() + goes_on as usize;
        let _ = onward.try_push(Sought { line: next, message });
        onward.truncate(kept);
        if any_near(line, query, most) {
            let first = last.get() & !GOES_ON;
            let entries = LINE_ENTRIES - goes_on;
            for (entry, word) in (0..entries).zip(line) {
                if (least..=most).contains(&(word.get() ^ query).count_ones()) {
                    near.push(NearEntry { entry: first.wrapping_add(entry), message });
                }
            }
        }
    }
}

#[inline(always)]
pub(super) fn any_near(line: &Line, query: u32, most: u32) -> bool {
    let mut nearest = u32::MAX;
    for word in line {
        nearest = nearest.min((word.get() ^ query).count_ones());
    }
    nearest <= most
}
