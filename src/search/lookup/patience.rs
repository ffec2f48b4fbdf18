//! How much the queries on their way may spend where entries crowd in buckets.

/// Queries on their way at the same time, at most.
const QUERIES: usize = 64;

/// Entries that are compared as far as a table tells in the time in which one is looked up.
const COMPARED: usize = 256;

/// What each query has spent, and which of them spent more than they may: those are *crowded*, and what
/// was handed over of them is not all.
///
/// A query spends what it does on entries that are near as far as a table tells, where there should be
/// few. Whether that is too much does not depend on the order of its probes, nor on others.
pub(in crate::search) struct Patience {
    each: usize,
    spent: Vec<(usize, usize)>,
    crowded: Vec<usize>,
}

impl Patience {
    /// Every query may spend so much: the time in which so many entries are looked up.
    #[inline]
    pub(in crate::search) fn of(each: usize) -> Self {
        Self { each, spent: Vec::new(), crowded: Vec::new() }
    }

    /// Every query may spend whatever it takes.
    #[inline]
    pub(in crate::search) fn endless() -> Self {
        Self::of(usize::MAX)
    }

    /// Whether it is.
    pub(super) fn is_endless(&self) -> bool {
        self.each == usize::MAX
    }

    /// A query compares entries, some of which are near as far as the table tells. Whether these may be
    /// looked up.
    #[inline]
    pub(super) fn spend(&mut self, number: usize, compared: usize, near: usize) -> bool {
        // In most calls nothing is near and little is compared: they return without touching the list.
        let spent = near + compared / COMPARED;
        self.is_endless() || spent == 0 || self.note(number, spent)
    }

    #[expect(clippy::indexing_slicing, reason = "where it was found, or pushed")]
    fn note(&mut self, number: usize, spent: usize) -> bool {
        // Queries in flight are the latest ones, so the search from the end
        // finds them within a few steps. At most 48 are in flight (three
        // rounds of 16 probes), so dropping the oldest 64 loses none.
        let at = self.spent.iter().rposition(|(other, _)| *other == number).unwrap_or_else(|| {
            if self.spent.len() == 2 * QUERIES {
                self.spent.drain(..QUERIES);
            }
            self.spent.push((number, 0));
            self.spent.len() - 1
        });
        let (_, total) = &mut self.spent[at];
        let before = *total;
        *total = before.saturating_add(spent);
        // Only the crossing is recorded, so each query appears once in `crowded`.
        if before <= self.each && *total > self.each {
            self.crowded.push(number);
        }
        *total <= self.each
    }

    /// Whether some query has spent more than it may.
    #[inline]
    pub(super) fn is_over_for_some(&self) -> bool {
        !self.crowded.is_empty()
    }

    /// Whether a query on its way has spent more than it may: nothing more of it needs to be looked at.
    #[inline]
    pub(super) fn is_over(&self, number: usize) -> bool {
        // The first test is one comparison, and is false for nearly all batches.
        self.is_over_for_some()
            && self.spent.iter().rev().any(|(other, spent)| *other == number && *spent > self.each)
    }

    /// The queries that are crowded.
    #[inline]
    pub(in crate::search) fn take_crowded(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.crowded)
    }
}
