//! The cost of forgetting very many prefixes one after another, with lookups of pages in between.

use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::{Durability, Epoch, Observation, Prefix, Scope, Store};
use simkeep_testing::allocator::lock_measurement;
use simkeep_testing::{ms, small};

/// The URL of a page, and the prefix that is forgotten after the page was observed.
type ForgetStep = fn(usize) -> (String, String);

/// Disjoint prefixes; one prefix repeatedly; many prefixes within one that is forgotten repeatedly.
const STEPS: [(&str, ForgetStep); 3] = [
    ("side by side", |n| (format!("https://host{n}.example/"), format!("host{n}.example"))),
    ("the same", |n| (format!("https://host.example/{n}"), "host.example".to_owned())),
    ("within another", |n| {
        let path = if n.is_multiple_of(2) { format!("/{n}") } else { String::new() };
        (format!("https://host.example/{n}/x"), format!("host.example{path}"))
    }),
];

const FEW: usize = 200;
const MANY: usize = 10_000;

/// The largest allowed cost ratio. A cost that grows with the number of prefixes would be fifty times as
/// high.
const TIMES_MAX: f64 = 6.0;

fn store() -> Store {
    let options = small()
        .memtable_observations(1 << 20)
        .near_limit(0)
        .refers_to(false)
        .durability(Durability::OnFlush);
    let disk = SimDisk::new();
    let store = Store::create(simkeep_testing::on(&disk), options).unwrap();
    for page in 0..100 {
        observe(&store, &kept(page));
    }
    store.seal().unwrap();
    store
}

/// A page that is never forgotten.
fn kept(page: usize) -> String {
    format!("https://kept.example/{page}")
}

fn observe(store: &Store, url: &str) {
    store.observe(Observation::content(url, ms(1), 7, Epoch::from_number(0))).unwrap();
}

/// Observes, forgets and looks up `count` times. Returns the mean time per step, and the mean time
/// of the lookups per step after the store is sealed.
fn forget(count: usize, step: ForgetStep) -> (Duration, Duration) {
    let store = store();
    let steps: Vec<(String, Prefix)> =
        (0..count).map(step).map(|(url, prefix)| (url, prefix.parse().unwrap())).collect();
    let mut forgotten = 0;
    let since = Instant::now();
    for (n, (url, prefix)) in steps.iter().enumerate() {
        observe(&store, url);
        forgotten += store.forget(Scope::Prefix(prefix.clone())).unwrap().pages;
        assert!(store.snapshot().latest(url).unwrap().is_none());
        assert!(store.snapshot().latest(&kept(n % 100)).unwrap().is_some());
    }
    let each = since.elapsed() / u32::try_from(count).unwrap();
    assert_eq!(forgotten, count as u64);
    store.seal().unwrap();
    let since = Instant::now();
    for (n, (url, _)) in steps.iter().enumerate() {
        assert!(store.snapshot().latest(url).unwrap().is_none());
        assert!(store.snapshot().latest(&kept(n % 100)).unwrap().is_some());
    }
    let looked_up = since.elapsed() / u32::try_from(count).unwrap();
    assert_eq!(store.stats().unwrap().pages, 100);
    (each, looked_up)
}

/// The ratio of the cost of each of many steps to that of each of few: forgetting with lookups in
/// between, and lookups after sealing. Both are timed over the same number of steps, so that other load
/// disturbs both alike.
fn times(step: ForgetStep) -> (f64, f64) {
    let few: Vec<_> = (0..MANY / FEW).map(|_| forget(FEW, step)).collect();
    let mean = |of: fn(&(Duration, Duration)) -> Duration| {
        few.iter().map(|run| of(run).as_secs_f64()).sum::<f64>() / few.len() as f64
    };
    let many = forget(MANY, step);
    (many.0.as_secs_f64() / mean(|run| run.0), many.1.as_secs_f64() / mean(|run| run.1))
}

#[test]
fn many_forgotten_prefixes_cost_little_more_each_than_few() {
    let _alone = lock_measurement();
    /// The number of tries, since other load on the machine varies.
    const TRIES: usize = 4;
    for (what, step) in STEPS {
        let mut tries = (0..TRIES).map(|_| times(step)).inspect(|(each, looked_up)| {
            println!("{what}: {each:.2} times as much each, {looked_up:.2} times a lookup");
        });
        let is_little = |(each, looked_up): (f64, f64)| each < TIMES_MAX && looked_up < TIMES_MAX;
        assert!(tries.any(is_little), "{what}");
    }
}
