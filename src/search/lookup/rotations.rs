//! Looks up queries in rotations.
//!
//! A probe reads the lines of a bucket, and the lines of its rest if the bucket continues there.
//! Then near entries are looked up. Probes therefore run in *rounds*: while the buckets of one
//! round are prefetched, the buckets of the previous round are compared, and so are the rests of
//! the round before that. Most queries within distance 3 have four probes.

use std::ops::Range;

use arrayvec::ArrayVec;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U16;

use super::round_buffer::RoundBuffer;
use super::survivors::{LookupContext, Survivor, Survivors};
use super::work_limit::WorkLimit;
use crate::cpu::prefetch;
use crate::search::candidate::{Candidate, HitSink};
use crate::search::column::{Column, ordinal_at, scan};
use crate::search::kernel::{BlockRun, NearBlock, SearchKernel};
use crate::search::line::LINE_BYTES;
use crate::search::outward::{LOOKED_UP_MAX, OutwardSearch};
use crate::search::probe::{FingerprintBlock, Probe, ProbeRadius, Probes};
use crate::search::rotation::{Bucket, Rotations};
use crate::search::shards::Shards;

/// The number of probes in a round: about as many lines as a core can fetch concurrently.
const ROUND: usize = 16;

/// The maximum number of lines of a bucket to prefetch. The processor detects longer runs by
/// itself.
const LINES_ASKED: u64 = 12;

/// The number of fingerprints that a scan compares in the time of one look-up.
const SCANNED: usize = 32;

/// The number of fingerprints that a scan compares in the time to look up all values within
/// distance 1.
const LOOKED_UP_WORTH: usize = 1 << 15;

/// A number of near entries that a bucket seldom has, except in a dense region.
const ALIKE: u32 = 4;

/// The number of blocks compared at a time. All of them may be near. Few runs have as many blocks.
const RUN: u32 = 8192;

/// `RUN` for a query with a work limit.
const SHORT_RUN: u32 = 512;

/// The rotations to search, and the distance.
pub(in crate::search) struct RotationContext<'c, C> {
    /// The canonical column.
    pub(in crate::search) fingerprints: &'c C,
    pub(in crate::search) shards: &'c Shards,
    /// The number of fingerprints.
    pub(in crate::search) n: u32,
    pub(in crate::search) rotations: &'c Rotations<C>,
    pub(in crate::search) k: u32,
    pub(in crate::search) reach: ProbeRadius,
}

impl<C> Clone for RotationContext<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for RotationContext<'_, C> {}

impl<'c, C: Column> RotationContext<'c, C> {
    /// Returns the number of address bits of the rotations.
    pub(super) fn bits(&self) -> u32 {
        self.rotations.address.bits
    }

    /// Whether each bucket is compared in one call.
    #[inline]
    pub(super) fn are_short(&self) -> bool {
        self.rotations.address.places() <= RUN
    }

    /// Prefetches a bucket.
    #[inline]
    pub(super) fn prefetch(&self, BucketLocation { block, bucket }: BucketLocation) {
        let bytes = self.rotations.address.bucket_bytes();
        let buckets = &self.rotations.of(block).buckets;
        // Buckets have a fixed size, so the address follows
        // from the number: no directory is read first.
        for line in 0..u64::from(self.rotations.address.lines).min(LINES_ASKED) {
            buckets.prefetch(u64::from(bucket) * bytes + line * LINE_BYTES);
        }
    }

    #[inline]
    pub(super) fn bucket(
        &self,
        BucketLocation { block, bucket }: BucketLocation,
    ) -> Result<Bucket<'c>, C::Error> {
        self.rotations.of(block).bucket(bucket, self.rotations.address)
    }

    /// Returns a function that prepares probes of a query in the rotation of a block.
    #[inline]
    pub(super) fn aim(
        &self,
        number: usize,
        fingerprint: u64,
        block: FingerprintBlock,
    ) -> impl Fn(Probe) -> PreparedProbe {
        let (reach, query) = (self.reach, block.next().value(fingerprint));
        move |Probe { bucket, distance, .. }| {
            let most = reach.slack(block, distance);
            PreparedProbe {
                fingerprint,
                number,
                place: BucketLocation { block, bucket },
                query,
                most,
            }
        }
    }

    /// Returns the bytes that a probe compares: the bucket, and its continuation in the rest.
    pub(in crate::search) fn bytes(&self, probe: Probe) -> Result<[&'c [u8]; 2], C::Error> {
        let bucket = self.bucket(BucketLocation { block: probe.block, bucket: probe.bucket })?;
        let rest = self.rotations.of(probe.block).rest(bucket.rest().0)?;
        Ok([bucket.places.as_bytes(), rest.as_bytes()])
    }
}

/// The location of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketLocation {
    block: FingerprintBlock,
    bucket: u32,
}

impl<C: Column> LookupContext for RotationContext<'_, C> {
    type Column = C;
    type Place = BucketLocation;

    fn fingerprints(&self) -> &C {
        self.fingerprints
    }

    fn len(&self) -> u32 {
        self.n
    }

    fn ordinals(&self, place: BucketLocation) -> &C {
        &self.rotations.of(place.block).ordinals
    }

    #[inline]
    fn reports(
        &self,
        BucketLocation { block, bucket }: BucketLocation,
        found: u64,
        query: u64,
    ) -> bool {
        let difference = found ^ query;
        // The number of an unused slot is the number of another bucket's entry, which the second
        // test rejects. Of the rotations that find the pair, the third test selects one, so the
        // pair is reported once.
        difference.count_ones() <= self.k
            && block.bucket(found, self.bits()) == bucket
            && self.reach.last_found_by(block, difference)
    }
}

/// A prepared probe of one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedProbe {
    fingerprint: u64,
    /// The index of the query.
    number: usize,
    pub(super) place: BucketLocation,
    /// The block to compare with, and the maximum number of bits that may differ.
    query: u16,
    most: u32,
}

impl PreparedProbe {
    /// Returns the comparison of the probe with blocks of its rotation.
    #[inline]
    pub(super) fn compared<'b>(&self, blocks: &'b [U16]) -> BlockRun<'b> {
        BlockRun { blocks, query: self.query, most: self.most }
    }

    /// Queues a near entry to be looked up.
    pub(super) fn survive<C: Column>(
        &self,
        ground: &RotationContext<'_, C>,
        entry: Option<u32>,
        survivors: &mut Survivors<'_, BucketLocation>,
    ) -> Result<(), C::Error> {
        let &PreparedProbe { fingerprint: query, number, place, .. } = self;
        // An unused slot after the last entry of the rotation, or a damaged head, yields a number
        // beyond `n`.
        let Some(entry) = entry.filter(|entry| *entry < ground.n) else { return Ok(()) };
        survivors.add(ground, Survivor { query, number, place, entry })
    }
}

/// Passes on the near blocks of some buckets: the index of the bucket, the index of the block, and
/// whether all buckets together have fewer than [`ALIKE`] near blocks.
#[inline]
fn each_near<E>(
    are_short: bool,
    runs: &[BlockRun<'_>],
    near: &mut Vec<NearBlock>,
    mut visit: impl FnMut(usize, u32, bool) -> Result<(), E>,
) -> Result<(), E> {
    let kernel = SearchKernel::fastest();
    if are_short {
        kernel.near_in_runs(runs, near);
        // If all buckets together have few near entries, no bucket has many: no counting is needed.
        let are_few = near.len() < ALIKE as usize;
        return near.drain(..).try_for_each(|near| visit(near.run as usize, near.index, are_few));
    }
    for (number, run) in runs.iter().enumerate() {
        for (start, blocks) in (0..).step_by(RUN as usize).zip(run.blocks.chunks(RUN as usize)) {
            // Blocks are compared in chunks, so that `near` stays at 64 KiB even if every block of
            // a dense bucket is near.
            kernel.near_in_runs(&[BlockRun { blocks, ..*run }], near);
            near.drain(..).try_for_each(|near| visit(number, start + near.index, false))?;
        }
    }
    Ok(())
}

/// Counts the near entries of buckets in sequence.
#[derive(Default)]
pub(super) struct NearCounter {
    /// The last bucket, and the number of its near entries so far.
    last: usize,
    count: u32,
}

impl NearCounter {
    /// Whether the next entry, of this bucket, may be looked up. From the [`ALIKE`]-th near entry
    /// of a bucket on, entries count towards the work limit.
    #[inline]
    pub(super) fn may_survive(
        &mut self,
        run: usize,
        aimed: &PreparedProbe,
        patience: &mut WorkLimit,
    ) -> bool {
        // Near entries come bucket by bucket, so one counter is enough. The first three near
        // entries of a bucket do not count towards the limit.
        self.count = if run == self.last { self.count + 1 } else { 1 };
        self.last = run;
        self.count < ALIKE || patience.spend(aimed.number, 0, 1)
    }
}

/// A bucket that continues in the rest.
pub(super) struct RestProbe {
    aimed: PreparedProbe,
    /// The range in the rest.
    range: Range<u32>,
    /// The number of the first entry in the rest.
    first: u32,
}

/// Probes in the same step.
pub(super) struct ProbeRound<const PROBES: usize> {
    pub(super) probes: ArrayVec<PreparedProbe, PROBES>,
    pub(super) going_on: ArrayVec<RestProbe, PROBES>,
}

impl<const PROBES: usize> ProbeRound<PROBES> {
    #[inline]
    pub(super) fn new() -> Self {
        ProbeRound { probes: ArrayVec::new(), going_on: ArrayVec::new() }
    }

    /// Compares the buckets, and prefetches their rests. The buckets have arrived in the cache.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a run for each probe")]
    pub(super) fn compare<C: Column>(
        &mut self,
        ground: &RotationContext<'_, C>,
        near: &mut Vec<NearBlock>,
        survivors: &mut Survivors<'_, BucketLocation>,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        let Self { probes, going_on } = self;
        let mut runs: ArrayVec<BlockRun<'_>, PROBES> = ArrayVec::new();
        // Probes of a query that has spent its limit are dropped before their buckets are read.
        if patience.is_over_for_some() {
            probes.retain(|aimed| !patience.is_over(aimed.number));
        }
        for aimed in &*probes {
            let bucket = ground.bucket(aimed.place)?;
            runs.push(aimed.compared(bucket.places));
            if bucket.goes_on() {
                // The prefetch is issued before the comparison below, which hides a part of the
                // wait.
                going_on.push(ask_for_rest(ground, *aimed, &bucket)?);
            }
        }
        let mut alike = NearCounter::default();
        each_near(ground.are_short(), &runs, near, |run, place, are_few| {
            let aimed = &probes[run];
            if !are_few && !alike.may_survive(run, aimed, patience) {
                return Ok(());
            }
            // The bucket is read again, from the cache: keeping all buckets would slow down queries
            // that find nothing.
            let bucket = ground.bucket(aimed.place)?;
            aimed.survive(ground, bucket.entry(place), survivors)
        })?;
        probes.clear();
        Ok(())
    }

    /// Compares the rests, and ends the round. The rests have arrived in the cache.
    #[inline]
    pub(super) fn go_on<C: Column>(
        &mut self,
        ground: &RotationContext<'_, C>,
        near: &mut Vec<NearBlock>,
        survivors: &mut Survivors<'_, BucketLocation>,
        patience: &mut WorkLimit,
    ) -> Result<(), C::Error> {
        for going_on in self.going_on.drain(..) {
            compare_rest(ground, going_on, near, survivors, patience)?;
        }
        Ok(())
    }
}

/// Prefetches the rest of a bucket.
pub(super) fn ask_for_rest<C: Column>(
    ground: &RotationContext<'_, C>,
    aimed: PreparedProbe,
    bucket: &Bucket<'_>,
) -> Result<RestProbe, C::Error> {
    let (range, first) = bucket.rest();
    let blocks = ground.rotations.of(aimed.place.block).rest(range.clone())?;
    prefetch(blocks.as_bytes());
    Ok(RestProbe { aimed, range, first })
}

/// Compares the rest of a bucket.
///
/// If many fingerprints have the same value in a block, for example zero, one bucket contains all
/// of them, and the next blocks separate little. In this case a query with a work limit is
/// abandoned. A query without a limit completes the result by a scan if too many entries have near
/// stored bits. A scan can start at any entry, because entries of a bucket are in canonical order.
/// Within distance 1, all values are looked up instead.
fn compare_rest<C: Column>(
    ground: &RotationContext<'_, C>,
    RestProbe { aimed, range, mut first }: RestProbe,
    near: &mut Vec<NearBlock>,
    survivors: &mut Survivors<'_, BucketLocation>,
    patience: &mut WorkLimit,
) -> Result<(), C::Error> {
    let PreparedProbe { fingerprint, number, place, .. } = aimed;
    if patience.is_over(number) {
        return Ok(());
    }
    let rotation = ground.rotations.of(place.block);
    // The number of fingerprints that a scan of the shards would compare: the cost of the
    // alternative.
    let around = ground.shards.around(fingerprint.count_ones(), ground.k);
    let (mut found, mut scanned) = (0_usize, (around.end - around.start) as usize);
    if ground.k <= LOOKED_UP_MAX {
        scanned = scanned.min(LOOKED_UP_WORTH);
    }
    // With a work limit the chunks are short, so that a query is abandoned sooner.
    let run = if patience.is_endless() { RUN } else { SHORT_RUN };
    for blocks in rotation.rest(range)?.chunks(run as usize) {
        // The lookups so far cost as much as a scan of all shards that may be near. So without a
        // limit, the rest of one bucket costs at most about twice a scan.
        if patience.is_endless() && found * SCANNED > scanned {
            // Entries of a bucket are in canonical order. All entries before `first` were looked up
            // already, so the scan reports only ordinals from the ordinal of `first` on.
            let from = ordinal_at(&rotation.ordinals, first, ground.n)?;
            let mut found = |candidate: Candidate| {
                if candidate.ordinal >= from
                    // The other probes of this query report their own entries: this scan reports
                    // only entries of this bucket.
                    && ground.reports(place, candidate.fingerprint, fingerprint)
                {
                    survivors.found(number, candidate);
                }
            };
            let RotationContext { fingerprints, shards, k, .. } = *ground;
            if k <= LOOKED_UP_MAX {
                return OutwardSearch { fingerprints, shards, query: fingerprint, k }
                    .look_up(k, &mut found);
            }
            // `from` may lie before the shards of the query: entries there cannot be near.
            let left = around.start.max(from)..around.end;
            return scan(fingerprints, left, fingerprint, k, &mut found);
        }
        SearchKernel::fastest().near_in_runs(&[aimed.compared(blocks)], near);
        found += near.len();
        if !patience.spend(number, blocks.len(), near.len()) {
            // All probes share the buffer, so it must be empty for the next probe.
            near.clear();
            return Ok(());
        }
        for NearBlock { index, .. } in near.drain(..) {
            // The sum overflows only in a damaged table. `survive` drops `None`, as it drops
            // numbers above `n`.
            aimed.survive(ground, first.checked_add(index), survivors)?;
        }
        first = first.saturating_add(run);
    }
    Ok(())
}

/// Probes in flight.
pub(in crate::search) struct RotationLookup<'c, 'f, C> {
    context: RotationContext<'c, C>,
    rounds: RoundBuffer<ProbeRound<ROUND>>,
    near: Vec<NearBlock>,
    survivors: Survivors<'f, BucketLocation>,
    work_limit: WorkLimit,
}

impl<'c, 'f, C: Column> RotationLookup<'c, 'f, C> {
    #[inline]
    pub(in crate::search) fn new(
        context: RotationContext<'c, C>,
        work_limit: WorkLimit,
        finds: &'f mut dyn HitSink,
    ) -> Self {
        let rounds = RoundBuffer::new(ProbeRound::new);
        let survivors = Survivors::new(finds);
        Self { context, rounds, near: Vec::new(), survivors, work_limit }
    }

    /// Starts the probes of a query.
    #[inline]
    pub(in crate::search) fn query(
        &mut self,
        number: usize,
        fingerprint: u64,
    ) -> Result<(), C::Error> {
        let ground = self.context;
        for block in FingerprintBlock::ALL {
            let aim = ground.aim(number, fingerprint, block);
            // Reach 0 needs no probe in this rotation. Reach 1 needs only the query's own bucket,
            // without the iterator over flipped bits. Up to k = 3 there are no other reaches.
            match ground.reach.of(block) {
                0 => {}
                1 => {
                    self.add(aim(Probe::own(block, fingerprint, ground.bits())))?;
                }
                _ => {
                    for probe in Probes::new(block, fingerprint, ground.bits(), ground.reach) {
                        // The work of a query changes only when a round is compared, so the limit
                        // is checked only then.
                        if self.add(aim(probe))? && self.work_limit.is_over(number) {
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Prefetches the bucket of a probe. Returns whether a round was compared meanwhile.
    #[inline]
    fn add(&mut self, aimed: PreparedProbe) -> Result<bool, C::Error> {
        // The bucket is compared when 16 to 31 further probes have been prefetched.
        self.context.prefetch(aimed.place);
        let round = self.rounds.filled();
        round.probes.push(aimed);
        let is_full = round.probes.is_full();
        if is_full {
            self.turn()?;
        }
        Ok(is_full)
    }

    /// Finishes the probes in flight, and returns the queries over the work limit.
    #[inline]
    pub(in crate::search) fn finish(&mut self) -> Result<Vec<usize>, C::Error> {
        // One turn more than for cells: the last round may be partly filled, and has not been
        // advanced yet.
        for _ in 0..RoundBuffer::<ProbeRound<ROUND>>::TURNS {
            self.turn()?;
        }
        self.survivors.settle(&self.context)?;
        Ok(self.work_limit.take_over_limit())
    }

    /// Advances each round by a step. Afterwards the oldest round is finished and empty, and is
    /// filled next.
    fn turn(&mut self) -> Result<(), C::Error> {
        let Self { context: ground, rounds, near, survivors, work_limit: patience } = self;
        let (compared, finished) = rounds.turn();
        compared.compare(ground, near, survivors, patience)?;
        finished.go_on(ground, near, survivors, patience)
    }
}
