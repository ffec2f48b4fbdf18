//! What a store does when one of its own invariants is broken. These tests pass when no call meets a
//! bug, and are there for planted bugs (see `tests/planted`). If a bug is met, they check that the store
//! is poisoned, and then fail with its report: nothing more is accepted, acknowledged or read, no thread
//! waits forever, and acknowledged operations are there when the store is opened again.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::query::{DistinctFingerprints, Explanation, FingerprintPairs, StalePages};
use simkeep::{
    Epoch, Error, Observation, Origin, Prefix, Progress, Query, Result, Role, Scope, Store,
};
use simkeep_testing::{create, ms, open, small};

fn url(page: u64) -> String {
    format!("https://host{}.example/page/{page}", page % 3)
}

fn seen(page: u64) -> (String, u64) {
    (url(page), 0x1234_5678_9abc_0000 | (page % 8))
}

/// Observes pages, each acknowledged on return.
fn observe(store: &Store, pages: std::ops::Range<u64>) -> Result<()> {
    let seen: Vec<(String, u64)> = pages.map(seen).collect();
    let observations: Vec<Observation<'_>> = seen
        .iter()
        .map(|(url, print)| {
            Observation::content(url, ms(1_000), *print, Epoch::from_number(0))
                .also(7, Epoch::from_number(1))
        })
        .collect();
    assert_eq!(store.observe_batch(&observations)?.len(), observations.len());
    Ok(())
}

fn load(store: &Store, pages: std::ops::Range<u64>) -> Result<()> {
    let seen: Vec<(String, u64)> = pages.map(seen).collect();
    let observations = seen.iter().map(|(url, print)| {
        Ok(Observation::content(url, ms(2_000), *print, Epoch::from_number(0)))
    });
    store.load(observations, LoadOptions::default()).map(drop)
}

/// The cause, if a call reports that the store is poisoned.
fn cause_of<T>(what: &str, called: Result<T>) -> Error {
    match called {
        Err(Error::Poisoned(cause)) => (*cause).clone(),
        Err(other) => panic!("{what}: not poisoned, but {other}"),
        Ok(_) => panic!("{what}: it goes on"),
    }
}

/// Asserts that every call of a store that met a bug reports the bug.
fn is_poisoned(store: &Store) -> Error {
    let one = Observation::gone("https://another.example/", ms(5));
    let cause = cause_of("observe", store.observe(one));
    assert!(matches!(cause, Error::Bug(_)), "poisoned with another cause: {cause}");
    let query = Query::new(7, 3);
    let pairs = |_: &[simkeep::query::NearPair]| ControlFlow::Continue(());
    for (what, said) in [
        ("forget", cause_of("forget", store.forget(Scope::Url(&url(1))))),
        ("load", cause_of("load", load(store, 0..3))),
        ("flush or seal", cause_of("seal", store.seal())),
        ("merge", cause_of("merge", store.merge(&Progress::default()))),
        ("epoch", cause_of("epoch", store.register_epoch("a third", Role::Both))),
        ("near", cause_of("near", store.snapshot().near(7, 3))),
        ("search_many", cause_of("search_many", query.run_batch(&store.snapshot(), &[7, 8]))),
        (
            "all_pairs",
            cause_of(
                "all_pairs",
                FingerprintPairs::selected_by(&query).run(
                    &store.snapshot(),
                    &Progress::default(),
                    pairs,
                ),
            ),
        ),
        (
            "pairs_with",
            cause_of(
                "pairs_with",
                FingerprintPairs::selected_by(&query).with(&[7]).run(
                    &store.snapshot(),
                    &Progress::default(),
                    pairs,
                ),
            ),
        ),
        (
            "all_fingerprints",
            cause_of(
                "all_fingerprints",
                DistinctFingerprints::selected_by(&query).run(
                    &store.snapshot(),
                    &Progress::default(),
                    |_| ControlFlow::Continue(()),
                ),
            ),
        ),
        ("explain", cause_of("explain", Explanation::of(&store.snapshot(), &query))),
        ("history", cause_of("history", store.history(&url(1)))),
        ("latest", cause_of("latest", store.snapshot().latest(&url(1)))),
        ("as_of", cause_of("as_of", store.as_of(&url(1), ms(5)))),
        ("scan", cause_of("scan", store.snapshot().scan(None).next().unwrap())),
        (
            "stale",
            cause_of(
                "stale",
                StalePages::of(&store.snapshot(), store.change_epoch(), None).next().unwrap(),
            ),
        ),
        ("origin", cause_of("origin", Origin::of(&store.snapshot(), Epoch::from_number(0)))),
        ("warm_up", cause_of("warm_up", store.snapshot().warm_up(&Progress::default()))),
        ("stats", cause_of("stats", store.stats())),
    ] {
        assert_eq!(said.to_string(), cause.to_string(), "{what}");
    }
    cause
}

/// Calls the store until it meets a bug. The `acknowledged` pages survive in any case.
fn call(disk: &SimDisk, store: Store, acknowledged: &AtomicU64, calls: &[(&str, &StoreCall<'_>)]) {
    for (what, call) in calls {
        let error = match catch_unwind(AssertUnwindSafe(|| call(&store))) {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it panicked".to_owned(),
        };
        let cause = is_poisoned(&store);
        // This fails unless all applied operations are durable.
        let _ = store.close();
        let store = open(disk, small());
        let pages = store.snapshot().scan(None).map(Result::unwrap).count() as u64;
        let least = acknowledged.load(Ordering::SeqCst);
        assert!(pages >= least, "{what}: {pages} pages of {least}");
        panic!("{what}: {error}; poisoned with {cause}");
    }
    store.close().unwrap();
}

type StoreCall<'c> = dyn Fn(&Store) -> Result<()> + 'c;

#[test]
fn store_that_met_a_bug_refuses_all_calls() {
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(64));
    let pages = AtomicU64::new(0);
    let observed = |store: &Store, upto: u64| {
        observe(store, pages.load(Ordering::SeqCst)..upto)?;
        pages.store(upto, Ordering::SeqCst);
        Ok(())
    };
    let query = Query::new(0x1234_5678_9abc_0003, 3).epoch(Epoch::from_number(0));
    let prefix = Prefix::parse("host9.example").unwrap();
    call(
        &disk,
        store,
        &pages,
        &[
            ("observe one", &|store| observed(store, 1)),
            ("observe many", &|store| observed(store, 20)),
            ("seal", &Store::seal),
            ("observe more", &|store| observed(store, 30)),
            ("near", &|store| store.snapshot().search(&query).map(drop)),
            ("near many", &|store| query.run_batch(&store.snapshot(), &[7; 9]).map(drop)),
            ("history", &|store| store.history(&url(3)).map(drop)),
            ("scan", &|store| store.snapshot().scan(None).try_for_each(|page| page.map(drop))),
            ("observe in a second segment", &|store| observed(store, 60)),
            ("seal again", &Store::seal),
            ("near in two", &|store| store.snapshot().search(&query).map(drop)),
            ("pairs", &|store| {
                let flow = |_: &[simkeep::query::NearPair]| ControlFlow::Continue(());
                FingerprintPairs::selected_by(&query)
                    .run(&store.snapshot(), &Progress::default(), flow)
                    .map(drop)
            }),
            ("load", &|store| load(store, 40..80)),
            ("forget a page that is none", &|store| store.forget(Scope::Url("urn:x")).map(drop)),
            ("forget a prefix", &|store| {
                let gone = Observation::gone("https://host9.example/", ms(5));
                store.observe(gone)?;
                store.forget(Scope::Prefix(prefix.clone())).map(drop)
            }),
            ("merge", &|store| store.merge(&Progress::default()).map(drop)),
            ("stats", &|store| store.stats().map(drop)),
        ],
    );
}

#[test]
fn no_thread_waits_for_one_that_met_a_bug() {
    const THREADS: u64 = 8;
    let disk = SimDisk::new();
    let options = small().memtable_observations(16).background(true);
    let store = create(&disk, options);
    let acknowledged = Arc::new(AtomicU64::new(0));
    // Each thread has its own pages; a thread that fails stops.
    let one = |own: u64| {
        let (store, acknowledged) = (store.clone(), Arc::clone(&acknowledged));
        thread::spawn(move || {
            for page in 0..40 {
                let page = own + THREADS * page;
                let observed = catch_unwind(AssertUnwindSafe(|| observe(&store, page..page + 1)));
                if !matches!(observed, Ok(Ok(()))) {
                    return;
                }
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    let threads: Vec<_> = (0..THREADS).map(one).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    call(
        &disk,
        store,
        &acknowledged,
        &[("wait_idle", &Store::wait_idle), ("stats", &|s| s.stats().map(drop))],
    );
}
