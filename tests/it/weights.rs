//! The importance of pages: set with a visit or alone, and kept until another weight is set.

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{
    Epoch, Observation, Operation, OperationResult, Progress, PropertyOutcome, PropertyUpdate,
    Scope, Store, Verdict, Weight,
};
use simkeep_testing::{create, ms, open, small, sound};

const URL: &str = "https://example.com/";

fn content(time: i64) -> Observation<'static> {
    Observation::content(URL, ms(time), 7, Epoch::from_number(0))
}

fn with_weight(time: i64, weight: f64) -> Operation<'static> {
    PropertyUpdate::weight(URL, ms(time), weight).into()
}

fn weight(store: &Store) -> Weight {
    store.snapshot().latest(URL).unwrap().unwrap().weight
}

#[test]
fn latest_weight_is_in_force_in_any_arrival_order() {
    let requests: [Operation<'_>; 6] = [
        content(100).into(),
        with_weight(50, 9.0),
        content(200).weight(2.0).into(),
        with_weight(300, 0.5),
        // At one time, the greatest weight wins.
        with_weight(300, 0.25),
        content(400).into(),
    ];
    for turned in 0..requests.len() {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        // A weight needs an earlier visit of the page.
        store.observe(content(0)).unwrap();
        let mut requests = requests.clone();
        requests.rotate_left(turned);
        for request in &requests {
            store.write_batch(std::slice::from_ref(request)).unwrap();
            store.seal().unwrap();
        }
        assert_eq!(weight(&store), Weight::from(0.5), "turned by {turned}");
        store.merge(&Progress::default()).unwrap();
        assert_eq!(weight(&store), Weight::from(0.5), "turned by {turned}");
        assert_eq!(store.snapshot().latest(URL).unwrap().unwrap().visits, 4);
        sound(&store).unwrap();
        drop(store);
        assert_eq!(weight(&open(&disk, small())), Weight::from(0.5));
        let loaded = create(&SimDisk::new(), small());
        let all = requests.iter().cloned().chain([content(0).into()]);
        loaded.load(all.map(Ok), LoadOptions::default()).unwrap();
        assert_eq!(loaded.history(URL).unwrap(), open(&disk, small()).history(URL).unwrap());
    }
}

#[test]
fn page_without_a_weight_has_weight_1() {
    let store = create(&SimDisk::new(), small());
    store.observe(content(0)).unwrap();
    assert_eq!(weight(&store), Weight::ONE);
}

#[test]
fn weight_is_not_a_visit_and_needs_one() {
    let store = create(&SimDisk::new(), small());
    let weighing = PropertyUpdate::weight(URL, ms(5), 2.0);
    assert_eq!(store.set_property(weighing.clone()).unwrap(), PropertyOutcome::Missing);
    assert_eq!(store.snapshot().latest(URL).unwrap(), None);
    store.observe(content(10)).unwrap();
    assert_eq!(store.set_property(weighing.clone()).unwrap(), PropertyOutcome::Stored);
    assert_eq!(store.set_property(weighing.clone()).unwrap(), PropertyOutcome::Known);
    let stats = store.stats().unwrap();
    assert_eq!((stats.pages, stats.visits), (1, 1));
    // Later operations are answered as if there were no weight.
    assert_eq!(store.observe(content(20)).unwrap().verdict.distance(), None);
    store.forget(Scope::Url(URL)).unwrap();
    assert_eq!(store.set_property(weighing).unwrap(), PropertyOutcome::Missing);
}

#[test]
fn weight_before_the_first_visit_is_in_force() {
    let requests = [content(100).into(), with_weight(50, 3.0)];
    let observed = create(&SimDisk::new(), small());
    observed.write_batch(&requests).unwrap();
    observed.seal().unwrap();
    let loaded = create(&SimDisk::new(), small());
    loaded.load(requests.iter().map(Ok), LoadOptions::default()).unwrap();
    for store in [observed, loaded] {
        assert_eq!(weight(&store), Weight::from(3.0));
        sound(&store).unwrap();
    }
}

#[test]
fn weight_sent_with_a_known_visit_is_kept() {
    let store = create(&SimDisk::new(), small());
    store.observe(content(10)).unwrap();
    let again = store.observe(content(10).weight(3.0)).unwrap();
    assert_eq!((again.verdict, weight(&store)), (Verdict::Known, Weight::from(3.0)));
    let answers = store.write_batch(&[with_weight(10, 3.0), with_weight(10, 2.0)]).unwrap();
    let expected =
        [PropertyOutcome::Known, PropertyOutcome::Stored].map(OperationResult::PropertySet);
    assert_eq!(answers, expected);
    assert_eq!(weight(&store), Weight::from(3.0));
}

#[test]
fn load_can_reweight_all_pages() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let urls: Vec<String> = (0..100).map(|page| format!("https://a.example/{page}")).collect();
    let visits = urls.iter().map(|url| Observation::content(url, ms(1), 7, Epoch::from_number(0)));
    store.load(visits.map(Ok), LoadOptions::default()).unwrap();
    let unknown = "https://b.example/".to_owned();
    for (round, found) in [(100, 100), (100, 0)] {
        let weights = urls.iter().chain([&unknown]).zip(1_u32..);
        let weights = weights.map(|(url, nth)| PropertyUpdate::weight(url, ms(2), f64::from(nth)));
        let loaded = store.load(weights.map(Ok), LoadOptions::default()).unwrap();
        assert_eq!((loaded.observations, loaded.weights), (round + 1, found));
        assert_eq!((loaded.visits, loaded.new_pages, loaded.restated), (0, 0, 0));
    }
    store.merge(&Progress::default()).unwrap();
    for (url, nth) in urls.iter().zip(1_u32..) {
        let page = store.snapshot().latest(url).unwrap().unwrap();
        assert_eq!((page.visits, page.weight), (1, Weight::from(f64::from(nth))));
    }
    assert_eq!(store.snapshot().latest(&unknown).unwrap(), None);
    sound(&store).unwrap();
}
