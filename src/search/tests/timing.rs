//! Timings, printed on demand:
//! `cargo test --release --lib search::tests::timing -- --ignored --nocapture --test-threads 1`.

use std::hint::black_box;
use std::time::Instant;

use zerocopy::little_endian::{U16, U64};

use super::*;
use crate::search::kernel::{BlockRun, SearchKernel};

/// Returns nanoseconds for each of `count` operations of `run`: the best of three runs, since other
/// load only increases the time.
fn ns_each(count: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    best
}

/// Returns the cost of an independent random cache line in a vector of this size.
fn line_ns(bytes: usize) -> f64 {
    let words = vec![1_u64; bytes / 8];
    let mut random = SplitMixRng(45);
    let places: Vec<usize> =
        (0..200_000).map(|_| random.below(words.len() as u64) as usize).collect();
    ns_each(places.len(), || {
        black_box(places.iter().map(|&at| words[at]).sum::<u64>());
    })
}

/// A column in huge pages, as in a mapped file.
struct HugePageColumn(memmap2::MmapMut);

impl HugePageColumn {
    fn new(bytes: &[u8]) -> Self {
        let mut map = memmap2::MmapMut::map_anon(bytes.len().max(1)).unwrap();
        map.advise(memmap2::Advice::HugePage).unwrap();
        map[..bytes.len()].copy_from_slice(bytes);
        Self(map)
    }
}

impl Column for HugePageColumn {
    type Error = ColumnFault;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], ColumnFault> {
        self.0.get(range.start as usize..range.end as usize).ok_or(ColumnFault::OutOfRange(range))
    }

    fn lines(&self, _: impl Iterator<Item = u32>) -> Result<&[CacheLine], ColumnFault> {
        Ok(<[CacheLine]>::ref_from_prefix(&self.0).unwrap().0)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> ColumnFault {
        ColumnFault::Damaged(offset, what)
    }
}

fn huge_tables(fingerprints: &[u64], shape: Shape) -> Tables<HugePageColumn> {
    let resources = Resources { memory_bytes: 1 << 30, threads: 2 };
    let index =
        index(build(fingerprints, shape, resources), shape, |column| HugePageColumn::new(&column));
    Tables::new(HugePageColumn::new(&column(fingerprints).0), census(fingerprints), index).unwrap()
}

fn report(n: usize) {
    println!("n = {n}, {}, a line {:.1} ns", instruction_set(), line_ns(n * 40));
    let fingerprints = canonical(fingerprints(Distribution::Even, n, 40));
    for shape in Shape::all(n as u32).into_iter().flatten() {
        let start = Instant::now();
        let tables = huge_tables(&fingerprints, shape);
        let way = match shape {
            Shape::Column => AccessPath::Scan,
            Shape::Rotations(_) => AccessPath::Rotations,
            Shape::Cells { .. } => AccessPath::Cells,
        };
        println!(
            "  {shape:?}: {:.1} bytes each, built in {:.2} s",
            shape.bytes_each(n as u32),
            start.elapsed().as_secs_f64()
        );
        for k in 0..=12 {
            let expected = Cost::of_tables(shape, n as u32, k)
                .unwrap_or(Cost::of_scan(n as u32, f64::from(n as u32) * 0.5));
            let count = (2e8 / expected.ns).clamp(20.0, 200_000.0) as usize;
            let mut random = SplitMixRng(41);
            let strangers: Vec<u64> = (0..count).map(|_| random.next()).collect();
            let mut out = Vec::new();
            let single_ns = ns_each(count, || {
                for &query in &strangers {
                    out.clear();
                    tables.find_by(way, 0, &[query], k, &mut out).unwrap();
                    black_box(&out);
                }
            });
            let batch_ns = ns_each(count, || {
                out.clear();
                tables.find_by(way, 0, &strangers, k, &mut out).unwrap();
                black_box(&out);
            });
            println!(
                "    k = {k:2}: {single_ns:10.0} ns, in a batch {batch_ns:10.0} ns, expected {:10.0} ns; {:.2}",
                expected.ns,
                single_ns / expected.ns,
            );
        }
    }
}

#[test]
#[ignore = "prints timings"]
fn shapes_by_size() {
    let sizes = std::env::var("SIZES").unwrap_or("1000,10000,100000,1000000,10000000".to_owned());
    for n in sizes.split(',') {
        report(n.parse().unwrap());
    }
}

#[test]
#[ignore = "prints timings"]
fn index_in_memory() {
    for n in [1 << 10, 1 << 14, 1 << 18, 1 << 20] {
        let fingerprints = fingerprints(Distribution::Even, n, 42);
        let mut chains = Chains::new();
        let push_ns = ns_each(n, || {
            chains = Chains::new();
            for &fingerprint in &fingerprints {
                chains.push(fingerprint);
            }
        });
        println!("n = {n}: push {push_ns:.0} ns, {} bytes", chains.memory_bytes());
        for k in [0, 3, 4, 6, 7, 8, 9, 10, 11, 12] {
            let queries: Vec<u64> = self::fingerprints(Distribution::Even, 2000, 43);
            let mut out = Vec::new();
            let mut time = |find: &dyn Fn(u64, &mut Vec<Candidate>)| {
                ns_each(queries.len(), || {
                    for &query in &queries {
                        out.clear();
                        find(query, &mut out);
                        black_box(&out);
                    }
                })
            };
            println!(
                "  k = {k:2}: find {:8.0} ns, chains {:8.0} ns, scan {:8.0} ns",
                time(&|query, out| chains.find(query, k, out)),
                time(&|query, out| {
                    black_box(chains.follow(query, k, usize::MAX, out));
                }),
                time(&|query, out| chains.scan(query, k, out)),
            );
        }
    }
}

#[test]
#[ignore = "prints timings"]
fn kernels() {
    let words = fingerprints(Distribution::Even, 8192, 44);
    let column: Vec<U64> = words.iter().copied().map(U64::new).collect();
    let blocks: Vec<U16> = words.iter().map(|&word| U16::new(word as u16)).collect();
    for kernel in SearchKernel::available() {
        let (mut out, mut near) = (Vec::new(), Vec::new());
        for length in [9, 32, 8192] {
            let rounds = 40_000_000 / length;
            let u16_ns = ns_each(rounds * length, || {
                for round in 0..rounds {
                    near.clear();
                    let blocks = black_box(&blocks[..length]);
                    let run = BlockRun { blocks, query: round as u16, most: 1 };
                    kernel.near_in_runs(&[run], &mut near);
                }
            });
            let u64_ns = ns_each(rounds * length, || {
                for round in 0..rounds {
                    out.clear();
                    kernel.near_u64(black_box(&column[..length]), round as u64, 3, &mut out);
                }
            });
            println!("{:8} {length:5}: {u16_ns:.3} ns a u16, {u64_ns:.3} a u64", kernel.name());
        }
    }
}
