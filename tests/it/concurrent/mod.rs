//! Many concurrent threads, while seals and merges run in the background.

mod calls;
mod snapshots;
mod upkeep;
mod waits;

use simkeep::Options;

use simkeep_testing::small;

const THREADS: usize = 16;

/// A memtable that fills quickly, and is sealed and merged by the store itself.
fn busy() -> Options {
    small().memtable_observations(64).background(true)
}

fn url(host: u64, page: u64) -> String {
    format!("https://host{host}.example/page/{page}")
}
