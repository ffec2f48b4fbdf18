//! Leases of pages, compared with a loop over all due pages.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::due::Due;
use simkeep::recrawl::Interval;
use simkeep::{Observation, Options, Store};
use simkeep_testing::depth::deep;
use simkeep_testing::{create, ms, open, small};

const HOUR: i64 = 3_600_000;

fn url(page: usize) -> String {
    format!("https://host{}.example/{page}", page % 3)
}

fn lease(hours: u64) -> Interval {
    Interval::from_seconds(hours * 3600).unwrap()
}

fn visit(store: &Store, page: usize, time: i64) {
    let seen = Observation::content(&url(page), ms(time), page as u64, store.change_epoch()).visit;
    store.observe(Observation::of(&url(page), seen)).unwrap();
}

fn store_of(disk: &SimDisk, pages: usize, options: Options) -> Store {
    let store = create(disk, options);
    (0..pages).for_each(|page| visit(&store, page, page as i64));
    store
}

fn leased(store: &Store, due: &Due, hours: u64) -> Vec<String> {
    let pages = store.lease_due(due, lease(hours)).unwrap();
    pages.into_iter().map(|page| page.page.url).collect()
}

#[derive(Clone, Debug)]
enum LeaseStep {
    Take { budget: usize, hours: u64, per_host: usize },
    Visit(usize),
    HandBack(usize),
    Wait { hours: i64 },
    Seal,
}

fn steps() -> impl Strategy<Value = Vec<LeaseStep>> {
    let step = prop_oneof![
        4 => (0..6usize, 1..50u64, prop_oneof![Just(usize::MAX), 1..4usize])
            .prop_map(|(budget, hours, per_host)| LeaseStep::Take { budget, hours, per_host }),
        3 => (0..12usize).prop_map(LeaseStep::Visit),
        2 => (0..12usize).prop_map(LeaseStep::HandBack),
        2 => (0..40i64).prop_map(|hours| LeaseStep::Wait { hours }),
        1 => Just(LeaseStep::Seal),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(200)).unwrap()))]

    /// The best unleased pages, whatever was visited, released or expired in between.
    #[test]
    fn lease_returns_the_best_unleased_pages(steps in steps(), most in 1..12usize) {
        let disk = SimDisk::new();
        let store = store_of(&disk, 10, small().leases_max(most));
        let (mut now, mut out) = (24 * HOUR, BTreeMap::<String, i64>::new());
        for step in steps {
            match step {
                LeaseStep::Take { budget, hours, per_host } => {
                    out.retain(|_, until| *until > now);
                    let due = Due::new(ms(now), budget).per_host(per_host);
                    let room = budget.min(most.saturating_sub(out.len()));
                    let everything = due.clone().budget(usize::MAX).per_host(usize::MAX);
                    let mut of_host = BTreeMap::<String, usize>::new();
                    let mut wanted = Vec::new();
                    for page in store.snapshot().due(&everything) {
                        let page = page.unwrap();
                        let url = page.page.url;
                        let host = of_host.entry(url.split('/').nth(2).unwrap().into()).or_default();
                        *host += 1;
                        let free = *host <= per_host && !out.contains_key(&url);
                        if free && page.value > 0.0 && wanted.len() < room {
                            wanted.push(url);
                        }
                    }
                    prop_assert_eq!(&leased(&store, &due, hours), &wanted);
                    let until = now + i64::try_from(hours).unwrap() * HOUR;
                    out.extend(wanted.into_iter().map(|url| (url, until)));
                }
                LeaseStep::Visit(page) => {
                    visit(&store, page, now);
                    out.remove(&url(page));
                }
                LeaseStep::HandBack(page) => {
                    let was_out = out.remove(&url(page)).is_some();
                    prop_assert_eq!(store.release(&url(page)).unwrap(), was_out);
                }
                LeaseStep::Wait { hours } => now += hours * HOUR,
                LeaseStep::Seal => store.seal().unwrap(),
            }
            prop_assert_eq!(store.leased(), out.len());
        }
    }
}

/// Leases belong to one process, and end with it.
#[test]
fn reopened_store_leases_all_pages() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 5, small());
    let due = Due::new(ms(24 * HOUR), 3);
    let first = leased(&store, &due, 1000);
    assert_eq!((first.len(), leased(&store, &due, 1000).len()), (3, 2));
    assert!(leased(&store, &due, 1000).is_empty());
    drop(store);
    let store = open(&disk, small());
    assert_eq!(leased(&store, &due, 1000), first);
}

/// A failed visit ends the lease, too: the page is then left alone for a while anyway.
#[test]
fn any_visit_ends_a_lease_but_a_restatement_does_not() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 2, small());
    let now = 24 * HOUR;
    assert_eq!(leased(&store, &Due::new(ms(now), 9), 1000).len(), 2);
    store.observe(Observation::failed(&url(0), ms(now))).unwrap();
    assert!(!store.release(&url(0)).unwrap());
    let epoch = store.register_epoch("other", simkeep::Role::Near).unwrap();
    store.restate(simkeep::Restatement::new(&url(1), ms(1), 9, epoch)).unwrap();
    assert!(store.release(&url(1)).unwrap());
}
