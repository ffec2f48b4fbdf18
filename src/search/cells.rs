//! Cells: two tables over the canonical column, each of whole memory lines, for large sets.
//!
//! The fingerprint is cut into two halves. Two fingerprints that differ in at most k bits differ in
//! at most `k / 2` of one of them, or less, in the same way as with four blocks. The low 31 bits of
//! a half are decoded to the nearest word of a Hamming code (`hamming.rs`), and its message names
//! the *cell* in which the fingerprint stands: 15 entries of 32 bits, which are the other half, and
//! one word that says which entries they are.
//!
//! ```text
//!           0    1    2        13   14     15
//! cell    [ half half half ... half half | first entry          ]
//! full    [ half half half ... half next | first entry, top bit ]   next: the line with the rest
//! ```
//!
//! So a lookup costs one memory line and no directory, and k = 3 takes 31 of them, which are asked
//! for all at once. A cell with more than 15 entries goes on in another line of the same form.

use arrayvec::ArrayVec;

use super::column::{Column, LINE_BYTES, u32_at, u64_at};
use super::cost::Cost;
use super::hamming::{self, MESSAGE_BITS, WEIGHT_MAX};
use super::kernel::{
    FULL_ENTRIES, Found, GOES_ON, Kernel, LINE_ENTRIES, Lines, NearEntry, Sought, prefetch_lines,
};
use super::tables::{Candidate, Finds};

/// Entries of a cell on average.
const LOAD: f64 = 10.5;

/// The share of cells that go on in another line, with so many entries on average.
pub(super) const GOING_ON: f64 = 0.07;

/// Sets with fewer fingerprints are better served by rotations, whatever is asked.
pub(super) const CELLS_MIN: u32 = 1 << 16;

/// Sets with more fingerprints cannot have cells: the last word of a line has 31 bits for an entry.
pub(super) const CELLS_MAX: u32 = GOES_ON - 1;

/// The number of halves, and so of tables.
pub const HALVES: usize = 2;

/// A half of the fingerprint, or the table that is addressed by it. The upper one is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Upper,
    Lower,
}

impl Half {
    pub(super) const ALL: [Self; HALVES] = [Self::Upper, Self::Lower];

    /// The half of a fingerprint, and the other one.
    #[expect(clippy::cast_possible_truncation, reason = "halves are what is wanted")]
    pub(super) fn cut(self, fingerprint: u64) -> (u32, u32) {
        let (upper, lower) = ((fingerprint >> 32) as u32, fingerprint as u32);
        match self {
            Self::Upper => (upper, lower),
            Self::Lower => (lower, upper),
        }
    }

    /// How many differing bits are too many for this half: the radius of the pigeonhole principle,
    /// plus one. Both add up to k + 1.
    pub(super) fn reach(self, k: u32) -> u32 {
        match self {
            Self::Upper => k / 2 + 1,
            Self::Lower => k.div_ceil(2),
        }
    }

    /// Whether a fingerprint is within `k` of the query, and this half is the one that reports it:
    /// the upper one if it differs in few enough bits of that.
    fn reports(self, fingerprint: u64, query: u64, k: u32) -> bool {
        let difference = fingerprint ^ query;
        let upper = (difference >> 32).count_ones() < Self::Upper.reach(k);
        difference.count_ones() <= k && upper == (self == Self::Upper)
    }
}

/// The cell of a message, if there are `cells`.
///
/// Messages are shuffled by an odd factor before they are dealt out in ranges, so that neighbouring
/// ones, which are likely to be busy together, lie in different cells.
pub(super) fn cell_of(message: u32, cells: u32) -> u32 {
    /// 2^26 divided by the golden ratio, made odd: D. E. Knuth, TAOCP vol. 3, 6.4.
    const FACTOR: u32 = 41_475_557;
    let shuffled = message.wrapping_mul(FACTOR) & ((1 << MESSAGE_BITS) - 1);
    #[expect(clippy::cast_possible_truncation, reason = "less than `cells`")]
    let cell = ((u64::from(shuffled) * u64::from(cells)) >> MESSAGE_BITS) as u32;
    cell
}

/// How many cells each table of `n` fingerprints has: one for every 10.5, two at least.
#[must_use]
pub fn cell_count(n: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than n")]
    let cells = (f64::from(n) / LOAD) as u32;
    cells.max(2)
}

/// Distances up to which cells can be used: beyond, too many codewords are near.
pub(super) const CELLS_DISTANCE_MAX: u32 = 2 * (WEIGHT_MAX - 1);

/// One of the two tables.
#[derive(Clone, Debug)]
pub struct CellTable<C> {
    /// The cells: 16 little-endian `u32` each.
    pub cells: C,
    /// The lines in which full cells go on, of the same form.
    pub further: C,
    /// The place in the canonical column, of each entry, by cells: little-endian `u32`.
    pub ordinals: C,
}

/// The two tables of a column, by upper and by lower halves.
#[derive(Clone, Debug)]
pub struct Cells<C> {
    /// How many cells each has, see [`cell_count`].
    pub count: u32,
    /// By the upper halves, and by the lower ones.
    pub tables: [CellTable<C>; HALVES],
}

impl<C> Cells<C> {
    /// The same cells in other columns.
    pub(super) fn map<'c, D>(&'c self, to: &impl Fn(&'c C) -> D) -> Cells<D> {
        let tables = self.tables.each_ref();
        let tables = tables.map(|table| {
            let CellTable { cells, further, ordinals } = table;
            CellTable { cells: to(cells), further: to(further), ordinals: to(ordinals) }
        });
        Cells { count: self.count, tables }
    }

    pub(super) fn of(&self, half: Half) -> &CellTable<C> {
        let [upper, lower] = &self.tables;
        match half {
            Half::Upper => upper,
            Half::Lower => lower,
        }
    }
}

/// Probes gathered before lines are compared: some kilobytes, and more lines than a core can wait for
/// at once.
pub(super) const GATHERED: usize = 256;

/// The most runs among them: one for each distance of a codeword, in both halves.
const GROUPS: usize = HALVES * (WEIGHT_MAX as usize + 1);

/// Cells to look into for one query, and room for what is found there.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    query: u64,
    k: u32,
    /// The cells, those of the upper half first.
    sought: ArrayVec<Sought, GATHERED>,
    /// Runs of them that are compared alike.
    groups: ArrayVec<Group, GROUPS>,
    found: Found,
    further: ArrayVec<Sought, GATHERED>,
}

/// The cells of codewords at one distance from one half of the query.
#[derive(Clone, Copy, Debug)]
struct Group {
    half: Half,
    end: usize,
    /// How many bits of the other half may differ.
    most: u32,
}

impl Gathered {
    fn clear(&mut self) {
        self.sought.clear();
        self.groups.clear();
    }
}

impl<C: Column> Cells<C> {
    /// Gathers the cells in which something within `k` of a fingerprint may be. `full` is called
    /// whenever there is no room for more, and has to look into those gathered.
    pub(super) fn gather(
        &self,
        query: u64,
        k: u32,
        gathered: &mut Gathered,
        mut full: impl FnMut(&mut Gathered) -> Result<(), C::Error>,
    ) -> Result<(), C::Error> {
        gathered.clear();
        (gathered.query, gathered.k) = (query, k);
        for half in Half::ALL {
            let reach = half.reach(k);
            if reach == 0 {
                continue;
            }
            let (own, _) = half.cut(query);
            let (syndrome, own) = (hamming::syndrome(own), hamming::message(own));
            for weight in 0..=reach {
                // What is filed under a codeword at this distance differs in one bit less at least.
                let most = k - weight.saturating_sub(1);
                let mut patterns = hamming::patterns(syndrome, weight);
                while !patterns.is_empty() {
                    if gathered.sought.len() >= GATHERED {
                        full(gathered)?;
                        gathered.clear();
                    }
                    let room = GATHERED - gathered.sought.len();
                    let (now, later) = patterns.split_at(patterns.len().min(room));
                    let sought = now.iter().map(|pattern| {
                        let message = own ^ pattern;
                        Sought { line: cell_of(message, self.count), message }
                    });
                    gathered.sought.extend(sought);
                    gathered.groups.push(Group { half, end: gathered.sought.len(), most });
                    patterns = later;
                }
            }
        }
        Ok(())
    }

    /// Asks for the cells gathered, so that they come while something else is done.
    pub(super) fn prefetch(&self, gathered: &Gathered) -> Result<(), C::Error> {
        let mut start = 0;
        for group in &gathered.groups {
            let sought = gathered.sought.get(start..group.end).unwrap_or(&[]);
            let cells = self.of(group.half).cells.lines(sought.iter().map(|s| s.line))?;
            prefetch_lines(cells, sought);
            start = group.end;
        }
        Ok(())
    }

    /// Counts what is in the cells gathered.
    pub(super) fn count(&self, gathered: &Gathered, cost: &mut Cost) -> Result<(), C::Error> {
        let mut start = 0;
        for &Group { half, end, .. } in &gathered.groups {
            let table = self.of(half);
            for &Sought { line, .. } in gathered.sought.get(start..end).unwrap_or(&[]) {
                cost.probes += 1.0;
                let (mut column, mut line, mut are_further) = (&table.cells, line, false);
                while let Some([.., next, last]) =
                    column.lines(std::iter::once(line))?.get(line as usize)
                {
                    let goes_on = last.get() & GOES_ON != 0;
                    let entries = if goes_on { FULL_ENTRIES } else { LINE_ENTRIES };
                    cost.lines += 1.0;
                    cost.candidates += f64::from(entries);
                    if !goes_on || are_further && next.get() <= line {
                        break;
                    }
                    (column, line, are_further) = (&table.further, next.get(), true);
                }
            }
            start = end;
        }
        Ok(())
    }

    /// Looks into the cells gathered, and hands over what is near, each once.
    pub(super) fn compare(
        &self,
        fingerprints: &C,
        n: u32,
        gathered: &mut Gathered,
        place: usize,
        finds: &mut impl Finds,
    ) -> Result<(), C::Error> {
        let kernel = Kernel::fastest();
        let Gathered { query, k, sought, groups, found, further: buffer } = gathered;
        let mut start = 0;
        for &Group { half, end, most } in &*groups {
            let table = self.of(half);
            let (_, other) = half.cut(*query);
            // What differs in fewer bits of the upper half is found by that.
            let least = if half == Half::Lower { Half::Upper.reach(*k) } else { 0 };
            let mut sought = sought.get(start..end).unwrap_or(&[]);
            start = end;
            let (mut column, mut are_further) = (&table.cells, false);
            let further = table.further.lines(std::iter::empty())?;
            loop {
                let all = column.lines(sought.iter().map(|s| s.line))?;
                let lines = Lines { all, further, are_further, sought, query: other, least, most };
                kernel.near_in_lines(lines, found);
                for &NearEntry { entry, message } in &found.entries {
                    // The line does not say how many of its entries there are; what stands in the
                    // place of one that is not is of another cell, so of another message.
                    if entry >= n {
                        continue;
                    }
                    let ordinal = u32_at(&table.ordinals, entry)?;
                    if ordinal >= n {
                        let offset = u64::from(entry) * 4;
                        return Err(table.ordinals.damaged(offset, "an ordinal beyond the end"));
                    }
                    finds.expect(ordinal);
                    let fingerprint = u64_at(fingerprints, ordinal)?;
                    if half.reports(fingerprint, *query, *k)
                        && hamming::nearest(half.cut(fingerprint).0) == message
                    {
                        finds.find(place, Candidate::new(ordinal, fingerprint, *query));
                    }
                }
                if found.onward.is_empty() {
                    break;
                }
                buffer.clear();
                buffer.extend(found.onward.iter().copied());
                (sought, column, are_further) = (&*buffer, &table.further, true);
            }
        }
        Ok(())
    }
}

impl<C: Column> Cells<C> {
    /// Checks that each table has every fingerprint, in its cell and in order.
    pub(super) fn check(&self, fingerprints: &C, n: u32) -> Result<(), C::Error> {
        for half in Half::ALL {
            let table = self.of(half);
            let mut entries = 0;
            let mut further = 0;
            for cell in 0..self.count {
                let (mut column, mut line, mut before) = (&table.cells, cell, None);
                loop {
                    let out_of_place =
                        || column.damaged(u64::from(line) * LINE_BYTES, "an entry out of place");
                    let all = column.lines(std::iter::once(line))?;
                    let Some(words) = all.get(line as usize) else { return Err(out_of_place()) };
                    let [.., before_last, last] = words;
                    let goes_on = last.get() & GOES_ON != 0;
                    if last.get() & !GOES_ON != entries {
                        return Err(out_of_place());
                    }
                    let capacity = if goes_on { FULL_ENTRIES } else { LINE_ENTRIES };
                    for word in words.iter().take(capacity as usize) {
                        if entries >= n {
                            break;
                        }
                        let ordinal = u32_at(&table.ordinals, entries)?;
                        if ordinal >= n {
                            return Err(out_of_place());
                        }
                        let (own, other) = half.cut(u64_at(fingerprints, ordinal)?);
                        if cell_of(hamming::nearest(own), self.count) != cell {
                            // The rest of the line is not its own.
                            break;
                        }
                        if other != word.get() || before >= Some(ordinal) {
                            return Err(out_of_place());
                        }
                        before = Some(ordinal);
                        entries += 1;
                    }
                    if !goes_on {
                        break;
                    }
                    if before_last.get() != further {
                        return Err(out_of_place());
                    }
                    (column, line) = (&table.further, further);
                    further += 1;
                }
            }
            if further as usize != table.further.lines(std::iter::empty())?.len() {
                return Err(table.further.damaged(0, "lines in which no cell goes on"));
            }
            if entries != n {
                return Err(table.ordinals.damaged(0, "cells without all fingerprints"));
            }
        }
        Ok(())
    }
}
