//! Pairs of pages with equal or near fingerprints, compared with all pairs of all pages.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::query::PairQuery;
use simkeep::{
    Epoch, Error, Observation, Options, Prefix, Progress, Query, Scope, Snapshot, Store,
};
use simkeep_testing::depth::up_to;
use simkeep_testing::model::Model;
use simkeep_testing::{choice, ms};

use super::{create, hot};

const FIRST: Epoch = Epoch::from_number(0);

/// The URLs of a pair.
type UrlPair = (String, String);

fn found(snapshot: &Snapshot, asked: &PairQuery) -> Vec<UrlPair> {
    let (all, progress) = (Mutex::new(Vec::new()), Progress::default());
    let end = asked.run(snapshot, &progress, |pairs| {
        let urls = pairs.iter().map(|pair| {
            let distance = (pair.left.fingerprint ^ pair.right.fingerprint).count_ones();
            assert_eq!(pair.distance, distance);
            assert!(pair.left.fingerprint <= pair.right.fingerprint);
            (pair.left.url.to_string(), pair.right.url.to_string())
        });
        all.lock().unwrap().extend(urls);
        ControlFlow::Continue(())
    });
    end.unwrap();
    let mut all = all.into_inner().unwrap();
    assert_eq!((progress.found(), progress.fraction()), (all.len() as u64, Some(1.0)));
    all.sort();
    all
}

/// The expected pairs, found by comparing all pages, which come in SURT order with their
/// fingerprints.
fn expected(pages: &[(String, u64)], asked: &PairQuery) -> Vec<UrlPair> {
    let mut all = Vec::new();
    let mut rank_in: BTreeMap<u64, usize> = BTreeMap::new();
    let ranked: Vec<(&str, u64, usize)> = pages
        .iter()
        .map(|(url, fingerprint)| {
            let rank = rank_in.entry(*fingerprint).or_default();
            *rank += 1;
            (url.as_str(), *fingerprint, *rank - 1)
        })
        .collect();
    for (place, one) in ranked.iter().enumerate() {
        for other in &ranked[place + 1..] {
            let distance = (one.1 ^ other.1).count_ones();
            let is_wanted = match distance {
                0 => asked.equal && one.2 < asked.pages_per_fingerprint,
                _ => {
                    distance <= asked.k
                        && one.2 < asked.pages_per_fingerprint
                        && other.2 < asked.pages_per_fingerprint
                }
            };
            let (left, right) = if one.1 <= other.1 { (one, other) } else { (other, one) };
            if is_wanted {
                all.push((left.0.to_owned(), right.0.to_owned()));
            }
        }
    }
    all.sort();
    all
}

/// A random event of one of a few pages.
fn happen(store: &Store, model: &mut Model, choice: &mut impl FnMut(u64) -> u64, time: i64) {
    let url = format!("http://h{}.example/{:02}", choice(4), choice(40));
    match choice(40) {
        0 => {
            store.forget(Scope::Url(&url)).unwrap();
            model.forget(|other| other == url);
        }
        1 if choice(4) == 0 => {
            let host = format!("h{}.example", choice(4));
            store.forget(Scope::Prefix(Prefix::parse(&host).unwrap())).unwrap();
            model.forget(|other| other.starts_with(&format!("http://{host}/")));
        }
        2 => store.seal().unwrap(),
        3 if choice(4) == 0 => drop(store.merge(&Progress::default()).unwrap()),
        what => {
            let fingerprint = [0xff, 0xfe, 0xfc, 0xfff << 40, choice(64), 1 << choice(64)];
            let fingerprint = fingerprint[usize::try_from(choice(6)).unwrap()];
            let epoch = Epoch::from_number(u32::from(choice(3) == 0));
            let observation = match what {
                4..8 => Observation::gone(&url, ms(time)),
                8 => Observation::content(&url, ms(time), None, epoch),
                _ => Observation::content(&url, ms(time), fingerprint, epoch),
            };
            store.observe(observation).unwrap();
            model.observe(&observation, 0);
        }
    }
}

#[test]
fn page_pairs_match_the_model() {
    for seed in 0..up_to(40) {
        let again = format!("seed {seed}");
        let store = create(Options::default());
        store.register_epoch("two", simkeep::Role::Both).unwrap();
        let (mut model, mut choice) = (Model::default(), choice(seed));
        for time in 1..500 {
            happen(&store, &mut model, &mut choice, time);
        }
        let (snapshot, then) = (store.snapshot(), model.clone());
        // Later events are not in it.
        for time in 500..560 {
            happen(&store, &mut model, &mut choice, time);
        }
        for (snapshot, model) in [(snapshot, then), (store.snapshot(), model)] {
            for number in 0..2 {
                let epoch = Epoch::from_number(number);
                let pages = model.search(&Query::new(0, 64).epoch(epoch)).into_iter();
                let mut pages: Vec<_> = pages.map(|near| (near.url, near.fingerprint)).collect();
                pages.sort();
                for (k, each) in
                    [(0, 1), (1, 1), (3, 1), (3, 2), (3, usize::MAX), (64, 3), (2, usize::MAX)]
                {
                    let asked =
                        PairQuery::within(k).epoch(epoch).equal(true).pages_per_fingerprint(each);
                    let all = expected(&pages, &asked);
                    assert!(!all.is_empty() || number == 1, "{again}");
                    assert_eq!(found(&snapshot, &asked), all, "{again}, {asked:?}");
                    let near = asked.clone().equal(false);
                    assert_eq!(found(&snapshot, &near), expected(&pages, &near), "{again}");
                    let under = asked.under(Prefix::parse("h2.example").unwrap());
                    let mut pages = pages.clone();
                    pages.retain(|(url, _)| url.starts_with("http://h2.example/"));
                    assert_eq!(found(&snapshot, &under), expected(&pages, &under), "{again}");
                }
            }
        }
    }
}

#[test]
fn shared_fingerprint_makes_a_pair_for_each_page() {
    // In memory, sealed, and again in memory after that.
    let store = hot(5_000, false);
    let near = Observation::content("http://a.example/", ms(9), 1, FIRST);
    store.observe(near).unwrap();
    for round in 0..3 {
        let snapshot = store.snapshot();
        let asked = PairQuery::within(2).equal(true);
        let stars = found(&snapshot, &asked);
        let (firsts, copies): (Vec<_>, Vec<_>) = stars
            .iter()
            .partition(|(left, right)| [left, right].contains(&&"http://a.example/".into()));
        assert_eq!(firsts.len(), 1, "round {round}");
        let first = &copies[0].0;
        assert!(copies.iter().all(|(left, right)| left == first && right > first));
        let of = |each| {
            found(&snapshot, &PairQuery::within(0).equal(true).pages_per_fingerprint(each)).len()
        };
        let n = copies.len() + 1;
        assert_eq!(of(3), (n - 1) + (n - 2) + (n - 3));
        // The sink can end the search early.
        let taken = AtomicUsize::new(0);
        let all = PairQuery::within(64).equal(true).pages_per_fingerprint(usize::MAX);
        let end = all.run(&snapshot, &Progress::default(), |pairs| {
            assert!(pairs.len() <= 1024);
            match taken.fetch_add(pairs.len(), Ordering::Relaxed) {
                0..50_000 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        end.unwrap();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(taken.into_inner() <= 50_000 + 2048 * threads);
        let progress = Progress::default();
        let end = all.run(&snapshot, &progress, |_| {
            progress.cancel();
            ControlFlow::Continue(())
        });
        assert!(matches!(end, Err(Error::Cancelled)), "{end:?}");
        if round == 0 {
            store.seal().unwrap();
        } else {
            let seen = |n| format!("http://h{n:04}.example/{round}");
            for n in 0..300 {
                store.observe(Observation::content(&seen(n), ms(9), 7, FIRST)).unwrap();
            }
        }
    }
}
