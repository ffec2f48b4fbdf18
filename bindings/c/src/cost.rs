//! Measures the overhead of a call through C.
//!
//! `cargo test --release cost -- --ignored --nocapture` prints the overhead: the minimum of many
//! alternating runs, on a million random fingerprints in one segment.

use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use simkeep::load::LoadOptions;
use simkeep::{Durability, Observation, Options, Query, Store, Time};

use crate::open::snapshot::SnapshotHandle;
use crate::open::store;
use crate::read::query::{simkeep_snapshot_near, simkeep_snapshot_search_batch};
use crate::read::{matches, query};
use crate::write::visit::{SIMKEEP_HAS_FINGERPRINT, Visit};
use crate::write::{observe, outcomes};

const PAGES: u64 = 1_000_000;
const QUERIES: u64 = 100_000;
const RUNS: usize = 25;

/// Returns a distinct random number for each `n` (splitmix64).
fn random(n: u64) -> u64 {
    let n = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// Prints the minimum times of the Rust call and of the C call, in nanoseconds per item.
fn least(what: &str, of: u64, mut rust: impl FnMut(usize), mut c: impl FnMut(usize)) {
    let mut least = [f64::INFINITY; 2];
    let timed = |least: &mut f64, run: usize, call: &mut dyn FnMut(usize)| {
        let since = Instant::now();
        call(run);
        *least = least.min(since.elapsed().as_nanos() as f64 / of as f64);
    };
    for run in 0..RUNS {
        timed(&mut least[0], run, &mut rust);
        timed(&mut least[1], run, &mut c);
    }
    println!("{what}: {:.0} ns by the crate, {:.0} ns through C", least[0], least[1]);
}

#[test]
#[ignore = "it measures"]
#[expect(clippy::too_many_lines, reason = "one measurement after another")]
fn cost() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("store");
    let options = Options::default().background(false).durability(Durability::OnFlush);
    let made = Store::create(&at, options).unwrap();
    let epoch = made.snapshot().near_epoch();
    let urls: Vec<String> = (0..PAGES).map(|n| format!("https://example.com/page/{n}")).collect();
    let seen = (0_u64..).zip(&urls).map(|(n, url)| {
        Ok(Observation::content(url, Time::from_ms_unchecked(1), random(n), epoch))
    });
    made.load(seen, LoadOptions::default()).unwrap();
    let view = made.snapshot();
    let handle = SnapshotHandle::of_reader(view.clone());
    let prints: Vec<u64> = (0..QUERIES).map(|n| random(n * 7) ^ 1 << (n % 64)).collect();

    least(
        "a search",
        QUERIES,
        |_| prints.iter().for_each(|print| drop(black_box(view.near(*print, 3)))),
        |_| {
            for print in &prints {
                let found = simkeep_snapshot_near(&raw const handle, *print, 3, ptr::null_mut());
                matches::simkeep_matches_free(black_box(found));
            }
        },
    );
    let (like, c_like) = (Query::new(0, 3), query::Query { k: 3, ..query::Query::default() });
    least(
        "a search of a batch",
        QUERIES,
        |_| drop(black_box(like.run_batch(&view, &prints))),
        |_| {
            let (all, none) = (prints.as_ptr(), ptr::null_mut());
            let at = &raw const handle;
            let found =
                simkeep_snapshot_search_batch(at, all, prints.len(), &raw const c_like, none);
            matches::simkeep_matches_free(black_box(found));
        },
    );

    // Visits of unchanged pages, with a different time in each run.
    let count = 2000;
    let c_store = store::StoreHandle::of(made.clone());
    let c_store = (&raw const c_store).cast_mut();
    let visit = |n: usize, time: i64| Visit {
        url: urls[n].as_ptr().cast(),
        url_len: urls[n].len(),
        time_ms: time,
        has: SIMKEEP_HAS_FINGERPRINT,
        fingerprint: random(n as u64),
        ..Visit::at_epoch(epoch.number())
    };
    least(
        "an observation of a batch",
        count as u64,
        |run| {
            let time = 10 + 2 * run as i64;
            let seen = (0_u64..).zip(&urls[..count]);
            let all: Vec<_> = seen
                .map(|(n, url)| {
                    Observation::content(url, Time::from_ms_unchecked(time), random(n), epoch)
                })
                .collect();
            drop(black_box(made.observe_batch(&all)));
        },
        |run| {
            let all: Vec<_> = (0..count).map(|n| visit(n, 11 + 2 * run as i64)).collect();
            let (size, none) = (size_of::<Visit>(), ptr::null_mut());
            let out = observe::simkeep_observe_batch(c_store, all.as_ptr(), count, size, none);
            assert_eq!(
                outcomes::simkeep_outcomes_count(out.as_deref().map_or(ptr::null(), ptr::from_ref)),
                count
            );
            outcomes::simkeep_outcomes_free(black_box(out));
        },
    );
}
