//! Shared parts of the tests: the oracle, the data, and columns in vectors.

#![expect(clippy::cast_possible_truncation, reason = "a wrong number fails the test")]

mod chains;
mod codewords;
mod crowds;
mod damage;
mod exact;
mod join;
mod kernels;
mod lookups;
mod partition;
mod passes;
mod probes;
mod tables;
mod timing;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use parking_lot::Mutex;
use proptest::prelude::*;
use zerocopy::FromBytes;

use super::*;
use crate::splitmix::{STEP, mix};

/// The oracle: a linear scan.
fn oracle(fingerprints: &[u64], query: u64, k: u32) -> Vec<Candidate> {
    (0..)
        .zip(fingerprints)
        .filter(|(_, found)| (*found ^ query).count_ones() <= k)
        .map(|(ordinal, &found)| Candidate::new(ordinal, found, query))
        .collect()
}

fn sorted(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_unstable();
    candidates
}

/// The error of a test column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ColumnFault {
    OutOfRange(Range<u64>),
    Damaged(u64, &'static str),
}

/// A column in a vector.
#[derive(Clone, Debug)]
struct VecColumn(Vec<u8>);

impl Column for VecColumn {
    type Error = ColumnFault;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], ColumnFault> {
        self.0.get(range.start as usize..range.end as usize).ok_or(ColumnFault::OutOfRange(range))
    }

    fn lines(&self, lines: impl Iterator<Item = u32>) -> Result<&[CacheLine], ColumnFault> {
        let (all, _) = <[CacheLine]>::ref_from_prefix(&self.0).unwrap();
        for line in lines {
            let start = u64::from(line) * LINE_BYTES;
            self.bytes(start..start + LINE_BYTES)?;
        }
        Ok(all)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> ColumnFault {
        ColumnFault::Damaged(offset, what)
    }
}

/// A generator of [SplitMix64](crate::splitmix) numbers.
struct SplitMixRng(u64);

impl SplitMixRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Flips up to `flips` bits of the fingerprint.
    fn near(&mut self, fingerprint: u64, flips: u64) -> u64 {
        let flips = self.below(flips + 1);
        (0..flips).fold(fingerprint, |near, _| near ^ 1 << self.below(64))
    }
}

#[derive(Clone, Copy, Debug)]
enum Distribution {
    /// Uniformly distributed.
    Even,
    /// Groups of fifty within a few bits of a template.
    Clustered,
    /// Bits that are mostly 0, and some that are always 1.
    Biased,
}

const KINDS: [Distribution; 3] =
    [Distribution::Even, Distribution::Clustered, Distribution::Biased];

fn fingerprints(kind: Distribution, n: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMixRng(seed);
    let mut template = 0;
    (0..n)
        .map(|index| match kind {
            Distribution::Even => random.next(),
            Distribution::Clustered => {
                if index % 50 == 0 {
                    template = random.next();
                }
                random.near(template, 6)
            }
            Distribution::Biased => random.next() & random.next() | 0x8001_0000_0001_0f00,
        })
        .collect()
}

/// Sorts fingerprints canonically, without duplicates.
fn canonical(mut fingerprints: Vec<u64>) -> Vec<u64> {
    fingerprints.sort_unstable_by_key(|&fingerprint| canonical_key(fingerprint));
    fingerprints.dedup();
    fingerprints
}

/// Returns unrelated fingerprints, members, and neighbours of members.
fn queries(fingerprints: &[u64], count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMixRng(seed);
    (0..count)
        .map(|index| {
            let at = random.below(fingerprints.len() as u64) as usize;
            match (index % 4, fingerprints.get(at)) {
                (0, _) | (_, None) => random.next(),
                (1, Some(&member)) => member,
                (_, Some(&member)) => random.near(member, 10),
            }
        })
        .collect()
}

/// Returns a dense set of fingerprints. The fingerprints are equal except for `low_bits` low bits;
/// with 64, they are within 4 bits of one fingerprint.
fn dense_fingerprints(low_bits: u32, n: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMixRng(seed);
    let center = 0x0123_4567_89ab_cdef;
    let mut all: Vec<u64> = Vec::new();
    while all.len() < n {
        let more = (all.len()..n).map(|_| match low_bits {
            64 => (0..4).fold(center, |near, _| near ^ 1 << random.below(64)),
            _ => center ^ random.next() >> (64 - low_bits),
        });
        let more: Vec<u64> = more.collect();
        all.extend(more);
        all.sort_unstable();
        all.dedup();
    }
    all
}

fn column(fingerprints: &[u64]) -> VecColumn {
    VecColumn(fingerprints.iter().flat_map(|fingerprint| fingerprint.to_le_bytes()).collect())
}

fn census(fingerprints: &[u64]) -> Shards {
    let mut census = PopcountHistogram::default();
    fingerprints.iter().for_each(|&fingerprint| census.add(fingerprint));
    census.shards()
}

/// The columns of tables that were built.
#[derive(Debug, Default)]
struct BuiltColumns(Mutex<HashMap<TableColumn, Vec<u8>>>);

impl TableSink for BuiltColumns {
    type Error = ColumnFault;

    fn place(&self, part: TableColumn, bytes: u64) -> Result<(), ColumnFault> {
        let column = Vec::with_capacity(bytes as usize);
        assert!(self.0.lock().insert(part, column).is_none(), "{part:?} is placed once");
        Ok(())
    }

    fn write(&self, part: TableColumn, bytes: &[u8]) -> Result<(), ColumnFault> {
        let mut columns = self.0.lock();
        let column = columns.get_mut(&part).unwrap();
        assert!(column.len() + bytes.len() <= column.capacity(), "{part:?} has its place");
        column.extend(bytes);
        Ok(())
    }

    fn changed(&self) -> ColumnFault {
        ColumnFault::Damaged(0, "another column")
    }
}

/// Resources to build in one pass, on one thread.
const PLENTY: Resources = Resources { memory_bytes: 1 << 40, threads: 1 };

fn build(
    fingerprints: &[u64],
    shape: Shape,
    resources: Resources,
) -> HashMap<TableColumn, Vec<u8>> {
    let written = BuiltColumns::default();
    let read = |start: u32, out: &mut [u64]| {
        out.copy_from_slice(&fingerprints[start as usize..][..out.len()]);
        Ok(())
    };
    build_index(shape, fingerprints.len() as u32, resources, &read, &written).unwrap();
    written.0.into_inner()
}

fn index<C>(
    mut written: HashMap<TableColumn, Vec<u8>>,
    shape: Shape,
    column: impl Fn(Vec<u8>) -> C,
) -> Index<C> {
    let mut take = |part| column(written.remove(&part).unwrap_or_default());
    match shape {
        Shape::Column => Index::None,
        Shape::Rotations(address) => {
            let tables = std::array::from_fn(|table| Rotation {
                buckets: take(TableColumn::Buckets(table)),
                rest: take(TableColumn::Rest(table)),
                ordinals: take(TableColumn::Ordinals(table)),
            });
            Index::Rotations(Rotations { address, tables })
        }
        Shape::Cells { count } => {
            let tables = std::array::from_fn(|table| CellTable {
                cells: take(TableColumn::Cells(table)),
                further: take(TableColumn::Further(table)),
                ordinals: take(TableColumn::Ordinals(table)),
            });
            Index::Cells(Cells { count, tables })
        }
    }
}

fn tables(fingerprints: &[u64], shape: Shape) -> Tables<VecColumn> {
    let index = index(build(fingerprints, shape, PLENTY), shape, VecColumn);
    Tables::new(column(fingerprints), census(fingerprints), index).unwrap()
}

/// Returns rotations addressed by `bits` bits, with buckets of one line.
fn rotations(bits: u32) -> Shape {
    buckets(bits, 1)
}

/// Returns rotations with 2^`bits` buckets of `lines` lines each.
fn buckets(bits: u32, lines: u32) -> Shape {
    Shape::Rotations(BucketLayout { bits, lines })
}

fn cells(count: u32) -> Shape {
    Shape::Cells { count }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Column),
        (0..=16_u32).prop_map(rotations),
        (0..=8_u32, 2..=9_u32).prop_map(|(bits, lines)| buckets(bits, lines)),
        (1..3000_u32).prop_map(cells),
    ]
}

fn kinds() -> impl Strategy<Value = Distribution> {
    prop::sample::select(&KINDS[..])
}
