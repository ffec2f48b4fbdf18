//! Summarizes the measurements: times over all rounds, and ratios within rounds.

use crate::data::QueryKind;
use crate::engine::{BuiltEngine, EngineHome};
use crate::engines::OWN;
use crate::measure::{QueryTimes, RoundSpread};
use crate::report::PeerRow;

/// An engine in the comparison.
pub(crate) struct ComparedEngine {
    pub(crate) name: &'static str,
    pub(crate) place: EngineHome,
    pub(crate) built: BuiltEngine,
    /// The figures, by kind of query, then by round.
    pub(crate) figures: [Vec<QueryTimes>; QueryKind::ALL.len()],
}

/// Adds the times of searches over all rounds.
pub(crate) fn times(row: PeerRow, rounds: &[QueryTimes]) -> PeerRow {
    let spread = |value: fn(&QueryTimes) -> f64| RoundSpread::of(rounds.iter().map(value));
    let row = row
        .count("rounds", rounds.len() as u64)
        .count("searches", spread(|round| round.searches as f64).least as u64)
        .spread("p50_ns", spread(|round| round.p50))
        .spread("p99_ns", spread(|round| round.p99))
        .spread("mean_ns", spread(|round| round.mean));
    let batch: Vec<f64> = rounds.iter().filter_map(|round| round.batch).collect();
    let row = match batch.as_slice() {
        [] => row,
        batch => row.spread("batch_ns", RoundSpread::of(batch.iter().copied())),
    };
    row.number("hits", spread(|round| round.hits).median)
        .number("faults", spread(|round| round.faults).median)
}

/// Adds the ratio of each peer's time to the store's, by the median of individual searches.
pub(crate) fn ratios(
    row: PeerRow,
    kind: usize,
    own: &ComparedEngine,
    entrants: &[ComparedEngine],
) -> PeerRow {
    let own_p50 = RoundSpread::of(own.figures[kind].iter().map(|round| round.p50));
    let mut row = row.number("store_p50_ns", own_p50.median);
    let mut best: Option<(&str, RoundSpread)> = None;
    for peer in entrants.iter().filter(|peer| peer.name != OWN) {
        let rounds = peer.figures[kind].iter().zip(&own.figures[kind]);
        let ratio = RoundSpread::of(rounds.map(|(peer, own)| peer.p50 / own.p50));
        row = row.spread(&format!("{}_to_store", peer.name), ratio);
        if peer.place == EngineHome::Disk && best.is_none_or(|(_, best)| ratio.median < best.median)
        {
            best = Some((peer.name, ratio));
        }
    }
    if let Some((name, ratio)) = best {
        row = row.text("best_persistent", name).spread("best_persistent_to_store", ratio);
    }
    row
}

/// Compares the time of a search in a batch of the store with a search in the loop of the fastest
/// persistent peer.
pub(crate) fn near_batch(
    row: PeerRow,
    kind: usize,
    own: &ComparedEngine,
    entrants: &[ComparedEngine],
) -> PeerRow {
    let rounds = &own.figures[kind];
    let batches = || rounds.iter().filter_map(|round| round.batch);
    let row = row
        .count("threads", threads() as u64)
        .count("rounds", rounds.len() as u64)
        .spread("near_batch_ns", RoundSpread::of(batches()))
        .number("loop_ns", RoundSpread::of(rounds.iter().map(|round| round.mean)).median);
    let peers = entrants.iter().filter(|peer| peer.name != OWN && peer.place == EngineHome::Disk);
    let loops = peers.map(|peer| {
        let rounds = || peer.figures[kind].iter().map(|round| round.mean);
        let ratio = RoundSpread::of(rounds().zip(batches()).map(|(peer, own)| peer / own));
        (peer.name, RoundSpread::of(rounds()).median, ratio)
    });
    match loops.min_by(|a, b| a.2.median.total_cmp(&b.2.median)) {
        Some((name, ns, ratio)) => row
            .text("best_persistent", name)
            .number("best_persistent_loop_ns", ns)
            .spread("best_persistent_loop_to_near_batch", ratio),
        None => row,
    }
}

/// The number of threads that a batch uses.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
