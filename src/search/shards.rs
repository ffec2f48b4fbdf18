//! The canonical order of fingerprints, and the start of each popcount in this order.

use std::ops::Range;

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, IntoBytes};

use super::column::Column;

/// The bits of a fingerprint, and the largest distance.
pub const DISTANCE_MAX: u32 = u64::BITS;

/// The entries of a shards column: the start of each popcount 0..=64, then the number of
/// fingerprints.
const STARTS: usize = 66;

/// The bytes of a shards column, as a length of arrays.
const LENGTH: usize = STARTS * size_of::<U32>();

/// Returns the sort key of the canonical order: the popcount first, then the value.
///
/// Fingerprints within distance k differ by at most k in popcount (each differing bit changes it by
/// one), so all fingerprints near a fingerprint lie in one contiguous run.
#[must_use]
pub fn canonical_key(fingerprint: u64) -> (u32, u64) {
    (fingerprint.count_ones(), fingerprint)
}

/// Counts fingerprints by popcount, to find the start of each shard.
#[derive(Clone, Debug)]
pub struct PopcountHistogram {
    /// The number of fingerprints of each popcount.
    counts: [u32; STARTS - 1],
}

impl Default for PopcountHistogram {
    fn default() -> Self {
        Self { counts: [0; STARTS - 1] }
    }
}

impl PopcountHistogram {
    /// Counts a fingerprint. Fingerprints may come in any order; there must be fewer than 2^32.
    #[expect(clippy::indexing_slicing, reason = "there is a count for each popcount up to 64")]
    pub fn add(&mut self, fingerprint: u64) {
        self.counts[fingerprint.count_ones() as usize] += 1;
    }

    /// Returns the shards of a canonical column of the counted fingerprints.
    #[must_use]
    pub fn shards(&self) -> Shards {
        let mut starts = [0; STARTS];
        let mut next = 0;
        for (start, count) in starts.iter_mut().skip(1).zip(self.counts) {
            // Fewer than 2^32 were added, so the sum fits.
            // The counts themselves cannot overflow either.
            next += count;
            *start = next;
        }
        Shards { starts }
    }
}

/// The start of each popcount in a canonical column: 264 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// The first ordinal of each popcount 0..=64, then the number of fingerprints; nondecreasing.
    starts: [u32; STARTS],
}

impl Shards {
    /// The bytes of a shards column.
    pub const BYTES: u64 = LENGTH as u64;

    /// Reads a shards column, and checks that its numbers start at 0 and are nondecreasing.
    ///
    /// # Errors
    ///
    /// Returns an error if the column cannot be read or is invalid.
    pub fn read<C: Column>(column: &C) -> Result<Self, C::Error> {
        let bytes = column.bytes(0..Self::BYTES)?;
        let Ok(entries) = <[U32; STARTS]>::ref_from_bytes(bytes) else {
            return Err(column.damaged(0, "its list of shards has another length than expected"));
        };
        let mut starts = [0; STARTS];
        let mut before = 0;
        for ((offset, start), entry) in (0..).step_by(4).zip(&mut starts).zip(entries) {
            *start = entry.get();
            // `around` subtracts starts and slices by them. The starts are checked here once, so
            // its ranges are never reversed.
            if *start < before || (offset == 0 && *start != 0) {
                return Err(
                    column.damaged(offset, "a shard begins before the start of the previous shard")
                );
            }
            before = *start;
        }
        Ok(Self { starts })
    }

    /// Returns the stored form of the column: 66 little-endian `u32`.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let entries = self.starts.map(U32::new);
        bytes.copy_from_slice(entries.as_bytes());
        bytes
    }

    /// Returns the number of fingerprints in the column.
    #[must_use]
    pub fn fingerprints(&self) -> u32 {
        let [.., n] = self.starts;
        n
    }

    /// Returns the ordinals of all fingerprints whose popcount differs from `popcount` by at most
    /// `k`. Only these fingerprints can lie within distance `k` of a fingerprint with that
    /// popcount.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "popcounts are 64 at most, and there are 66 starts"
    )]
    pub fn around(&self, popcount: u32, k: u32) -> Range<u32> {
        // Clamped to 64: `last + 1` is then at most 65, the index of the number of fingerprints.
        let first = popcount.saturating_sub(k).min(DISTANCE_MAX);
        let last = popcount.saturating_add(k).min(DISTANCE_MAX);
        self.starts[first as usize]..self.starts[last as usize + 1]
    }
}
