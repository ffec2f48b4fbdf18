//! Times in Rust the calls that `bench/cost.py` times in Python. The two alternate, connected by pipes.
//!
//! usage: native STORE
//!
//! Opens a reader of the store. Each line of standard input is a call, and each line of standard output
//! the nanoseconds that it took. Both programs make the same random fingerprints.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use simkeep::query::FingerprintPairs;
use simkeep::{Durability, Observation, Options, Progress, Query, Reader, Snapshot, Store, Time};

/// The number of fingerprints in a batch of searches.
const QUERIES: u64 = 100_000;
/// The number of single searches.
const SINGLE: u64 = 20_000;
/// The number of visits in a batch.
const VISITS: u64 = 100_000;
const K: u32 = 3;

/// Hashes `n` to a random number (splitmix64).
fn random(n: u64) -> u64 {
    let n = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

fn timed<T>(call: impl FnOnce() -> Result<T, simkeep::Error>) -> simkeep::Result<Duration> {
    let since = Instant::now();
    black_box(call()?);
    Ok(since.elapsed())
}

fn observed() -> Result<Duration, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let options = Options::default().background(false).durability(Durability::OnFlush);
    let store = Store::create(dir.path().join("store"), options)?;
    let epoch = store.snapshot().near_epoch();
    let urls: Vec<String> = (0..VISITS).map(|n| format!("https://example.org/{n}")).collect();
    let time = Time::now();
    let seen = (0..).zip(&urls).map(|(n, url)| Observation::content(url, time, random(n), epoch));
    let seen: Vec<Observation<'_>> = seen.collect();
    let took = timed(|| store.observe_batch(&seen))?;
    store.close()?;
    Ok(took)
}

fn call(what: &str, snapshot: &Snapshot) -> Result<Duration, Box<dyn Error>> {
    let like = Query::new(0, K);
    let near = |n: u64| random(n * 7) ^ 1 << (n % 64);
    // Queries that all find two pages, and queries of which every tenth does, since most pages of a
    // crawler are new.
    let all = |count| (0..count).map(near).collect::<Vec<u64>>();
    let some = |count| {
        let each = |n| if n % 10 == 0 { near(n) } else { random(n + (1 << 40)) };
        (0..count).map(each).collect::<Vec<u64>>()
    };
    let batch = |prints: Vec<u64>| timed(|| like.run_batch(snapshot, &prints));
    let each = |prints: Vec<u64>| {
        timed(|| prints.iter().try_for_each(|print| snapshot.near(*print, K).map(drop)))
    };
    Ok(match what {
        "near_batch" => batch(some(QUERIES))?,
        "near_batch_found" => batch(all(QUERIES))?,
        "near" => each(some(SINGLE))?,
        "near_found" => each(all(SINGLE))?,
        "all_pairs" => timed(|| {
            FingerprintPairs::selected_by(&like).run(snapshot, &Progress::default(), |pairs| {
                black_box(pairs);
                ControlFlow::Continue(())
            })
        })?,
        "observe_batch" => observed()?,
        other => return Err(format!("there is no call {other}").into()),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let store = std::env::args().nth(1).ok_or("which store?")?;
    let snapshot = Reader::open(store)?.snapshot();
    for line in io::stdin().lock().lines() {
        let took = call(&line?, &snapshot)?;
        writeln!(io::stdout(), "{}", took.as_nanos())?;
    }
    Ok(())
}
