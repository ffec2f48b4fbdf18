//! Describes entries that are joined, and the pairs that are wanted.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::arena::EntryRun;
use super::dense_bucket::DenseTask;
use super::monitor::Monitor;
use super::pair_constraints::PairConstraints;

/// The description of the current entries.
#[derive(Clone, Copy)]
pub(super) struct JoinContext<'c> {
    pub(super) cut: &'c PairConstraints,
    /// If set, an entry represents all entries with its fingerprint. The represented entries are
    /// adjacent in this slice, and the ordinal of the entry is the index of the first of them.
    pub(super) equals: Option<&'c [(u64, u32)]>,
    /// If set, only entries before this index are compared with entries from this index on.
    pub(super) cross: Option<usize>,
    /// If set, only pairs with exactly one ordinal below this border are wanted. In every run
    /// entries are in order of their ordinals.
    pub(super) across: Option<u32>,
    /// The number of entries when their bits were last reordered; `equals` then has the original
    /// fingerprints.
    pub(super) reordered: usize,
}

impl JoinContext<'_> {
    /// Returns the number of entries on each side of the border, if there is one.
    pub(super) fn sides(&self, run: EntryRun<'_>) -> Option<(usize, usize)> {
        // Runs are in order of ordinals, because every sort is stable. So a binary search suffices.
        let left = self.across.map(|across| run.ordinals.partition_point(|of| *of < across))?;
        Some((left, run.len() - left))
    }

    /// Returns the entries with one fingerprint from this index on, on one side of a border; equal
    /// fingerprints are adjacent. `None` at the end.
    #[expect(clippy::indexing_slicing, reason = "places of entries, and no more than follow")]
    pub(super) fn same<'e>(
        &self,
        equals: &'e [(u64, u32)],
        place: u32,
    ) -> Option<&'e [(u64, u32)]> {
        // Copies on the two sides are kept apart, so that an entry represents copies of one side only.
        let side = self.across.filter(|across| place < *across);
        let end = side.map_or(equals.len(), |across| across as usize);
        let from = &equals[place as usize..end];
        let (first, _) = from.first()?;
        // The count is linear in the number of copies, and each copy is reported anyway.
        let copies = from.iter().take_while(|(word, _)| word == first).count();
        Some(&from[..copies])
    }
}

/// Sorts entries by side and fingerprint. Returns the index of the first entry beyond the border,
/// if there is one.
pub(super) fn sort_equals(equals: &mut [(u64, u32)], across: Option<u32>) -> Option<u32> {
    let Some(across) = across else {
        equals.sort_unstable();
        return None;
    };
    // The side comes first in the key. Indexes then increase with the side, as ordinals did before
    // the sort.
    equals.sort_unstable_by_key(|&(word, ordinal)| (ordinal >= across, word, ordinal));
    let first = equals.partition_point(|(_, ordinal)| *ordinal < across);
    #[expect(clippy::cast_possible_truncation, reason = "entries have ordinals of 32 bits")]
    let first = first as u32;
    Some(first)
}

/// Two near fingerprints.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simkeep::join::Join;
///
/// let fingerprints = [0b0000, 0xffff, 0b0111];
/// let _ = Join::within(3).run(&fingerprints[..], &(), |pairs| {
///     for pair in pairs {
///         assert_eq!((pair.left, pair.right, pair.distance), (0, 2, 3));
///         assert_eq!(pair.fingerprints, [0b0000, 0b0111]);
///     }
///     ControlFlow::Continue(())
/// })?;
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The smaller ordinal.
    pub left: u32,
    /// The larger ordinal.
    pub right: u32,
    /// The fingerprints with these ordinals.
    pub fingerprints: [u64; 2],
    /// The distance of the fingerprints in bits, 0 to 64.
    pub distance: u32,
}

/// A callback for the pairs of a join, with many pairs per call. `Break` ends the join.
pub(super) type PairSink<'s> = &'s (dyn Fn(&[Pair]) -> ControlFlow<()> + Sync);

/// The stop signal of a join for all its threads.
pub(super) struct StopSignal<'s> {
    pub(super) monitor: &'s dyn Monitor,
    pub(super) stopped: AtomicBool,
}

impl StopSignal<'_> {
    pub(super) fn stop(&self) {
        // Relaxed order is enough: no other memory depends on the flag, and a thread that sees it
        // late only does some extra work.
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) || self.monitor.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Entries of a bucket of the load, to be joined by one thread.
pub(super) struct WorkItem {
    /// The index of the bucket, counted from the first bucket of the load.
    pub(super) bucket: usize,
    pub(super) scope: JoinScope,
}

/// The entries of a bucket that are joined with each other.
pub(super) enum JoinScope {
    /// Entries in a range, by order of ordinals: the first range is joined with itself, or with the
    /// second range if it is not empty.
    Ranges([Range<usize>; 2]),
    /// A share of a dense bucket, with the index of the bucket.
    DenseTask(usize, DenseTask),
}

impl WorkItem {
    pub(super) fn entries(&self) -> usize {
        match &self.scope {
            JoinScope::Ranges([first, second]) => first.len() + second.len(),
            JoinScope::DenseTask(_, share) => share.entries,
        }
    }
}
