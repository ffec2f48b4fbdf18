//! Compares the differences between two stores, or two times, with the verdicts of a store that observes
//! them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::query::{Diff, Difference, ExactDiff};
use simkeep::{
    Content, Entry, Epoch, Observation, Prefix, Role, Seen, Snapshot, Store, Verdict, Visit,
};
use simkeep_testing::{EPOCHS, create, digest, ms, on, small};

const URLS: [&str; 3] = ["http://b.example/", "http://a.example/x", "http://a.example/y"];

/// One possible observation of a page.
#[derive(Clone, Copy, Debug)]
struct DiffVisit {
    page: usize,
    time: i64,
    /// Content: the epoch, the shift of the fingerprint in bits (20 and more: none), the number of
    /// the digest (0: none), and whether there is content of the other epoch, too. `None` is gone
    /// or failed.
    seen: Option<(u32, u32, u8, bool)>,
    failed: bool,
    weight: Option<f64>,
}

impl DiffVisit {
    fn observation(self) -> Observation<'static> {
        let DiffVisit { page, time, seen, failed, weight } = self;
        let url = URLS[page];
        let saw = match seen {
            Some((epoch, bits, name, also)) => {
                let [epoch, other] = [epoch, 1 - epoch].map(Epoch::from_number);
                let fingerprint = (bits < 20).then(|| u64::MAX << bits);
                let saw = Observation::content(url, ms(time), fingerprint, epoch);
                let saw = if name > 0 { saw.digest(digest(name)) } else { saw };
                if also { saw.also(fingerprint.map(|f| !f), other) } else { saw }
            }
            None if failed => Observation::failed(url, ms(time)),
            None => Observation::gone(url, ms(time)),
        };
        weight.into_iter().fold(saw, Observation::weight)
    }
}

fn saw() -> impl Strategy<Value = DiffVisit> {
    let seen = prop::option::weighted(0.8, (0..2_u32, 0..22_u32, 0..4_u8, any::<bool>()));
    let weight = prop::option::weighted(0.2, prop_oneof![Just(2.0), Just(0.5)]);
    (0..URLS.len(), 0..12_i64, seen, any::<bool>(), weight).prop_map(
        |(page, time, seen, failed, weight)| DiffVisit { page, time, seen, failed, weight },
    )
}

/// A store with these visits, whose second epoch has this role.
fn store(all: &[DiffVisit], role: Role) -> Store {
    let store = Store::create(on(&SimDisk::new()), small()).unwrap();
    store.register_epoch(EPOCHS[1], role).unwrap();
    for (nth, saw) in all.iter().enumerate() {
        store.observe(saw.observation()).unwrap();
        if nth % 5 == 4 {
            store.seal().unwrap();
        }
    }
    store
}

fn entries(snapshot: &Snapshot, url: &str, until: i64) -> Vec<Entry> {
    let history = snapshot.history(url).unwrap();
    history.iter().map(|entry| entry.entry()).filter(|entry| entry.time() <= ms(until)).collect()
}

/// The visit whose content is in force.
fn version(entries: &[Entry]) -> Option<Visit> {
    let visits = || entries.iter().filter_map(Entry::visit);
    let last = visits().rfind(|visit| visit.seen != Seen::Failed)?;
    let saw = |visit: &&Visit| matches!(visit.seen, Seen::Content(_));
    visits().rfind(saw).filter(|_| last.seen != Seen::Gone).copied()
}

/// The verdict of a store with the entries of `before` on the content in force in `after`.
fn expected(url: &str, before: &[Entry], after: &[Entry], role: Role) -> Option<(Verdict, f64)> {
    let Some(visit) = version(after) else {
        return version(before).map(|_| (Verdict::Gone, 0.0));
    };
    if version(before) == Some(visit) {
        return None;
    }
    let store = store(&[], role);
    let all = before.iter().map(|entry| Ok((url, entry.clone())));
    store.load(all, simkeep::load::LoadOptions::default()).unwrap();
    let content = *visit.seen.content().unwrap();
    let restated = after.iter().filter(|entry| entry.is_restated() && entry.time() == visit.time);
    let restated: Vec<Content> =
        restated.filter(|e| e.digest() == content.digest).filter_map(Entry::content).collect();
    assert!(restated.len() < 2, "of two epochs, and content that is seen once at a time");
    let saw = Observation::content(url, ms(1_000_000), content.fingerprint, content.epoch);
    let saw = content.digest.into_iter().fold(saw, Observation::digest);
    let saw = restated.iter().fold(saw, |saw, also| saw.also(also.fingerprint, also.epoch));
    let weight = after.iter().filter_map(Entry::weight).next_back().unwrap_or_default();
    let outcome = store.observe(saw.weight(weight)).unwrap();
    let same = matches!(outcome.verdict, Verdict::Same(_));
    (!same).then_some((outcome.verdict, outcome.priority))
}

fn all_expected(
    before: (&Snapshot, i64),
    after: (&Snapshot, i64),
    role: Role,
) -> Vec<(String, Verdict, f64)> {
    // In SURT order.
    let urls = [URLS[1], URLS[2], URLS[0]];
    let of = |(snapshot, until): (&Snapshot, i64), url: &str| entries(snapshot, url, until);
    let one = |url: &str| {
        let found = expected(url, &of(before, url), &of(after, url), role)?;
        Some((url.to_owned(), found.0, found.1))
    };
    urls.into_iter().filter_map(one).collect()
}

fn rows(found: impl Iterator<Item = simkeep::Result<Difference>>) -> Vec<(String, Verdict, f64)> {
    found.map(|found| found.unwrap()).map(|f| (f.url, f.verdict, f.priority)).collect()
}

/// Keeps one visit per page and time. Two visits at one time would result in two contents, but an
/// observation has only one.
fn once(all: Vec<DiffVisit>) -> Vec<DiffVisit> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|saw| seen.insert((saw.page, saw.time))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn diff_matches_observing_the_page(
        before in prop::collection::vec(saw(), 0..12).prop_map(once),
        after in prop::collection::vec(saw(), 0..12).prop_map(once),
        common in 0..12_usize,
        role in prop_oneof![Just(Role::Both), Just(Role::Near), Just(Role::Change)],
        since in 0..12_i64,
        until in 0..14_i64,
    ) {
        let common = &before[..common.min(before.len())];
        let after = once([common, &after].concat());
        let [old, new] = [&before, &after].map(|all| store(all, role).snapshot());
        let diff = rows(new.diff(&old, None).unwrap());
        prop_assert_eq!(diff, all_expected((&old, i64::MAX), (&new, i64::MAX), role));
        let diff = rows(Diff::between(&new, ms(since), ms(until), None));
        prop_assert_eq!(diff, all_expected((&new, since.min(until)), (&new, until), role));
        // The exact diff lists the entries.
        let all = |snapshot: &Snapshot| -> BTreeSet<(String, Entry)> {
            let all = snapshot.observations(None).map(|observation| observation.unwrap());
            all.map(|(url, entry)| (url.to_string(), entry)).collect()
        };
        let (old_all, new_all) = (all(&old), all(&new));
        let (mut only_old, mut only_new) = (BTreeSet::new(), BTreeSet::new());
        for found in ExactDiff::of(&old, &new, None).unwrap() {
            let found = found.unwrap();
            only_old.extend(found.before.iter().map(|entry| (found.url.clone(), entry.clone())));
            only_new.extend(found.after.iter().map(|entry| (found.url.clone(), entry.clone())));
        }
        prop_assert_eq!(only_old, &old_all - &new_all);
        prop_assert_eq!(only_new, &new_all - &old_all);
    }
}

#[test]
fn epochs_of_two_stores_match_by_name() {
    let one = create(&SimDisk::new(), small());
    let other = Store::create(on(&SimDisk::new()), small().epoch("other".to_owned())).unwrap();
    let names = [EPOCHS[1], EPOCHS[0]];
    let [second, first] = names.map(|name| other.register_epoch(name, Role::Both).unwrap());
    let see = |store: &Store, page: usize, fingerprint, epoch| {
        store.observe(Observation::content(URLS[page], ms(1_000), fingerprint, epoch)).unwrap();
    };
    see(&one, 0, 7, Epoch::from_number(0));
    see(&other, 0, 7, first);
    see(&one, 1, 7, Epoch::from_number(1));
    see(&other, 1, 6, second);
    see(&one, 2, 7, Epoch::from_number(1));
    see(&other, 2, 7, other.snapshot().epochs()[0].epoch);
    let diff = other.snapshot().diff(&one.snapshot(), None).unwrap();
    let names: Vec<_> = diff.epochs().iter().map(|info| info.name.clone()).collect();
    assert_eq!(names, [EPOCHS[0], EPOCHS[1], "other"]);
    let found: Vec<Difference> = diff.map(|found| found.unwrap()).collect();
    let distance =
        |found: &Difference| found.verdict.distance().map(|d| (d.bits, d.epoch.number()));
    let distances: Vec<_> =
        found.iter().map(|found| (found.url.as_str(), distance(found))).collect();
    assert_eq!(distances, [(URLS[1], Some((1, 1))), (URLS[2], None)]);
    assert_eq!(found[1].after.unwrap().epoch.number(), 2);
    let exact = ExactDiff::of(&one.snapshot(), &other.snapshot(), None).unwrap();
    assert_eq!(exact.count(), 2);
    let under: Prefix = "b.example".parse().unwrap();
    let under = other.snapshot().diff(&one.snapshot(), Some(&under)).unwrap();
    assert_eq!(under.count(), 0);
}
