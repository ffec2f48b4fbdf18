//! The lookup of one value in a canonical column, for tables that are only searched by equality.

use std::ops::Range;

use super::column::{Column, u64_at};
use super::tables::Tables;

/// The number of guesses by interpolation. In a column of evenly spread values the third guess is a
/// few entries from the place.
const GUESSES: u32 = 3;

/// The number of entries in a cache line.
const LINE: u32 = 8;

impl<C: Column> Tables<C> {
    /// Returns the ordinal of a value, if the column contains it. Needs no tables.
    ///
    /// Cost: for evenly spread values, such as the beginnings of hashes, some five cache lines,
    /// however many there are. For values that somebody chose, at most twice the lines of a binary
    /// search.
    ///
    /// # Errors
    ///
    /// Returns an error if the column cannot be read.
    pub(crate) fn ordinal_of(&self, value: u64) -> Result<Option<u32>, C::Error> {
        let shard = self.shards.around(value.count_ones(), 0);
        let place = place_of(&self.fingerprints, shard.clone(), value)?;
        let is_there = place < shard.end && u64_at(&self.fingerprints, place)? == value;
        Ok(is_there.then_some(place))
    }
}

/// Returns the place of the first entry of a shard that is not less than a value.
///
/// Entries before `range.start` are less than the value, and entries from `range.end` on are not.
fn place_of<C: Column>(column: &C, mut range: Range<u32>, value: u64) -> Result<u32, C::Error> {
    let ones = value.count_ones();
    // The least and the greatest value with this popcount.
    let least = 1_u64.checked_shl(ones).map_or(u64::MAX, |bit| bit - 1);
    let mut values = least..least.rotate_right(ones);
    let mut last = None;
    for _ in 0..GUESSES {
        if range.end - range.start <= LINE {
            break;
        }
        let guess = interpolate(&range, &values, value);
        let found = u64_at(column, guess)?;
        last = Some(guess);
        if found < value {
            range.start = guess + 1;
            values.start = found;
        } else {
            range.end = guess;
            values.end = found;
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

/// Returns the place of a value if the entries of the range were spread evenly between two values:
/// an entry of the range, which must not be empty.
fn interpolate(range: &Range<u32>, values: &Range<u64>, value: u64) -> u32 {
    let entries = range.end - range.start;
    let (before, all) = (value.saturating_sub(values.start), values.end - values.start);
    // In damaged columns the two values may be equal, or in the wrong order.
    let share = u128::from(before) * u128::from(entries) / u128::from(all.max(1));
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of entries")]
    let ahead = share.min(u128::from(entries - 1)) as u32;
    range.start + ahead
}

/// Narrows the range from the last guess on, in steps that double. The last guess is one of the two
/// ends, and the place is probably near it. Another guess would approach the place from the same
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
