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
    let Lines { all, sought, query, most, .. } = lines;
    for sought in sought.chunks(AT_ONCE) {
        // Nearly always nothing is near, and few go on; which, is noted as bits without a branch that
        // would be mispredicted, and nothing is called that would cost the loop its registers.
        let (mut nears, mut onwards) = (0_u32, 0_u32);
        for (bit, sought) in sought.iter().enumerate() {
            let Some(line) = all.get(sought.line as usize) else { continue };
            let [.., last] = line;
            onwards |= (last.get() >> 31) << bit;
            nears |= u32::from(any_near(line, query, most)) << bit;
        }
        for sought in each_set(onwards, sought) {
            lines.add_onward(sought, onward);
        }
        for sought in each_set(nears, sought) {
            lines.add_near(sought, near);
        }
    }
}

/// Lines that are compared before what is near is looked at again.
const AT_ONCE: usize = 32;

/// Those whose bits are set.
#[inline(always)]
fn each_set(mut bits: u32, sought: &[Sought]) -> impl Iterator<Item = Sought> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        sought.get(bit as usize).copied()
    })
}

impl Lines<'_> {
    /// Adds the line in which a cell goes on, and asks for it.
    fn add_onward(&self, Sought { line: number, message }: Sought, onward: &mut Onward) {
        let Some([.., next, _]) = self.all.get(number as usize) else { return };
        let next = next.get();
        let next = if self.are_further && next <= number { u32::MAX } else { next };
        prefetch_line(self.further.as_ptr().wrapping_add(next as usize).cast());
        // There is room for all.
        let _ = onward.try_push(Sought { line: next, message });
    }

    /// Adds the entries of a line that are near.
    fn add_near(&self, Sought { line, message }: Sought, near: &mut Vec<NearEntry>) {
        let Some(line @ [.., last]) = self.all.get(line as usize) else { return };
        let (first, entries) = (last.get() & !GOES_ON, LINE_ENTRIES - (last.get() >> 31));
        for (entry, word) in (0..entries).zip(line) {
            let distance = (word.get() ^ self.query).count_ones();
            if (self.least..=self.most).contains(&distance) {
                near.push(NearEntry { entry: first.wrapping_add(entry), message });
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
