//! Work in stages.

/// Three lots of work that are on their way together: while one is filled, the one before it goes on,
/// and the one before that is finished.
pub(super) struct Wheel<S> {
    lots: [S; LOTS],
    /// The one that is being filled; the next one is the oldest.
    filled: usize,
}

const LOTS: usize = 3;

impl<S> Wheel<S> {
    /// Turns after which everything that was filled is finished.
    pub(super) const TURNS: usize = LOTS;

    /// Not of copies: they would be made with all that is not in them yet.
    #[inline]
    pub(super) fn new(make: impl Fn() -> S) -> Self {
        Self { lots: [make(), make(), make()], filled: 0 }
    }

    /// The lot that is being filled.
    #[inline]
    pub(super) fn filled(&mut self) -> &mut S {
        #[expect(clippy::indexing_slicing, reason = "never beyond the last")]
        &mut self.lots[self.filled]
    }

    /// Turns on: the lot that was filled waits, the one before it goes on, and the one before that
    /// is finished, to be filled next.
    #[inline]
    pub(super) fn turn(&mut self) -> (&mut S, &mut S) {
        let [first, second, third] = &mut self.lots;
        // Destructuring and constant indices give two disjoint `&mut` without bounds checks. The
        // finished slot is empty by now and becomes the next to fill.
        let (going_on, finished, next) = match self.filled {
            0 => (third, second, 1),
            1 => (first, third, 2),
            _ => (second, first, 0),
        };
        self.filled = next;
        (going_on, finished)
    }
}
