//! A reader works in a child, whatever the threads of the parent were doing.

use simkeep_testing::ms;
use std::sync::atomic::{AtomicBool, Ordering};

use simkeep::{Epoch, Observation, Options, Prefix, Query, Reader, Store};

use super::child::{copy_of, fork, forks};

/// Visits of one page; enough that its head is cached.
const DEEP: i64 = 5000;

/// Asks every kind of question, on segments and on a replayed journal.
fn ask(reader: &Reader) {
    assert_eq!(reader.snapshot().near(3 << 32, 0).unwrap().near.len(), 1);
    assert!(!reader.snapshot().search(&Query::nearest(5, 3)).unwrap().near.is_empty());
    assert_eq!(
        reader.snapshot().latest("https://deep.example/").unwrap().unwrap().visits,
        DEEP.unsigned_abs()
    );
    assert_eq!(reader.snapshot().history("https://b.example/7").unwrap().len(), 1);
    let prefix = Prefix::parse("b.example").unwrap();
    assert_eq!(reader.snapshot().scan(Some(&prefix)).filter(Result::is_ok).count(), 300);
    assert_eq!(reader.snapshot().scan(None).filter(Result::is_ok).count(), 601);
}

#[test]
fn reader_works_in_a_child_forked_during_searches() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    let deep: Vec<_> =
        (0..DEEP).map(|time| Observation::gone("https://deep.example/", ms(time))).collect();
    store.observe_batch(&deep).unwrap();
    let observe = |host: &str, from: u64| {
        let urls: Vec<String> = (0..300).map(|n| format!("https://{host}.example/{n}")).collect();
        let seen = |(url, n)| Observation::content(url, ms(0), n << 32, Epoch::from_number(0));
        let batch: Vec<_> = urls.iter().map(String::as_str).zip(from..).map(seen).collect();
        store.observe_batch(&batch).unwrap();
    };
    observe("a", 0);
    store.seal().unwrap();
    observe("b", 300);
    store.close().unwrap();
    for _ in 0..forks().div_ceil(10) {
        // A new reader each time, so that its lazily created parts are being created.
        let reader = Reader::open(&path).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        ask(&reader);
                    }
                });
            }
            let children: Vec<_> = (0..10).map(|_| fork(|| ask(&reader))).collect();
            let ended = std::panic::catch_unwind(|| {
                children.into_iter().for_each(|child| child.end("a child that reads"));
            });
            stop.store(true, Ordering::Relaxed);
            ended.unwrap();
        });
    }
}

#[test]
fn reader_refreshes_in_a_child_forked_during_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    let observe = |from: i64, to: i64| {
        let visits: Vec<_> =
            (from..to).map(|time| Observation::gone("https://a.example/", ms(time))).collect();
        store.observe_batch(&visits).unwrap();
    };
    let visits = |reader: &Reader| {
        let page = reader.snapshot().scan(None).next().unwrap().unwrap();
        page.visits
    };
    observe(0, 1000);
    for round in 1..=forks().div_ceil(10) {
        let reader = Reader::open(&path).unwrap();
        let end = 1000 + 10 * round.cast_signed();
        observe(end - 10, end);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(visits(&reader), end.cast_unsigned() - 10);
                    }
                });
            }
            let refresh = || {
                let mut own = copy_of(&reader);
                assert!(own.refresh().unwrap());
                assert_eq!(visits(&own), end.cast_unsigned());
            };
            let children: Vec<_> = (0..10).map(|_| fork(refresh)).collect();
            let ended = std::panic::catch_unwind(|| {
                children.into_iter().for_each(|child| child.end("a child that refreshes"));
            });
            stop.store(true, Ordering::Relaxed);
            ended.unwrap();
        });
    }
}
