//! What it costs to forget very many prefixes, one after another, and to look pages up beside that.

#![cfg(test)]
#![cfg(not(feature = "narrow-hash"))]

mod support;

use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::{Durability, Epoch, Observation, Options, Prefix, Scope, Store};

use support::small;

/// A page, and the prefix that is forgotten once it was observed.
type Step = fn(usize) -> (String, String);

/// Prefixes side by side; one again and again; many in one that is forgotten again and again.
const STEPS: [(&str, Step); 3] = [
    ("side by side", |n| (format!("https://host{n}.example/"), format!("host{n}.example"))),
    ("the same", |n| (format!("https://host.example/{n}"), "host.example".to_owned())),
    ("within another", |n| {
        let path = if n.is_multiple_of(2) { format!("/{n}") } else { String::new() };
        (format!("https://host.example/{n}/x"), format!("host.example{path}"))
    }),
];

const FEW: usize = 200;
const MANY: usize = 20_000;

/// How many times as much each of many may cost. What grows with their number costs a hundred times
/// as much; a machine that is busy elsewhere seldom twice.
const TIMES_MAX: f64 = 6.0;

fn store() -> Store {
    let options = Options {
        memtable_observations: 1 << 20,
        near_limit: 0,
        durability: Durability::OnFlush,
        ..small()
    };
    let disk = SimDisk::new();
    let store = Store::create_on(support::on(&disk), options).unwrap();
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
    store.observe(Observation::content(url, 1, 7, Epoch(0))).unwrap();
}

/// Observes, forgets and looks up so many times. Returns what each of that took, and what lookups
/// take once it is sealed.
fn forget(count: usize, step: Step) -> (Duration, Duration) {
    let store = store();
    let steps: Vec<(String, Prefix)> =
        (0..count).map(step).map(|(url, prefix)| (url, prefix.parse().unwrap())).collect();
    let mut forgotten = 0;
    let since = Instant::now();
    for (n, (url, prefix)) in steps.iter().enumerate() {
        observe(&store, url);
        forgotten += store.forget(Scope::Prefix(prefix.clone())).unwrap().pages;
        assert!(store.latest(url).unwrap().is_none());
        assert!(store.latest(&kept(n % 100)).unwrap().is_some());
    }
    let each = since.elapsed() / u32::try_from(count).unwrap();
    assert_eq!(forgotten, count as u64);
    store.seal().unwrap();
    let since = Instant::now();
    for (n, (url, _)) in steps.iter().enumerate() {
        assert!(store.latest(url).unwrap().is_none());
        assert!(store.latest(&kept(n % 100)).unwrap().is_some());
    }
    let looked_up = since.elapsed() / u32::try_from(count).unwrap();
    assert_eq!(store.stats().unwrap().pages, 100);
    (each, looked_up)
}

#[test]
fn very_many_forgotten_prefixes_cost_little_more_each_than_few() {
    for (what, step) in STEPS {
        let mut few: Vec<_> = (0..9).map(|_| forget(FEW, step)).collect();
        few.sort_unstable();
        let (few, many) = (few[4], forget(MANY, step));
        let times = |many: Duration, few: Duration| many.as_secs_f64() / few.as_secs_f64();
        let (each, looked_up) = (times(many.0, few.0), times(many.1, few.1));
        println!(
            "{what}: {FEW} prefixes {:?} each and {:?} a lookup once sealed; {MANY} {each:.2} and \
             {looked_up:.2} times that",
            few.0, few.1
        );
        assert!(each < TIMES_MAX && looked_up < TIMES_MAX, "{what}: {each:.1}, {looked_up:.1}");
    }
}
