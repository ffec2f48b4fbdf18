//! Counting the entries of buckets.

use super::source::Source;
use crate::cpu::prefetch_value;
use crate::search::scratch::Scratch;

/// Entries between asking for a count and raising it: there are more counts than a cache holds, and
/// the next one is seldom near the last.
const AHEAD: usize = 32;

/// How many entries of a column each of `buckets` has, and a 0. `aim` says to which bucket a
/// fingerprint belongs; a bucket beyond the last is none of these.
#[expect(
    clippy::indexing_slicing,
    reason = "there is one more than there are buckets; a remainder"
)]
pub(super) fn count<E>(
    column: &Source<'_, E>,
    buckets: usize,
    aim: impl Fn(u64) -> u32,
) -> Result<Scratch<u32>, E> {
    // The extra 0 becomes the end of the last bucket in `turn_into_starts`.
    let mut all = Scratch::zeroed(buckets + 1);
    let counts: &mut [u32] = &mut all[..buckets];
    let mut asked = [u32::MAX; AHEAD];
    column.each(|ordinal, fingerprint| {
        let asked = &mut asked[ordinal as usize % AHEAD];
        // A ring of 32: prefetch the count of this entry, and raise
        // that of the entry 32 before it, which has arrived by now.
        let bucket = std::mem::replace(asked, aim(fingerprint));
        if let Some(count) = counts.get(*asked as usize) {
            prefetch_value(count);
        }
        raise(counts, bucket);
    })?;
    // The last 32. Slots that were never used hold `u32::MAX`, which is no bucket.
    asked.into_iter().for_each(|bucket| raise(counts, bucket));
    Ok(all)
}

/// Raises the count of a bucket, if it is one of these.
fn raise(counts: &mut [u32], bucket: u32) {
    if let Some(count) = counts.get_mut(bucket as usize) {
        *count += 1;
    }
}

/// Replaces each count by the sum of those before it.
pub(super) fn turn_into_starts(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        let start = sum;
        sum += *count;
        *count = start;
    }
}
