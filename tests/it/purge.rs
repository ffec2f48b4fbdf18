//! Forgetting hides at once and for good, whatever is sealed or merged when; purging leaves no byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use simkeep::disk::{Name, OpKind, SimDisk};
use simkeep::maintenance::Forgotten;
use simkeep::{Epoch, Observation, Options, Prefix, Progress, Query, Scope, Store, Verdict};

use simkeep_testing::compare::{check_answer, check_outcome, check_store, check_view, dump};
use simkeep_testing::disks::Gate;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::sample::fill;
use simkeep_testing::{choice, create, on, open, request, small, sound};

/// What sets the pages to be purged apart; their neighbours' keys do not begin like it.
const MARK: &str = "zq7unheard";

fn marked(page: u64) -> String {
    format!("https://{MARK}.example/{MARK}/{page}")
}

/// Observes, and keeps the model in step.
fn see(store: &Store, model: &mut Model, observation: Observation<'_>) -> Verdict {
    let expected = model.observe(&observation, 3);
    let found = store.observe(observation).unwrap();
    check_outcome(&found, &expected, small().near_limit);
    found.verdict
}

fn see_some(store: &Store, model: &mut Model, seed: u64, n: i64) {
    let mut choice = choice(seed);
    for time in 0..n {
        let request = request(&mut choice, URLS.len() as u64, 100 + time);
        let expected = model.request(&request, 3);
        let found = store.request_batch(&[request]).unwrap();
        check_answer(&found[0], &expected, small().near_limit);
    }
}

/// The files in which a text stands, forwards as in a URL.
fn files_with(disk: &SimDisk, text: &str) -> Vec<Name> {
    let contents = disk.contents().into_iter();
    let with = contents.filter(|(_, content)| contains(content, text));
    with.map(|(name, _)| name).collect()
}

fn contains(content: &[u8], text: &str) -> bool {
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Where an operation on a page was when the next one came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Stay,
    Seal,
    Merge,
    Reopen,
}

const THENS: [Then; 4] = [Then::Stay, Then::Seal, Then::Merge, Then::Reopen];

fn then(store: Store, disk: &mut SimDisk, then: Then) -> Store {
    match then {
        Then::Stay => {}
        Then::Seal => store.seal().unwrap(),
        Then::Merge => {
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
        Then::Reopen => {
            drop(store);
            *disk = disk.crash_synced_only();
            return open(disk, small());
        }
    }
    store
}

/// Every way in which observing, forgetting and observing again can be spread over components.
#[test]
fn what_is_forgotten_stays_so_wherever_it_was_and_starts_anew() {
    let scopes: [fn() -> Scope<'static>; 2] =
        [|| Scope::Url(URLS[0]), || Scope::Prefix(PREFIXES[0].prefix())];
    let old = |time| Observation::content(URLS[0], time, 5, Epoch::from_number(0));
    for scope in scopes {
        for first in THENS {
            for second in THENS {
                for third in THENS {
                    let mut disk = SimDisk::new();
                    let mut store = create(&disk, small());
                    let mut model = Model::default();
                    let covers = |url: &str| match scope() {
                        Scope::Url(forgotten) => url == forgotten,
                        _ => PREFIXES[0].covers(url),
                    };
                    see_some(&store, &mut model, 1, 12);
                    see(&store, &mut model, old(1_000));
                    store = then(store, &mut disk, first);
                    see(&store, &mut model, old(1_001));
                    see(
                        &store,
                        &mut model,
                        Observation::content(URLS[1], 1_001, 5, Epoch::from_number(0)),
                    );
                    store = then(store, &mut disk, second);
                    let before = store.snapshot();
                    let was = model.clone();
                    assert_eq!(store.forget(scope()).unwrap(), model.forget(covers));
                    assert_eq!(store.forget(scope()).unwrap(), Forgotten::default());
                    check_store(&store, &model);
                    store = then(store, &mut disk, third);
                    check_store(&store, &model);
                    check_view(&before, &was);
                    let again = old(7);
                    assert_eq!(
                        see(&store, &mut model, again),
                        Verdict::New,
                        "{first:?} {second:?}"
                    );
                    for last in [Then::Seal, Then::Reopen, Then::Merge] {
                        store = then(store, &mut disk, last);
                        check_store(&store, &model);
                    }
                    assert_eq!(store.history(URLS[0]).unwrap().len(), 1);
                    sound(&store).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_prefix_ends_at_a_boundary() {
    let mut model = Model::default();
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for (page, url) in (0..).zip(URLS) {
        see(&store, &mut model, Observation::content(url, page, 5, Epoch::from_number(0)));
    }
    store.seal().unwrap();
    drop(store);
    for under in &PREFIXES {
        for sealed in [true, false] {
            let disk = disk.crash_all_kept();
            let store = open(&disk, small());
            let mut left = model.clone();
            if !sealed {
                // Once more in the memtable.
                for (page, url) in (0..).zip(URLS) {
                    see(
                        &store,
                        &mut left,
                        Observation::content(url, 100 + page, 5, Epoch::from_number(0)),
                    );
                }
            }
            let expected = left.forget(|url| under.covers(url));
            assert_eq!(store.forget(Scope::Prefix(under.prefix())).unwrap(), expected);
            let urls: Vec<String> = store.snapshot().scan(None).map(|p| p.unwrap().url).collect();
            assert!(urls.iter().all(|url| !under.covers(url)), "{}: {urls:?}", under.text);
            check_store(&store, &left);
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
            check_store(&store, &left);
        }
    }
}

#[test]
fn forgetting_what_is_not_known_does_nothing() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let before = store.stats().unwrap();
    assert_eq!(store.forget(Scope::Url(URLS[0])).unwrap(), Forgotten::default());
    assert_eq!(
        store.purge(Scope::Url(URLS[0]), &Progress::default()).unwrap(),
        Forgotten::default()
    );
    let nothing = Scope::Prefix(PREFIXES[9].prefix());
    assert_eq!(store.forget(nothing).unwrap(), Forgotten::default());
    assert_eq!(store.stats().unwrap().pages, before.pages);
    assert_eq!(store.stats().unwrap().visits, before.visits);
}

/// Two segments that are being merged into number 3 when the test is called.
fn during_a_merge(options: &Options, test: impl FnOnce(&Store, &mut Model)) {
    let disk = SimDisk::new();
    let gate = Gate::default();
    let gated = Arc::new(gate.before(on(&disk)));
    let store = Store::create(gated, options.clone()).unwrap();
    store.register_epoch("two").unwrap();
    let mut model = Model::default();
    for time in 0..2 {
        for url in URLS {
            see(&store, &mut model, Observation::content(url, time, 5, Epoch::from_number(0)));
        }
        store.seal().unwrap();
    }
    assert_eq!(store.stats().unwrap().segments.len(), 2);
    gate.close(|kind, name| kind == OpKind::Sync && name == Some(Name::SegmentNew(3)));
    thread::scope(|scope| {
        let merge = scope.spawn(|| store.merge(&Progress::default()).unwrap());
        gate.await_arrival();
        test(&store, &mut model);
        check_store(&store, &model);
        gate.open();
        assert_eq!(merge.join().unwrap().inputs, 2);
    });
    check_store(&store, &model);
    for _ in 0..2 {
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        check_store(&store, &model);
    }
    sound(&store).unwrap();
    check_store(&open(&disk.crash_synced_only(), small()), &model);
}

#[test]
fn forgetting_during_a_merge_stays_in_force() {
    // Large enough that nothing is sealed but on demand.
    let options = small().memtable_observations(1000);
    for sealed in [false, true] {
        during_a_merge(&options, |store, model| {
            let forgotten = store.forget(Scope::Url(URLS[1])).unwrap();
            assert_eq!((forgotten.pages, forgotten.visits), (1, 2));
            model.forget(|url| url == URLS[1]);
            let prefix = &PREFIXES[5];
            let forgotten = store.forget(Scope::Prefix(prefix.prefix())).unwrap();
            assert_eq!(forgotten, model.forget(|url| prefix.covers(url)));
            assert_eq!((forgotten.pages, forgotten.visits), (2, 4));
            if sealed {
                store.seal().unwrap();
            }
            // One of each comes back.
            for url in [URLS[1], URLS[9]] {
                let again = Observation::content(url, 1, 5, Epoch::from_number(0));
                assert_eq!(see(store, model, again), Verdict::New);
            }
        });
    }
}

/// The store before a purge: which pages, and in which files their bytes are.
fn marked_store(disk: &SimDisk, model: &mut Model, spread: u64) -> Store {
    let store = create(disk, small());
    see_some(&store, model, 3, 8);
    let pages = [marked(1), marked(2)];
    for round in 0..=spread {
        for (page, time) in pages.iter().zip([3, 5]) {
            let time = time + 10 * i64::try_from(round).unwrap();
            let content = Observation::content(page, time, 5, Epoch::from_number(0)).visit;
            see(&store, model, Observation::of(page, content));
        }
        see_some(&store, model, 20 + round, 5);
        if round < spread {
            store.seal().unwrap();
        }
    }
    store
}

/// Every trace of the purged pages must be gone, now and when the store was opened after a crash.
fn check_purged(store: Store, disk: &SimDisk, model: &Model, text: &str) {
    assert_eq!(files_with(disk, text), [], "{text:?}");
    check_store(&store, model);
    sound(&store).unwrap();
    let crashed = disk.crash_synced_only();
    drop(store);
    assert_eq!(files_with(disk, text), [], "{text:?} after the store was closed");
    for disk in [disk, &crashed] {
        let store = open(disk, small());
        check_store(&store, model);
        assert_eq!(files_with(disk, text), [], "{text:?} after it was opened again");
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        check_store(&store, model);
        assert_eq!(files_with(disk, text), [], "{text:?} after a merge");
    }
}

#[test]
fn a_purged_url_stands_in_no_file() {
    for spread in 0..4 {
        let disk = SimDisk::new();
        let mut model = Model::default();
        let store = marked_store(&disk, &mut model, spread);
        let (gone, stays) = (marked(1), marked(2));
        assert!(!files_with(&disk, MARK).is_empty());
        let expected = model.forget(|url| url == gone);
        assert_eq!(store.purge(Scope::Url(&gone), &Progress::default()).unwrap(), expected);
        assert_eq!(expected.visits, spread + 1);
        assert_eq!(files_with(&disk, &gone), []);
        assert!(store.latest(&stays).unwrap().is_some());
        let expected = model.forget(|url| url == stays);
        assert_eq!(store.purge(Scope::Url(&stays), &Progress::default()).unwrap(), expected);
        check_purged(store, &disk, &model, MARK);
    }
}

#[test]
fn a_purged_prefix_stands_in_no_file() {
    for spread in 0..4 {
        for prefix in [format!("{MARK}.example"), format!("{MARK}.example/{MARK}")] {
            let disk = SimDisk::new();
            let mut model = Model::default();
            let store = marked_store(&disk, &mut model, spread);
            let expected = model.forget(|url| url.contains(MARK));
            assert_eq!(expected.pages, 2);
            let prefix = Prefix::parse(&prefix).unwrap();
            assert_eq!(store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap(), expected);
            check_purged(store, &disk, &model, MARK);
        }
    }
}

#[test]
fn a_purge_that_has_returned_holds_when_the_power_goes() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let prefix = || Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap());
    let check = |disk: &SimDisk| {
        for seed in 0..20 {
            assert_eq!(files_with(&disk.crash(&mut choice(seed)), MARK), [], "seed {seed}");
        }
        assert_eq!(files_with(&disk.crash_synced_only(), MARK), []);
    };
    store.purge(prefix(), &Progress::default()).unwrap();
    check(&disk);
    // A long journal, which leaves its bytes all over the catalog's file.
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(1000));
    for n in 0..300 {
        store.observe(Observation::gone(&marked(n), 1)).unwrap();
    }
    store.purge(prefix(), &Progress::default()).unwrap();
    check(&disk);
}

/// It was hidden, but its bytes were there.
#[test]
fn what_was_forgotten_before_can_be_purged_later() {
    for sealed in [false, true] {
        for by_prefix in [false, true] {
            let disk = SimDisk::new();
            let mut model = Model::default();
            let store = marked_store(&disk, &mut model, 2);
            let prefix = || Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap());
            let urls = [marked(1), marked(2)];
            if by_prefix {
                store.forget(prefix()).unwrap();
            } else {
                urls.iter()
                    .for_each(|url| assert_eq!(store.forget(Scope::Url(url)).unwrap().pages, 1));
            }
            model.forget(|url| url.contains(MARK));
            if sealed {
                store.seal().unwrap();
            }
            assert!(!files_with(&disk, MARK).is_empty());
            if by_prefix {
                assert_eq!(
                    store.purge(prefix(), &Progress::default()).unwrap(),
                    Forgotten::default()
                );
            } else {
                for url in &urls {
                    assert_eq!(
                        store.purge(Scope::Url(url), &Progress::default()).unwrap(),
                        Forgotten::default()
                    );
                }
            }
            check_purged(store, &disk, &model, MARK);
        }
    }
}

/// A page that was forgotten with its site, and whose name is in the tombstone's.
#[test]
fn a_url_that_was_forgotten_by_a_prefix_can_be_purged() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 1);
    let url = marked(1);
    store.forget(Scope::Prefix(Prefix::parse(&url).unwrap())).unwrap();
    model.forget(|u| u == url);
    store.purge(Scope::Url(&url), &Progress::default()).unwrap();
    check_purged(store, &disk, &model, &url);
}

/// Parts of a site that were forgotten one by one before all of it is purged.
#[test]
fn a_purge_leaves_no_name_of_a_prefix_within_it() {
    for sealed in [false, true] {
        let disk = SimDisk::new();
        let mut model = Model::default();
        let store = marked_store(&disk, &mut model, 1);
        for page in [1, 2] {
            store.forget(Scope::Prefix(Prefix::parse(&marked(page)).unwrap())).unwrap();
            if sealed {
                store.seal().unwrap();
            }
        }
        model.forget(|url| url.contains(MARK));
        assert!(!files_with(&disk, MARK).is_empty());
        let all = Prefix::parse(&format!("{MARK}.example")).unwrap();
        assert_eq!(
            store.purge(Scope::Prefix(all), &Progress::default()).unwrap(),
            Forgotten::default()
        );
        check_purged(store, &disk, &model, MARK);
    }
}

#[test]
fn what_is_observed_after_a_purge_starts_anew() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let url = marked(1);
    store.purge(Scope::Url(&url), &Progress::default()).unwrap();
    model.forget(|u| u == url);
    let again = Observation::content(&url, 1, 5, Epoch::from_number(0));
    assert_eq!(see(&store, &mut model, again), Verdict::New);
    check_store(&store, &model);
    store.seal().unwrap();
    assert_eq!(
        store.purge(Scope::Url(URLS[0]), &Progress::default()).unwrap(),
        model.forget(|u| u == URLS[0])
    );
    check_store(&store, &model);
    assert_eq!(store.history(&url).unwrap().len(), 1);
    drop(store);
    check_store(&open(&disk, small()), &model);
}

#[test]
fn a_purged_url_stays_with_a_snapshot_that_still_holds_it_and_goes_with_it() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let (snapshot, was) = (store.snapshot(), model.clone());
    let prefix = Prefix::parse(&format!("{MARK}.example")).unwrap();
    store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap();
    model.forget(|url| url.contains(MARK));
    check_store(&store, &model);
    assert_eq!(snapshot.history(&marked(1)).unwrap().len(), 3);
    assert!(dump(&snapshot).unwrap() == was);
    let query = Query::new(5, 0).epoch(Epoch::from_number(0));
    assert_eq!(snapshot.search(&query).unwrap().near.len(), 2);
    drop(snapshot);
    check_purged(store, &disk, &model, MARK);
}

#[test]
fn a_purge_waits_for_the_merge_that_is_under_way() {
    let disk = SimDisk::new();
    let gate = Gate::default();
    let gated = Arc::new(gate.before(on(&disk)));
    let store = Store::create(gated, small().memtable_observations(1000)).unwrap();
    store.register_epoch("two").unwrap();
    let mut model = Model::default();
    for time in 0..2 {
        for url in [URLS[0], &marked(1)] {
            see(&store, &mut model, Observation::content(url, time, 5, Epoch::from_number(0)));
        }
        store.seal().unwrap();
    }
    gate.close(|kind, name| kind == OpKind::Sync && name == Some(Name::SegmentNew(3)));
    thread::scope(|scope| {
        let merge = scope.spawn(|| store.merge(&Progress::default()).unwrap());
        gate.await_arrival();
        let purge =
            scope.spawn(|| store.purge(Scope::Url(&marked(1)), &Progress::default()).unwrap());
        // It hides at once, although the bytes are still there.
        while store.latest(&marked(1)).unwrap().is_some() {
            thread::yield_now();
        }
        gate.open();
        merge.join().unwrap();
        let forgotten = purge.join().unwrap();
        assert_eq!((forgotten.pages, forgotten.visits), (1, 2));
    });
    model.forget(|url| url.contains(MARK));
    check_purged(store, &disk, &model, MARK);
}

#[test]
fn merges_reclaim_what_was_forgotten() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    store.forget(Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap())).unwrap();
    model.forget(|url| url.contains(MARK));
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let with = files_with(&disk, MARK);
    assert!(with.iter().all(|name| !matches!(name, Name::Segment(_))), "{with:?}");
    check_store(&store, &model);
}

#[test]
fn a_purged_page_stands_in_no_file_of_a_real_directory() {
    fn files_with(dir: &Path, text: &str) -> usize {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let with = |path: std::path::PathBuf| match path.is_dir() {
            true => files_with(&path, text),
            false => usize::from(contains(&fs::read(&path).unwrap(), text)),
        };
        entries.map(with).sum()
    }
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    let pages: Vec<String> = (0..30).map(marked).collect();
    for page in &pages {
        store.observe(Observation::content(page, 0, 5, Epoch::from_number(0))).unwrap();
        store.observe(Observation::content(URLS[0], 0, 5, Epoch::from_number(0))).unwrap();
    }
    assert!(files_with(dir.path(), MARK) > 1);
    let prefix = Prefix::parse(&format!("{MARK}.example")).unwrap();
    let forgotten = store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap();
    assert_eq!((forgotten.pages, forgotten.visits), (30, 30));
    assert_eq!(files_with(dir.path(), MARK), 0);
    store.close().unwrap();
    assert_eq!(files_with(dir.path(), MARK), 0);
    assert_eq!(Store::open(dir.path(), small()).unwrap().stats().unwrap().pages, 1);
}

#[test]
fn a_snapshot_that_outlives_its_store_removes_nothing_of_another_in_its_place() {
    let disk = SimDisk::new();
    let (mut model, options) = (Model::default(), small().reader_grace(Duration::ZERO));
    let store = create(&disk, options.clone());
    for seed in 1..3 {
        fill(&store, &mut model, seed, 20);
        store.seal().unwrap();
    }
    let snapshot = store.snapshot();
    let segments = store.stats().unwrap().segments;
    let held: Vec<Name> = segments.iter().map(|segment| Name::Segment(segment.id)).collect();
    store.merge(&Progress::default()).unwrap();
    store.close().unwrap();
    let there = || disk.contents().iter().filter(|(name, _)| held.contains(name)).count();
    assert!(held.len() > 1 && there() == held.len());
    check_view(&snapshot, &model);
    drop(snapshot);
    assert_eq!(there(), held.len());
    open(&disk, options).close().unwrap();
    assert_eq!(there(), 0);
}
