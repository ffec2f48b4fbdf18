//! The duration of searches.

use std::hint::black_box;
use std::time::Instant;

use simkeep::Matches;

use simkeep_testing::bench::report::BenchRow;

/// The nanoseconds that a search may take for each page that it finds, including its URL.
const HIT_NS: u64 = 400;

/// The durations of individual searches, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct SearchTimes {
    /// The median.
    pub(crate) p50: f64,
    /// The 99th percentile.
    pub(crate) p99: f64,
    /// The maximum.
    pub(crate) max: f64,
    /// The mean.
    pub(crate) mean: f64,
    /// The median after [`HIT_NS`] was subtracted for each page found.
    pub(crate) p50_less_hits: f64,
    pub(crate) p99_less_hits: f64,
    /// The mean number of pages found by a search.
    pub(crate) hits: f64,
}

impl SearchTimes {
    /// Times one search after another. Dropping the results is not timed.
    pub(crate) fn of(queries: &[u64], mut search: impl FnMut(u64) -> Matches) -> SearchTimes {
        let mut all: Vec<u64> = Vec::with_capacity(queries.len());
        let mut net: Vec<u64> = Vec::with_capacity(queries.len());
        let mut hits = 0;
        for query in queries {
            let start = Instant::now();
            let answer = black_box(search(*query));
            let ns = start.elapsed().as_nanos() as u64;
            let found = answer.near.len() as u64;
            all.push(ns);
            net.push(ns.saturating_sub(HIT_NS * found));
            hits += found;
        }
        let mean = all.iter().sum::<u64>() as f64 / queries.len() as f64;
        all.sort_unstable();
        net.sort_unstable();
        let at = |times: &[u64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
        SearchTimes {
            p50: at(&all, 0.5) as f64,
            p99: at(&all, 0.99) as f64,
            max: at(&all, 1.0) as f64,
            mean,
            p50_less_hits: at(&net, 0.5) as f64,
            p99_less_hits: at(&net, 0.99) as f64,
            hits: hits as f64 / queries.len() as f64,
        }
    }

    /// The median of each figure over several rounds.
    pub(crate) fn median(rounds: &[SearchTimes]) -> SearchTimes {
        let of = |figure: fn(&SearchTimes) -> f64| median(rounds.iter().map(figure));
        SearchTimes {
            p50: of(|times| times.p50),
            p99: of(|times| times.p99),
            max: of(|times| times.max),
            mean: of(|times| times.mean),
            p50_less_hits: of(|times| times.p50_less_hits),
            p99_less_hits: of(|times| times.p99_less_hits),
            hits: of(|times| times.hits),
        }
    }

    /// Adds the durations of searches.
    pub(crate) fn add(&self, row: BenchRow) -> BenchRow {
        row.number("p50_ns", self.p50)
            .number("p99_ns", self.p99)
            .number("max_ns", self.max)
            .number("p50_ns_less_hits", self.p50_less_hits)
            .number("p99_ns_less_hits", self.p99_less_hits)
    }
}

/// The median; of an even number of values, the lower of the two.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// The number of threads that a batch uses.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
