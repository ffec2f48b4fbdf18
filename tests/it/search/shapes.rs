//! Searches of every kind answer alike for any shape of the tables.

use std::time::Duration;

use simkeep::query::{AccessPath, Explanation, Shape};
use simkeep::{Matches, Observation, Options, Prefix, Progress, Query, Store, Versions};
use simkeep_testing::ms;

use super::{create, distances, fill, fill_from, found, random};

/// 80,000 pages, most of them in one segment, for each possible shape.
fn stores() -> Vec<(Store, Vec<u64>)> {
    let fingerprints: Vec<u64> = random(1).take(80_000).collect();
    [(3, 48), (3, 36), (3, 12)]
        .into_iter()
        .map(|(near_distance, fingerprint_bytes)| {
            let store = create(
                Options::default()
                    .near_distance(Some(near_distance))
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

#[test]
fn byte_budget_selects_the_shape_and_answers_agree() {
    let stores = stores();
    let shapes: Vec<Shape> = stores
        .iter()
        .map(|(store, _)| {
            let explanation = Explanation::of(&store.snapshot(), &Query::new(0, 3)).unwrap();
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
                stores.iter().map(|(store, _)| store.snapshot().search(&query).unwrap()).collect();
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
fn many_segments_answer_alike_before_and_after_warm_up() {
    let clusters = random(7).take(5_000);
    let fingerprints: Vec<u64> =
        clusters.flat_map(|f| [f, f ^ 1, f ^ 0x8000_0000_0001_0100, f ^ 0xff << 20]).collect();
    let store = create(Options::default());
    // More segments than are searched together, each with tables, and some pages in memory.
    for segment in 0..12 {
        fill_from(&store, &fingerprints, segment * 1600, (segment + 1) * 1600);
        store.seal().unwrap();
    }
    fill_from(&store, &fingerprints, 12 * 1600, fingerprints.len());
    let explanation = Explanation::of(&store.snapshot(), &Query::new(0, 3)).unwrap();
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
                let many = like.run_batch(&store.snapshot(), &queries).unwrap();
                let mut nearest = Vec::new();
                for (&fingerprint, batched) in queries.iter().zip(many) {
                    let single =
                        store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap();
                    let mut truth = distances(&fingerprints, fingerprint);
                    truth.retain(|distance| *distance <= k);
                    assert_eq!(found(&single), truth, "k = {k}, warm: {warm}");
                    assert_eq!(single, batched);
                    nearest.extend(single.near.first().map(|near| (fingerprint, near.url.clone())));
                }
                // Each without one page, with limits for all others and for one of them.
                let pages: Vec<(u64, &str)> = nearest.iter().map(|(f, url)| (*f, &**url)).collect();
                for like in [like.clone(), like.limit(1)] {
                    let many = like.run_batch_of_pages(&store.snapshot(), &pages).unwrap();
                    assert_eq!(many.len(), pages.len());
                    for (&(fingerprint, url), batched) in pages.iter().zip(many) {
                        let alone = like.clone().fingerprint(fingerprint).exclude(url);
                        assert_eq!(store.snapshot().search(&alone).unwrap(), batched);
                        assert!(batched.near.iter().all(|near| near.url != url));
                    }
                }
            }
        }
    }
}

#[test]
fn nearest_pages_are_found_at_any_distance() {
    for (store, fingerprints) in stores() {
        for query in [fingerprints[7] ^ 3, 0, u64::MAX, 0x0123_4567_89ab_cdef] {
            for count in [0, 1, 10, 300] {
                let matches = store.snapshot().search(&Query::nearest(query, count)).unwrap();
                assert_eq!(found(&matches), distances(&fingerprints, query)[..count]);
                assert!(!matches.complete);
                let last = found(&matches).last().copied().unwrap_or(0);
                assert!(matches.within >= last.checked_sub(1));
            }
        }
    }
    let store = create(Options::default());
    assert_eq!(store.snapshot().search(&Query::nearest(7, 3)).unwrap().near, []);
    assert!(store.snapshot().search(&Query::nearest(7, 3)).unwrap().complete);
}

#[test]
fn search_with_a_time_budget_reports_its_reach() {
    for (store, fingerprints) in stores() {
        let query = Query::new(fingerprints[70_001] ^ 1, 20).limit(1000);
        let at_once = store.snapshot().search(&query.clone().budget(Duration::ZERO)).unwrap();
        assert_eq!((at_once.within, at_once.complete), (Some(0), false));
        assert_eq!(at_once.near, []);
        let in_time =
            store.snapshot().search(&query.clone().budget(Duration::from_secs(600))).unwrap();
        assert_eq!(in_time, store.snapshot().search(&query).unwrap());
        assert_eq!((in_time.within, in_time.complete), (Some(20), true));
        assert_eq!(in_time.near[0].distance, 1);
    }
}

#[test]
fn batch_answers_match_single_searches() {
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
            let many = like.run_batch(&store.snapshot(), queries).unwrap();
            assert_eq!(many.len(), queries.len());
            for (&fingerprint, matches) in queries.iter().zip(&many) {
                let alone =
                    store.snapshot().search(&like.clone().fingerprint(fingerprint)).unwrap();
                assert_eq!(*matches, alone);
            }
        }
        let within = Query::new(0, 3);
        assert_eq!(within.run_batch(&store.snapshot(), &[]).unwrap(), []);
        let near = within.run_batch(&store.snapshot(), &queries[..5]).unwrap();
        assert_eq!(near[0], store.snapshot().near(queries[0], 3).unwrap());
    }
}

#[test]
fn explanation_reports_the_plan_and_hits() {
    for (store, fingerprints) in stores() {
        for k in [0, 3, 6, 40] {
            let query = Query::new(fingerprints[3] ^ 1, k);
            let explanation = Explanation::of(&store.snapshot(), &query).unwrap();
            assert_eq!(explanation.matches, store.snapshot().search(&query).unwrap());
            let [large, small, memory] = &explanation.components[..] else { panic!() };
            assert_eq!([large, small, memory].map(|c| c.fingerprints), [70_000, 5000, 5000]);
            assert_eq!((memory.segment, memory.shape), (None, None));
            assert!(large.segment < small.segment);
            for component in &explanation.components {
                let (expected, counted) = (component.plan.expected, component.counted);
                assert!(counted.ns > 0.0 && expected.ns > 0.0);
                // A word that is a codeword has fewer neighbouring codewords than others.
                assert!((counted.probes - expected.probes).abs() <= expected.probes / 16.0 + 0.01);
                if component.plan.access_path == AccessPath::Scan {
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

#[test]
fn within_is_below_the_distance_where_a_search_stopped() {
    let store = create(Options::default());
    let (left, epoch) = (0x0123_4567_89ab_cdef_u64, store.change_epoch());
    let see = |url: &str, time: i64, fingerprint: u64| {
        store.observe(Observation::content(url, ms(time), fingerprint, epoch)).unwrap();
    };
    (0..400).for_each(|n| see(&format!("http://a/{n}"), 1, left));
    see("http://z/", 1, left ^ 1);
    // The segment lists pages whose content has changed since.
    store.seal().unwrap();
    for n in 0..400_u64 {
        see(&format!("http://a/{n}"), 2, (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    let found = |query: Query| {
        let found = store.snapshot().search(&query).unwrap();
        (found.near.len(), found.complete, found.within)
    };
    // Some pages that had the fingerprint were not examined: one of them might still have it.
    assert_eq!(found(Query::new(left, 3)), (0, false, None));
    assert_eq!(found(Query::new(left, 3).limit(1000)), (1, true, Some(3)));
    let before = |limit| Query::new(left, 3).limit(limit).versions(Versions::At(ms(1)));
    assert_eq!(found(before(1000)), (401, true, Some(3)));
    assert_eq!(found(before(400)), (400, false, Some(0)));
    assert_eq!(found(before(10)), (10, false, None));
}
