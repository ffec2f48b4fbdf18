//! The source of the fingerprints to join.

use std::convert::Infallible;
use std::ops::Range;

use crate::sync::Mutex;

/// Fingerprints that are numbered from 0 on, and can be read by several threads concurrently.
///
/// A slice of `u64` is a source. The join reads a source from start to end several times (see
/// [`Join::run`](super::Join::run)), in pieces of a few thousand fingerprints.
///
/// ```
/// use std::ops::{ControlFlow, Range};
///
/// use simkeep::join::{Join, Source};
///
/// /// Fingerprints that are computed when they are read.
/// struct Multiples(u64);
///
/// impl Source for Multiples {
///     type Error = std::io::Error;
///
///     fn len(&self) -> u32 {
///         1_000
///     }
///
///     fn read<'a>(&'a self, of: Range<u32>, buffer: &'a mut [u64]) -> std::io::Result<&'a [u64]> {
///         for (to, ordinal) in buffer.iter_mut().zip(of) {
///             *to = self.0.wrapping_mul(ordinal.into());
///         }
///         Ok(buffer)
///     }
/// }
///
/// let end = Join::within(3).run(&Multiples(1 << 54), &(), |pairs| {
///     assert!(pairs.iter().all(|pair| pair.distance <= 3));
///     ControlFlow::Continue(())
/// })?;
/// assert!(end.is_continue());
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Source: Sync {
    /// The error of a read.
    type Error: Send;

    /// Returns the number of fingerprints, which must not change.
    fn len(&self) -> u32;

    /// Whether there are no fingerprints.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the fingerprints with these ordinals, which are below [`len`](Self::len). A source
    /// that has the fingerprints as a slice returns its own memory. Other sources fill `buffer`,
    /// which has the length of the range, and return it. The fingerprints must not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the fingerprints cannot be read. The join ends with the first error.
    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Self::Error>;
}

/// A source without its types, so that the join is compiled once for all kinds of sources.
pub(super) trait DynSource: Sync {
    /// Returns the number of fingerprints.
    fn len(&self) -> u32;

    /// Returns the fingerprints with these ordinals. See [`Source::read`].
    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Unreadable>;
}

/// Marks that reading the source failed. The [`SourceAdapter`] of the source has the error.
#[derive(Debug)]
pub(super) struct Unreadable;

/// A source and its first error.
pub(super) struct SourceAdapter<'s, S: Source + ?Sized> {
    source: &'s S,
    error: Mutex<Option<S::Error>>,
}

impl<'s, S: Source + ?Sized> SourceAdapter<'s, S> {
    pub(super) fn new(source: &'s S) -> Self {
        Self { source, error: Mutex::new(None) }
    }

    /// Returns the first error. Panics if no read has failed.
    #[expect(clippy::expect_used, reason = "`read` keeps the error before it fails")]
    pub(super) fn into_error(self) -> S::Error {
        self.error.into_inner().expect("a read has failed")
    }
}

impl<S: Source + ?Sized> DynSource for SourceAdapter<'_, S> {
    fn len(&self) -> u32 {
        self.source.len()
    }

    fn read<'a>(
        &'a self,
        ordinals: Range<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Unreadable> {
        self.source.read(ordinals, buffer).map_err(|error| {
            self.error.lock().get_or_insert(error);
            Unreadable
        })
    }
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
        // The buffer is unused: a slice returns its own memory, so nothing is copied.
        _buffer: &'a mut [u64],
    ) -> Result<&'a [u64], Infallible> {
        Ok(&self[ordinals.start as usize..ordinals.end as usize])
    }
}
