//! A join of several stores, shared out: what a join of one store finds that has all pages.

use std::ops::ControlFlow;
use std::sync::Mutex;

use simkeep::join::{Hand, Join, Pair, Shares, Tally};
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
    FingerprintPairs::like(&Query::new(0, k))
        .run(&store.snapshot(), &Progress::default(), sink)
        .unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

/// All pairs of several stores, in order.
fn shared(stores: &[Snapshot], k: u32, ranges: u32, most: u64) -> Vec<([u64; 2], u32)> {
    let (like, progress) = (Query::new(0, 0), Progress::default());
    let mut tally = Tally::within(k, 4096);
    for store in stores {
        assert!(
            tally.merge(
                &DistinctFingerprints::like(&like).tally(store, k, 4096, &progress).unwrap()
            )
        );
    }
    let shares = Shares::new(&tally, ranges, most);
    let mut dealt = vec![[Vec::new(), Vec::new()]; shares.all().len()];
    let mut count = 0;
    for store in stores {
        let sink = |hand: Hand| {
            count += hand.fingerprints.len() as u64;
            dealt[hand.share as usize][usize::from(hand.is_second)].extend(hand.fingerprints);
            ControlFlow::Continue(())
        };
        DistinctFingerprints::like(&like).deal(store, &shares, 1024, &progress, sink).unwrap();
    }
    // Of a range in pieces it is known about how many go where.
    assert!(count.abs_diff(shares.dealt()) * 20 <= count, "{count}, not {}", shares.dealt());
    let found = Mutex::new(Vec::new());
    for (share, sides) in shares.all().iter().zip(dealt) {
        let sink = |pairs: &[Pair]| {
            let pairs = pairs.iter().map(|pair| (pair.fingerprints, pair.distance));
            found.lock().unwrap().extend(pairs);
            ControlFlow::Continue(())
        };
        assert!(share.run(sides, Join::within(0), &progress, sink).is_continue());
    }
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

#[test]
fn a_join_of_several_stores_finds_what_one_store_of_all_pages_does() {
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
        // Pages of all, with some fingerprints in two of them; one has memory only.
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
    // What is no longer in force is dealt out no more.
    fill_later(&all, &later);
    for store in &stores {
        fill_later(store, &later);
        store.seal().unwrap();
    }
    let snapshots: Vec<Snapshot> = stores.iter().map(Store::snapshot).collect();
    assert_eq!(shared(&snapshots, 3, 8, 1 << 20), all_pairs(&all, 3));
}

#[test]
fn who_has_seen_enough_of_a_deal_ends_it() {
    let store = create(Options::default());
    fill(&store, &random(33).take(20_000).collect::<Vec<_>>());
    let (snapshot, like) = (store.snapshot(), Query::new(0, 0));
    let tally =
        DistinctFingerprints::like(&like).tally(&snapshot, 3, 4096, &Progress::default()).unwrap();
    let shares = Shares::new(&tally, 4, 1 << 20);
    let mut hands = 0;
    let end = DistinctFingerprints::like(&like).deal(
        &snapshot,
        &shares,
        1024,
        &Progress::default(),
        |_| {
            hands += 1;
            if hands == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert!(end.is_ok());
    assert_eq!(hands, 2);
}
