//! What is loaded at once is as if each had been observed, all of it or nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use proptest::prelude::*;
use simkeep::disk::{Dir, Disk, Fault, SimDisk, Strikes};
use simkeep::limits::TIME_MAX;
use simkeep::load::{LoadOptions, Loaded};
use simkeep::{
    Content, Entry, Epoch, Error, HistoryEntry, Observation, Progress, Request, Restated, Result,
    Scope, Seen, Stage, Store, Visit,
};

use simkeep_testing::compare::{check_counts, check_store, dump};
use simkeep_testing::depth::deep;
use simkeep_testing::disks::{Gate, HookDisk, PATIENCE};
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, create, names, on, open, request, small, sound};

/// The least memory there may be: some hundred observations to a run.
const LITTLE: usize = 64 << 10;

fn little() -> LoadOptions {
    LoadOptions::default().memory_bytes(LITTLE)
}

fn load(store: &Store, requests: &[Request<'_>]) -> Result<Loaded> {
    store.load(requests.iter().map(Ok), little())
}

/// Some requests around a time, of pages that come again and again.
fn some(seed: u64, count: usize, time: i64) -> Vec<Request<'static>> {
    let mut choice = choice(seed);
    let mut one = |n: usize| {
        let late = choice(count as u64 + 1).cast_signed();
        request(&mut choice, 16, time + i64::try_from(n).unwrap() - late)
    };
    let mut all: Vec<_> = (0..count).map(&mut one).collect();
    // Some come twice.
    all.extend_from_within(..count / 4);
    all
}

/// Many pages of which no two are the same, each with a visit or two.
fn many(pages: u64, from: u64) -> Vec<(String, Entry)> {
    let mut choice = choice(pages ^ from);
    let mut all = Vec::new();
    for page in from..from + pages {
        let url = format!("https://h{}.example/a/{}/page-{page}", page % 97, choice(1000));
        for _ in 0..=choice(2) {
            let time = choice(1000).cast_signed();
            let fingerprint = choice(u64::MAX);
            let seen = Observation::content("x", time, fingerprint, Epoch::from_number(0)).visit;
            all.push((url.clone(), seen.into()));
        }
    }
    for at in (1..all.len()).rev() {
        all.swap(at, usize::try_from(choice(at as u64 + 1)).unwrap());
    }
    all
}

/// Leaves visits alone: what is restated depends on the order.
fn alone(requests: &mut Vec<Request<'static>>) {
    requests.retain(|request| !request.entry().is_restated());
    for request in requests {
        *request = Request::of(request.url(), request.entry());
    }
}

#[derive(Clone, Debug)]
enum Step {
    Observe(u64, usize),
    Load(u64, usize),
    Seal,
    Merge,
    ForgetUrl(usize),
    ForgetPrefix(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (any::<u64>(), 0usize..40).prop_map(|(seed, count)| Step::Observe(seed, count)),
        4 => (any::<u64>(), 0usize..150).prop_map(|(seed, count)| Step::Load(seed, count)),
        1 => Just(Step::Seal),
        1 => Just(Step::Merge),
        1 => (0..URLS.len()).prop_map(Step::ForgetUrl),
        1 => (0..PREFIXES.len()).prop_map(Step::ForgetPrefix),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(400)).unwrap()))]

    /// In any split, with some observed before and after, and some forgotten in between.
    #[test]
    fn what_is_loaded_is_as_if_it_had_been_observed(
        steps in prop::collection::vec(step(), 1..10),
        segment_pages in prop_oneof![Just(1u64 << 29), 1u64..8],
    ) {
        let mut disk = SimDisk::new();
        let mut store = create(&disk, small());
        let mut model = Model::default();
        for (step, time) in steps.into_iter().zip((0..).step_by(50)) {
            match step {
                Step::Observe(seed, count) => {
                    let batch = some(seed, count, time);
                    store.request_batch(&batch).unwrap();
                    batch.iter().for_each(|r| drop(model.request(r, 3)));
                }
                Step::Load(seed, count) => {
                    let batch = some(seed, count, time);
                    let (pages, visits) = (model.page_count(), model.visit_count());
                    model.load(&batch);
                    let options = little().segment_pages(segment_pages);
                    let loaded = store.load(batch.iter().map(Ok), options).unwrap();
                    prop_assert_eq!(loaded.observations, batch.len() as u64);
                    prop_assert_eq!(loaded.visits, model.visit_count() - visits);
                    prop_assert_eq!(loaded.new_pages, model.page_count() - pages);
                }
                Step::Seal => store.seal().unwrap(),
                Step::Merge => drop(store.merge(&Progress::default()).unwrap()),
                Step::ForgetUrl(url) => {
                    store.forget(Scope::Url(URLS[url])).unwrap();
                    model.forget(|u| u == URLS[url]);
                }
                Step::ForgetPrefix(n) => {
                    store.forget(Scope::Prefix(PREFIXES[n].prefix())).unwrap();
                    model.forget(|u| PREFIXES[n].covers(u));
                }
                Step::Reopen => {
                    drop(store);
                    disk = disk.crash_synced_only();
                    store = open(&disk, small());
                }
            }
            check_counts(&store, &model);
        }
        check_store(&store, &model);
        sound(&store).unwrap();
        store.merge(&Progress::default()).unwrap();
        check_store(&store, &model);
        sound(&store).unwrap();
    }
}

#[test]
fn very_little_memory_makes_several_levels_and_no_difference() {
    let disk = SimDisk::new();
    drop(create(&disk, small()));
    let all = many(3000, 0);
    let (progress, stages) = (Progress::default(), Arc::new(Mutex::new(BTreeSet::new())));
    let (seen, into) = (progress.clone(), Arc::clone(&stages));
    let hooked = HookDisk::new(on(&disk), move |_, _| {
        into.lock().unwrap().insert(seen.stage());
    });
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    stages.lock().unwrap().clear();
    let loaded = store.load(all.iter().map(Ok), little().progress(progress)).unwrap();
    let stages = stages.lock().unwrap().clone();
    assert_eq!(stages, BTreeSet::from([Stage::Gathering, Stage::Merging, Stage::Writing]));
    let other = create(&SimDisk::new(), small());
    let much = other.load(all.iter().map(Ok), LoadOptions::default()).unwrap();
    assert_eq!(loaded, much);
    assert_eq!((loaded.pages, loaded.segments), (3000, 1));
    let mut model = Model::default();
    all.iter().for_each(|(url, visit)| model.insert(url, *visit));
    assert!(dump(&store.snapshot()).unwrap() == model);
    assert!(dump(&other.snapshot()).unwrap() == model);
    sound(&store).unwrap();
    check_counts(&store, &model);
    // Nothing is left but the store: lock and catalog, and the segment.
    assert_eq!(disk.list(Dir::Segments).unwrap().len(), 1);
}

#[test]
fn a_page_with_very_many_visits_is_one_page() {
    let store = create(&SimDisk::new(), small());
    let visits = (0..5000i64).map(|n| {
        let (time, print) = ((n * 7919) % 5000, (n % 13).cast_unsigned());
        Ok(Observation::content("http://a.example/", time, print, Epoch::from_number(0)))
    });
    let loaded = store.load(visits, little()).unwrap();
    assert_eq!((loaded.pages, loaded.visits), (1, 5000));
    assert_eq!(store.history("http://a.example/").unwrap().len(), 5000);
    sound(&store).unwrap();
}

#[test]
fn nothing_is_stored_if_one_cannot_be() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let good = some(1, 60, 0);
    store.request_batch(&good[..10]).unwrap();
    let before = dump(&store.snapshot()).unwrap();
    let sound = |n: usize| good[n % good.len()];
    let long = "x".repeat(9000);
    for (bad, why) in [
        (Observation::gone("", 0).into(), "the URL is empty"),
        (Observation::gone(&long, 0).into(), "the URL has 9000 bytes"),
        (Observation::gone(URLS[0], TIME_MAX + 1).into(), "time 253402300800000"),
        (
            Observation::content(URLS[0], 0, 0, Epoch::from_number(2)).into(),
            "epoch 2 is not registered",
        ),
    ] {
        for place in [0, 700, 1999] {
            let all =
                (0..2000).map(|n| Ok::<Request<'_>, _>(if n == place { bad } else { sound(n) }));
            let error = store.load(all, little()).unwrap_err();
            let Error::Load { nth, cause } = &error else { panic!("{error}") };
            assert!(*nth == place as u64 + 1 && cause.to_string().starts_with(why), "{error}");
            assert!(error.to_string().starts_with(&format!("observation {nth} ")), "{error}");
        }
    }
    let lost = std::io::Error::other("the cable was pulled");
    let mut lost = Some(Error::input(lost));
    let all = (0..500).map(|n| if n == 400 { Err(lost.take().unwrap()) } else { Ok(sound(n)) });
    let error = store.load(all, little()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "observation 401 of the load: the cable was pulled; nothing was stored"
    );
    assert!(dump(&store.snapshot()).unwrap() == before);
    // And it goes on.
    load(&store, &good).unwrap();
    store.request_batch(&good[..1]).unwrap();
    assert!(
        disk.list(Dir::Segments).unwrap().iter().all(|n| n.to_str().unwrap().ends_with(".seg"))
    );
}

#[test]
fn what_is_broken_off_at_any_moment_comes_to_nothing() {
    let all = many(4000, 0);
    // Operations on the disk that a load has done, and the one at which it is cancelled.
    let load = |stop: u64| {
        let disk = SimDisk::new();
        drop(create(&disk, small()));
        let (progress, operations) = (Progress::default(), Arc::new(AtomicU64::new(0)));
        let (cancelled, counter) = (progress.clone(), Arc::clone(&operations));
        let hooked = HookDisk::new(on(&disk), move |_, _| {
            if counter.fetch_add(1, Ordering::Relaxed) + 1 == stop {
                cancelled.cancel();
            }
        });
        let store = Store::open(Arc::new(hooked), small()).unwrap();
        store.observe(Observation::gone(URLS[0], 5)).unwrap();
        operations.store(0, Ordering::Relaxed);
        let loaded = store.load(all.iter().map(Ok), little().progress(progress));
        (disk, store, loaded, operations.load(Ordering::Relaxed))
    };
    let (_, _, loaded, operations) = load(u64::MAX);
    let pages = 1 + loaded.unwrap().new_pages;
    let (mut stopped, mut whole) = (0, 0);
    for stop in 1..=operations {
        let (disk, store, loaded, _) = load(stop);
        match loaded {
            Err(Error::Cancelled) => {
                stopped += 1;
                assert_eq!(store.stats().unwrap().pages, 1);
                let names = disk.list(Dir::Segments).unwrap();
                assert!(names.len() <= 1, "after {stop}: {names:?}");
            }
            // It was live by then.
            loaded => {
                whole += 1;
                loaded.unwrap();
                assert_eq!(store.stats().unwrap().pages, pages);
            }
        }
        // Writers no longer wait.
        store.observe(Observation::gone(URLS[1], 5)).unwrap();
        sound(&store).unwrap();
    }
    assert!(stopped > 2 * whole && stopped >= 10, "{stopped} of {operations}");
}

#[test]
fn options_that_cannot_be_are_refused() {
    let store = create(&SimDisk::new(), small());
    let none = || std::iter::empty::<Result<Observation<'_>>>();
    for options in [
        LoadOptions::default().memory_bytes(LITTLE - 1),
        LoadOptions::default().segment_pages(0),
        LoadOptions::default().segment_pages((1 << 29) + 1),
    ] {
        assert!(matches!(store.load(none(), options), Err(Error::Option { .. })));
    }
    assert_eq!(store.load(none(), LoadOptions::default()).unwrap(), Loaded::default());
}

#[test]
fn what_is_loaded_again_changes_nothing() {
    let store = create(&SimDisk::new(), small());
    let all = some(3, 200, 0);
    let first = load(&store, &all).unwrap();
    let before = store.stats().unwrap();
    let again = load(&store, &all).unwrap();
    let mut nothing = Loaded::default();
    nothing.observations = first.observations;
    assert_eq!(again, nothing);
    assert_eq!(store.stats().unwrap(), before);
}

#[test]
fn pages_with_one_visit_that_are_loaded_again_stay_as_they_are() {
    let store = create(&SimDisk::new(), small());
    let urls: Vec<String> = (0..100).map(|page| format!("http://h{page}.example/")).collect();
    let visit = |url| Observation::content(url, 1_000, 7, Epoch::from_number(0)).into();
    let all: Vec<Request<'_>> = urls.iter().map(|url| visit(url)).collect();
    assert_eq!(load(&store, &all).unwrap().visits, 100);
    for _ in 0..2 {
        let again = load(&store, &all).unwrap();
        assert_eq!((again.visits, again.new_pages), (0, 0));
        assert_eq!(store.stats().unwrap().visits, 100);
    }
    assert_eq!(store.history(&urls[0]).unwrap().len(), 1);
}

#[test]
fn what_was_forgotten_before_does_not_hide_what_is_loaded_after() {
    let mut model = Model::default();
    let store = create(&SimDisk::new(), small());
    let all = some(4, 100, 0);
    for (round, prefix) in [0, 2, 7].into_iter().enumerate() {
        load(&store, &all).unwrap();
        all.iter().for_each(|r| drop(model.request(r, 3)));
        check_store(&store, &model);
        let forgotten = store.forget(Scope::Prefix(PREFIXES[prefix].prefix())).unwrap();
        assert_eq!(forgotten, model.forget(|u| PREFIXES[prefix].covers(u)));
        assert!(forgotten.pages > 0);
        if round == 1 {
            store.seal().unwrap();
        }
    }
    load(&store, &all).unwrap();
    all.iter().for_each(|r| drop(model.request(r, 3)));
    check_store(&store, &model);
    store.purge(Scope::Prefix(PREFIXES[1].prefix()), &Progress::default()).unwrap();
    model.forget(|u| PREFIXES[1].covers(u));
    check_store(&store, &model);
    sound(&store).unwrap();
}

#[test]
fn a_store_is_loaded_into_another() {
    let source = create(&SimDisk::new(), small());
    source.request_batch(&some(5, 100, 0)).unwrap();
    load(&source, &some(6, 100, 60)).unwrap();
    source.forget(Scope::Url(URLS[3])).unwrap();
    source.request_batch(&some(7, 30, 120)).unwrap();
    let model = dump(&source.snapshot()).unwrap();
    // The same numbers for the epochs, and others.
    let same = create(&SimDisk::new(), small());
    let loaded = same.load(source.snapshot().observations(), little()).unwrap();
    assert_eq!(loaded.visits, model.visit_count());
    check_store(&same, &model);
    let other = Store::create(on(&SimDisk::new()), small().epoch("two".into()));
    let other = other.unwrap();
    let copied = other.copy_from(&source.snapshot(), little()).unwrap();
    // Other numbers, in another order, may take other bytes.
    let mut expected = loaded;
    expected.bytes = copied.bytes;
    expected.begun = other.snapshot().epochs()[1..].to_vec();
    assert_eq!(copied, expected);
    assert_eq!(names(other.snapshot().epochs()), ["two", "one"]);
    for url in URLS {
        let number = |epoch: Epoch| Epoch::from_number(1 - epoch.number());
        let turned = |entry: Entry| match entry {
            Entry::Visit(Visit { time, seen: Seen::Content(content), status }) => {
                let content = Content { epoch: number(content.epoch), ..content };
                Entry::Visit(Visit { time, seen: Seen::Content(content), status })
            }
            Entry::Restated(restated) => {
                Entry::Restated(Restated { epoch: number(restated.epoch), ..restated })
            }
            visit => visit,
        };
        let entries = |store: &Store| -> BTreeSet<Entry> {
            store.history(url).unwrap().iter().map(HistoryEntry::entry).collect()
        };
        let expected: BTreeSet<Entry> = entries(&source).into_iter().map(turned).collect();
        assert_eq!(entries(&other), expected);
    }
    sound(&other).unwrap();
}

fn power_failure(nth: u64) -> Fault {
    Fault { strikes: Strikes::Changes, nth, kind: std::io::ErrorKind::Other, lasting: true }
}

#[test]
fn after_a_crash_at_any_moment_all_of_it_is_there_or_nothing() {
    let observed = some(8, 40, 0);
    let loaded: Vec<_> = many(700, 0).into_iter().chain(owned(&some(9, 200, 30))).collect();
    let options = || little().segment_pages(300);
    let before = |disk: &SimDisk| {
        let store = create(disk, small());
        store.request_batch(&observed).unwrap();
        store
    };
    let (changes, expected) = {
        let disk = SimDisk::new();
        let store = before(&disk);
        let (changes, old) = (disk.changes(), dump(&store.snapshot()).unwrap());
        assert_eq!(store.load(loaded.iter().map(Ok), options()).unwrap().segments, 3);
        let new = dump(&store.snapshot()).unwrap();
        (disk.changes() - changes, [old, new])
    };
    let (mut nothing, mut all) = (0, 0);
    for stop in 1..=changes {
        let disk = SimDisk::new();
        let store = before(&disk);
        disk.fail(power_failure(stop));
        let done = store.load(loaded.iter().map(Ok), options());
        // Two threads write, so what stood first in one run may stand second in another.
        let acknowledged = done.is_ok();
        let mut disks = vec![disk.crash_all_kept(), disk.crash_synced_only()];
        disks.extend((0..3).map(|seed| disk.crash(&mut choice(stop * 10 + seed))));
        for crashed in disks {
            let store = open(&crashed, small());
            let found = dump(&store.snapshot()).unwrap();
            assert!(expected.contains(&found), "change {stop}: some of it");
            let is_new = found == expected[1];
            assert!(is_new || !acknowledged, "change {stop}: lost");
            *if is_new { &mut all } else { &mut nothing } += 1;
            check_counts(&store, &found);
            sound(&store).unwrap();
            let live = store.stats().unwrap().segments.len();
            assert_eq!(crashed.list(Dir::Segments).unwrap().len(), live, "orphans are left");
            // And it goes on.
            store.load(loaded.iter().map(Ok), options()).unwrap();
            assert!(dump(&store.snapshot()).unwrap() == expected[1]);
        }
    }
    assert!(nothing > 0 && all > 0, "{nothing} {all}");
}

fn owned(requests: &[Request<'_>]) -> Vec<(String, Entry)> {
    requests.iter().map(|r| (r.url().to_owned(), r.entry())).collect()
}

#[test]
fn a_disk_that_fails_now_and_then_loses_nothing() {
    let observed = some(10, 30, 0);
    let loaded = many(600, 0);
    for nth in (1..60).chain((60..400).step_by(13)) {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        store.request_batch(&observed).unwrap();
        let before = dump(&store.snapshot()).unwrap();
        disk.fail_after(nth, std::io::ErrorKind::StorageFull);
        let done = store.load(loaded.iter().map(Ok), little());
        let found = dump(&store.snapshot()).unwrap();
        drop(store);
        let store = open(&disk.crash_all_kept(), small());
        let recovered = dump(&store.snapshot()).unwrap();
        if done.is_ok() {
            assert!(found == recovered, "{nth}");
            assert_eq!(found.page_count(), before.page_count() + 600);
        } else {
            assert!(found == before, "{nth}: some of it is seen");
            assert!(recovered == before || recovered.page_count() == before.page_count() + 600);
        }
        sound(&store).unwrap();
    }
}

#[test]
fn readers_go_on_and_writers_wait_while_segments_are_written() {
    let gate = Gate::default();
    let disk = SimDisk::new();
    let options = small().background(true);
    let store = Store::create(Arc::new(gate.before(on(&disk))), options).unwrap();
    store.register_epoch("two").unwrap();
    store.observe(Observation::gone(URLS[0], 1)).unwrap();
    let all = many(300, 0);
    // The finished segment waits to be renamed.
    gate.close(|kind, name| {
        matches!(kind, simkeep::disk::OpKind::Rename(simkeep::disk::Name::Segment(id)) if id > 1)
            && name.is_some()
    });
    std::thread::scope(|scope| {
        let loader = scope.spawn(|| store.load(all.iter().map(Ok), little()));
        gate.await_arrival();
        let (sender, observed) = mpsc::channel();
        let (store, all) = (&store, &all);
        scope.spawn(move || {
            let url = all[0].0.as_str();
            sender.send(store.observe(Observation::gone(url, 5000))).unwrap();
        });
        assert!(observed.recv_timeout(Duration::from_millis(50)).is_err(), "it did not wait");
        assert_eq!(store.snapshot().scan(None).count(), 1, "half of it is seen");
        assert_eq!(store.latest(&all[0].0).unwrap(), None);
        gate.open();
        let loaded = loader.join().unwrap().unwrap();
        assert_eq!(loaded.pages, 300);
        // It was judged after what had been loaded meanwhile.
        observed.recv_timeout(PATIENCE).unwrap().unwrap();
    });
    let page = store.latest(&all[0].0).unwrap().unwrap();
    assert!(page.gone && page.visits > 1);
    assert_eq!(store.stats().unwrap().pages, 301);
    store.seal().unwrap();
    sound(&store).unwrap();
}

#[test]
fn observing_beside_loads_loses_nothing() {
    let store = create(&SimDisk::new(), small().background(true));
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let observed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut model = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        let mut batch = some(seed, 20, seed.cast_signed());
                        alone(&mut batch);
                        store.request_batch(&batch).unwrap();
                        model.extend(batch);
                    }
                    model
                })
            })
            .collect();
        let mut all = Vec::new();
        for round in 0..20 {
            let mut batch = some(1 << 40 | round, 300, 0);
            alone(&mut batch);
            load(&store, &batch).unwrap();
            all.extend(batch);
        }
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
        all
    });
    let mut model = Model::default();
    observed.iter().for_each(|r| model.insert(r.url(), r.entry()));
    store.wait_idle().unwrap();
    check_store(&store, &model);
    sound(&store).unwrap();
}

#[test]
fn a_store_that_is_closed_ends_its_load() {
    let store = create(&SimDisk::new(), small());
    let other = store.clone();
    let (sender, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let endless = (0u64..).map(|n| {
            if n == 10 {
                sender.send(()).unwrap();
            }
            Ok((format!("http://a.example/{n}"), Observation::gone("x", 0).visit))
        });
        let loader = scope.spawn(|| store.load(endless, little()));
        begun.recv_timeout(PATIENCE).unwrap();
        other.close().unwrap();
        assert!(matches!(loader.join().unwrap(), Err(Error::Closed)));
    });
}
