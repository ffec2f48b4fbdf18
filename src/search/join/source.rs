//! The source of the fingerprints to join.

use std::convert::Infallible;
use std::ops::Range;

/// Fingerprints that are numbered from 0 on, and can be read by several threads concurrently.
///
/// A slice of `u64` is a source. The join reads a source from start to end several times (see
/// [`Join::run`](super::Join::run)), in pieces of a few thousand fingerprints.
pub trait Source: Sync {
    /// The error of a read.
    type Error: Send;

    /// Returns the number of fingerprints, which must not change.
    fn len(&self) -> u32;

    /// Whether there are no fingerprints.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the fingerprints with these ordinals, which are below [`len`](Self::len): the
    /// source's own memory, if it has them as a slice, or `buffer`, which has the length of the
    /// range, filled with them. They must not change.
    ///
    /// # Errors
    ///
    /// If they cannot be read. The join ends with the first such error.
    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Self::Error>;
}

/// Fingerprints in memory, fewer than 2^32, which are read in place.
impl Source for [u64] {
    type Error = Infallible;

    #[expect(clippy::expect_used, reason = "a join is of fewer than 2^32 fingerprints")]
    fn len(&self) -> u32 {
        u32::try_from(<[u64]>::len(self)).expect("fewer than 2^32 fingerprints")
    }

    #[expect(clippy::indexing_slicing, reason = "ordinals below the length")]
    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        // Unused: a slice lends its own memory, so nothing is copied.
        _buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Infallible> {
        Ok(&self[ordinals.start as usize..ordinals.end as usize])
    }
}
