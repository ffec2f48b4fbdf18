//! Measures the duration of searches.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::engine::SearchEngine;

/// The number of searches before a measurement, so that an engine's code and upper levels are in
/// cache.
const WARM: usize = 500;
/// The number of searches between two reads of the clock, in a loop.
const CHUNK: usize = 32;

/// The times of one engine for one kind of query in one round, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct QueryTimes {
    /// The median of the searches that were timed individually.
    pub(crate) p50: f64,
    /// The 99th percentile of these searches.
    pub(crate) p99: f64,
    /// The mean of searches in a loop.
    pub(crate) mean: f64,
    /// The mean of searches in a batch, if the engine supports batches.
    pub(crate) batch: Option<f64>,
    /// The number of searches that were timed individually.
    pub(crate) searches: usize,
    /// The mean number of pages found by a search.
    pub(crate) hits: f64,
    /// The mean number of page faults of a search: 0 if everything is in memory, as it should be.
    pub(crate) faults: f64,
}

/// The queries of a round. No query is repeated, because its data would be in a processor cache.
pub(crate) struct RoundQueries {
    warm: [Vec<u64>; 2],
    singly: Vec<u64>,
    in_loop: Vec<u64>,
    in_batch: Vec<u64>,
}

impl RoundQueries {
    /// Draws `each` queries for individual searches and for the loop, `batch` for the batch, and
    /// warm-up queries.
    pub(crate) fn new(
        each: usize,
        batch: usize,
        queries: impl FnOnce(usize) -> Vec<u64>,
    ) -> RoundQueries {
        let mut queries = queries(2 * WARM + 2 * each + batch).into_iter();
        let mut take = |count| queries.by_ref().take(count).collect();
        let warm = [take(WARM), take(WARM)];
        RoundQueries { warm, singly: take(each), in_loop: take(each), in_batch: take(batch) }
    }
}

/// Searches individually, then in a loop, each for at most `most`; then in a batch.
pub(crate) fn measure(
    engine: &mut dyn SearchEngine,
    questions: &RoundQueries,
    most: Duration,
) -> QueryTimes {
    let RoundQueries { warm: [warm_singly, warm_loop], singly, in_loop, in_batch } = questions;
    warm(engine, warm_singly.iter(), most / 4);
    let faults_before = faults();
    let mut times = Vec::with_capacity(singly.len());
    let (mut found, mut total) = (0, Duration::ZERO);
    for query in singly {
        let start = Instant::now();
        found += black_box(engine.search(black_box(*query)));
        let time = start.elapsed();
        times.push(time.as_nanos() as f64);
        total += time;
        if total > most {
            break;
        }
    }
    let faults = faults().saturating_sub(faults_before) as f64 / times.len() as f64;
    warm(engine, warm_loop.iter(), most / 4);
    let mut searches = 0;
    let start = Instant::now();
    let mut time = Duration::ZERO;
    for queries in in_loop.chunks(CHUNK) {
        for query in queries {
            found += black_box(engine.search(black_box(*query)));
        }
        searches += queries.len();
        time = start.elapsed();
        if time > most {
            break;
        }
    }
    let start = Instant::now();
    let batch = engine.batch(black_box(in_batch)).map(|found| {
        let time = start.elapsed();
        let singly: usize = in_batch.iter().map(|query| engine.search(*query)).sum();
        assert_eq!(found, singly, "a batch finds what single searches find");
        time.as_nanos() as f64 / in_batch.len() as f64
    });
    QueryTimes {
        p50: at_per_cent(&mut times, 50),
        p99: at_per_cent(&mut times, 99),
        mean: time.as_nanos() as f64 / searches as f64,
        batch,
        searches: times.len(),
        hits: found as f64 / (times.len() + searches) as f64,
        faults,
    }
}

/// Runs searches that are not measured, for at most `most`.
pub(crate) fn warm<'a>(
    engine: &mut dyn SearchEngine,
    queries: impl Iterator<Item = &'a u64>,
    most: Duration,
) {
    let start = Instant::now();
    for query in queries {
        black_box(engine.search(*query));
        if start.elapsed() > most {
            break;
        }
    }
}

/// The page faults of this process so far; 0 if the system does not report them.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name before the parenthesis may contain anything. The eighth and tenth fields after it
    // are minor and major faults.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(7).step_by(2).take(2).filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// The overhead of timing a search individually, in nanoseconds: the median of timing nothing.
pub(crate) fn timer_overhead() -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(());
        start.elapsed().as_nanos() as f64
    };
    at_per_cent(&mut (0..100_000).map(time).collect::<Vec<f64>>(), 50)
}

/// Returns the percentile `rank` of the times.
fn at_per_cent(times: &mut [f64], rank: usize) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[(times.len() * rank).div_ceil(100).saturating_sub(1)]
}

/// The median of the rounds (the lower of two), the minimum and the maximum.
#[derive(Clone, Copy)]
pub(crate) struct RoundSpread {
    /// The median.
    pub(crate) median: f64,
    /// The minimum.
    pub(crate) least: f64,
    /// The maximum.
    pub(crate) most: f64,
}

impl RoundSpread {
    /// Summarizes at least one value.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> RoundSpread {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let (least, most) = (values[0], values[values.len() - 1]);
        RoundSpread { median: values[(values.len() - 1) / 2], least, most }
    }
}
