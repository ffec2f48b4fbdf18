//! Whether the content of a visit is novel, and its priority for further processing.

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::{
    Content, Digest, Epoch, EpochOptions, Observation, Outcome, Progress, PropertyUpdate, Role,
    SameBy, Seen, Store, Verdict, Visit,
};
use simkeep_testing::{EPOCHS, create, digest, ms, on, open, small};

const URL: &str = "https://example.com/";
const FIRST: Epoch = Epoch::from_number(0);
const SECOND: Epoch = Epoch::from_number(1);
const WORD: Seen = Seen::NotModified { digest: None };

fn store() -> Store {
    create(&SimDisk::new(), small())
}

/// Returns a fingerprint `bits` bits from 0.
fn fingerprint(bits: u32) -> u64 {
    u64::MAX.checked_shl(64 - bits).unwrap_or(0)
}

fn content(bits: u32) -> Seen {
    Seen::Content(Content { fingerprint: Some(fingerprint(bits)), digest: None, epoch: FIRST })
}

fn named(seen: Seen, name: u8) -> Seen {
    let digest = Some(digest(name));
    seen.content().map_or(seen, |content| Seen::Content(Content { digest, ..*content }))
}

fn of_second(seen: Seen) -> Seen {
    seen.content().map_or(seen, |content| Seen::Content(Content { epoch: SECOND, ..*content }))
}

fn bare(digest: Option<Digest>) -> Seen {
    Seen::Content(Content { fingerprint: None, digest, epoch: FIRST })
}

fn visit(time: i64, seen: Seen) -> Observation<'static> {
    Observation::of(URL, Visit::new(ms(time), seen))
}

/// The novelty and priority of the last of these visits.
fn worth(seen: &[Seen]) -> (bool, f64) {
    let store = store();
    let outcomes = (0..).zip(seen).map(|(time, seen)| store.observe(visit(time, *seen)).unwrap());
    let last = outcomes.last().unwrap();
    (last.novel, last.priority)
}

#[test]
fn content_far_from_recent_versions_is_novel() {
    let novel = |seen: &[Seen]| worth(seen).0;
    let of = |bits: &[u32]| novel(&bits.iter().map(|bits| content(*bits)).collect::<Vec<_>>());
    assert!(of(&[0]) && of(&[0, 4]) && of(&[0, 20, 40]) && of(&[0, 20, 4]));
    // Up to 3 bits are a minor change, compared with the previous version and any other.
    assert!(!of(&[0, 0]) && !of(&[0, 3]) && !of(&[0, 20, 3]) && !of(&[0, 20, 40, 18]));
    assert!(!of(&[0, 20, 0]));
    // Only the last eight versions are compared, not the ninth.
    let versions = |count| (0..count).map(|n| 5 * n).chain([0]).collect::<Vec<_>>();
    assert!(!of(&versions(8)) && of(&versions(9)));
    // A page that is gone has no version in force; its last versions are still compared.
    assert!(novel(&[Seen::Gone, content(0)]) && novel(&[content(0), Seen::Gone, content(20)]));
    assert!(!novel(&[content(0), Seen::Gone, content(3)]));
    assert!(!novel(&[content(0), Seen::Gone, content(0)]));
    assert!(!novel(&[content(0), Seen::Gone, WORD]));
    for nothing in [WORD, Seen::Gone, Seen::Failed] {
        assert!(!novel(&[nothing]) && !novel(&[content(0), nothing]));
        assert!(novel(&[nothing, content(0)]));
    }
}

#[test]
fn new_digest_without_a_distance_is_novel() {
    let novel = |seen: &[Seen]| worth(seen).0;
    let (one, two) = (Some(digest(1)), Some(digest(2)));
    assert!(
        novel(&[bare(one)]) && novel(&[bare(one), bare(two)]) && novel(&[bare(one), bare(None)])
    );
    assert!(!novel(&[bare(one), bare(one)]) && !novel(&[bare(one), bare(two), bare(one)]));
    // Content of another epoch.
    let (a, b) = (content(0), content(1));
    assert!(novel(&[a, of_second(a)]) && novel(&[named(a, 1), named(of_second(a), 2)]));
    assert!(!novel(&[named(a, 1), named(of_second(a), 1)]));
    assert!(!novel(&[a, of_second(a), b]) && novel(&[a, of_second(a), content(20)]));
    // A digest counts with any distance.
    let far = content(40);
    assert!(!novel(&[named(a, 1), named(content(20), 2), named(far, 1)]));
}

#[test]
fn newest_epoch_of_a_version_decides_what_is_minor() {
    use simkeep::fingerprint::Bands;
    let store = Store::create(on(&SimDisk::new()), small()).unwrap();
    let options = EpochOptions::from(Role::Both).bands(Bands { minor: 9, moderate: 20 });
    let second = store.register_epoch(EPOCHS[1], options).unwrap();
    let observe = |time, first, other| {
        store.observe(visit(time, content(first)).also(fingerprint(other), second)).unwrap()
    };
    assert!(observe(1, 0, 0).novel);
    let outcome = observe(2, 20, 9);
    assert_eq!(outcome.verdict.distance().unwrap().bits, 9);
    assert!(!outcome.novel);
    assert!(observe(3, 21, 30).novel);
    // The content is near an earlier one in either epoch.
    assert!(!observe(4, 1, 60).novel);
    assert!(observe(5, 40, 45).novel);
    assert!(!observe(6, 60, 50).novel);
}

#[test]
fn priority_is_weight_times_distance_over_32_bits() {
    let priority = |seen: &[Seen]| worth(seen).1;
    let (a, gone) = (content(0), Seen::Gone);
    assert_eq!(priority(&[a]), 1.0);
    for (bits, expected) in [(1, 0.03125), (8, 0.25), (31, 0.96875), (32, 1.0), (64, 1.0)] {
        assert_eq!(priority(&[a, content(bits)]), expected, "{bits} bits");
        assert_eq!(priority(&[content(bits), a, content(bits)]), expected, "{bits} bits");
        assert_eq!(priority(&[a, gone, content(bits)]), expected, "{bits} bits");
    }
    // The distance is unknown.
    let (one, two) = (bare(Some(digest(1))), bare(Some(digest(2))));
    for seen in [&[one, two][..], &[one, two, one], &[a, of_second(a)], &[a, one]] {
        assert_eq!(priority(seen), 1.0, "{seen:?}");
    }
    for seen in [&[a, a][..], &[one, one], &[a, WORD], &[WORD], &[a, Seen::Gone], &[gone, gone]] {
        assert_eq!(priority(seen), 0.0, "{seen:?}");
    }
    for seen in [&[Seen::Failed][..], &[a, Seen::Failed], &[a, gone, a], &[a, gone, WORD]] {
        assert_eq!(priority(seen), 0.0, "{seen:?}");
    }
}

#[test]
fn priority_uses_the_weight_in_force_after_the_visit() {
    let store = store();
    let observe = |observation| store.observe(observation).unwrap().priority;
    assert_eq!(observe(visit(10, content(0)).weight(8.0)), 8.0);
    assert_eq!(observe(visit(20, content(16))), 4.0);
    assert_eq!(observe(visit(30, content(0)).weight(0.5)), 0.25);
    // A weight of an earlier time is not in force.
    store.set_property(PropertyUpdate::weight(URL, ms(15), 64.0)).unwrap();
    assert_eq!(observe(visit(40, content(16))), 0.25);
    store.set_property(PropertyUpdate::weight(URL, ms(45), 64.0)).unwrap();
    store.seal().unwrap();
    assert_eq!(observe(visit(50, content(0))), 32.0);
    // A weight of a future time is in force, since it was given.
    store.set_property(PropertyUpdate::weight(URL, ms(100), 2.0)).unwrap();
    assert_eq!(observe(visit(60, content(32)).weight(5.0)), 2.0);
    for weight in [f64::from(f32::MAX), f64::from(f32::from_bits(1))] {
        store.set_property(PropertyUpdate::weight(URL, ms(200), weight)).unwrap();
    }
    assert_eq!(observe(visit(300, content(33))), f64::from(f32::MAX) / 32.0);
    assert_eq!(
        observe(visit(301, content(32)).weight(5e-324)),
        f64::from(f32::from_bits(1)) / 32.0
    );
}

#[test]
fn late_visit_has_no_priority_but_counts_in_later_comparisons() {
    let store = store();
    let observe = |time, bits| store.observe(visit(time, content(bits)).weight(2.0)).unwrap();
    let worth = |outcome: Outcome| (outcome.verdict, outcome.novel, outcome.priority);
    observe(10, 0);
    observe(30, 20);
    for _ in 0..2 {
        store.seal().unwrap();
        // The priority of a known visit is too.
        assert_eq!(worth(observe(30, 20)), (Verdict::Known, false, 0.0));
        assert_eq!(worth(observe(10, 0)), (Verdict::Known, false, 0.0));
    }
    assert_eq!(worth(observe(20, 40)), (Verdict::OutOfOrder, false, 0.0));
    assert_eq!(worth(observe(5, 60)), (Verdict::OutOfOrder, false, 0.0));
    let outcome = observe(40, 41);
    assert!(matches!(outcome.verdict, Verdict::Changed { .. }));
    assert_eq!((outcome.novel, outcome.priority), (false, 2.0 * 21.0 / 32.0));
    assert!(!observe(50, 61).novel);
}

/// The fields of an outcome that depend only on the page.
fn page_fields(outcome: &Outcome) -> (Verdict, bool, f64) {
    (outcome.verdict, outcome.novel, outcome.priority)
}

fn seen() -> impl Strategy<Value = Seen> {
    let bits = prop_oneof![Just(0), Just(2), Just(6), Just(30), Just(33), Just(64)];
    let contents = (bits, 0..4_u8, any::<bool>(), 0..8_u8).prop_map(|(bits, name, other, kind)| {
        let seen = if kind == 0 { bare(None) } else { content(bits) };
        let seen = if name > 0 { named(seen, name) } else { seen };
        if other { of_second(seen) } else { seen }
    });
    prop_oneof![8 => contents, 1 => Just(WORD), 1 => Just(Seen::Gone), 1 => Just(Seen::Failed)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In the memtable, from a segment, from a replayed journal, and in one batch.
    #[test]
    fn worth_does_not_depend_on_storage(
        seen in prop::collection::vec((seen(), prop::option::of(1..9_u8)), 1..14),
    ) {
        let observations: Vec<_> = (0..)
            .zip(&seen)
            .map(|(time, (seen, weight))| {
                let visit = visit(time, *seen);
                weight.map_or(visit, |weight| visit.weight(f64::from(weight)))
            })
            .collect();
        let expected: Vec<_> = store().observe_batch(&observations).unwrap();
        let expected: Vec<_> = expected.iter().map(page_fields).collect();
        let sealing = store();
        let (disk, options) = (SimDisk::new(), small().memtable_observations(1000));
        let mut replaying = create(&disk, options.clone());
        for (observation, expected) in observations.iter().zip(&expected) {
            prop_assert_eq!(&page_fields(&sealing.observe(*observation).unwrap()), expected);
            sealing.seal().unwrap();
            sealing.merge(&Progress::default()).unwrap();
            prop_assert_eq!(&page_fields(&replaying.observe(*observation).unwrap()), expected);
            drop(replaying);
            replaying = open(&disk, options.clone());
        }
    }

    /// Compared content is novel if and only if it has changed and has not returned.
    #[test]
    fn change_that_is_not_a_return_is_novel(seen in prop::collection::vec(seen(), 1..40)) {
        let store = store();
        let changes = || store.snapshot().latest(URL).unwrap().map(|page| page.changes);
        let mut before = None;
        for (time, seen) in (0..).zip(seen) {
            let outcome = store.observe(visit(time, seen)).unwrap();
            let now = changes();
            let counts = before.zip(now).map(|(before, now): (simkeep::Changes, simkeep::Changes)| {
                (now.comparisons() - before.comparisons(), now.changes() - before.changes())
            });
            match (seen, counts) {
                (Seen::Content(_), Some((1, changed))) => {
                    prop_assert_eq!(outcome.novel, changed == 1, "{:?}", outcome.verdict);
                }
                (Seen::Content(_), _) => {}
                _ => prop_assert!(!outcome.novel),
            }
            let is_same = matches!(outcome.verdict, Verdict::Same(_));
            prop_assert!(!is_same || (!outcome.novel && outcome.priority == 0.0));
            prop_assert!(outcome.verdict != Verdict::Same(SameBy::NotModified) || seen == WORD);
            before = now;
        }
    }
}
