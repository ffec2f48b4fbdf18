//! The best possible freshness, if change rates are known.

use simkeep::recrawl::{
    KnownPage, Optimum, RecrawlError, few_misses, fixed_intervals, random_times,
};

/// The best freshness that a number of visits can reach for pages of known rates, by one of three
/// measures.
#[derive(Clone, Debug)]
pub(super) struct BestFreshness {
    pub(super) name: &'static str,
    /// The name of the measure in JSON.
    pub(super) key: &'static str,
    pub(super) freshness: f64,
}

type OptimumSolver = fn(&[KnownPage], f64) -> Result<Optimum, RecrawlError>;

const ALL: [(&str, &str, OptimumSolver); 3] = [
    ("best at fixed intervals", "fixed_intervals", fixed_intervals),
    ("best at random times", "random_times", random_times),
    ("fewest misses at random times", "few_misses", few_misses),
];

/// Computes the best freshness for each number of visits, averaged over the worlds; empty if no
/// rates are known.
pub(super) fn of(
    worlds: &[Vec<KnownPage>],
    visits: &[f64],
) -> Result<Vec<Vec<BestFreshness>>, RecrawlError> {
    let of_one = |visits: &f64| {
        let best = |(name, key, finds): (&'static str, &'static str, OptimumSolver)| {
            let all = worlds.iter().map(|pages| Ok(finds(pages, *visits)?.freshness));
            let sum = all.sum::<Result<f64, RecrawlError>>()?;
            Ok(BestFreshness { name, key, freshness: sum / worlds.len() as f64 })
        };
        let all = if worlds.is_empty() { &[][..] } else { &ALL[..] };
        all.iter().copied().map(best).collect()
    };
    visits.iter().map(of_one).collect()
}
