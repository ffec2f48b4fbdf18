//! Timings, printed on demand:
//! `cargo test --release --lib search::tests::timing -- --ignored --nocapture --test-threads 1`.

use std::hint::black_box;
use std::time::Instant;

use zerocopy::little_endian::{U32, U64};

use super::super::kernel::Kernel;
use super::*;

/// Nanoseconds for each of `count` things done by `run`: the best of three runs, for whatever else
/// the machine does only makes it slower.
fn ns_each(count: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    best
}

/// What a random memory line costs in a vector of this size, independently of each other.
fn line_ns(bytes: usize) -> f64 {
    let words = vec![1_u64; bytes / 8];
    let mut random = Random(45);
    let places: Vec<usize> =
        (0..200_000).map(|_| random.below(words.len() as u64) as usize).collect();
    ns_each(places.len(), || {
        black_box(places.iter().map(|&at| words[at]).sum::<u64>());
    })
}

fn report(n: usize) {
    println!("n = {n}, {}, a line {:.1} ns", instruction_set(), line_ns(n * 40));
    let fingerprints = canonical(fingerprints(Kind::Even, n, 40));
    let bits = rotation_bits(n as u32);
    let build_ns = ns_each(1, || {
        black_box(build(&fingerprints, bits, usize::MAX));
    });
    let tables = tables(&fingerprints, Some(bits));
    println!("  build of four rotations      {:10.1} ms", build_ns / 1e6);
    let rotations = tables.rotations.as_ref().unwrap();
    let mut random = Random(41);
    for k in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] {
        let count =
            if k < 4 { 100_000 } else { (30_000_000_000 / n) >> (k + k / 4) }.min(50_000) + 5;
        let strangers: Vec<u64> = (0..count).map(|_| random.next()).collect();
        let members: Vec<u64> = (0..count)
            .map(|_| {
                let at = random.below(fingerprints.len() as u64) as usize;
                random.near(fingerprints[at], 3)
            })
            .collect();
        let mut out = Vec::new();
        let mut time = |queries: &[u64], find: &dyn Fn(u64, &mut Vec<Candidate>)| {
            ns_each(queries.len(), || {
                for &query in queries {
                    out.clear();
                    find(query, &mut out);
                    black_box(&out);
                }
            })
        };
        let look_up = |query: u64, out: &mut Vec<_>| {
            tables.look_up(rotations, query, k, out).unwrap();
        };
        let scan = |query: u64, out: &mut Vec<_>| tables.scan(query, k, out).unwrap();
        let plan = tables.plan(strangers[0], k);
        println!(
            "  k = {k:2}: look up {:10.0} ns, a near one {:10.0} ns, scan {:10.0} ns; {:?} {:8.0} ns",
            time(&strangers, &look_up),
            time(&members, &look_up),
            time(&strangers[..count.min(20)], &scan),
            plan.way,
            plan.cost_ns,
        );
    }
}

#[test]
#[ignore = "prints timings"]
fn a_million() {
    report(1_000_000);
}

#[test]
#[ignore = "prints timings"]
fn ten_million() {
    report(10_000_000);
}

#[test]
#[ignore = "prints timings"]
fn small_sets() {
    for n in [512, 2_000, 20_000, 200_000] {
        report(n);
    }
}

#[test]
#[ignore = "prints timings"]
fn index_in_memory() {
    for n in [1 << 10, 1 << 14, 1 << 18] {
        let fingerprints = fingerprints(Kind::Even, n, 42);
        let mut chains = Chains::new();
        let push_ns = ns_each(n, || {
            chains = Chains::new();
            for &fingerprint in &fingerprints {
                chains.push(fingerprint);
            }
        });
        println!("n = {n}: push {push_ns:.0} ns, {} bytes", chains.memory_bytes());
        for k in [0, 3, 8] {
            let plan_ns = ns_each(1_000_000, || {
                for _ in 0..1_000_000 {
                    black_box(plan(black_box(n as u32), Some(14), black_box(k), 1000));
                }
            });
            println!("  k = {k:2}: plan {plan_ns:.1} ns");
        }
        for k in [0, 3, 4, 6, 7, 8, 9, 10, 11, 12] {
            let queries: Vec<u64> = self::fingerprints(Kind::Even, 2000, 43);
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
                    black_box(chains.follow(query, k, out));
                }),
                time(&|query, out| chains.scan(query, k, out)),
            );
        }
    }
}

#[test]
#[ignore = "prints timings"]
fn kernels() {
    let words = fingerprints(Kind::Even, 8192, 44);
    let column: Vec<U64> = words.iter().copied().map(U64::new).collect();
    let plane: Vec<U32> = words.iter().map(|&word| U32::new(word as u32)).collect();
    for kernel in Kernel::available() {
        let mut out = Vec::new();
        for length in [15, 152, 8192] {
            let rounds = 40_000_000 / length;
            let u32_ns = ns_each(rounds * length, || {
                for round in 0..rounds {
                    out.clear();
                    kernel.near_u32(black_box(&plane[..length]), round as u32, 3, &mut out);
                }
            });
            let u64_ns = ns_each(rounds * length, || {
                for round in 0..rounds {
                    out.clear();
                    kernel.near_u64(black_box(&column[..length]), round as u64, 3, &mut out);
                }
            });
            println!("{:8} {length:5}: {u32_ns:.3} ns a u32, {u64_ns:.3} a u64", kernel.name());
        }
    }
}

#[test]
#[ignore = "prints timings"]
fn batches() {
    for n in [200_000, 1_600_000, 10_000_000] {
        let fingerprints = canonical(fingerprints(Kind::Even, n, 40));
        let tables = tables(&fingerprints, Some(rotation_bits(n as u32)));
        let mut random = Random(41);
        for count in [1_250, 10_000, 100_000, 1_000_000] {
            let batches: Vec<Vec<u64>> = (0..1_000_000 / count)
                .map(|_| (0..count).map(|_| random.next()).collect())
                .collect();
            let mut found = 0;
            let sort_ns = ns_each(1_000_000, || {
                for batch in &batches {
                    black_box(Batch::new(batch.clone(), 3));
                }
            });
            let find_ns = ns_each(1_000_000, || {
                for batch in &batches {
                    tables.find_batch(&Batch::new(batch.clone(), 3), |_, _| found += 1).unwrap();
                }
            });
            println!(
                "n = {n}, {count} at once: {find_ns:.0} ns a query, {sort_ns:.0} of them for sorting; {found}"
            );
        }
    }
}
