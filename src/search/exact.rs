//! The lookup of one value in a canonical column, for tables that are only searched by equality.

use std::ops::Range;

use super::binomial::choose;
use super::column::{Column, u64_at};
use super::tables::Tables;

/// The number of guesses by interpolation. In a column of evenly spread values the third guess is a
/// few entries from the value.
const GUESSES: u32 = 3;

/// The number of entries in a cache line.
const LINE: u32 = 8;

impl<C: Column> Tables<C> {
    /// Returns the ordinal of a value, if the column contains it. Needs no tables.
    ///
    /// Cost: for evenly spread values, such as the beginnings of hashes, some three cache lines,
    /// however many there are. For values that somebody chose, at most twice the lines of a binary
    /// search.
    ///
    /// # Errors
    ///
    /// Returns an error if the column cannot be read.
    pub(crate) fn ordinal_of(&self, value: u64) -> Result<Option<u32>, C::Error> {
        let shard = self.shards.around(value.count_ones(), 0);
        let ordinal = lower_bound(&self.fingerprints, shard.clone(), value)?;
        let is_there = ordinal < shard.end && u64_at(&self.fingerprints, ordinal)? == value;
        Ok(is_there.then_some(ordinal))
    }
}

/// Returns the ordinal of the first entry of a shard that is not less than a value.
///
/// Entries before `range.start` are less than the value, and entries from `range.end` on are not.
fn lower_bound<C: Column>(column: &C, mut range: Range<u32>, value: u64) -> Result<u32, C::Error> {
    let rank = rank_of(value);
    let mut ranks = 0..choose(u64::BITS, value.count_ones());
    let mut last = None;
    for _ in 0..GUESSES {
        if range.end - range.start <= LINE {
            break;
        }
        let guess = interpolate(&range, &ranks, rank);
        let found = u64_at(column, guess)?;
        last = Some(guess);
        if found < value {
            range.start = guess + 1;
            ranks.start = rank_of(found);
        } else {
            range.end = guess;
            ranks.end = rank_of(found);
        }
    }
    if let Some(last) = last {
        gallop(column, &mut range, last, value)?;
    }
    while range.start < range.end {
        let middle = range.start.midpoint(range.end);
        if u64_at(column, middle)? < value {
            range.start = middle + 1;
        } else {
            range.end = middle;
        }
    }
    Ok(range.start)
}

/// Returns the ordinal of a value if the ranks of the entries were spread evenly: an entry of the
/// range, which must not be empty.
fn interpolate(range: &Range<u32>, ranks: &Range<u64>, rank: u64) -> u32 {
    let entries = range.end - range.start;
    // In damaged columns the ranks may be in the wrong order.
    let before = rank.saturating_sub(ranks.start);
    let all = ranks.end.saturating_sub(ranks.start).max(1);
    let expected = u128::from(before) * u128::from(entries) / u128::from(all);
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of entries")]
    let ahead = expected.min(u128::from(entries - 1)) as u32;
    range.start + ahead
}

/// The number of low bits that [`rank_of`] ignores. The bits above distinguish a hundred million
/// hashes.
const IGNORED_BITS: u32 = 28;

/// Returns the number of lesser values with the same number of ones, approximately.
///
/// Among random values with few ones, a bit is mostly 0, so their values are not spread evenly, at
/// no scale. Their ranks are: with guesses by rank a lookup among millions reads 3 lines, with
/// guesses by value 10. This is the combinatorial number system: a one at bit `i` comes after all
/// values that have the `k` remaining ones below it.
fn rank_of(value: u64) -> u64 {
    let mut ones = value.count_ones();
    let mut left = value >> IGNORED_BITS << IGNORED_BITS;
    let mut rank = 0;
    while left != 0 {
        let bit = left.ilog2();
        rank += choose(bit, ones);
        left ^= 1 << bit;
        ones -= 1;
    }
    rank
}

/// Narrows the range from the last guess on, in steps that double. The last guess is one of the two
/// ends, and the value is probably near it. Another guess would approach the value from the same
/// side, so it would not move the other end.
fn gallop<C: Column>(
    column: &C,
    range: &mut Range<u32>,
    last: u32,
    value: u64,
) -> Result<(), C::Error> {
    let mut step = LINE;
    let is_from_start = range.start > last;
    while range.end - range.start > step {
        let probe = if is_from_start { range.start + step } else { range.end - step };
        let is_less = u64_at(column, probe)? < value;
        if is_less {
            range.start = probe + 1;
        } else {
            range.end = probe;
        }
        if is_less != is_from_start {
            break;
        }
        step *= 2;
    }
    Ok(())
}
