//! The lookup of one value in a canonical column, for tables that are only searched by equality.

use std::ops::Range;

use super::binomial::choose;
use super::column::{Column, U64_BYTES, u64_at, u64s};
use super::guess_offsets::GuessOffsets;
use super::tables::Tables;

/// The number of entries in a cache line.
const LINE: u32 = 8;

/// The lines around a guess that are prefetched, in entries. In a column of evenly spread values
/// they nearly always contain the value: if not around the first guess, then around the second.
const AROUND: [i32; 7] = [-24, -16, -8, 0, 8, 16, 24];
/// The number of entries from a guess to the last prefetched line on either side.
const REACH: u32 = 24;

impl<C: Column> Tables<C> {
    /// Returns the ordinal of a value, if the column contains it. Needs no tables.
    ///
    /// Cost: for evenly spread values, such as the beginnings of hashes, one or two waits for memory,
    /// however many there are: for some adjacent lines, and, where no lookup has been nearby, for
    /// other adjacent lines. For values that somebody chose, at most 18 lines more than twice the
    /// lines of a binary search.
    ///
    /// # Errors
    ///
    /// Returns an error if the column cannot be read.
    pub(crate) fn ordinal_of(
        &self,
        value: u64,
        offsets: &GuessOffsets,
    ) -> Result<Option<u32>, C::Error> {
        let shard = self.shards.around(value.count_ones(), 0);
        let ordinal = lower_bound(&self.fingerprints, shard.clone(), value, offsets)?;
        let is_there = ordinal < shard.end && u64_at(&self.fingerprints, ordinal)? == value;
        Ok(is_there.then_some(ordinal))
    }
}

/// Returns the ordinal of the first entry of a shard that is not less than a value.
///
/// Entries before `range.start` are less than the value, and entries from `range.end` on are not.
fn lower_bound<C: Column>(
    column: &C,
    mut range: Range<u32>,
    value: u64,
    offsets: &GuessOffsets,
) -> Result<u32, C::Error> {
    let mut expected = None;
    if range.end - range.start > LINE {
        let shard = EvenShard::new(&range, value.count_ones());
        let ranks = rank_below(value, u64::BITS, FIRST_BITS);
        let place = range.start.saturating_add(shard.entries(ranks));
        expected = Some(place);
        let first = place.saturating_add_signed(offsets.at(place));
        if let Some(last) = guess_from(column, &mut range, first, value, &shard)? {
            gallop(column, &mut range, last, value)?;
        }
    }
    while range.end - range.start > LINE {
        let middle = range.start.midpoint(range.end);
        if u64_at(column, middle)? < value {
            range.start = middle + 1;
        } else {
            range.end = middle;
        }
    }
    let less = u64s(column, range.clone())?.iter().filter(|entry| entry.get() < value).count();
    #[expect(clippy::cast_possible_truncation, reason = "at most a line of entries")]
    let bound = range.start + less as u32;
    if let Some(place) = expected {
        offsets.learn(place, bound);
    }
    Ok(bound)
}

/// Narrows the range by a guess, and by a second guess if the value is not around the first.
/// Returns the place of the last entry read, unless the value is around a guess.
fn guess_from<C: Column>(
    column: &C,
    range: &mut Range<u32>,
    first: u32,
    value: u64,
    shard: &EvenShard,
) -> Result<Option<u32>, C::Error> {
    let (mut place, mut last) = (first, None);
    for _ in 0..2 {
        prefetch_around(column, place);
        let guess = Guess::read(column, range, place, value)?;
        if range.end - range.start <= LINE {
            return Ok(None);
        }
        // The last prefetched line on the side of the value.
        let edge = Guess::read(column, range, guess.towards(value, REACH), value)?;
        if (edge.found < value) != (guess.found < value) || range.end - range.start <= LINE {
            return Ok(None);
        }
        place = edge.towards(value, shard.entries(ranks_between(edge.found, value)));
        last = Some(edge.place);
    }
    Ok(last)
}

/// Prefetches the lines around a guess, which come while the guess itself is read.
fn prefetch_around<C: Column>(column: &C, guess: u32) {
    for around in AROUND {
        column.prefetch(U64_BYTES * u64::from(guess.saturating_add_signed(around)));
    }
}

/// An entry at which a value may be.
struct Guess {
    place: u32,
    found: u64,
}

impl Guess {
    /// Reads the entry, and narrows the range, which must not be empty.
    fn read<C: Column>(
        column: &C,
        range: &mut Range<u32>,
        place: u32,
        value: u64,
    ) -> Result<Guess, C::Error> {
        // In damaged columns, and in columns of chosen values, the expected place may be anywhere.
        let place = place.clamp(range.start, range.end - 1);
        let found = u64_at(column, place)?;
        if found < value {
            range.start = place + 1;
        } else {
            range.end = place;
        }
        Ok(Guess { place, found })
    }

    /// Returns the place that is a number of entries from this one, on the side of the value.
    fn towards(&self, value: u64, entries: u32) -> u32 {
        match self.found < value {
            true => self.place.saturating_add(entries),
            false => self.place.saturating_sub(entries),
        }
    }
}

/// The entries of a shard, if they were spread evenly over the ranks of all values with its number
/// of ones.
struct EvenShard {
    entries_per_rank: f64,
}

impl EvenShard {
    fn new(range: &Range<u32>, ones: u32) -> EvenShard {
        let entries = f64::from(range.end - range.start);
        EvenShard { entries_per_rank: entries / choose(u64::BITS, ones) as f64 }
    }

    /// Returns the expected number of entries with consecutive ranks.
    #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
    fn entries(&self, ranks: u64) -> u32 {
        (ranks as f64 * self.entries_per_rank) as u32
    }
}

/// The number of high bits that decide the first guess. It is some hundred entries from its value
/// among millions, so more bits would not improve it.
const FIRST_BITS: u32 = 24;

/// The number of high bits that decide the distance of a guess from the value.
const NEXT_BITS: u32 = 11;

/// Returns the number of lesser values of `bits` bits with the same number of ones, for the low bits
/// of a value. Only the highest `counted` bits count.
///
/// Among random values with few ones, a bit is mostly 0, so their values are not spread evenly, at
/// no scale. Their ranks are: among millions the second guess by rank is some tens of entries
/// away, and guesses by value take ten lines. This is the combinatorial number system: a one at
/// bit `i` comes after all values that have the `k` remaining ones below it.
fn rank_below(value: u64, bits: u32, counted: u32) -> u64 {
    let low = value & u64::MAX.unbounded_shr(u64::BITS - bits);
    let mut ones = low.count_ones();
    let mut rank = 0;
    // Without a branch for each bit, which nobody could predict.
    for bit in (bits.saturating_sub(counted)..bits).rev() {
        let is_one = low >> bit & 1;
        rank += choose(bit, ones) * is_one;
        ones -= u32::from(is_one == 1);
    }
    rank
}

/// Returns the difference of the ranks of two values with the same number of ones, approximately.
fn ranks_between(one: u64, other: u64) -> u64 {
    // Equal bits above contribute equally.
    let bits = u64::BITS - (one ^ other).leading_zeros();
    let [one, other] = [one, other].map(|value| rank_below(value, bits, NEXT_BITS));
    one.abs_diff(other)
}

/// Narrows the range from the last guess on, in steps that double. The last guess is at one of the
/// two ends, and the value is probably near it. Another guess would approach the value from the
/// same side, so it would not move the other end.
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
