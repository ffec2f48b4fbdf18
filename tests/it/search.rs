//! What can be asked of a search beside a fingerprint and a distance: the nearest, a budget, many at
//! once, an explanation; and that nothing makes one costly.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use simkeep::disk::SimDisk;
use simkeep::explain::{Shape, Way};
use simkeep::{
    Epoch, Matches, NearPair, Observation, Options, Prefix, Progress, Query, Scope, Store, Versions,
};

use simkeep_testing::{digest, on};

/// Numbers that look random, the same every time.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

fn create(options: Options) -> Store {
    let options = options.near_limit(0).background(false);
    Store::create(on(&SimDisk::new()), options).unwrap()
}

fn url(host: usize, page: usize) -> String {
    format!("http://host-{host:03}.example/{page}")
}

/// Observes a page for each fingerprint, 100 to a host.
fn fill(store: &Store, fingerprints: &[u64]) {
    let urls: Vec<String> = (0..fingerprints.len()).map(|i| url(i / 100, i)).collect();
    let seen = |(url, fingerprint): (&'static str, u64)| {
        Observation::content(url, 5, fingerprint, Epoch::from_number(0))
    };
    for (urls, fingerprints) in urls.chunks(10_000).zip(fingerprints.chunks(10_000)) {
        let urls = urls.iter().map(|url| &*url.clone().leak());
        let batch: Vec<_> = urls.zip(fingerprints.iter().copied()).map(seen).collect();
        store.observe_batch(&batch).unwrap();
    }
}

/// The distances of the fingerprints, nearest first.
fn distances(fingerprints: &[u64], query: u64) -> Vec<u32> {
    let mut distances: Vec<u32> = fingerprints.iter().map(|f| (f ^ query).count_ones()).collect();
    distances.sort_unstable();
    distances
}

fn found(matches: &Matches) -> Vec<u32> {
    matches.near.iter().map(|near| near.distance).collect()
}

/// 80,000 pages, most of them in one segment, of each shape that can be.
fn stores() -> Vec<(Store, Vec<u64>)> {
    let fingerprints: Vec<u64> = random(1).take(80_000).collect();
    [(3, 48), (3, 36), (3, 12)]
        .into_iter()
        .map(|(near_distance, fingerprint_bytes)| {
            let store = create(
                Options::default()
                    .near_distance(near_distance)
                    .fingerprint_bytes(fingerprint_bytes),
            );
            fill(&store, &fingerprints[..70_000]);
            store.seal().unwrap();
            fill_from(&store, &fingerprints, 70_000, 75_000);
            store.seal().unwrap();
            fill_from(&store, &fingerprints, 75_000, 80_000);
            (store, fingerprints.clone())
        })
        .collect()
}

fn fill_from(store: &Store, fingerprints: &[u64], from: usize, to: usize) {
    for (i, &fingerprint) in fingerprints.iter().enumerate().take(to).skip(from) {
        let url = url(i / 100, i);
        store.observe(Observation::content(&url, 5, fingerprint, Epoch::from_number(0))).unwrap();
    }
}

#[test]
fn the_budget_of_bytes_decides_the_shape_and_every_shape_answers_alike() {
    let stores = stores();
    let shapes: Vec<Shape> = stores
        .iter()
        .map(|(store, _)| {
            let explanation = store.snapshot().explain(&Query::new(0, 3)).unwrap();
            assert_eq!(explanation.components.len(), 3);
            explanation.components[0].shape.unwrap()
        })
        .collect();
    assert!(
        matches!(shapes[..], [Shape::Rotations(_), Shape::Cells { .. }, Shape::Column]),
        "{shapes:?}"
    );
    let (_, fingerprints) = &stores[0];
    for query in fingerprints.iter().step_by(4000).map(|f| f ^ 0x11).chain(random(2).take(5)) {
        for k in [0, 2, 3, 5, 8, 20] {
            let query = Query::new(query, k).limit(50);
            let answers: Vec<Matches> =
                stores.iter().map(|(store, _)| store.search(&query).unwrap()).collect();
            let mut all = distances(fingerprints, query.fingerprint);
            all.retain(|distance| *distance <= k);
            assert_eq!(answers[0].complete, all.len() <= 50);
            all.truncate(50);
            assert_eq!(found(&answers[0]), all);
            assert_eq!(answers[0], answers[1]);
            assert_eq!(answers[0], answers[2]);
        }
    }
}

#[test]
fn many_segments_answer_alike_before_and_after_they_are_warm() {
    let clusters = random(7).take(5_000);
    let fingerprints: Vec<u64> =
        clusters.flat_map(|f| [f, f ^ 1, f ^ 0x8000_0000_0001_0100, f ^ 0xff << 20]).collect();
    let store = create(Options::default());
    // More than are searched together, each with tables; and some in memory.
    for segment in 0..12 {
        fill_from(&store, &fingerprints, segment * 1600, (segment + 1) * 1600);
        store.seal().unwrap();
    }
    fill_from(&store, &fingerprints, 12 * 1600, fingerprints.len());
    let explanation = store.snapshot().explain(&Query::new(0, 3)).unwrap();
    let shapes = explanation.components.iter().filter_map(|component| component.shape);
    assert_eq!(shapes.filter(|shape| matches!(shape, Shape::Rotations(_))).count(), 12);
    let queries: Vec<u64> =
        fingerprints.iter().step_by(397).map(|f| f ^ 4).chain(random(8).take(5)).collect();
    for warm in [false, true] {
        if warm {
            store.snapshot().warm_up(&Progress::default()).unwrap();
        }
        for k in [0, 1, 2, 3, 4, 8, 12] {
            for versions in [Versions::InForce, Versions::Ever] {
                let like = Query::new(0, k).limit(1000).versions(versions);
                let many = store.snapshot().search_batch(&queries, &like).unwrap();
                for (&fingerprint, batched) in queries.iter().zip(many) {
                    let single = store.search(&like.clone().fingerprint(fingerprint)).unwrap();
                    let mut truth = distances(&fingerprints, fingerprint);
                    truth.retain(|distance| *distance <= k);
                    assert_eq!(found(&single), truth, "k = {k}, warm: {warm}");
                    assert_eq!(single, batched);
                }
            }
        }
    }
}

#[test]
fn the_nearest_pages_are_found_however_far_they_are() {
    for (store, fingerprints) in stores() {
        for query in [fingerprints[7] ^ 3, 0, u64::MAX, 0x0123_4567_89ab_cdef] {
            for count in [0, 1, 10, 300] {
                let matches = store.search(&Query::nearest(query, count)).unwrap();
                assert_eq!(found(&matches), distances(&fingerprints, query)[..count]);
                assert!(!matches.complete);
                let last = found(&matches).last().copied().unwrap_or(0);
                assert!(matches.within >= last);
            }
        }
    }
    let store = create(Options::default());
    assert_eq!(store.search(&Query::nearest(7, 3)).unwrap().near, []);
    assert!(store.search(&Query::nearest(7, 3)).unwrap().complete);
}

#[test]
fn a_search_with_a_budget_says_how_far_it_came() {
    for (store, fingerprints) in stores() {
        let query = Query::new(fingerprints[70_001] ^ 1, 20).limit(1000);
        let at_once = store.search(&query.clone().budget(Duration::ZERO)).unwrap();
        assert_eq!((at_once.within, at_once.complete), (0, false));
        assert_eq!(at_once.near, []);
        let in_time = store.search(&query.clone().budget(Duration::from_secs(600))).unwrap();
        assert_eq!(in_time, store.search(&query).unwrap());
        assert_eq!((in_time.within, in_time.complete), (20, true));
        assert_eq!(in_time.near[0].distance, 1);
    }
}

#[test]
fn many_searches_are_answered_like_one_after_another() {
    for (store, fingerprints) in stores() {
        let queries: Vec<u64> =
            fingerprints.iter().step_by(60).map(|f| f ^ 5).chain(random(3).take(700)).collect();
        let prefix = Prefix::parse("host-007.example").unwrap();
        for like in [
            Query::new(0, 3),
            Query::new(0, 8).limit(1),
            Query::new(0, 2).versions(Versions::Ever).under(prefix),
            Query::nearest(0, 2),
        ] {
            let queries = if like.k > 8 { &queries[..20] } else { &queries[..] };
            let many = store.snapshot().search_batch(queries, &like).unwrap();
            assert_eq!(many.len(), queries.len());
            for (&fingerprint, matches) in queries.iter().zip(&many) {
                let alone = store.search(&like.clone().fingerprint(fingerprint)).unwrap();
                assert_eq!(*matches, alone);
            }
        }
        let within = Query::new(0, 3);
        assert_eq!(store.snapshot().search_batch(&[], &within).unwrap(), []);
        let near = store.snapshot().search_batch(&queries[..5], &within).unwrap();
        assert_eq!(near[0], store.near(queries[0], 3).unwrap());
    }
}

#[test]
fn an_explanation_tells_what_was_chosen_and_met() {
    for (store, fingerprints) in stores() {
        for k in [0, 3, 6, 40] {
            let query = Query::new(fingerprints[3] ^ 1, k);
            let explanation = store.snapshot().explain(&query).unwrap();
            assert_eq!(explanation.matches, store.search(&query).unwrap());
            let [large, small, memory] = &explanation.components[..] else { panic!() };
            assert_eq!([large, small, memory].map(|c| c.fingerprints), [70_000, 5000, 5000]);
            assert_eq!((memory.segment, memory.shape), (None, None));
            assert!(large.segment < small.segment);
            for component in &explanation.components {
                let (expected, counted) = (component.plan.expected, component.counted);
                assert!(counted.ns > 0.0 && expected.ns > 0.0);
                // A word that is a codeword itself has fewer codewords about it than others.
                assert!((counted.probes - expected.probes).abs() <= expected.probes / 16.0 + 0.01);
                if component.plan.way == Way::Scan {
                    assert_eq!((counted.probes, counted.candidates), (0.0, expected.candidates));
                } else {
                    assert!(counted.candidates <= 2.0 * expected.candidates + 200.0);
                    assert!(counted.lines <= 2.0 * expected.lines + 50.0);
                }
            }
            assert_eq!(large.hits > 0, k > 0);
        }
    }
}

/// A store with many pages that have, or had, one fingerprint.
fn hot(pages: usize, sealed: bool) -> Store {
    let store = create(Options::default().memtable_observations(1 << 20));
    fill(&store, &vec![7; pages]);
    if sealed {
        store.seal().unwrap();
    }
    store
}

#[test]
fn a_list_of_pages_that_have_changed_ends_the_search_early_and_that_is_said() {
    for sealed in [false, true] {
        let store = hot(5000, sealed);
        let changed: Vec<u64> = (0..5000).map(|i| if i == 4999 { 7 } else { !7 }).collect();
        fill_later(&store, &changed);
        if sealed {
            store.seal().unwrap();
        }
        let matches = store.near(7, 3).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, false));
        // Whoever wants to know can look at more.
        let matches = store.search(&Query::new(7, 3).limit(5000)).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (1, true));
        assert_eq!(matches.near[0].url, url(49, 4999));
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        let matches = store.near(7, 3).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (1, true), "merged");
    }
}

/// Each page once more, an hour later.
fn fill_later(store: &Store, fingerprints: &[u64]) {
    for (i, &fingerprint) in fingerprints.iter().enumerate() {
        let url = url(i / 100, i);
        store
            .observe(Observation::content(&url, 3_600_005, fingerprint, Epoch::from_number(0)))
            .unwrap();
    }
}

#[test]
fn a_forgotten_list_ends_the_search_early_and_that_is_said() {
    for sealed in [false, true] {
        let store = hot(3000, sealed);
        store.forget(Scope::Prefix(Prefix::parse("example").unwrap())).unwrap();
        let matches = store.near(7, 0).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, false));
        let matches = store.search(&Query::new(7, 0).limit(3000)).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, true));
    }
}

#[test]
fn what_pages_elsewhere_had_costs_a_search_under_a_prefix_nothing() {
    let center = 0x0123_4567_89ab_cdef;
    // 20,000 different fingerprints within 4 of it, which their pages have no longer.
    let flipped = |i: u64, block: u64| 1 << (block * 16 + (i >> (block * 4)) % 16);
    let differ = |i| (0..4).map(|block| flipped(i, block)).sum::<u64>();
    let once: Vec<u64> = (0..20_000).map(|i| center ^ differ(i)).collect();
    let store = create(Options::default().memtable_observations(1 << 20));
    fill(&store, &once);
    fill_later(&store, &vec![!center; once.len()]);
    let kept = "http://kept.example/";
    store.observe(Observation::content(kept, 5, center ^ 0x1f, Epoch::from_number(0))).unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let query = Query::new(center, 5).limit(1);
    let under = query.clone().under(Prefix::parse("kept.example").unwrap());
    let matches = store.search(&under).unwrap();
    assert_eq!((matches.near.len(), matches.complete), (1, true));
    assert_eq!(matches.near[0].url, kept);
    // Whoever asks for all of them is told that it was too much, whether or not it is found.
    let matches = store.search(&query).unwrap();
    assert!(!matches.complete);
    assert!(matches.near.iter().all(|near| near.url == kept));
}

#[test]
fn a_prefix_is_found_in_a_long_list_without_going_through_it() {
    for sealed in [false, true] {
        let store = hot(20_000, sealed);
        let query = Query::new(7, 0).limit(100);
        let matches =
            store.search(&query.clone().under(Prefix::parse("host-150.example").unwrap()));
        let matches = matches.unwrap();
        if sealed {
            assert!(matches.complete);
            assert_eq!(matches.near.len(), 100);
            assert!(matches.near.iter().all(|near| near.url.contains("host-150")));
        } else {
            // In memory lists are gone through, as far as a search goes.
            assert!(!matches.complete);
        }
        let matches = store.search(&query).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (100, false));
        assert_eq!(matches.near[99].url, url(0, 99));
    }
}

#[test]
fn copies_are_found_in_a_long_list_of_others() {
    let options = Options::default().background(false).near_limit(3);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    let observe = |page: usize, n| {
        let url = url(page / 100, page);
        let seen = Observation::content(&url, 5, 7, Epoch::from_number(0)).digest(digest(n));
        store.observe(seen).unwrap()
    };
    for page in 0..4000 {
        observe(page, if page % 1999 == 1500 { 9 } else { u8::from(page % 2 == 1) });
    }
    store.seal().unwrap();
    let outcome = observe(9999, 9);
    let copies: Vec<&str> = outcome.copies.iter().map(|copy| &*copy.url).collect();
    assert_eq!(copies, [url(15, 1500), url(34, 3499)]);
    assert_eq!(outcome.near.len(), 3);
}

#[test]
fn all_pairs_are_found_across_segments_and_memory_each_once() {
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
    // Every other page changes, back to what another page had.
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
            let mut expected = Vec::new();
            for (i, &left) in distinct.iter().enumerate() {
                let near = distinct[i + 1..].iter().map(|&right| NearPair {
                    left,
                    right,
                    distance: (left ^ right).count_ones(),
                });
                expected.extend(near.filter(|pair| pair.distance <= k));
            }
            let found = Mutex::new(Vec::new());
            let like = Query::new(0, k).under(under);
            let progress = Progress::default();
            let end = store.snapshot().all_pairs(&like, &progress, |pairs| {
                found.lock().unwrap().extend_from_slice(pairs);
                ControlFlow::Continue(())
            });
            end.unwrap();
            assert_eq!(progress.fraction(), Some(1.0));
            let mut found = found.into_inner().unwrap();
            found.sort_unstable();
            expected.sort_unstable();
            assert!(!expected.is_empty());
            assert_eq!(found.len(), expected.len(), "k = {k}, merged: {merged}");
            assert_eq!(found, expected);
        }
    }
    let taken = AtomicUsize::new(0);
    let broken = store.snapshot().all_pairs(&Query::new(0, 3), &Progress::default(), |_| {
        taken.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(())
    });
    broken.unwrap();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    assert!((1..=threads).contains(&taken.into_inner()));
}

#[test]
fn pairs_are_not_told_of_fingerprints_that_hundreds_of_pages_had_and_have_no_longer() {
    let store = hot(900, true);
    fill_later(
        &store,
        &(0..900).map(|i| if i < 890 { 0xffff } else { 0xfffe }).collect::<Vec<_>>(),
    );
    let seen = Observation::content("http://one.example/", 5, 6, Epoch::from_number(0));
    store.observe(seen).unwrap();
    for _ in 0..2 {
        let found = Mutex::new(Vec::new());
        let end = store.snapshot().all_pairs(&Query::new(0, 3), &Progress::default(), |pairs| {
            found.lock().unwrap().extend_from_slice(pairs);
            ControlFlow::Continue(())
        });
        end.unwrap();
        let expected = [NearPair { left: 0xfffe, right: 0xffff, distance: 1 }];
        assert_eq!(found.into_inner().unwrap(), expected);
        store.seal().unwrap();
    }
}

/// 60,000 different fingerprints that no table tells apart: within 4 of one, or equal in 44 bits.
fn crowd(ball: bool) -> Vec<u64> {
    let mut random = random(40);
    let center = 0x0123_4567_89ab_cdef;
    let mut all = std::collections::BTreeSet::new();
    while all.len() < 60_000 {
        let bits = random.next().unwrap();
        all.insert(match ball {
            true => (0..4).fold(center, |near, at| near ^ 1 << (bits >> (at * 6) & 63)),
            false => center ^ bits >> 44,
        });
    }
    all.into_iter().collect()
}

/// Whether a search that did not look at all says so, and is right in what it says.
fn check_crowd(fingerprints: &[u64], query: &Query, found: &Matches) {
    let truth = distances(fingerprints, query.fingerprint);
    let near = truth.iter().filter(|distance| **distance <= query.k).count();
    assert!(found.near.len() <= query.limit);
    for near in &found.near {
        assert_eq!((near.fingerprint ^ query.fingerprint).count_ones(), near.distance);
        assert!(near.distance <= query.k && fingerprints.contains(&near.fingerprint));
    }
    assert!(self::found(found).is_sorted());
    let named: std::collections::BTreeSet<_> = found.near.iter().map(|near| &near.url).collect();
    assert_eq!(named.len(), found.near.len(), "each once");
    if found.complete {
        assert_eq!(self::found(found), truth[..near]);
    } else {
        // Whatever happens, exact copies and their neighbours are found.
        let nearest = truth.iter().filter(|distance| **distance <= query.k.min(1)).count();
        let nearest = nearest.min(query.limit);
        assert_eq!(self::found(found)[..nearest], truth[..nearest]);
    }
}

#[test]
fn a_search_in_a_crowd_looks_at_some_and_says_so() {
    for (ball, bytes) in [(true, 48), (false, 48), (true, 36), (false, 36)] {
        let fingerprints = crowd(ball);
        let store = create(Options::default().fingerprint_bytes(bytes));
        fill(&store, &fingerprints);
        for place in ["memory", "sealed"] {
            if place == "sealed" {
                store.seal().unwrap();
                store.merge(&Progress::default()).unwrap();
            }
            let queries: Vec<u64> =
                fingerprints.iter().step_by(1999).flat_map(|f| [*f, f ^ 1 << 60]).collect();
            for k in [0, 1, 3, 8] {
                let like = Query::new(0, k).fingerprints(4000);
                let many = store.snapshot().search_batch(&queries, &like).unwrap();
                let mut cut = 0;
                for (&fingerprint, matches) in queries.iter().zip(&many) {
                    let query = like.clone().fingerprint(fingerprint);
                    check_crowd(&fingerprints, &query, matches);
                    assert_eq!(store.search(&query).unwrap(), *matches, "the same each time");
                    let crowded = store.snapshot().explain(&query).unwrap().components;
                    let crowded = crowded.iter().any(|component| component.crowded.is_some());
                    assert!(!crowded || !matches.complete && matches.within == 1);
                    cut += usize::from(crowded);
                    // All that there is, if that is what is wanted.
                    let all = store.search(&query.clone().limit(usize::MAX)).unwrap();
                    let mut truth = distances(&fingerprints, fingerprint);
                    truth.retain(|distance| *distance <= k);
                    assert!(all.complete);
                    assert_eq!(found(&all), truth);
                    // And more than there are may be compared.
                    let enough = store.search(&query.fingerprints(60_000)).unwrap();
                    truth.truncate(16);
                    assert_eq!(found(&enough), truth);
                }
                // Without rotations all is scanned anyway.
                let expected = place == "memory" || bytes == 48;
                assert!(k < 3 || (cut > 0) == expected, "{ball}, {bytes}, {place}, k = {k}");
            }
        }
    }
}

#[test]
fn observing_in_a_crowd_names_what_is_true_and_copies_first() {
    let fingerprints = crowd(true);
    let options = Options::default().background(false).near_fingerprints(2000);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    fill(&store, &fingerprints);
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        for (i, fingerprint) in fingerprints.iter().step_by(5003).enumerate() {
            let url = format!("http://new.example/{sealed}/{i}");
            let outcome = store
                .observe(Observation::content(&url, 6, *fingerprint, Epoch::from_number(0)))
                .unwrap();
            let near = distances(&fingerprints, *fingerprint).partition_point(|d| *d <= 3);
            assert_eq!(outcome.near[0].distance, 0);
            assert!(near > 16 && outcome.near.len() <= 16 && !outcome.complete);
            for near in outcome.near {
                assert_eq!((near.fingerprint ^ fingerprint).count_ones(), near.distance);
            }
        }
    }
}

#[test]
fn pairs_in_a_crowd_are_those_that_there_are() {
    let fingerprints = crowd(false);
    let store = create(Options::default());
    fill(&store, &fingerprints);
    let known: std::collections::BTreeSet<u64> = fingerprints.iter().copied().collect();
    let mut expected = Vec::new();
    for &fingerprint in &fingerprints {
        let larger = (0..64).map(|bit| fingerprint | 1 << bit).filter(|other| *other > fingerprint);
        expected
            .extend(larger.filter(|other| known.contains(other)).map(|right| (fingerprint, right)));
    }
    expected.sort_unstable();
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        let found = Mutex::new(Vec::new());
        let end = store.snapshot().all_pairs(&Query::new(0, 1), &Progress::default(), |pairs| {
            found.lock().unwrap().extend(pairs.iter().map(|pair| (pair.left, pair.right)));
            ControlFlow::Continue(())
        });
        end.unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        assert!(found == expected, "{} rather than {}", found.len(), expected.len());
    }
}
