//! Many threads at once, while seals and merges go on behind them.

mod calls;
mod snapshots;
mod upkeep;
mod waits;

use simkeep::Options;

use simkeep_testing::small;

const THREADS: usize = 16;

/// A memtable that is full every few moments, sealed and merged by the store itself.
fn busy() -> Options {
    small().memtable_observations(64).background(true)
}

fn url(host: u64, page: u64) -> String {
    format!("https://host{host}.example/page/{page}")
}
