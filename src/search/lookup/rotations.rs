//! Looking into rotations: the probes of one query, or of many.
//!
//! A probe takes several memory lines one after another: the directory says where its run is, the
//! run is compared, and what is near there is looked up. Probes therefore go in *rounds*: while one
//! round's directories are asked for, the one before finds its runs, and the one before that is
//! compared. Most queries within 3 are a single round of four probes.

use std::ops::Range;

use arrayvec::ArrayVec;
use zerocopy::IntoBytes;

use super::super::column::{Column, U32_BYTES, u32s};
use super::super::kernel::{Kernel, NearWord, PlaneRun, prefetch_run};
use super::super::probe::{BLOCKS, Block, Probe, Probes, Reach, counts_of_blocks};
use super::super::rotation::Rotations;
use super::super::tables::Finds;
use super::survivors::{Ground, Survivor, Survivors};
use super::wheel::Wheel;

/// Probes of a round: about as many lines as a core can wait for at once.
const ROUND: usize = 16;

/// Words that are compared at a time, all of which may be near; few runs have as many.
const RUN: usize = 8192;

/// What is looked into, and how far.
pub(in super::super) struct RotationGround<'c, C> {
    /// The canonical column.
    pub(in super::super) fingerprints: &'c C,
    /// How many fingerprints there are.
    pub(in super::super) n: u32,
    pub(in super::super) rotations: &'c Rotations<C>,
    pub(in super::super) k: u32,
    pub(in super::super) reach: Reach,
}

impl<C> Clone for RotationGround<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for RotationGround<'_, C> {}

impl<'c, C: Column> RotationGround<'c, C> {
    /// The steps of the directory between which the run of a probe lies, with so many bits set in
    /// the query's blocks.
    #[inline]
    fn steps(&self, probe: Probe, popcounts: [u32; BLOCKS]) -> Range<u32> {
        let Probe { block, bucket, distance } = probe;
        let address = self.rotations.address;
        if !address.stepped {
            return bucket..bucket + 1;
        }
        let slack = self.reach.slack(block, distance).unwrap_or(0);
        address.steps_of(bucket, block.next().of(popcounts), slack)
    }

    /// Aims probes of a query: asks for their directories.
    #[inline]
    fn aim(self, number: usize, fingerprint: u64) -> impl Fn(Probe) -> Aimed {
        let stepped = self.rotations.address.stepped;
        let popcounts = if stepped { counts_of_blocks(fingerprint) } else { [0; BLOCKS] };
        move |probe| {
            let range = self.steps(probe, popcounts);
            let directory = &self.rotations.of(probe.block).directory;
            directory.expect(u64::from(range.start) * U32_BYTES);
            directory.expect(u64::from(range.end) * U32_BYTES);
            Aimed { fingerprint, number, range, distance: probe.distance, block: probe.block }
        }
    }

    /// By how many bits the rotations are addressed.
    fn bits(&self) -> u32 {
        self.rotations.address.bits
    }

    /// The words of a probe that are compared with a query.
    pub(in super::super) fn run(
        &self,
        probe: Probe,
        fingerprint: u64,
    ) -> Result<&'c [u8], C::Error> {
        let rotation = self.rotations.of(probe.block);
        let steps = self.steps(probe, counts_of_blocks(fingerprint));
        let entries = rotation.entries(steps, self.n)?;
        Ok(u32s(&rotation.planes, entries)?.as_bytes())
    }
}

impl<C: Column> Ground for RotationGround<'_, C> {
    type Column = C;
    type Place = Block;

    fn fingerprints(&self) -> &C {
        self.fingerprints
    }

    fn len(&self) -> u32 {
        self.n
    }

    fn ordinals(&self, block: Block) -> &C {
        &self.rotations.of(block).ordinals
    }

    fn reports(&self, block: Block, found: u64, query: u64) -> bool {
        let difference = found ^ query;
        difference.count_ones() <= self.k && self.reach.last_found_by(block, difference)
    }
}

/// Takes the entry of a probe's run to be looked up, unless its `difference` there says that it is
/// not this rotation that reports it.
fn survive<C: Column, F: Finds>(
    ground: &RotationGround<'_, C>,
    probe: &Aimed,
    index: u32,
    difference: u32,
    survivors: &mut Survivors<'_, F, Block>,
) -> Result<(), C::Error> {
    let &Aimed { fingerprint: query, number, block, distance, ref range } = probe;
    if ground.reach.left_to_later(block, distance, difference) {
        return Ok(());
    }
    survivors.add(ground, Survivor { query, number, place: block, entry: range.start + index })
}

/// A probe of one query.
struct Aimed {
    fingerprint: u64,
    /// The query's number among all.
    number: usize,
    /// First steps of the directory, then entries of the rotation.
    range: Range<u32>,
    /// In how many bits the bucket differs from the query's.
    distance: u32,
    block: Block,
}

/// Probes that are at the same step.
struct Round<'c, const PROBES: usize> {
    probes: ArrayVec<Aimed, PROBES>,
    /// What each of them compares, once that is known.
    runs: ArrayVec<PlaneRun<'c>, PROBES>,
    /// No run is longer.
    longest: usize,
}

impl<'c, const PROBES: usize> Round<'c, PROBES> {
    #[inline]
    fn new() -> Self {
        Round { probes: ArrayVec::new(), runs: ArrayVec::new(), longest: 0 }
    }

    /// Finds the runs, whose directories have come, and asks for them.
    #[inline]
    fn find_runs<C: Column>(&mut self, ground: &RotationGround<'c, C>) -> Result<(), C::Error> {
        for aimed in &mut self.probes {
            let rotation = ground.rotations.of(aimed.block);
            aimed.range = rotation.entries(aimed.range.clone(), ground.n)?;
            let plane = u32s(&rotation.planes, aimed.range.clone())?;
            prefetch_run(plane);
            self.longest |= plane.len();
            let query = aimed.block.plane(aimed.fingerprint);
            self.runs.push(PlaneRun { plane, query, k: ground.k - aimed.distance });
        }
        Ok(())
    }

    /// Compares the runs, which have come, and ends the round.
    #[inline]
    fn compare<C: Column, F: Finds>(
        &mut self,
        ground: &RotationGround<'c, C>,
        near: &mut Vec<NearWord>,
        survivors: &mut Survivors<'_, F, Block>,
    ) -> Result<(), C::Error> {
        let kernel = Kernel::fastest();
        if self.longest > RUN {
            for (probe, run) in self.probes.iter().zip(&self.runs) {
                for (start, plane) in (0..).step_by(RUN).zip(run.plane.chunks(RUN)) {
                    kernel.near_in_runs(&[PlaneRun { plane, ..*run }], near);
                    for NearWord { index, .. } in near.drain(..) {
                        let Some(word) = plane.get(index as usize) else { continue };
                        survive(ground, probe, start + index, word.get() ^ run.query, survivors)?;
                    }
                }
            }
        } else {
            kernel.near_in_runs(&self.runs, near);
            for NearWord { run, index } in near.drain(..) {
                let run = run as usize;
                if let (Some(probe), Some(run)) = (self.probes.get(run), self.runs.get(run))
                    && let Some(word) = run.plane.get(index as usize)
                {
                    survive(ground, probe, index, word.get() ^ run.query, survivors)?;
                }
            }
        }
        self.probes.clear();
        self.runs.clear();
        self.longest = 0;
        Ok(())
    }
}

/// One query that looks into no more than its own bucket in each rotation, step by step.
pub(in super::super) struct Own<'c, C> {
    ground: RotationGround<'c, C>,
    round: Round<'c, BLOCKS>,
}

impl<'c, C: Column> Own<'c, C> {
    #[inline]
    pub(in super::super) fn new(ground: RotationGround<'c, C>) -> Self {
        Self { ground, round: Round::new() }
    }

    /// Sets out.
    #[inline]
    pub(in super::super) fn begin(&mut self, fingerprint: u64) {
        let Self { ground, round } = self;
        let aim = ground.aim(0, fingerprint);
        for block in Block::ALL {
            if ground.reach.of(block) > 0 {
                round.probes.push(aim(Probe::own(block, fingerprint, ground.bits())));
            }
        }
    }

    /// Goes on when the directories have come.
    #[inline]
    pub(in super::super) fn go_on(&mut self) -> Result<(), C::Error> {
        self.round.find_runs(&self.ground)
    }

    /// Hands over what is found when the runs have come.
    #[inline]
    pub(in super::super) fn finish(&mut self, finds: &mut impl Finds) -> Result<(), C::Error> {
        let mut survivors = Survivors::new(finds);
        self.round.compare(&self.ground, &mut Vec::new(), &mut survivors)?;
        survivors.settle(&self.ground)
    }
}

/// Probes on their way.
pub(in super::super) struct RotationLookup<'c, 'f, C, F> {
    ground: RotationGround<'c, C>,
    rounds: Wheel<Round<'c, ROUND>>,
    near: Vec<NearWord>,
    survivors: Survivors<'f, F, Block>,
}

impl<'c, 'f, C: Column, F: Finds> RotationLookup<'c, 'f, C, F> {
    #[inline]
    pub(in super::super) fn new(ground: RotationGround<'c, C>, finds: &'f mut F) -> Self {
        let rounds = Wheel::new(Round::new);
        let survivors = Survivors::new(finds);
        Self { ground, rounds, near: Vec::new(), survivors }
    }

    /// Sets out on the probes of a query.
    #[inline]
    pub(in super::super) fn query(
        &mut self,
        number: usize,
        fingerprint: u64,
    ) -> Result<(), C::Error> {
        let ground = self.ground;
        let aim = ground.aim(number, fingerprint);
        for block in Block::ALL {
            match ground.reach.of(block) {
                0 => {}
                1 => self.add(aim(Probe::own(block, fingerprint, ground.bits())))?,
                _ => {
                    for probe in Probes::new(block, fingerprint, ground.bits(), ground.reach) {
                        self.add(aim(probe))?;
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, probe: Aimed) -> Result<(), C::Error> {
        let round = self.rounds.filled();
        round.probes.push(probe);
        if round.probes.is_full() { self.turn() } else { Ok(()) }
    }

    /// Finishes what is on its way.
    #[inline]
    pub(in super::super) fn finish(&mut self) -> Result<(), C::Error> {
        for _ in 0..Wheel::<Round<'_, ROUND>>::TURNS {
            self.turn()?;
        }
        self.survivors.settle(&self.ground)
    }

    /// Takes each round a step further. The oldest is compared and emptied, to be filled next.
    fn turn(&mut self) -> Result<(), C::Error> {
        let (found, compared) = self.rounds.turn();
        found.find_runs(&self.ground)?;
        if !compared.runs.is_empty() {
            compared.compare(&self.ground, &mut self.near, &mut self.survivors)?;
        }
        Ok(())
    }
}
