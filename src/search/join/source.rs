//! Where the fingerprints to join come from.

use std::convert::Infallible;
use std::ops::Range;

/// Fingerprints that are numbered from 0 on, and can be read by several threads at once.
///
/// A slice of `u64` is one. The join reads a source from start to end several times
/// ([`Join::run`](super::Join::run) says how often), in pieces of a few thousand fingerprints.
pub trait Source: Sync {
    /// What reading can fail with.
    type Error: Send;

    /// How many fingerprints there are. Always the same number.
    fn len(&self) -> u32;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fingerprints with these ordinals, which lie below [`len`](Self::len): either the
    /// source's own, if it has them side by side in memory, or `buffer`, which has the length of
    /// the range, filled with them. Always the same ones.
    ///
    /// # Errors
    ///
    /// They cannot be read. The join ends with the first such error.
    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Self::Error>;
}

/// Fingerprints in memory, fewer than 2^32, which are read where they are.
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
