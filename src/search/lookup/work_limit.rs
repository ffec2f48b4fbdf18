//! The work limit of queries in flight, for dense buckets.

/// The maximum number of queries in flight.
const QUERIES: usize = 64;

/// The number of entries whose stored bits are compared in the time of one look-up.
const COMPARED: usize = 256;

/// The work spent by each query, and the queries over the limit, whose results are incomplete.
///
/// The work counts entries whose stored bits are near, which should be few. Whether a query exceeds
/// the limit does not depend on the order of its probes, or on other queries.
pub(in crate::search) struct WorkLimit {
    each: usize,
    spent: Vec<(usize, usize)>,
    over_limit: Vec<usize>,
}

impl WorkLimit {
    /// Creates a limit: each query may take the time of `each` look-ups.
    #[inline]
    pub(in crate::search) fn of(each: usize) -> Self {
        Self { each, spent: Vec::new(), over_limit: Vec::new() }
    }

    /// Creates a work limit that no query exceeds.
    #[inline]
    pub(in crate::search) fn endless() -> Self {
        Self::of(usize::MAX)
    }

    /// Whether there is no limit.
    pub(super) fn is_endless(&self) -> bool {
        self.each == usize::MAX
    }

    /// Adds work of a query: compared entries, and entries whose stored bits are near. Returns
    /// whether the near entries may be looked up.
    #[inline]
    pub(super) fn spend(&mut self, number: usize, compared: usize, near: usize) -> bool {
        // In most calls no entry is near and few are compared. Such calls return without touching
        // the list.
        let spent = near + compared / COMPARED;
        self.is_endless() || spent == 0 || self.note(number, spent)
    }

    #[expect(clippy::indexing_slicing, reason = "the index at which the entry was found or pushed")]
    fn note(&mut self, number: usize, spent: usize) -> bool {
        // Queries in flight are the latest in the list, so the search from the end finds them
        // within a few steps. At most 48 queries are in flight (three rounds of 16 probes), so
        // dropping all but the latest 64 loses none of them.
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
        // A query is recorded only when it crosses the limit, so each query appears once in
        // `over_limit`.
        if before <= self.each && *total > self.each {
            self.over_limit.push(number);
        }
        *total <= self.each
    }

    /// Whether some query exceeded the limit.
    #[inline]
    pub(super) fn is_over_for_some(&self) -> bool {
        !self.over_limit.is_empty()
    }

    /// Whether a query in flight exceeded the limit, so that the rest of it can be skipped.
    #[inline]
    pub(super) fn is_over(&self, number: usize) -> bool {
        // The first test is a single comparison, and is false for nearly all batches.
        self.is_over_for_some()
            && self.spent.iter().rev().any(|(other, spent)| *other == number && *spent > self.each)
    }

    /// Returns the queries over the limit.
    #[inline]
    pub(in crate::search) fn take_over_limit(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.over_limit)
    }
}
