//! A single query that probes only its own buckets.

use arrayvec::ArrayVec;

use super::rotations::{NearCounter, PreparedProbe, ProbeRound, RotationContext, ask_for_rest};
use super::survivors::Survivors;
use super::work_limit::WorkLimit;
use crate::search::candidate::HitSink;
use crate::search::column::Column;
use crate::search::kernel::{BlockRun, NearBlock, SearchKernel};
use crate::search::probe::{BLOCKS, FingerprintBlock, Probe};

/// A query that probes only its own bucket in each rotation, in steps.
///
/// Nearly all single queries are such probes and find nothing, so they need no rounds.
pub(in crate::search) struct SingleProbe<'c, C> {
    context: RotationContext<'c, C>,
    fingerprint: u64,
    /// The near entries of the buckets.
    near: Vec<NearBlock>,
    /// Whether `near` is incomplete: a bucket continues in the rest, or is too long for one
    /// comparison.
    more: bool,
}

impl<'c, C: Column> SingleProbe<'c, C> {
    #[inline]
    pub(in crate::search) fn new(context: RotationContext<'c, C>, fingerprint: u64) -> Self {
        Self { context, fingerprint, near: Vec::new(), more: false }
    }

    /// Returns the probes, one in each rotation that is needed: the first `k + 1`.
    #[inline]
    fn probes(&self) -> impl Iterator<Item = PreparedProbe> + use<'c, C> {
        let Self { context: ground, fingerprint, .. } = *self;
        // Up to k = 3 the first k + 1 blocks have reach 1 and the other blocks have reach 0, so one
        // bucket each is enough.
        let blocks = FingerprintBlock::ALL.into_iter().take(ground.k as usize + 1);
        blocks.map(move |block| {
            let probe = Probe::own(block, fingerprint, ground.bits());
            ground.aim(0, fingerprint, block)(probe)
        })
    }

    /// Starts the query: prefetches the buckets.
    #[inline]
    pub(in crate::search) fn begin(&mut self) {
        self.probes().for_each(|aimed| self.context.prefetch(aimed.place));
    }

    /// Compares the buckets, and prefetches their parts in the rest. The buckets have arrived in
    /// the cache.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "up to distance 3 there are at most as many probes as blocks"
    )]
    pub(in crate::search) fn go_on(&mut self) -> Result<(), C::Error> {
        let ground = self.context;
        let mut runs = [BlockRun::default(); BLOCKS];
        let mut goes_on = false;
        for (aimed, run) in self.probes().zip(&mut runs) {
            let bucket = ground.bucket(aimed.place)?;
            goes_on |= bucket.goes_on();
            *run = aimed.compared(bucket.places);
        }
        // One kernel call compares all buckets. Nearly always no entry is near, and no other call
        // follows.
        if self.context.are_short() {
            let runs = &runs[..=ground.k as usize];
            SearchKernel::fastest().near_in_runs(runs, &mut self.near);
        }
        // Long buckets are not compared in this step. `look_up` compares them in chunks.
        self.more = goes_on || !self.context.are_short();
        if goes_on { self.ask_for_rests() } else { Ok(()) }
    }

    // This function is out of line, like `look_up`: few queries need it, and the common path stays
    // small.
    #[inline(never)]
    fn ask_for_rests(&self) -> Result<(), C::Error> {
        for aimed in self.probes() {
            ask_for_rest(&self.context, aimed, &self.context.bucket(aimed.place)?)?;
        }
        Ok(())
    }

    /// Passes on the hits. All lines have arrived in the cache. Returns whether the work limit was
    /// not exceeded.
    #[inline]
    pub(in crate::search) fn finish(
        &mut self,
        finds: &mut dyn HitSink,
        patience: impl FnOnce() -> WorkLimit,
    ) -> Result<bool, C::Error> {
        if self.near.is_empty() && !self.more {
            return Ok(true);
        }
        // The work limit is computed only when an entry is near. Computing the limit for all
        // searches, and returning a list of queries over it, took 110 of 1,390 instructions.
        let mut patience = patience();
        self.look_up(finds, &mut patience)?;
        Ok(!patience.is_over_for_some())
    }

    /// Looks up entries whose stored bits are near, and compares the parts of buckets in the rest.
    #[inline(never)]
    #[expect(clippy::indexing_slicing, reason = "there is a run for each probe")]
    fn look_up(
        &mut self,
        finds: &mut dyn HitSink,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        let ground = self.context;
        let mut near = std::mem::take(&mut self.near);
        let mut survivors = Survivors::new(finds);
        let mut round: ProbeRound<BLOCKS> = ProbeRound::new();
        let mut alike = NearCounter::default();
        if self.context.are_short() {
            let probes: ArrayVec<PreparedProbe, BLOCKS> = self.probes().collect();
            for NearBlock { run, index } in near.drain(..) {
                let aimed = &probes[run as usize];
                if !alike.may_survive(run as usize, aimed, patience) {
                    continue;
                }
                let bucket = ground.bucket(aimed.place)?;
                aimed.survive(&ground, bucket.entry(index), &mut survivors)?;
            }
            // `go_on` has prefetched the rest already. Here its
            // range is read again from the head in the cache.
            for aimed in probes.into_iter().filter(|_| self.more) {
                let bucket = ground.bucket(aimed.place)?;
                if bucket.goes_on() {
                    round.going_on.push(ask_for_rest(&ground, aimed, &bucket)?);
                }
            }
        } else {
            round.probes.extend(self.probes());
            round.compare(&ground, &mut near, &mut survivors, patience)?;
        }
        round.go_on(&ground, &mut near, &mut survivors, patience)?;
        survivors.settle(&ground)
    }
}
