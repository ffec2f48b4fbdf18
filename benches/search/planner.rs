//! Compares the planner's choice with the best choice. For each size and distance, tables of every
//! shape are built and searched in each possible way. The fastest is compared with what a store
//! would do, which chooses a shape with [`Shape::choose`] and a way for each query. Ratios should
//! be at most 1.5 if the store is made for the distance.
//!
//! Tables are in memory, without a store. All tables of one size exist at the same time and are
//! searched in turns, for random fingerprints. This takes 110 bytes of memory for each fingerprint.

use std::hint::black_box;
use std::time::Instant;

use simkeep::query::{AccessPath, Cost, Shape};
use simkeep::search::{Candidate, Tables, canonical_key};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use crate::data::{DataRandom, FingerprintSpread};
use crate::tables::{BuiltShape, FingerprintSet, HugeBuffer};

/// The maximum distance.
const K_MAX: u32 = 12;
/// The distance for which a store is made by default.
const K_USUAL: u32 = 3;
/// Tables with the shape for the distance, and tables with the shape for [`K_USUAL`].
const FOR_K: &str = "made for k";
const FOR_USUAL: &str = "made for 3";
/// The maximum bytes of tables for each fingerprint: the default of a store, and a value for 100
/// million fingerprints.
const BYTES: [u32; 2] = [48, 40];
/// The number of rounds, each with its own queries. The fastest round counts, because other
/// activity of the machine only slows it down.
const ROUNDS: usize = 5;
/// The approximate duration of a round for each distance and way, in nanoseconds.
const ROUND_NS: f64 = 6e6;
/// The minimum and maximum number of queries in a round.
const QUERIES: [usize; 2] = [8, 10_000];

/// Tables of one shape.
struct ShapeTables<'t> {
    shape: Shape,
    /// Searched as in a store, in the way that the planner chooses.
    planned: Tables<&'t HugeBuffer>,
    /// Searched through the tables, even if the planner prefers a scan.
    at_any_rate: Tables<&'t HugeBuffer>,
}

/// The time of a search in one way.
struct WayTime {
    shape: Shape,
    planned: bool,
    way: AccessPath,
    ns: f64,
    expected_ns: f64,
}

/// Measures sizes from a thousand in powers of ten, up to `n_max`.
pub(crate) fn run(report: &BenchReport, n_max: usize) {
    let mut ratios: Vec<PlannerRatio> = Vec::new();
    let mut n = 1000;
    while n <= n_max {
        of_size(report, n, &mut ratios);
        n *= 10;
    }
    // Printed last, so that they are at the end of the output.
    for bytes in BYTES {
        for layout in [FOR_K, FOR_USUAL] {
            let of_layout = ratios.iter().filter(|r| (r.bytes, r.layout) == (bytes, layout));
            if let Some(worst) = of_layout.max_by(|a, b| a.ratio.total_cmp(&b.ratio)) {
                report.print(
                    BenchRow::new("planner_worst")
                        .count("bytes_max", bytes.into())
                        .text("layout", layout)
                        .number("ratio", worst.ratio)
                        .count("n", worst.n as u64)
                        .count("k", worst.k.into()),
                );
            }
        }
    }
}

/// The ratio of the time of the store's choice to the best time.
struct PlannerRatio {
    layout: &'static str,
    bytes: u32,
    n: usize,
    k: u32,
    ratio: f64,
}

fn of_size(report: &BenchReport, n: usize, ratios: &mut Vec<PlannerRatio>) {
    let mut fingerprints = FingerprintSpread::Uniform.fingerprints(n);
    fingerprints.sort_unstable_by_key(|fingerprint| canonical_key(*fingerprint));
    fingerprints.dedup();
    let set = FingerprintSet::new(&fingerprints);
    drop(fingerprints);
    let shapes = Shape::all(set.n).into_iter().flatten();
    let built: Vec<BuiltShape> = shapes.map(|shape| set.build(shape)).collect();
    let entrants: Vec<ShapeTables<'_>> = built
        .iter()
        .map(|built| ShapeTables {
            shape: built.shape,
            planned: set.tables(built),
            at_any_rate: set.tables_at_any_rate(built),
        })
        .collect();
    for k in 0..=K_MAX {
        let measured = measure(&entrants, set.n, k);
        for one in &measured {
            report.print(
                BenchRow::new("planner_shape")
                    .count("n", n as u64)
                    .count("k", k.into())
                    .text("shape", &format!("{:?}", one.shape))
                    .number("bytes_each", one.shape.bytes_each(set.n))
                    .text("way", &format!("{:?}", one.way))
                    .text("planned", if one.planned { "yes" } else { "no" })
                    .number("ns", one.ns)
                    .number("expected_ns", one.expected_ns),
            );
        }
        for bytes in BYTES {
            for (layout, made_for) in [(FOR_K, k), (FOR_USUAL, K_USUAL)] {
                let chosen = Shape::choose(set.n, made_for, bytes);
                let row = BenchRow::new("planner")
                    .count("n", n as u64)
                    .count("k", k.into())
                    .count("bytes_max", bytes.into())
                    .text("layout", layout);
                let (row, ratio) = compare(row, &measured, set.n, chosen, bytes);
                report.print(row);
                ratios.push(PlannerRatio { layout, bytes, n, k, ratio });
            }
        }
    }
}

/// Compares the planner's choice for the shape `chosen` with the fastest measured shape of at most
/// `bytes` bytes per fingerprint.
fn compare(
    row: BenchRow,
    measured: &[WayTime],
    n: u32,
    chosen: Shape,
    bytes: u32,
) -> (BenchRow, f64) {
    let fits = |one: &&WayTime| one.shape.bytes_each(n) <= f64::from(bytes);
    let quickest = |a: &&WayTime, b: &&WayTime| a.ns.total_cmp(&b.ns);
    let own = measured.iter().find(|one| one.planned && one.shape == chosen).unwrap();
    let best = measured.iter().filter(fits).min_by(quickest).unwrap();
    let best_own = measured.iter().filter(|one| one.shape == chosen).min_by(quickest).unwrap();
    let ratio = own.ns / best.ns;
    let row = row
        .text("chosen", &format!("{:?}", own.shape))
        .text("chosen_way", &format!("{:?}", own.way))
        .number("chosen_ns", own.ns)
        .text("best", &format!("{:?}", best.shape))
        .text("best_way", &format!("{:?}", best.way))
        .number("best_ns", best.ns)
        .number("ratio", ratio)
        .number("ratio_to_own_best_way", own.ns / best_own.ns);
    (row, ratio)
}

/// Measures searches within `k` in all ways, in turns.
fn measure(entrants: &[ShapeTables<'_>], n: u32, k: u32) -> Vec<WayTime> {
    let mut random = DataRandom(u64::from(k) << 32 | 41);
    let rounds: Vec<Vec<u64>> = (0..ROUNDS)
        .map(|_| FingerprintSpread::Uniform.strangers(&mut random, QUERIES[1]))
        .collect();
    // A query with the most frequent number of 1 bits.
    let usual = 0xffff_ffff;
    let mut measured = Vec::new();
    let mut running = Vec::new();
    for ShapeTables { shape, planned, at_any_rate } in entrants {
        let plan = planned.plan(usual, k);
        let other = at_any_rate.plan(usual, k).access_path;
        let of_planner = Some((true, planned, plan.access_path, plan.expected));
        // If both ways are equal, only one is measured.
        let expected = Cost::of_tables(*shape, n, k).filter(|_| other != plan.access_path);
        let of_tables = expected.map(|expected| (false, at_any_rate, other, expected));
        for (planned, tables, way, expected) in of_planner.into_iter().chain(of_tables) {
            let count = (ROUND_NS / expected.ns).clamp(QUERIES[0] as f64, QUERIES[1] as f64);
            measured.push(WayTime {
                shape: *shape,
                planned,
                way,
                ns: f64::INFINITY,
                expected_ns: expected.ns,
            });
            running.push((tables, count as usize));
        }
    }
    let mut out = Vec::new();
    for queries in &rounds {
        for (one, (tables, count)) in measured.iter_mut().zip(&running) {
            search(tables, &queries[QUERIES[1] - count / 4..], k, &mut out);
            let start = Instant::now();
            search(tables, &queries[..*count], k, &mut out);
            one.ns = one.ns.min(start.elapsed().as_nanos() as f64 / *count as f64);
        }
        check(&running, &queries[..QUERIES[0]], k);
    }
    measured
}

fn search(tables: &Tables<&HugeBuffer>, queries: &[u64], k: u32, out: &mut Vec<Candidate>) {
    for query in queries {
        out.clear();
        let Ok(()) = tables.find(*query, k, out);
        black_box(&out);
    }
}

/// Checks that all ways find the same fingerprints.
fn check(running: &[(&Tables<&HugeBuffer>, usize)], queries: &[u64], k: u32) {
    for query in queries {
        let mut found = running.iter().map(|(tables, _)| {
            let mut found = Vec::new();
            let Ok(()) = tables.find(*query, k, &mut found);
            found.sort_unstable();
            found
        });
        let first = found.next().unwrap();
        assert!(found.all(|found| found == first), "{query:#x} within {k}");
    }
}
