//! A join of several stores in parts, compared with a join of one store with all pages.

use std::ops::ControlFlow;
use std::sync::Mutex;

use simkeep::join::{Chunk, Histogram, Join, JoinPlan, Pair};
use simkeep::query::{DistinctFingerprints, FingerprintPairs};
use simkeep::{Options, Progress, Query, Snapshot, Store};

use super::{create, fill, fill_from, fill_later, random};

/// All pairs of one store, in order.
fn all_pairs(store: &Store, k: u32) -> Vec<([u64; 2], u32)> {
    let found = Mutex::new(Vec::new());
    let sink = |pairs: &[simkeep::query::NearPair]| {
        let pairs = pairs.iter().map(|pair| ([pair.left, pair.right], pair.distance));
        found.lock().unwrap().extend(pairs);
        ControlFlow::Continue(())
    };
    FingerprintPairs::selected_by(&Query::new(0, k))
        .run(&store.snapshot(), &Progress::default(), sink)
        .unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

/// All pairs of several stores, in order.
fn shared(stores: &[Snapshot], k: u32, ranges: u32, most: u64) -> Vec<([u64; 2], u32)> {
    let (like, progress) = (Query::new(0, 0), Progress::default());
    let mut histogram = Histogram::within(k, 4096);
    for store in stores {
        assert!(histogram.merge(
            &DistinctFingerprints::selected_by(&like).histogram(store, k, 4096, &progress).unwrap()
        ));
    }
    let plan = JoinPlan::new(&histogram, ranges, most);
    let mut received = vec![[Vec::new(), Vec::new()]; plan.tasks().len()];
    let mut count = 0;
    for store in stores {
        let sink = |chunk: Chunk| {
            count += chunk.fingerprints.len() as u64;
            received[chunk.task as usize][usize::from(chunk.is_second)].extend(chunk.fingerprints);
            ControlFlow::Continue(())
        };
        DistinctFingerprints::selected_by(&like)
            .partition(store, &plan, 1024, &progress, sink)
            .unwrap();
    }
    // For a range in pieces, the approximate number of fingerprints of each is known.
    assert!(
        count.abs_diff(plan.fingerprints_sent()) * 20 <= count,
        "{count}, not {}",
        plan.fingerprints_sent()
    );
    let found = Mutex::new(Vec::new());
    for (task, sides) in plan.tasks().iter().zip(received) {
        let sink = |pairs: &[Pair]| {
            let pairs = pairs.iter().map(|pair| (pair.fingerprints, pair.distance));
            found.lock().unwrap().extend(pairs);
            ControlFlow::Continue(())
        };
        assert!(task.run(sides, Join::within(0), &progress, sink).is_continue());
    }
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

#[test]
fn join_of_several_stores_matches_one_store() {
    let near: Vec<u64> = random(31)
        .zip(random(32))
        .take(6000)
        .map(|(fingerprint, moved)| match moved % 3 {
            0 => fingerprint,
            1 => 0xffff ^ 1 << (fingerprint % 16) ^ 1 << (moved >> 60),
            _ => fingerprint & 0x8000_0000_0700_0003,
        })
        .collect();
    let (all, later) =
        (create(Options::default()), near.iter().map(|f| f ^ 0xf0).collect::<Vec<_>>());
    let stores: Vec<Store> = (0..3).map(|_| create(Options::default())).collect();
    fill(&all, &near);
    for (number, store) in stores.iter().enumerate() {
        // Pages of all stores, with some fingerprints in two of them; one store is in memory only.
        let (from, to) = (number * 2000, (number * 2000 + 2300).min(6000));
        fill_from(store, &near, from, to);
        if number > 0 {
            store.seal().unwrap();
        }
    }
    for k in [0, 1, 2, 3, 4, 7] {
        let truth = all_pairs(&all, k);
        let snapshots: Vec<Snapshot> = stores.iter().map(Store::snapshot).collect();
        for (ranges, most) in [(4, u64::MAX), (16, 2000), (64, 400)] {
            let found = shared(&snapshots, k, ranges, most);
            assert!(found == truth, "within {k}: {} rather than {}", found.len(), truth.len());
        }
    }
    // Fingerprints that are no longer in force are not distributed.
    fill_later(&all, &later);
    for store in &stores {
        fill_later(store, &later);
        store.seal().unwrap();
    }
    let snapshots: Vec<Snapshot> = stores.iter().map(Store::snapshot).collect();
    assert_eq!(shared(&snapshots, 3, 8, 1 << 20), all_pairs(&all, 3));
}

#[test]
fn partition_stops_when_the_consumer_breaks() {
    let store = create(Options::default());
    fill(&store, &random(33).take(20_000).collect::<Vec<_>>());
    let (snapshot, like) = (store.snapshot(), Query::new(0, 0));
    let histogram = DistinctFingerprints::selected_by(&like)
        .histogram(&snapshot, 3, 4096, &Progress::default())
        .unwrap();
    let plan = JoinPlan::new(&histogram, 4, 1 << 20);
    let mut chunks = 0;
    let end = DistinctFingerprints::selected_by(&like).partition(
        &snapshot,
        &plan,
        1024,
        &Progress::default(),
        |_| {
            chunks += 1;
            if chunks == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert!(end.is_ok());
    assert_eq!(chunks, 2);
}
