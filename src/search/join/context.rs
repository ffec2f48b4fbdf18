//! What is known of entries that are joined, and which of them are wanted with which.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use super::crowd::Share;
use super::cut::Cut;
use super::monitor::Monitor;
use super::room::Run;

/// What the entries at hand are.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) cut: &'c Cut,
    /// If set, an entry stands for all with its fingerprint. They lie side by side here, and the
    /// entry has the place of the first of them for an ordinal.
    pub(super) equals: Option<&'c [(u64, u32)]>,
    /// Entries from this one on are not compared with each other.
    pub(super) cross: Option<usize>,
    /// If set, only pairs are wanted of which one has an ordinal below this one, and the other has not.
    /// In every run entries are in order of their ordinals.
    pub(super) across: Option<u32>,
    /// How many entries there were when their bits were last put into another order. Then `equals` tells
    /// the fingerprints as they were.
    pub(super) reordered: usize,
}

impl Context<'_> {
    /// How many entries of a run lie on each side, if only pairs across are wanted.
    pub(super) fn sides(&self, run: Run<'_>) -> Option<(usize, usize)> {
        // Runs are in order of ordinals, because every sort
        // on the way is stable. So a binary search suffices.
        let left = self.across.map(|across| run.ordinals.partition_point(|of| *of < across))?;
        Some((left, run.len() - left))
    }

    /// The entries with one fingerprint from this place on, where equal ones lie side by side; of two
    /// sides, those of one. None at the end.
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
        // Linear in the copies, each of which is reported anyway.
        let copies = from.iter().take_while(|(word, _)| word == first).count();
        Some(&from[..copies])
    }
}

/// Sorts entries by side and fingerprint. Returns the place of the first on the other side, if only
/// pairs across are wanted.
pub(super) fn sort_equals(equals: &mut [(u64, u32)], across: Option<u32>) -> Option<u32> {
    let Some(across) = across else {
        equals.sort_unstable();
        return None;
    };
    // The side comes first in the key. Places then rise with the side, as ordinals did before.
    equals.sort_unstable_by_key(|&(word, ordinal)| (ordinal >= across, word, ordinal));
    let first = equals.partition_point(|(_, ordinal)| *ordinal < across);
    #[expect(clippy::cast_possible_truncation, reason = "entries have ordinals of 32 bits")]
    let first = first as u32;
    Some(first)
}

/// Two fingerprints that are near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The smaller ordinal.
    pub left: u32,
    /// The larger ordinal.
    pub right: u32,
    /// The fingerprints with these ordinals.
    pub fingerprints: [u64; 2],
    /// In how many bits the two differ, 0 to 64.
    pub distance: u32,
}

/// What ends a join early, and is seen by all its threads.
pub(super) struct Stop<'s> {
    pub(super) monitor: &'s dyn Monitor,
    pub(super) stopped: AtomicBool,
}

impl Stop<'_> {
    pub(super) fn stop(&self) {
        // Relaxed is enough: the flag orders nothing, and a
        // thread that sees it late only does some work more.
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
pub(super) struct Item {
    /// The bucket, counted from the load's first.
    pub(super) bucket: usize,
    pub(super) what: What,
}

/// Which of the entries of a bucket are joined with which.
pub(super) enum What {
    /// Some, in order of their ordinals, with each other; or if there are second ones, with these only.
    Ranges([Range<usize>; 2]),
    /// A share of a crowd, by the crowd's place.
    Share(usize, Share),
}

impl Item {
    pub(super) fn entries(&self) -> usize {
        match &self.what {
            What::Ranges([first, second]) => first.len() + second.len(),
            What::Share(_, share) => share.entries,
        }
    }
}
