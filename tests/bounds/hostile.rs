//! Hostile input: very many versions of one page, very many pages with one fingerprint, clocks that run
//! backwards, colliding hashes. Answers are correct, and neither time nor memory grows where it should
//! not.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{
    Content, Digest, Distance, Durability, Entry, Epoch, Observation, Options, Prefix, Progress,
    Query, Scope, Seen, Store, Verdict, Versions, Visit,
};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::depth::up_to;
use simkeep_testing::fold::{history, with_verdicts};
use simkeep_testing::{choice, create, digest, ms, open, small, sound};

/// A cost: time, and memory in addition to what was allocated before.
struct CallCost {
    time: Duration,
    bytes: usize,
}

fn measured<T>(what: &str, run: impl FnOnce() -> T) -> (T, CallCost) {
    let since = Instant::now();
    let (result, bytes) = peak_allocated_bytes(run);
    let time = since.elapsed();
    eprintln!("{what}: {time:?}, {} KiB", bytes >> 10);
    (result, CallCost { time, bytes })
}

/// The minimum of several measurements, which excludes other load.
pub(super) fn quickest(times: usize, mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let since = Instant::now();
        run();
        since.elapsed()
    };
    (0..times).map(time).min().unwrap()
}

/// With and without optimisation, and on a busy machine.
fn time_limit(time: Duration) -> Duration {
    time * if cfg!(debug_assertions) { 60 } else { 6 }
}

const MIB: usize = 1 << 20;

/// Reduces a number in builds without optimisation, and at low depth.
fn many(n: i64) -> i64 {
    if cfg!(debug_assertions) { n / 20 } else { up_to(n) }
}

const PAGE: &str = "https://example.com/counter";

/// A page that differs completely at each visit.
fn version(n: i64) -> Observation<'static> {
    Observation::content(PAGE, ms(n * 1000), fingerprint(n), Epoch::from_number(0))
}

fn fingerprint(n: i64) -> u64 {
    choice(n.cast_unsigned())(u64::MAX)
}

/// The expected change from the previous version to version `n`.
fn changed(n: i64) -> Verdict {
    let bits = (fingerprint(n) ^ fingerprint(n - 1)).count_ones();
    Verdict::Changed { distance: Some(Distance { bits, epoch: Epoch::from_number(0) }) }
}

/// The cost of one more visit after `visits` visits in a segment.
fn next_visit(store: &Store, visits: i64) -> Duration {
    const EACH: i64 = 50;
    let mut next = visits;
    quickest(20, || {
        for n in next..next + EACH {
            assert!(matches!(
                store.observe(version(n)).unwrap().verdict,
                Verdict::Changed { distance: Some(_) }
            ));
        }
        next += EACH;
    }) / 50
}

#[test]
fn a_million_versions_do_not_slow_the_next_visit() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().durability(Durability::OnFlush);
    let store = Store::create(dir.path().join("store"), options.clone()).unwrap();
    let observe = |from: i64, to: i64| {
        for first in (from..to).step_by(10_000) {
            let batch: Vec<_> = (first..to.min(first + 10_000)).map(version).collect();
            store.observe_batch(&batch).unwrap();
        }
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
    };
    observe(0, 1000);
    let few = next_visit(&store, 1000);
    let all = many(1_000_000);
    let ((), cost) = measured("a million versions", || observe(2000, all));
    assert!(cost.bytes < 600 * MIB, "{}", cost.bytes);
    let deep = next_visit(&store, all);
    eprintln!("the next visit: {few:?} after 1,000, {deep:?} after {all}");
    assert!(deep < 4 * few + Duration::from_micros(50), "{few:?} became {deep:?}");
    store.seal().unwrap();

    let all = all + 1000;
    let (found, _) = measured("its history", || store.history(PAGE).unwrap());
    assert_eq!(found.len(), usize::try_from(all).unwrap());
    for (n, found) in (0..all).zip(&found) {
        let expected = match n {
            0 => Verdict::New,
            n => changed(n),
        };
        assert_eq!(found.visit(), Some((version(n).visit, expected)));
    }
    drop(found);
    for n in [0, 1, all / 3, all - 1500, all - 1] {
        let expected = Some(version(n).visit);
        let as_of =
            quickest(3, || assert_eq!(store.as_of(PAGE, ms(n * 1000 + 1)).unwrap(), expected));
        eprintln!("as of visit {n}: {as_of:?}");
        assert!(as_of < time_limit(Duration::from_millis(5)), "{as_of:?} for visit {n}");
    }
    assert_eq!(store.as_of(PAGE, ms(-1)).unwrap(), None);
    let latest = quickest(3, || {
        let page = store.snapshot().latest(PAGE).unwrap().unwrap();
        assert_eq!((page.visits, page.last), (all.cast_unsigned(), version(all - 1).visit));
    });
    assert!(latest < time_limit(Duration::from_millis(1)), "{latest:?}");

    // Late visits are checked against the whole history, and nothing else.
    let mut late = version(all / 2);
    let (outcome, cost) = measured("a visit that is known", || store.observe(late).unwrap());
    assert_eq!(outcome.verdict, Verdict::Known);
    assert!(cost.time < time_limit(Duration::from_millis(200)));
    late.visit.time = late.visit.time + Duration::from_millis(1);
    assert_eq!(store.observe(late).unwrap().verdict, Verdict::OutOfOrder);
    assert_eq!(store.observe(version(all)).unwrap().verdict, changed(all));
    store.close().unwrap();

    let path = dir.path().join("store");
    let (store, cost) = measured("opening", || Store::open(path, options).unwrap());
    assert!(cost.time < time_limit(Duration::from_secs(1)) && cost.bytes < 100 * MIB);
    assert_eq!(store.stats().unwrap().visits, all.cast_unsigned() + 2);
    let forgotten = store.forget(Scope::Url(PAGE)).unwrap();
    assert_eq!((forgotten.pages, forgotten.visits), (1, all.cast_unsigned() + 2));
    assert!(store.history(PAGE).unwrap().is_empty());
    assert_eq!(store.observe(version(0)).unwrap().verdict, Verdict::New);
}

fn copy(n: i64) -> String {
    format!("https://host{}.example/{n}", n % 1000)
}

/// Half of the pages have one digest, and the other half another.
fn copied(url: &str, n: i64, fingerprint: u64) -> Observation<'_> {
    Observation::content(url, ms(n), fingerprint, Epoch::from_number(0))
        .digest(digest(u8::from(n % 2 == 0)))
}

/// A search among very many pages with one fingerprint returns as many as the limit quickly, and reports
/// that there are more.
fn search_among_copies(store: &Store, fingerprint: u64, there: i64) {
    for k in [0, 3, 10, 64] {
        for versions in
            [Versions::InForce, Versions::Ever, Versions::At(ms(simkeep_testing::TIME_MAX))]
        {
            let query = Query::new(fingerprint, k).limit(100).versions(versions);
            let what = format!("{fingerprint:x} within {k}, {versions:?}");
            let (found, cost) = measured(&what, || store.snapshot().search(&query).unwrap());
            assert!(!found.complete && found.near.len() == 100, "{what}: {}", found.near.len());
            let urls: BTreeSet<&str> = found.near.iter().map(|near| near.url.as_str()).collect();
            assert_eq!(urls.len(), 100);
            assert!(found.near.iter().all(|n| (n.distance, n.fingerprint) == (0, fingerprint)));
            assert!(cost.time < time_limit(Duration::from_millis(100)), "{what}: {:?}", cost.time);
            assert!(cost.bytes < 64 * MIB, "{what}: {}", cost.bytes);
        }
    }
    // A restriction to few pages finds them all.
    let one_host = Query::new(fingerprint, 3).under(Prefix::parse("host7.example").unwrap());
    let found = store.snapshot().search(&one_host.limit(100_000)).unwrap();
    assert!(found.complete);
    assert_eq!(found.near.len(), usize::try_from(there / 1000).unwrap());
    let new = Observation::content(
        "https://new.example/",
        ms(simkeep_testing::TIME_MAX),
        fingerprint,
        Epoch::from_number(0),
    );
    let (outcome, cost) =
        measured("a page like them", || store.observe(new.digest(digest(1))).unwrap());
    assert!(cost.time < time_limit(Duration::from_millis(100)) && cost.bytes < 64 * MIB);
    assert_eq!(outcome.copies.len(), Options::default().near_limit);
    for copy in &outcome.copies {
        let n: i64 = copy.url.rsplit('/').next().unwrap().parse().unwrap();
        assert_eq!((n % 2, copy.first), (0, ms(n)));
    }
    assert!(!outcome.complete);
    store.purge(Scope::Url("https://new.example/"), &Progress::default()).unwrap();
}

#[test]
fn a_million_equal_fingerprints_do_not_slow_a_search() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
    let load = |fingerprint: u64, from: i64, count: i64| {
        let pages = (from..from + count).map(|n| (copy(n), n));
        let visits = pages.map(|(url, n)| {
            let visit = copied(&url, n, fingerprint).visit;
            Ok((url, visit))
        });
        let options = LoadOptions::default().memory_bytes(64 * MIB);
        let (loaded, cost) = measured("a load", || store.load(visits, options).unwrap());
        assert_eq!(loaded.new_pages, count.cast_unsigned());
        assert!(cost.bytes < 256 * MIB, "{}", cost.bytes);
    };
    let (million, more) = (many(1_000_000), many(100_000));
    load(0, 0, million);
    load(u64::MAX, million, more);
    search_among_copies(&store, 0, million);
    search_among_copies(&store, u64::MAX, more);
    let found = store.snapshot().search(&Query::nearest(1, 5)).unwrap();
    assert!(found.near.len() == 5 && found.near.iter().all(|near| near.distance == 1));
    sound(&store).unwrap();
}

#[test]
fn equal_fingerprints_do_not_slow_observations() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().durability(Durability::OnFlush);
    let store = Store::create(dir.path().join("store"), options).unwrap();
    let each = if cfg!(debug_assertions) { 250 } else { 5_000 };
    let observe = |from: i64, like: fn(i64) -> u64| {
        let urls: Vec<(String, i64)> = (from..from + each).map(|n| (copy(n), n)).collect();
        let batch: Vec<_> = urls.iter().map(|(url, n)| copied(url, *n, like(*n))).collect();
        let since = Instant::now();
        let outcomes = store.observe_batch(&batch).unwrap();
        (since.elapsed(), outcomes)
    };
    let others = (0..4).map(|round| observe(round * each, fingerprint).0).min().unwrap();
    let (mut first, mut last) = (Duration::MAX, Duration::MAX);
    let rounds = many(40).max(12);
    for round in 4..rounds {
        let (time, outcomes) = observe(round * each, |_| u64::MAX);
        let time_of = if round < 8 { &mut first } else { &mut last };
        *time_of = time.min(*time_of);
        let outcome = outcomes.last().unwrap();
        assert!(outcome.verdict == Verdict::New && !outcome.complete);
        assert_eq!(outcome.copies.len(), Options::default().near_limit);
    }
    eprintln!("{each} pages: {others:?}; with one fingerprint: {first:?}, later {last:?}");
    assert!(last < 4 * first + Duration::from_millis(50), "{first:?} became {last:?}");
    search_among_copies(&store, u64::MAX, (rounds - 4) * each);
}

/// A digest whose key is the same for all numbers.
fn same_key(n: i64) -> Digest {
    let mut bytes = [0xda; 16];
    bytes[8..].copy_from_slice(&n.to_le_bytes());
    Digest(bytes)
}

/// Content without a fingerprint: very many pages with one digest, very many digests with one key, and
/// very many pages that had a digest in the past.
#[test]
fn equal_digests_and_chosen_keys_do_not_slow_lookups() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().refers_to(true);
    let store = Store::create(dir.path().join("store"), options).unwrap();
    let (epoch, pages) = (store.change_epoch(), many(300_000));
    let (common, past) = (digest(1), digest(2));
    let load = |from: i64, of: fn(i64) -> Digest| {
        let seen = |n: i64| {
            let (url, content) =
                (copy(n), Content { fingerprint: None, digest: Some(of(n)), epoch });
            Ok((url, Visit::new(ms(n), Seen::Content(content))))
        };
        let options = LoadOptions::default().memory_bytes(64 * MIB);
        let load = || store.load((from..from + pages).map(seen), options).unwrap();
        let (_, cost) = measured("a load", load);
        assert!(cost.bytes < 256 * MIB, "{}", cost.bytes);
    };
    load(0, |_| digest(1));
    load(pages, same_key);
    // These pages have a digest of their own now.
    load(2 * pages, |_| digest(2));
    let changed = (2 * pages..3 * pages).map(|n| {
        let content = Content { fingerprint: None, digest: Some(same_key(-n)), epoch };
        Ok((copy(n), Visit::new(ms(4 * pages + n), Seen::Content(content))))
    });
    store.load(changed, LoadOptions::default()).unwrap();
    let limit = time_limit(Duration::from_millis(100));
    let look_up = |digest: Digest, copies: usize, is_complete: bool| {
        let content = Content { fingerprint: None, digest: Some(digest), epoch };
        let what = format!("lookup of {digest}");
        let (found, cost) = measured(&what, || store.snapshot().by_digest(&content, 16).unwrap());
        assert_eq!((found.pages.len(), found.complete), (copies, is_complete), "{what}");
        assert!(cost.time < limit && cost.bytes < 64 * MIB, "{what}: {:?}", cost.time);
        let (url, time) = ("https://new.example/", ms(10 * pages));
        let new = Observation::content(url, time, None, epoch).digest(digest);
        let (outcome, cost) = measured(&what, || store.observe(new).unwrap());
        assert_eq!(outcome.copies.len(), copies);
        assert!(cost.time < limit && cost.bytes < 64 * MIB, "{what}: {:?}", cost.time);
        store.purge(Scope::Url(url), &Progress::default()).unwrap();
        outcome.refers_to
    };
    assert_eq!(look_up(common, 16, false).unwrap().time, ms(0));
    // The digest is one of very many with its key, and the search gives up before it finds it.
    assert!(look_up(same_key(2 * pages - 1), 0, false).is_none());
    assert!(look_up(past, 0, false).is_some());
    assert!(look_up(digest(9), 0, true).is_none());
    sound(&store).unwrap();
}

/// The clock of each thread runs backwards, and no two agree.
#[test]
fn clocks_running_backwards_give_the_histories_of_the_model() {
    let _alone = lock_measurement();
    const THREADS: i64 = 64;
    const PAGES: u64 = 8;
    let disk = SimDisk::new();
    let options = small().memtable_observations(500).background(true);
    let store = create(&disk, options.clone());
    let visits = many(100).max(10);
    let seen: Vec<(String, Visit)> = thread::scope(|scope| {
        let run = |thread: i64| {
            let store = &store;
            move || {
                let mut choice = choice(thread.cast_unsigned());
                let mut seen = Vec::new();
                for n in 0..visits {
                    // Threads use equal times, with different or equal contents.
                    let time = (visits - n) * 10 - thread % 4;
                    let url = format!("https://example.com/{}", choice(PAGES));
                    let print = 0xff00 ^ (1 << choice(6));
                    let mut observation =
                        Observation::content(&url, ms(time), print, Epoch::from_number(0));
                    if choice(3) == 0 {
                        observation = observation.digest(digest(u8::try_from(choice(4)).unwrap()));
                    }
                    if choice(10) == 0 {
                        observation = Observation::gone(&url, ms(time));
                    }
                    let visit = observation.visit;
                    store.observe(observation).unwrap();
                    seen.push((url, visit));
                }
                seen
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut pages: BTreeMap<String, BTreeSet<Visit>> = BTreeMap::new();
    seen.into_iter().for_each(|(url, visit)| {
        pages.entry(url).or_default().insert(visit);
    });
    let check = |store: &Store| {
        for (url, visits) in &pages {
            let visits: Vec<Visit> = visits.iter().copied().collect();
            let entries: Vec<Entry> = visits.iter().copied().map(Entry::Visit).collect();
            assert!(with_verdicts(&store.history(url).unwrap()) == history(&entries), "{url}");
            let latest = store.snapshot().latest(url).unwrap().unwrap();
            assert_eq!(
                (latest.visits, latest.last),
                (visits.len() as u64, *visits.last().unwrap())
            );
        }
    };
    check(&store);
    store.wait_idle().unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    check(&store);
    store.close().unwrap();
    check(&open(&disk, options));
}

/// With `SIMKEEP_NARROW_HASHES` in the environment nearly all hashes are equal, so the URL decides.
#[test]
fn pages_whose_hashes_collide_stay_distinct() {
    let _alone = lock_measurement();
    let disk = SimDisk::new();
    let options = small().memtable_observations(4_000).near_limit(0).refers_to(false);
    let store = create(&disk, options);
    let url = |n: i64| format!("https://example.com/{n}");
    let pages = many(20_000);
    let ((), cost) = measured("pages that collide", || {
        for first in (0..pages).step_by(500) {
            for time in 0..2 {
                let urls: Vec<_> = (first..first + 500).map(|n| (url(n), n)).collect();
                let print = |n: i64| (n * 2 + time).cast_unsigned();
                let batch = urls.iter();
                let batch = batch.map(|(url, n)| {
                    Observation::content(url, ms(time), print(*n), Epoch::from_number(0))
                });
                let batch: Vec<_> = batch.collect();
                for outcome in store.observe_batch(&batch).unwrap() {
                    let new = outcome.verdict == Verdict::New;
                    assert!(new == (time == 0), "{:?}", outcome.verdict);
                }
            }
        }
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
    });
    assert!(cost.time < time_limit(Duration::from_secs(10)), "{:?}", cost.time);
    assert_eq!(store.stats().unwrap().pages, pages.cast_unsigned());
    for n in 0..pages {
        let prints: Vec<_> = store.history(&url(n)).unwrap();
        let prints: Vec<_> =
            prints.iter().map(|e| e.entry().content().unwrap().fingerprint.unwrap()).collect();
        assert_eq!(prints, [2 * n.cast_unsigned(), 2 * n.cast_unsigned() + 1]);
        assert!(store.snapshot().latest(&url(-1 - n)).unwrap().is_none());
    }
    let near =
        store.snapshot().search(&Query::new(9, 0).epoch(Epoch::from_number(0))).unwrap().near;
    assert_eq!(near.iter().map(|near| near.url.as_str()).collect::<Vec<_>>(), [url(4)]);
}
