//! The class of a page: set with a visit or alone, and kept until it is replaced.

mod queries;

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{
    Entry, Epoch, Observation, Operation, OperationResult, Progress, PropertyOutcome,
    PropertyUpdate, Scope, Store, Verdict, Weight,
};
use simkeep_testing::{create, ms, open, small, sound};

const URL: &str = "https://example.com/";

fn content(time: i64) -> Observation<'static> {
    Observation::content(URL, ms(time), 7, Epoch::from_number(0))
}

fn with_class(time: i64, class: u32) -> Operation<'static> {
    PropertyUpdate::class(URL, ms(time), class).into()
}

fn class(store: &Store) -> Option<u32> {
    store.snapshot().latest(URL).unwrap().unwrap().class
}

#[test]
fn latest_class_is_in_force_in_any_arrival_order() {
    let requests: [Operation<'_>; 7] = [
        content(100).into(),
        with_class(50, 9),
        content(200).class(u32::MAX).weight(2.0).into(),
        with_class(300, 1),
        // At one time the greatest wins.
        with_class(300, 0),
        PropertyUpdate::weight(URL, ms(400), 3.0).into(),
        content(400).into(),
    ];
    for turned in 0..requests.len() {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        store.observe(content(0)).unwrap();
        let mut requests = requests.clone();
        requests.rotate_left(turned);
        for request in &requests {
            store.write_batch(std::slice::from_ref(request)).unwrap();
            store.seal().unwrap();
        }
        let is = |store: &Store| {
            let page = store.snapshot().latest(URL).unwrap().unwrap();
            assert_eq!(
                (page.class, page.weight),
                (Some(1), Weight::from(3.0)),
                "turned by {turned}"
            );
        };
        is(&store);
        store.merge(&Progress::default()).unwrap();
        is(&store);
        assert_eq!(store.snapshot().latest(URL).unwrap().unwrap().visits, 4);
        sound(&store).unwrap();
        drop(store);
        is(&open(&disk, small()));
        let loaded = create(&SimDisk::new(), small());
        let all = requests.iter().cloned().chain([content(0).into()]);
        loaded.load(all.map(Ok), LoadOptions::default()).unwrap();
        assert_eq!(loaded.history(URL).unwrap(), open(&disk, small()).history(URL).unwrap());
    }
}

#[test]
fn page_has_no_class_until_set_and_0_is_valid() {
    let store = create(&SimDisk::new(), small());
    let classing = PropertyUpdate::class(URL, ms(5), 0);
    assert_eq!(store.set_property(classing.clone()).unwrap(), PropertyOutcome::Missing);
    store.observe(content(10)).unwrap();
    assert_eq!(class(&store), None);
    assert_eq!(store.set_property(classing.clone()).unwrap(), PropertyOutcome::Stored);
    assert_eq!(store.set_property(classing.clone()).unwrap(), PropertyOutcome::Known);
    assert_eq!(class(&store), Some(0));
    let stats = store.stats().unwrap();
    assert_eq!((stats.pages, stats.visits, stats.sequence), (1, 1, 2));
    store.seal().unwrap();
    assert_eq!(class(&store), Some(0));
    store.forget(Scope::Url(URL)).unwrap();
    assert_eq!(store.set_property(classing).unwrap(), PropertyOutcome::Missing);
    store.observe(content(20)).unwrap();
    assert_eq!(class(&store), None);
}

#[test]
fn class_before_the_first_visit_is_in_force() {
    let requests = [content(100).into(), with_class(50, 3)];
    let observed = create(&SimDisk::new(), small());
    observed.write_batch(&requests).unwrap();
    observed.seal().unwrap();
    let loaded = create(&SimDisk::new(), small());
    loaded.load(requests.iter().map(Ok), LoadOptions::default()).unwrap();
    for store in [observed, loaded] {
        assert_eq!(class(&store), Some(3));
        sound(&store).unwrap();
    }
}

#[test]
fn class_sent_with_a_known_visit_is_kept() {
    let store = create(&SimDisk::new(), small());
    store.observe(content(10)).unwrap();
    let again = store.observe(content(10).class(3)).unwrap();
    assert_eq!((again.verdict, class(&store)), (Verdict::Known, Some(3)));
    let answers = store.write_batch(&[with_class(10, 3), with_class(10, 2)]).unwrap();
    assert_eq!(
        answers,
        [PropertyOutcome::Known, PropertyOutcome::Stored].map(OperationResult::PropertySet)
    );
    assert_eq!(class(&store), Some(3));
}

#[test]
fn in_force_entries_have_the_last_weight_and_class() {
    let store = create(&SimDisk::new(), small());
    store.observe(content(10).class(3).weight(2.0)).unwrap();
    store.observe(content(20).class(4)).unwrap();
    store.set_property(PropertyUpdate::weight(URL, ms(5), 9.0)).unwrap();
    let snapshot = store.snapshot();
    let entries = snapshot.observations(None).in_force().map(|entry| entry.unwrap().1);
    let properties: Vec<Entry> = entries.filter(|entry| !entry.is_visit()).collect();
    let given: Vec<_> = properties.iter().map(|e| (e.time(), e.weight(), e.class())).collect();
    assert_eq!(given, [(ms(10), Some(Weight::from(2.0)), None), (ms(20), None, Some(4))]);
}

#[test]
fn load_can_reclassify_all_pages() {
    let store = create(&SimDisk::new(), small());
    let urls: Vec<String> = (0..100).map(|page| format!("https://a.example/{page}")).collect();
    let visits = urls.iter().map(|url| Observation::content(url, ms(1), 7, Epoch::from_number(0)));
    store.load(visits.map(Ok), LoadOptions::default()).unwrap();
    let unknown = "https://b.example/".to_owned();
    for (round, found) in [(100, 100), (100, 0)] {
        let classes = urls.iter().chain([&unknown]).zip(0_u32..);
        let classes = classes.map(|(url, nth)| PropertyUpdate::class(url, ms(2), nth));
        let loaded = store.load(classes.map(Ok), LoadOptions::default()).unwrap();
        assert_eq!((loaded.observations, loaded.classes), (round + 1, found));
        assert_eq!((loaded.visits, loaded.restated, loaded.weights), (0, 0, 0));
    }
    store.merge(&Progress::default()).unwrap();
    for (url, nth) in urls.iter().zip(0_u32..) {
        let page = store.snapshot().latest(url).unwrap().unwrap();
        assert_eq!((page.visits, page.class), (1, Some(nth)));
    }
    assert_eq!(store.snapshot().latest(&unknown).unwrap(), None);
    sound(&store).unwrap();
}
