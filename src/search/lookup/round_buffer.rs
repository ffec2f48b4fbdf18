//! A buffer for work in three stages.

/// Three batches of work are in flight: while one batch is filled, the previous batch advances, and
/// the batch before that is finished.
pub(super) struct RoundBuffer<S> {
    batches: [S; BATCHES],
    /// The batch that is being filled; the next batch is the oldest.
    filled: usize,
}

const BATCHES: usize = 3;

impl<S> RoundBuffer<S> {
    /// The number of turns after which every filled batch is finished.
    pub(super) const TURNS: usize = BATCHES;

    /// Calls `make` for each batch, since cloning a batch would copy its unused storage.
    #[inline]
    pub(super) fn new(make: impl Fn() -> S) -> Self {
        Self { batches: [make(), make(), make()], filled: 0 }
    }

    /// Returns the batch that is being filled.
    #[inline]
    pub(super) fn filled(&mut self) -> &mut S {
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is at most the index of the last element"
        )]
        &mut self.batches[self.filled]
    }

    /// Advances the buffer. The filled batch waits for its cache lines. Returns the previous batch,
    /// which the caller advances, and the batch before that, which the caller finishes and then
    /// fills.
    #[inline]
    pub(super) fn turn(&mut self) -> (&mut S, &mut S) {
        let [first, second, third] = &mut self.batches;
        // Destructuring and constant indices give two disjoint `&mut` without bounds checks. The
        // slot of the finished batch is filled next.
        let (going_on, finished, next) = match self.filled {
            0 => (third, second, 1),
            1 => (first, third, 2),
            _ => (second, first, 0),
        };
        self.filled = next;
        (going_on, finished)
    }
}
