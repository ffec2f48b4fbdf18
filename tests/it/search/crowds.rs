//! Dense sets of fingerprints: a search examines some of them and reports that it is incomplete.

use std::ops::ControlFlow;
use std::sync::Mutex;

use simkeep::disk::SimDisk;
use simkeep::query::{Explanation, FingerprintPairs};
use simkeep::{Epoch, Matches, Observation, Options, Progress, Query, Store};
use simkeep_testing::depth::up_to;
use simkeep_testing::{ms, on};

use super::{create, distances, fill, found, random};

/// 60,000 different fingerprints that no table distinguishes: within 4 bits of one, or equal in 44 bits.
fn dense_fingerprints(ball: bool) -> Vec<u64> {
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

/// Checks that no page is missing within the distance that an answer claims.
fn check_within(fingerprints: &[u64], fingerprint: u64, matches: &Matches) {
    let is_within = |distance: &&u32| Some(**distance) <= matches.within;
    let all = distances(fingerprints, fingerprint);
    let named = found(matches);
    assert_eq!(named.iter().filter(is_within).count(), all.iter().filter(is_within).count());
}

/// Checks that an incomplete search reports this, and that its matches are right.
fn check_dense(fingerprints: &[u64], query: &Query, found: &Matches) {
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
        // In any case, exact copies and their neighbours are found.
        let nearest = truth.iter().filter(|distance| **distance <= query.k.min(1)).count();
        let nearest = nearest.min(query.limit);
        assert_eq!(self::found(found)[..nearest], truth[..nearest]);
    }
}

#[test]
fn search_in_a_dense_bucket_is_partial_and_says_so() {
    for (ball, bytes) in [(true, 48), (false, 48), (true, 36), (false, 36)] {
        let fingerprints = dense_fingerprints(ball);
        let store = create(Options::default().fingerprint_bytes(bytes));
        fill(&store, &fingerprints);
        for place in ["memory", "sealed"] {
            if place == "sealed" {
                store.seal().unwrap();
                store.merge(&Progress::default()).unwrap();
            }
            let queries: Vec<u64> = fingerprints
                .iter()
                .step_by(60_000 / up_to(30) - 1)
                .flat_map(|f| [*f, f ^ 1 << 60])
                .collect();
            for k in [0, 1, 3, 8] {
                let like = Query::new(0, k).fingerprints(4000);
                let many = like.run_batch(&store.snapshot(), &queries).unwrap();
                let mut cut = 0;
                for (&fingerprint, matches) in queries.iter().zip(&many) {
                    let query = like.clone().fingerprint(fingerprint);
                    check_dense(&fingerprints, &query, matches);
                    assert_eq!(
                        store.snapshot().search(&query).unwrap(),
                        *matches,
                        "the same each time"
                    );
                    check_within(
                        &fingerprints,
                        fingerprint,
                        &store.snapshot().search(&query.clone().limit(1)).unwrap(),
                    );
                    let crowded = Explanation::of(&store.snapshot(), &query).unwrap().components;
                    let crowded = crowded.iter().any(|component| component.crowded.is_some());
                    assert!(!crowded || !matches.complete && matches.within <= Some(1));
                    cut += usize::from(crowded);
                    // All of them, if that is requested.
                    let all = store.snapshot().search(&query.clone().limit(usize::MAX)).unwrap();
                    let mut truth = distances(&fingerprints, fingerprint);
                    truth.retain(|distance| *distance <= k);
                    assert!(all.complete);
                    assert_eq!(found(&all), truth);
                    // More than there are may be compared.
                    let enough = store.snapshot().search(&query.fingerprints(60_000)).unwrap();
                    truth.truncate(16);
                    assert_eq!(found(&enough), truth);
                }
                // Without rotations everything is scanned anyway.
                let expected = place == "memory" || bytes == 48;
                assert!(k < 3 || (cut > 0) == expected, "{ball}, {bytes}, {place}, k = {k}");
            }
        }
    }
}

#[test]
fn observation_in_a_dense_bucket_names_copies_first() {
    let fingerprints = dense_fingerprints(true);
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
                .observe(Observation::content(&url, ms(6), *fingerprint, Epoch::from_number(0)))
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
fn pairs_in_a_dense_bucket_are_exact() {
    let fingerprints = dense_fingerprints(false);
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
        let end = FingerprintPairs::selected_by(&Query::new(0, 1)).run(
            &store.snapshot(),
            &Progress::default(),
            |pairs| {
                found.lock().unwrap().extend(pairs.iter().map(|pair| (pair.left, pair.right)));
                ControlFlow::Continue(())
            },
        );
        end.unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        assert!(found == expected, "{} rather than {}", found.len(), expected.len());
    }
}
