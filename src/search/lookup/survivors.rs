//! Entries that are near as far as a table tells: their whole fingerprints are compared.

use arrayvec::ArrayVec;

use crate::search::candidate::{Candidate, Finds};
use crate::search::column::{Column, U32_BYTES, U64_BYTES, ordinal_at, u64_at};

/// Entries that are looked up together.
const SURVIVORS: usize = 32;

/// So few are likely near as a whole: what is kept of them elsewhere is asked for, too. Wide searches
/// have many, and most of them are not.
const FEW: usize = 8;

/// What is looked into.
pub(super) trait Ground {
    type Column: Column;
    /// What tells where an entry was found.
    type Place: Copy;

    /// The canonical column.
    fn fingerprints(&self) -> &Self::Column;

    /// How many fingerprints there are.
    fn len(&self) -> u32;

    /// The ordinals of the entries there.
    fn ordinals(&self, place: Self::Place) -> &Self::Column;

    /// Whether a fingerprint that was found there is near the query, and it is there that it is
    /// reported.
    fn reports(&self, place: Self::Place, found: u64, query: u64) -> bool;
}

/// An entry that is near as far as its table tells.
pub(super) struct Survivor<P> {
    pub(super) query: u64,
    /// The query's number among all.
    pub(super) number: usize,
    /// Where the entry was found.
    pub(super) place: P,
    /// Its number there, then its ordinal.
    pub(super) entry: u32,
}

/// Entries whose whole fingerprints are compared next.
pub(super) struct Survivors<'f, F, P> {
    entries: ArrayVec<Survivor<P>, SURVIVORS>,
    finds: &'f mut F,
}

impl<'f, F: Finds, P: Copy> Survivors<'f, F, P> {
    pub(super) fn new(finds: &'f mut F) -> Self {
        Self { entries: ArrayVec::new(), finds }
    }

    /// Adds an entry, and asks for its ordinal.
    pub(super) fn add<G: Ground<Place = P>>(
        &mut self,
        ground: &G,
        survivor: Survivor<P>,
    ) -> Result<(), Error<G>> {
        // The prefetch comes before `settle`, so that this
        // line arrives while the earlier entries are compared.
        ground.ordinals(survivor.place).expect(u64::from(survivor.entry) * U32_BYTES);
        if self.entries.is_full() {
            self.settle(ground)?;
        }
        self.entries.push(survivor);
        Ok(())
    }

    /// Hands over a fingerprint that is near, found in another way.
    pub(super) fn found(&mut self, number: usize, candidate: Candidate) {
        self.finds.find(number, candidate);
    }

    /// Compares them, and hands over those that are near.
    pub(super) fn settle<G: Ground<Place = P>>(&mut self, ground: &G) -> Result<(), Error<G>> {
        let column = ground.fingerprints();
        // Two passes: the first turns entries into ordinals and prefetches the fingerprints, the
        // second compares them. So the reads of all entries overlap.
        let few = self.entries.len() <= FEW;
        for Survivor { place, entry, .. } in &mut self.entries {
            let ordinal = ordinal_at(ground.ordinals(*place), *entry, ground.len())?;
            column.expect(u64::from(ordinal) * U64_BYTES);
            if few {
                self.finds.expect(ordinal);
            }
            // The slot is reused, so that a survivor stays small: from here on it holds the ordinal.
            *entry = ordinal;
        }
        for Survivor { query, number, place, entry: ordinal } in self.entries.drain(..) {
            let found = u64_at(column, ordinal)?;
            if ground.reports(place, found, query) {
                self.finds.find(number, Candidate::new(ordinal, found, query));
            }
        }
        Ok(())
    }
}

/// What reading the columns can fail with.
pub(super) type Error<G> = <<G as Ground>::Column as Column>::Error;
