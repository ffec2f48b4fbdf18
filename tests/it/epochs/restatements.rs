//! Restatements in another epoch: neither visits nor changes, in any arrival order.

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::query::{StalePages, count_without_fingerprint};
use simkeep::repair::{RepairOptions, repair};
use simkeep::{
    Digest, Epoch, Error, Observation, Query, RestateOutcome, Restatement, Role, SameBy, Verdict,
};
use simkeep_testing::{digest, ms, on, open, small, sound};

use super::{URL, create};

#[test]
fn restatement_is_neither_a_visit_nor_a_change() {
    let store = create(&SimDisk::new());
    let two = store.register_epoch("two", Role::Both).unwrap();
    let seen = |time, n: u8| {
        Observation::content(URL, ms(time), u64::from(n), Epoch::from_number(0))
            .digest(Digest([n; 16]))
            .status(200)
    };
    let restate = |time, n: u8| {
        let restated = Restatement::new(URL, ms(time), 0xff, two).digest(Digest([n; 16]));
        store.restate(restated).unwrap()
    };
    assert_eq!(restate(1, 1), RestateOutcome::Missing);
    store
        .observe_batch(&[seen(1, 1), seen(5, 2), seen(5, 3), Observation::gone(URL, ms(7))])
        .unwrap();
    assert_eq!(StalePages::of(&store.snapshot(), store.change_epoch(), None).count(), 0, "gone");
    store.observe(Observation::not_modified(URL, ms(9))).unwrap();
    assert_eq!(StalePages::of(&store.snapshot(), store.change_epoch(), None).count(), 1);
    // No such time, no content at that time, and other content.
    for (time, n) in [(2, 1), (7, 1), (9, 3), (5, 1)] {
        assert_eq!(restate(time, n), RestateOutcome::Missing);
    }
    assert_eq!(restate(5, 2), RestateOutcome::Stored);
    assert_eq!(restate(5, 2), RestateOutcome::Known);
    assert_eq!(
        StalePages::of(&store.snapshot(), store.change_epoch(), None).count(),
        1,
        "the other of that time is in force"
    );
    let before = store.snapshot().latest(URL).unwrap().unwrap();
    // Without a digest, the last content at that time is meant.
    assert_eq!(
        store.restate(Restatement::new(URL, ms(5), 0xfe, two)).unwrap(),
        RestateOutcome::Stored
    );
    assert_eq!(
        store.restate(Restatement::new(URL, ms(6), 0xfe, two)).unwrap(),
        RestateOutcome::Missing
    );
    let after = store.snapshot().latest(URL).unwrap().unwrap();
    assert_eq!((after.visits, after.last, after.first), (before.visits, before.last, before.first));
    let content = after.content.unwrap();
    assert_eq!((content.digest, content.fingerprint), (Some(digest(3)), Some(0xfe)));
    let as_of = store.as_of(URL, ms(5)).unwrap().unwrap();
    assert_eq!(as_of.seen.content().unwrap().fingerprint, Some(0xfe));
    assert_eq!(as_of.status, Some(200));
    assert_eq!(StalePages::of(&store.snapshot(), store.change_epoch(), None).count(), 0);
    assert_eq!(store.stats().unwrap().visits, 5);
    store.seal().unwrap();
    assert_eq!(store.stats().unwrap().visits, 5);
    sound(&store).unwrap();
    // Restatements are forgotten with their page.
    store.forget(simkeep::Scope::Url(URL)).unwrap();
    assert_eq!(
        store.restate(Restatement::new(URL, ms(5), 0xfe, two)).unwrap(),
        RestateOutcome::Missing
    );
    assert_eq!(store.stats().unwrap().visits, 0);
}

#[test]
fn content_without_a_fingerprint_is_near_nothing() {
    const OTHER: &str = "https://example.org/other";
    let store = create(&SimDisk::new());
    let one = Epoch::from_number(0);
    let two = store.register_epoch("two", Role::Both).unwrap();
    let at = |time, fingerprint: Option<u64>, n| {
        Observation::content(URL, ms(time), fingerprint, one).digest(digest(n))
    };
    let near = |epoch| {
        let query = Query::new(7, 64).epoch(epoch);
        let urls = |near: Vec<simkeep::NearMatch>| near.into_iter().map(|near| near.url).collect();
        let found: Vec<String> = urls(store.snapshot().search(&query).unwrap().near);
        found
    };
    store.observe(Observation::content(OTHER, ms(1), 0, one).digest(digest(1))).unwrap();
    // As its digest shows, whatever the fingerprints before and after; no copy, and no distance.
    for (time, fingerprint, n, verdict) in [
        (1, None, 1, Verdict::New),
        (2, None, 1, Verdict::Same(SameBy::Digest)),
        (3, Some(7), 2, Verdict::Changed { distance: None }),
        (4, None, 3, Verdict::Changed { distance: None }),
        (5, None, 1, Verdict::Reverted { to: ms(2), distance: None }),
        (6, Some(7), 2, Verdict::Reverted { to: ms(3), distance: None }),
    ] {
        let outcome = store.observe(at(time, fingerprint, n)).unwrap();
        assert_eq!(outcome.verdict, verdict, "{time}");
        assert!(outcome.copies.is_empty());
        assert_eq!(near(one).contains(&URL.to_owned()), fingerprint.is_some(), "{time}");
    }
    // Restated without a fingerprint: in force, and found only in the other epoch.
    let none = Restatement::new(URL, ms(6), None, two).digest(digest(2));
    assert_eq!(store.restate(none).unwrap(), RestateOutcome::Stored);
    assert_eq!(store.restate(none).unwrap(), RestateOutcome::Known);
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
        }
        assert_eq!((near(one).len(), near(two).len()), (2, 0));
        let content = store.snapshot().latest(URL).unwrap().unwrap().content.unwrap();
        assert_eq!((content.fingerprint, content.epoch), (None, two));
        assert_eq!(store.snapshot().fingerprints(two), 0);
        assert_eq!(
            StalePages::of(&store.snapshot(), store.change_epoch(), None).count(),
            1,
            "the other page alone"
        );
    }
    sound(&store).unwrap();
}

#[test]
fn restatements_do_not_depend_on_arrival_order() {
    let (one, two) = (Epoch::from_number(0), Epoch::from_number(1));
    let both = Observation::content(URL, ms(8), 1, two).also(0, one);
    let alone = Observation::content(URL, ms(8), 0, one);
    let histories = [[both, alone], [alone, both]].map(|order| {
        let (disk, to, saved) = (SimDisk::new(), SimDisk::new(), SimDisk::new());
        let (store, copy) = (create(&disk), create(&to));
        for store in [&store, &copy] {
            store.register_epoch("two", Role::Both).unwrap();
        }
        for observation in order {
            store.observe(observation).unwrap();
        }
        copy.copy_from(&store.snapshot(), LoadOptions::default()).unwrap();
        let history = store.history(URL).unwrap();
        assert_eq!(copy.history(URL).unwrap(), history);
        store.close().unwrap();
        assert!(repair(on(&disk), on(&saved), RepairOptions::default()).unwrap().is_whole());
        assert_eq!(open(&saved, small()).history(URL).unwrap(), history);
        history
    });
    assert_eq!(histories[0].len(), 3);
    assert_eq!(histories[0], histories[1]);
}

/// Pages that no search in an epoch finds: with content that is too short, or only in other epochs.
#[test]
fn pages_without_a_fingerprint_of_an_epoch_are_counted() {
    let store = create(&SimDisk::new());
    let first = store.change_epoch();
    let seen = |url: &str, fingerprint: Option<u64>| {
        store.observe(Observation::content(url, ms(1), fingerprint, first)).unwrap();
    };
    seen("http://long.example/", Some(0));
    seen("http://short.example/", None);
    seen("http://gone.example/", Some(7));
    store.observe(Observation::gone("http://gone.example/", ms(2))).unwrap();
    store.observe(Observation::failed("http://failed.example/", ms(2))).unwrap();
    let without = |epoch| count_without_fingerprint(&store.snapshot(), epoch, None).unwrap();
    assert_eq!(without(first), 1);
    let second = store.register_epoch("second", Role::Both).unwrap();
    assert_eq!((without(first), without(second)), (1, 2));
    // A page that is restated as too short for a fingerprint still has none.
    store.restate(Restatement::new("http://long.example/", ms(1), 5, second)).unwrap();
    store.restate(Restatement::new("http://short.example/", ms(1), None, second)).unwrap();
    for _ in 0..2 {
        assert_eq!((without(first), without(second)), (1, 1));
        store.seal().unwrap();
    }
    store.end_epoch(first, u64::MAX).unwrap();
    assert!(matches!(
        count_without_fingerprint(&store.snapshot(), first, None),
        Err(Error::EndedEpoch(_))
    ));
}
