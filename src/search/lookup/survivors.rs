//! Compares the whole fingerprints of entries whose stored bits are near.

use arrayvec::ArrayVec;

use crate::search::candidate::{Candidate, HitSink};
use crate::search::column::{Column, U32_BYTES, U64_BYTES, ordinal_at, u64_at};

/// The number of entries that are looked up together.
const SURVIVORS: usize = 32;

/// Up to this many entries probably match as a whole, so the consumer's data for them is
/// prefetched, too. Wide searches have more entries, most of which do not match.
const FEW: usize = 8;

/// The tables to search.
pub(super) trait LookupContext {
    type Column: Column;
    /// The location of an entry.
    type Place: Copy;

    /// Returns the canonical column.
    fn fingerprints(&self) -> &Self::Column;

    /// Returns the number of fingerprints.
    fn len(&self) -> u32;

    /// Returns the ordinals of the entries at a location.
    fn ordinals(&self, place: Self::Place) -> &Self::Column;

    /// Whether a fingerprint found at this location is near the query, and is reported from this
    /// location.
    fn reports(&self, place: Self::Place, found: u64, query: u64) -> bool;
}

/// An entry whose stored bits are near.
pub(super) struct Survivor<P> {
    pub(super) query: u64,
    /// The index of the query.
    pub(super) number: usize,
    /// The location of the entry.
    pub(super) place: P,
    /// The number of the entry in the table; later its ordinal.
    pub(super) entry: u32,
}

/// Entries whose whole fingerprints are compared next.
pub(super) struct Survivors<'f, P> {
    entries: ArrayVec<Survivor<P>, SURVIVORS>,
    // The consumer is not generic, so that the search is compiled once for all callers. The
    // consumer is called for few candidates.
    finds: &'f mut dyn HitSink,
}

impl<'f, P: Copy> Survivors<'f, P> {
    pub(super) fn new(finds: &'f mut dyn HitSink) -> Self {
        Self { entries: ArrayVec::new(), finds }
    }

    /// Adds an entry, and prefetches its ordinal.
    pub(super) fn add<G: LookupContext<Place = P>>(
        &mut self,
        ground: &G,
        survivor: Survivor<P>,
    ) -> Result<(), ContextError<G>> {
        // The prefetch comes before `settle`, so that the line with the ordinal arrives while the
        // earlier entries are compared.
        ground.ordinals(survivor.place).prefetch(u64::from(survivor.entry) * U32_BYTES);
        if self.entries.is_full() {
            self.settle(ground)?;
        }
        self.entries.push(survivor);
        Ok(())
    }

    /// Passes on a near fingerprint that was found in another way.
    pub(super) fn found(&mut self, number: usize, candidate: Candidate) {
        self.finds.hit(number, candidate);
    }

    /// Compares the whole fingerprints of the entries, and passes on the near fingerprints.
    pub(super) fn settle<G: LookupContext<Place = P>>(
        &mut self,
        ground: &G,
    ) -> Result<(), ContextError<G>> {
        let column = ground.fingerprints();
        // There are two passes: the first turns entries into ordinals and prefetches the
        // fingerprints, and the second compares the fingerprints. So the reads of all entries
        // overlap.
        let few = self.entries.len() <= FEW;
        for Survivor { place, entry, .. } in &mut self.entries {
            let ordinal = ordinal_at(ground.ordinals(*place), *entry, ground.len())?;
            column.prefetch(u64::from(ordinal) * U64_BYTES);
            if few {
                self.finds.prefetch(ordinal);
            }
            // The field is reused for the ordinal, so that a survivor stays small.
            *entry = ordinal;
        }
        for Survivor { query, number, place, entry: ordinal } in self.entries.drain(..) {
            let found = u64_at(column, ordinal)?;
            if ground.reports(place, found, query) {
                self.finds.hit(number, Candidate::new(ordinal, found, query));
            }
        }
        Ok(())
    }
}

/// The error of reading the columns.
pub(super) type ContextError<G> = <<G as LookupContext>::Column as Column>::Error;
