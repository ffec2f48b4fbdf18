//! Forgotten pages are hidden at once and stay so, wherever they were and whatever is sealed or merged.

use std::sync::Arc;
use std::thread;

use simkeep::disk::{FileName, OpKind, SimDisk};
use simkeep::{
    Epoch, Forgotten, Observation, Options, Prefix, Progress, Role, Scope, Snapshot, Store, Verdict,
};
use simkeep_testing::compare::{check_store, check_view};
use simkeep_testing::disks::Gate;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{create, ms, on, open, small, sound};

use super::{see, see_some};

/// The action between two operations on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BetweenOperations {
    Stay,
    Seal,
    Merge,
    Reopen,
}

const THENS: [BetweenOperations; 4] = [
    BetweenOperations::Stay,
    BetweenOperations::Seal,
    BetweenOperations::Merge,
    BetweenOperations::Reopen,
];

fn then(store: Store, disk: &mut SimDisk, then: BetweenOperations) -> Store {
    match then {
        BetweenOperations::Stay => {}
        BetweenOperations::Seal => store.seal().unwrap(),
        BetweenOperations::Merge => {
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
        BetweenOperations::Reopen => {
            drop(store);
            *disk = disk.crash_synced_only();
            return open(disk, small());
        }
    }
    store
}

/// The pages after an inner prefix are hidden by the outer one.
#[test]
fn prefix_around_a_forgotten_one_hides_the_rest() {
    for forgotten_together in [false, true] {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let urls = ["/a", "/b/1", "/b/2", "/c"].map(|path| format!("https://example.com{path}"));
        for url in &urls {
            store.observe(Observation::content(url, ms(1), 5, Epoch::from_number(0))).unwrap();
        }
        // The pages are in a segment, and the memtable hides them.
        store.seal().unwrap();
        let known =
            |view: &Snapshot| urls.each_ref().map(|url| view.latest(url).unwrap().is_some());
        let forget = |prefix: &str| {
            store.forget(Scope::Prefix(Prefix::parse(prefix).unwrap())).unwrap();
        };
        let before = store.snapshot();
        forget("example.com/b");
        let between = store.snapshot();
        if !forgotten_together {
            store.seal().unwrap();
        }
        forget("example.com/");
        assert_eq!(known(&before), [true; 4]);
        assert_eq!(known(&between), [true, false, false, true]);
        assert_eq!(known(&store.snapshot()), [false; 4]);
        assert_eq!(store.snapshot().scan(None).count(), 0);
    }
}

/// Every way in which observing, forgetting and observing again can be spread over components.
#[test]
fn forgotten_page_stays_forgotten_and_starts_anew() {
    let scopes: [fn() -> Scope<'static>; 2] =
        [|| Scope::Url(URLS[0]), || Scope::Prefix(PREFIXES[0].prefix())];
    let old = |time| Observation::content(URLS[0], ms(time), 5, Epoch::from_number(0));
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
                        Observation::content(URLS[1], ms(1_001), 5, Epoch::from_number(0)),
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
                    for last in [
                        BetweenOperations::Seal,
                        BetweenOperations::Reopen,
                        BetweenOperations::Merge,
                    ] {
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
fn prefix_ends_at_a_boundary() {
    let mut model = Model::default();
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for (page, url) in (0..).zip(URLS) {
        see(&store, &mut model, Observation::content(url, ms(page), 5, Epoch::from_number(0)));
    }
    store.seal().unwrap();
    drop(store);
    for under in &PREFIXES {
        for sealed in [true, false] {
            let disk = disk.crash_all_kept();
            let store = open(&disk, small());
            let mut left = model.clone();
            if !sealed {
                // Observed again in the memtable.
                for (page, url) in (0..).zip(URLS) {
                    see(
                        &store,
                        &mut left,
                        Observation::content(url, ms(100 + page), 5, Epoch::from_number(0)),
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
fn forgetting_an_unknown_page_does_nothing() {
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

/// Two segments that are being merged into number 3 when the function is called.
fn during_a_merge(options: &Options, test: impl FnOnce(&Store, &mut Model)) {
    let disk = SimDisk::new();
    let gate = Gate::default();
    let gated = Arc::new(gate.before(on(&disk)));
    let store = Store::create(gated, options.clone()).unwrap();
    store.register_epoch("two", Role::Both).unwrap();
    let mut model = Model::default();
    for time in 0..2 {
        for url in URLS {
            see(&store, &mut model, Observation::content(url, ms(time), 5, Epoch::from_number(0)));
        }
        store.seal().unwrap();
    }
    assert_eq!(store.stats().unwrap().segments.len(), 2);
    gate.close(|kind, name| kind == OpKind::Sync && name == Some(FileName::SegmentNew(3)));
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
    // Large enough that nothing is sealed unless requested.
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
            // One page of each kind is observed again.
            for url in [URLS[1], URLS[9]] {
                let again = Observation::content(url, ms(1), 5, Epoch::from_number(0));
                assert_eq!(see(store, model, again), Verdict::New);
            }
        });
    }
}
