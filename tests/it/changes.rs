//! How visits show that a page changes: each row of the table, and arbitrary histories compared with a
//! list of all comparisons.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::fingerprint::Bands;
use simkeep::{
    Changes, Content, Entry, Epoch, EpochInfo, EpochOptions, Observation, Progress, PropertyUpdate,
    Restated, Restatement, Role, SameBy, Seen, Store, Verdict, Visit,
};
use simkeep_testing::{TIME_MAX, TIME_MIN, ms};

use simkeep_testing::changes::{NaiveChange, check_sums};
use simkeep_testing::model::Model;
use simkeep_testing::{EPOCHS, digest, on, small, sound};

const URL: &str = "http://example.com/";
const FIRST: Epoch = Epoch::from_number(0);
const SECOND: Epoch = Epoch::from_number(1);

/// Two epochs, the second of which has these options.
fn epochs(options: impl Into<EpochOptions>) -> Vec<EpochInfo> {
    let store = Store::create(on(&SimDisk::new()), small()).unwrap();
    store.register_epoch(EPOCHS[1], options).unwrap();
    store.snapshot().epochs().to_vec()
}

/// Content with digest number `name` (0: none), and with a fingerprint shifted by `bits` (99:
/// none).
fn content(epoch: Epoch, bits: u32, name: u8) -> Seen {
    let fingerprint = (bits < 99).then(|| u64::MAX.checked_shl(bits).unwrap_or(0));
    let digest = (name > 0).then(|| digest(name));
    Seen::Content(Content { fingerprint, digest, epoch })
}

fn visits(seen: &[Seen]) -> Vec<Entry> {
    let visit = |(time, seen): (i64, &Seen)| Visit {
        time: ms(time),
        seen: *seen,
        status: None,
        modified: None,
        bytes: None,
        conditional: false,
    };
    (0..).step_by(1000).zip(seen).map(visit).map(Entry::Visit).collect()
}

/// The result of the last of these visits.
fn found(seen: &[Seen]) -> Option<NaiveChange> {
    let epochs = epochs(Role::Both);
    let (all, before) = (visits(seen), visits(&seen[..seen.len() - 1]));
    let (all, before) = (Changes::of(&all, &epochs), Changes::of(&before, &epochs));
    let distance = all.last_change().and_then(|last| last.distance);
    let counts = |c: Changes| (c.comparisons(), c.changes(), c.returns());
    let ((n, c, r), (m, d, s)) = (counts(all), counts(before));
    match (n - m, c - d, r - s) {
        (0, 0, 0) => None,
        (1, 0, 0) => Some(NaiveChange::Unchanged),
        (1, 1, 0) => Some(NaiveChange::Changed(distance)),
        (1, 0, 1) => Some(NaiveChange::Returned(distance)),
        other => panic!("one visit makes one comparison, not {other:?}"),
    }
}

const WORD: Seen = Seen::NotModified { digest: None };

#[test]
fn contents_are_compared_by_digest_and_distance() {
    let seen = |bits, name| content(FIRST, bits, name);
    assert_eq!(found(&[seen(0, 1)]), None);
    assert_eq!(found(&[seen(0, 1), seen(50, 1)]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[seen(0, 1), seen(3, 2)]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[seen(0, 0), seen(3, 0)]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[seen(0, 1), seen(4, 2)]), Some(NaiveChange::Changed(Some(4))));
    // One more bit each time is no change, except between the first and the last.
    let slowly: Vec<Seen> = (0..20).map(|bits| seen(bits, 0)).collect();
    assert_eq!(Changes::of(&visits(&slowly), &epochs(Role::Both)).changes(), 0);
}

#[test]
fn content_near_a_recent_version_is_a_return() {
    let seen = |bits, name| content(FIRST, bits, name);
    assert_eq!(
        found(&[seen(0, 1), seen(20, 2), seen(2, 3)]),
        Some(NaiveChange::Returned(Some(18)))
    );
    assert_eq!(
        found(&[seen(0, 1), seen(20, 2), seen(10, 1)]),
        Some(NaiveChange::Returned(Some(10)))
    );
    assert_eq!(
        found(&[seen(0, 1), seen(20, 2), seen(40, 3)]),
        Some(NaiveChange::Changed(Some(20)))
    );
    let mut many: Vec<Seen> = (0..9).map(|n| seen(5 * n, 1)).collect();
    many.truncate(1);
    many.extend((1..9).map(|n| seen(5 * n + 5, n.try_into().unwrap())));
    many.push(seen(0, 100));
    // Only the last eight versions are compared, not the ninth.
    assert_eq!(found(&many), Some(NaiveChange::Changed(Some(45))));
}

#[test]
fn contents_without_a_distance_are_not_compared() {
    let (first, second) = (content(FIRST, 0, 1), content(SECOND, 30, 2));
    assert_eq!(found(&[first, second]), None);
    assert_eq!(found(&[first, content(FIRST, 99, 2)]), None);
    // The next comparison starts from the new content.
    assert_eq!(found(&[first, second, content(SECOND, 31, 3)]), Some(NaiveChange::Unchanged));
    assert_eq!(
        found(&[first, second, content(SECOND, 0, 3)]),
        Some(NaiveChange::Changed(Some(30)))
    );
    assert_eq!(found(&[WORD, first]), None);
    let restated = Restated { time: ms(1000), fingerprint: Some(0), digest: None, epoch: FIRST };
    let mut entries = visits(&[first, content(SECOND, 30, 0)]);
    assert_eq!(Changes::of(&entries, &epochs(Role::Both)).comparisons(), 0);
    entries.push(Entry::Restated(restated));
    let changes = Changes::of(&entries, &epochs(Role::Both));
    assert_eq!(changes.last_change().unwrap().distance, Some(64));
}

#[test]
fn contents_without_a_fingerprint_are_compared_by_digest() {
    let bare = |name| content(FIRST, 99, name);
    assert_eq!(found(&[bare(1), bare(1)]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[bare(1), bare(2)]), Some(NaiveChange::Changed(None)));
    assert_eq!(found(&[bare(1), bare(2), bare(1)]), Some(NaiveChange::Returned(None)));
    assert_eq!(found(&[bare(1), bare(0)]), None);
    assert_eq!(found(&[bare(1), content(SECOND, 99, 2)]), None);
}

#[test]
fn gone_and_returning_pages_count_as_changes() {
    let seen = |bits| content(FIRST, bits, 0);
    let (a, b) = (seen(0), seen(30));
    assert_eq!(found(&[a, WORD]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[a, Seen::Gone]), Some(NaiveChange::Changed(None)));
    assert_eq!(found(&[Seen::Gone, Seen::Gone]), Some(NaiveChange::Unchanged));
    assert_eq!(found(&[a, Seen::Gone, WORD]), Some(NaiveChange::Returned(None)));
    assert_eq!(found(&[a, Seen::Gone, a]), Some(NaiveChange::Returned(Some(0))));
    assert_eq!(found(&[a, Seen::Gone, b]), Some(NaiveChange::Changed(Some(30))));
    assert_eq!(found(&[Seen::Gone, a]), Some(NaiveChange::Changed(None)));
    // Failed visits are skipped.
    assert_eq!(found(&[a, Seen::Failed]), None);
    assert_eq!(found(&[a, Seen::Failed, b]), Some(NaiveChange::Changed(Some(30))));
    let changes = Changes::of(&visits(&[a, Seen::Failed, a]), &epochs(Role::Both));
    assert_eq!(changes.unchanged_ms(), 2000);
}

#[test]
fn change_is_dated_between_its_visits() {
    let at = |time, bits, modified| {
        Entry::Visit(Visit {
            time,
            seen: content(FIRST, bits, 0),
            status: None,
            modified,
            bytes: None,
            conditional: false,
        })
    };
    let epochs = epochs(Role::Both);
    for (modified, is_dated) in
        [(999, false), (1000, false), (1001, true), (6_999, true), (7_000, false), (9_000, false)]
    {
        let visits = [at(ms(1000), 0, None), at(ms(9_000), 30, Some(ms(modified)))];
        assert_eq!(Changes::of(&visits, &epochs).dated(), u32::from(is_dated), "{modified}");
    }
}

#[test]
fn visits_at_one_time_count_once() {
    let at = |time, bits| Entry::Visit(Visit::new(time, content(FIRST, bits, 0)));
    let mut entries: Vec<Entry> = (0..60).map(|bits| at(ms(5), bits)).collect();
    entries.sort_unstable();
    assert_eq!(Changes::of(&entries, &epochs(Role::Both)), Changes::default());
    entries.push(at(ms(6), 59));
    assert_eq!(Changes::of(&entries, &epochs(Role::Both)).comparisons(), 1);
}

/// Two visits with one time and digest are two entries, and a restatement of the content applies to
/// both.
#[test]
fn restatement_counts_for_the_first_of_two_equal_visits() {
    for name in [0, 1] {
        let store = Store::create(on(&SimDisk::new()), small()).unwrap();
        store.register_epoch(EPOCHS[1], Role::Both).unwrap();
        let visit = |time, epoch, bits, status| {
            let seen = content(epoch, bits, if time == ms(0) { 0 } else { name });
            let visit =
                Visit { time, seen, status, modified: None, bytes: None, conditional: false };
            store.observe(Observation::of(URL, visit)).unwrap();
        };
        visit(ms(0), SECOND, 0, None);
        visit(ms(1000), FIRST, 24, None);
        visit(ms(1000), FIRST, 24, Some(200));
        let digest = (name > 0).then(|| digest(name));
        let (time, fingerprint, epoch) = (1000, Some(u64::MAX), SECOND);
        let restated = Restated { time: ms(time), fingerprint, digest, epoch };
        store.restate(Restatement::of(URL, restated)).unwrap();
        let history = store.history(URL).unwrap();
        let verdicts: Vec<Verdict> = history.iter().filter_map(|e| Some(e.visit()?.1)).collect();
        assert!(matches!(verdicts[1], Verdict::Same(SameBy::Fingerprint)), "{verdicts:?}");
        let changes = agrees(&store);
        assert_eq!((changes.comparisons(), changes.changes()), (1, 0));
    }
}

#[test]
fn counts_are_halved_at_128_comparisons() {
    let epochs = epochs(Role::Both);
    let day = 86_400_000;
    let at = |n: i64| {
        let seen = content(FIRST, if n % 4 == 3 { 30 } else { 0 }, 0);
        Entry::Visit(Visit::new(ms(n * day), seen))
    };
    // In turn: unchanged twice, then a change or a return, then a return.
    let all: Vec<Entry> = (0..=128).map(at).collect();
    let counts = |n: usize| {
        let changes = Changes::of(&all[..=n], &epochs);
        (changes.comparisons(), changes.changes(), changes.returns(), changes.unchanged_ms())
    };
    let day = day.unsigned_abs();
    assert_eq!(counts(127), (127, 1, 62, 64 * day));
    assert_eq!(counts(128), (64, 0, 32, 32 * day));
    let halved = Changes::of(&all, &epochs);
    assert!(halved.counted(1.0).all(|(comparison, _)| comparison.days() == 1.0));
}

/// Compares the changes that a store returns, sealed or not, with those computed from the history.
#[track_caller]
fn agrees(store: &Store) -> Changes {
    let view = store.snapshot();
    let entries: Vec<Entry> = view.history(URL).unwrap().iter().map(|e| e.entry()).collect();
    let page = view.latest(URL).unwrap().unwrap();
    assert_eq!(page.changes, Changes::of(&entries, view.epochs()));
    page.changes
}

#[test]
fn late_visits_count_in_order_before_and_after_sealing() {
    let store = Store::create(on(&SimDisk::new()), small().memtable_observations(1000)).unwrap();
    let observe = |times: &[i64]| {
        for time in times {
            let bits = if time % 3 == 0 { 0 } else { 20 };
            let visit = Visit {
                time: ms(time * 1000),
                seen: content(FIRST, bits, 0),
                status: None,
                modified: None,
                bytes: None,
                conditional: false,
            };
            store.observe(Observation::of(URL, visit)).unwrap();
        }
        agrees(&store)
    };
    assert_eq!(observe(&[10, 20, 30]).comparisons(), 2);
    store.seal().unwrap();
    assert_eq!(observe(&[40, 50]).comparisons(), 4);
    store.seal().unwrap();
    let before = agrees(&store);
    assert_eq!(observe(&[15, 16, 17]).comparisons(), 7);
    store.seal().unwrap();
    let after = agrees(&store);
    assert_ne!(before, after);
    store.merge(&Progress::default()).unwrap();
    assert_eq!(agrees(&store), after);
    // A record with all visits stores nothing more; a record of many visits does.
    let many: Vec<i64> = (100..180).collect();
    observe(&many);
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    assert_eq!(agrees(&store).comparisons(), 87);
    sound(&store).unwrap();
}

#[test]
fn restatement_counts_after_a_weight_of_another_time() {
    let store = Store::create(on(&SimDisk::new()), small()).unwrap();
    let other = store.register_epoch(EPOCHS[1], Role::Change).unwrap();
    for (time, fingerprint, restated) in [(0, 0, 0), (1000, 0, u64::MAX)] {
        store.observe(Observation::content(URL, ms(time), fingerprint, FIRST)).unwrap();
        store.set_property(PropertyUpdate::weight(URL, ms(5000 + time), 2.0)).unwrap();
        store.restate(Restatement::new(URL, ms(time), restated, other)).unwrap();
    }
    // Compared by the newer epoch, in which all bits differ.
    assert_eq!(agrees(&store).changes(), 1);
    store.seal().unwrap();
    assert_eq!(agrees(&store).changes(), 1);
}

#[test]
fn partial_merge_keeps_the_change_counts() {
    let options = small().memtable_observations(1000).merge_fanout(2);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    for round in 0..9 {
        for n in 0..3 {
            let seen = content(FIRST, if n == 1 { 20 } else { 0 }, 0);
            let visit = Visit::new(ms(3000 * round + 1000 * n), seen);
            store.observe(Observation::of(URL, visit)).unwrap();
        }
        store.seal().unwrap();
        agrees(&store);
        store.wait_idle().unwrap();
        agrees(&store);
    }
    store.merge(&Progress::default()).unwrap();
    assert_eq!(agrees(&store).comparisons(), 26);
}

fn seen() -> impl Strategy<Value = Seen> {
    let bits = prop_oneof![6 => (0..6_u32).prop_map(|n| 2 * n), 1 => Just(64), 1 => Just(99)];
    let epoch = prop_oneof![3 => Just(FIRST), 1 => Just(SECOND)];
    let contents =
        (epoch, bits, 0..4_u8).prop_map(|(epoch, bits, name)| content(epoch, bits, name));
    prop_oneof![8 => contents, 1 => Just(WORD), 1 => Just(Seen::Gone), 1 => Just(Seen::Failed)]
}

fn entries() -> impl Strategy<Value = BTreeSet<Entry>> {
    let time = prop_oneof![
        20 => (0..60_i64).prop_map(|n| n * 3_600_000),
        20 => (0..40_i64).prop_map(|n| n * 86_400_000),
        5 => 0..20_i64,
        1 => Just(TIME_MIN),
        1 => Just(TIME_MAX),
    ];
    let restated = prop::option::weighted(0.2, (0..6_u32, 0..2_u32));
    let ago = prop_oneof![Just(0), 1_999..2_003_i64, 0..50 * 86_400_000_i64];
    let one = (time, seen(), restated, prop::option::of(ago));
    let one = one.prop_map(|(time, seen, restated, ago)| {
        let modified = ago.map(|ago| (time - ago).max(TIME_MIN));
        let visit = Entry::Visit(Visit {
            time: ms(time),
            seen,
            status: None,
            modified: modified.map(ms),
            bytes: None,
            conditional: false,
        });
        let of = seen.content().copied().zip(restated).map(|(content, (bits, epoch))| {
            let fingerprint = Some(u64::MAX.checked_shl(3 * bits).unwrap_or(0));
            let epoch = Epoch::from_number(epoch);
            Entry::Restated(Restated { time: ms(time), fingerprint, digest: content.digest, epoch })
        });
        [Some(visit), of]
    });
    prop::collection::vec(one, 0..220).prop_map(|all| all.into_iter().flatten().flatten().collect())
}

proptest! {
    #[test]
    fn change_counts_sum_over_all_comparisons(
        all in entries(),
        role in prop_oneof![Just(Role::Both), Just(Role::Near), Just(Role::Change)],
        minor in 0..64_u32,
    ) {
        let options = EpochOptions::from(role).bands(Bands { minor, moderate: 64 });
        let mut model = Model::default();
        model.set_epoch_options(SECOND, options);
        all.iter().for_each(|entry| model.insert(URL, entry.clone()));
        let all: Vec<Entry> = all.into_iter().collect();
        check_sums(&Changes::of(&all, &epochs(options)), &model.comparisons(URL));
    }
}
