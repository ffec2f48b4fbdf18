//! All pairs of near fingerprints.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::query::{DistinctFingerprints, FingerprintPairs, NearPair};
use simkeep::{Epoch, Observation, Options, Prefix, Progress, Query, Store};
use simkeep_testing::ms;

use super::{create, fill, fill_later, hot, random};

/// Collects the pairs that `find` passes to its sink, sorted.
fn pairs(find: impl FnOnce(&(dyn Fn(&[NearPair]) -> ControlFlow<()> + Sync))) -> Vec<NearPair> {
    let found = Mutex::new(Vec::new());
    find(&|pairs| {
        found.lock().unwrap().extend_from_slice(pairs);
        ControlFlow::Continue(())
    });
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

/// All distinct fingerprints, in order.
fn fingerprints(store: &Store, like: &Query) -> Vec<u64> {
    let found = Mutex::new(Vec::new());
    let progress = Progress::default();
    let end = DistinctFingerprints::selected_by(like).run(&store.snapshot(), &progress, |some| {
        found.lock().unwrap().extend_from_slice(some);
        ControlFlow::Continue(())
    });
    end.unwrap();
    assert_eq!(progress.fraction(), Some(1.0));
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

#[test]
fn all_pairs_are_found_once_across_segments_and_memory() {
    let near: Vec<u64> = random(11)
        .zip(random(12))
        .take(4000)
        .map(|(fingerprint, moved)| match moved % 3 {
            0 => fingerprint,
            1 => 0xffff ^ 1 << (fingerprint % 16) ^ 1 << (moved >> 60),
            _ => fingerprint & 0x8000_0000_0700_0003,
        })
        .collect();
    let store = create(Options::default());
    fill(&store, &near);
    store.seal().unwrap();
    // Every other page changes, to a content that another page had.
    let later: Vec<u64> =
        (0..4000).map(|i| if i % 2 == 0 { near[i] } else { near[(i * 7) % 4000] }).collect();
    fill_later(&store, &later[..2500]);
    store.seal().unwrap();
    fill_later(&store, &later);
    for merged in [false, true] {
        if merged {
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
        let prefix = Prefix::parse("host-007.example").unwrap();
        for (k, under) in [(1, None), (3, None), (8, None), (3, Some(prefix))] {
            let pages = if under.is_some() { 700..800 } else { 0..4000 };
            let mut distinct = later[pages].to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            let like = Query::new(0, k).under(under);
            assert_eq!(fingerprints(&store, &like), distinct, "merged: {merged}");
            let mut expected = Vec::new();
            for (i, &left) in distinct.iter().enumerate() {
                let near = distinct[i + 1..].iter().map(|&right| NearPair {
                    left,
                    right,
                    distance: (left ^ right).count_ones(),
                });
                expected.extend(near.filter(|pair| pair.distance <= k));
            }
            let (progress, snapshot) = (Progress::default(), store.snapshot());
            let found = pairs(|take| {
                FingerprintPairs::selected_by(&like).run(&snapshot, &progress, take).unwrap();
            });
            assert_eq!(progress.fraction(), Some(1.0));
            expected.sort_unstable();
            assert!(!expected.is_empty());
            assert_eq!(found.len(), expected.len(), "k = {k}, merged: {merged}");
            assert_eq!(found, expected);
        }
    }
    let (like, snapshot, progress) = (Query::new(0, 3), store.snapshot(), Progress::default());
    let taken = AtomicUsize::new(0);
    let broken = FingerprintPairs::selected_by(&like).run(&snapshot, &progress, |_| {
        taken.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    });
    broken.unwrap();
    let read = AtomicUsize::new(0);
    let broken = DistinctFingerprints::selected_by(&like).run(&snapshot, &progress, |_| {
        read.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    });
    broken.unwrap();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    assert!((1..=threads).contains(&taken.into_inner()));
    assert!((1..=threads).contains(&read.into_inner()));
}

#[test]
fn pairs_with_given_fingerprints_span_segments_and_memory() {
    let near: Vec<u64> = random(21)
        .zip(random(22))
        .take(3000)
        .map(|(fingerprint, moved)| match moved % 2 {
            0 => 0xffff ^ 1 << (fingerprint % 16) ^ 1 << (moved >> 60),
            _ => fingerprint & 0x8000_0000_0700_0003,
        })
        .collect();
    let store = create(Options::default());
    fill(&store, &near);
    store.seal().unwrap();
    // A third changes to the fingerprint of another page, and some fingerprints are on no page any more.
    let later: Vec<u64> =
        (0..3000).map(|i| if i % 3 == 0 { near[(i * 7 + 1) % 3000] } else { near[i] }).collect();
    fill_later(&store, &later[..1500]);
    store.seal().unwrap();
    fill_later(&store, &later);
    // Some existing ones, some of them twice, and some that never existed.
    let mut given: Vec<u64> = near.iter().step_by(4).copied().collect();
    given.extend(random(23).take(300).map(|of| of & 0x8000_0000_0700_0107));
    for merged in [false, true] {
        if merged {
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
        let prefix = Prefix::parse("host-007.example").unwrap();
        for (k, under) in [(0, None), (1, None), (3, None), (8, None), (3, Some(prefix))] {
            let pages = if under.is_some() { 700..800 } else { 0..3000 };
            let mut distinct = later[pages].to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            let mut expected = Vec::new();
            for &one in &given {
                let others = distinct.iter().map(|&other| NearPair {
                    left: one.min(other),
                    right: one.max(other),
                    distance: (one ^ other).count_ones(),
                });
                expected.extend(others.filter(|pair| (1..=k).contains(&pair.distance)));
            }
            expected.sort_unstable();
            assert_eq!(expected.is_empty(), k == 0);
            for threads in [1, usize::MAX] {
                let like = Query::new(0, k).under(under.clone()).threads(threads);
                let (progress, snapshot) = (Progress::default(), store.snapshot());
                let asked = FingerprintPairs::selected_by(&like).with(&given);
                let found = pairs(|take| {
                    asked
                        .run(&snapshot, &progress, |pairs| {
                            assert!(!pairs.is_empty());
                            take(pairs)
                        })
                        .unwrap();
                });
                assert_eq!(progress.fraction(), Some(1.0));
                assert_eq!(found.len(), expected.len(), "k = {k}, merged: {merged}");
                assert_eq!(found, expected);
            }
        }
    }
    let taken = AtomicUsize::new(0);
    let like = Query::new(0, 8).threads(1);
    let (asked, progress) =
        (FingerprintPairs::selected_by(&like).with(&given), Progress::default());
    let broken = asked.run(&store.snapshot(), &progress, |_| {
        taken.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    });
    broken.unwrap();
    assert_eq!(taken.into_inner(), 1);
}

/// In memory, in one segment, and in both.
#[test]
fn excluded_page_has_no_fingerprints_and_pairs() {
    let store = create(Options::default());
    let page = |name: &str, time: i64, fingerprint: u64| {
        let url = format!("http://{name}.example/");
        store
            .observe(Observation::content(&url, ms(time), fingerprint, Epoch::from_number(0)))
            .unwrap();
    };
    [("a", 1), ("b", 3), ("c", 3)].iter().for_each(|(name, seen)| page(name, 1, *seen));
    for state in ["memory", "segment", "both"] {
        match state {
            "memory" => {}
            "segment" => store.seal().unwrap(),
            _ => page("d", 2, 0xff << 40),
        }
        for (but, own, near) in
            [(None, true, true), (Some("a"), false, false), (Some("b"), true, true)]
        {
            let mut like = Query::new(0, 2);
            like.exclude = but.map(|name: &str| format!("http://{name}.example/"));
            let others = [3].into_iter().chain((state == "both").then_some(0xff << 40));
            let expected: Vec<u64> = own.then_some(1).into_iter().chain(others).collect();
            assert_eq!(fingerprints(&store, &like), expected, "{state}, {but:?}");
            let pair = NearPair { left: 1, right: 3, distance: 1 };
            let expected: Vec<NearPair> = near.then_some(pair).into_iter().collect();
            let (snapshot, progress) = (store.snapshot(), Progress::default());
            let all = pairs(|sink| {
                FingerprintPairs::selected_by(&like).run(&snapshot, &progress, sink).unwrap()
            });
            assert_eq!(all, expected, "{state}, {but:?}");
            // Whether or not a page has the given fingerprint.
            let with = pairs(|sink| {
                FingerprintPairs::selected_by(&like)
                    .with(&[3])
                    .run(&snapshot, &progress, sink)
                    .unwrap()
            });
            assert_eq!(with, expected, "{state}, {but:?}");
        }
    }
}

#[test]
fn a_query_with_one_thread_runs_on_the_caller() {
    let store = create(Options::default());
    fill(&store, &random(31).take(20_000).collect::<Vec<_>>());
    store.seal().unwrap();
    let snapshot = store.snapshot();
    let own = std::thread::current().id();
    let like = Query::new(0, 20).threads(1);
    let here = || {
        assert_eq!(std::thread::current().id(), own);
        ControlFlow::Continue(())
    };
    let progress = Progress::default;
    DistinctFingerprints::selected_by(&like).run(&snapshot, &progress(), |_| here()).unwrap();
    FingerprintPairs::selected_by(&Query::new(0, 12).threads(1))
        .run(&snapshot, &progress(), |_| here())
        .unwrap();
    let given: Vec<u64> = random(31).take(1000).collect();
    FingerprintPairs::selected_by(&like)
        .with(&given)
        .run(&snapshot, &progress(), |_| here())
        .unwrap();
    let few = Query::new(0, 3).threads(1);
    let many = Query::new(0, 3);
    let answers = few.run_batch(&snapshot, &given).unwrap();
    assert_eq!(answers, many.run_batch(&snapshot, &given).unwrap());
    // Zero threads count as one.
    assert_eq!(answers, few.threads(0).run_batch(&snapshot, &given).unwrap());
}

#[test]
fn pairs_omit_outdated_fingerprints() {
    let store = hot(900, true);
    fill_later(
        &store,
        &(0..900).map(|i| if i < 890 { 0xffff } else { 0xfffe }).collect::<Vec<_>>(),
    );
    let seen = Observation::content("http://one.example/", ms(5), 6, Epoch::from_number(0));
    store.observe(seen).unwrap();
    for _ in 0..2 {
        let found = Mutex::new(Vec::new());
        let end = FingerprintPairs::selected_by(&Query::new(0, 3)).run(
            &store.snapshot(),
            &Progress::default(),
            |pairs| {
                found.lock().unwrap().extend_from_slice(pairs);
                ControlFlow::Continue(())
            },
        );
        end.unwrap();
        let expected = [NearPair { left: 0xfffe, right: 0xffff, distance: 1 }];
        assert_eq!(found.into_inner().unwrap(), expected);
        assert_eq!(fingerprints(&store, &Query::new(0, 0)), [6, 0xfffe, 0xffff]);
        store.seal().unwrap();
    }
}
