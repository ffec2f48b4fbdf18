//! Due pages match scoring all pages and sorting them, in any store.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use simkeep::disk::SimDisk;
use simkeep::due::Due;
use simkeep::load::LoadOptions;
use simkeep::recrawl::Policy;
use simkeep::{Epoch, Observation, Operation, Progress, Reader, Scope, Snapshot};
use simkeep_testing::depth::deep;
use simkeep_testing::due::check_due;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, create, ms, on, small, sound};

use super::figures::check_figures;

const DAY: i64 = 86_400_000;

/// A visit of some page within 400 days.
fn visit(choose: &mut impl FnMut(u64) -> u64) -> Observation<'static> {
    let url = URLS[choose(URLS.len() as u64) as usize];
    // Now and then two at a time, or in whole seconds.
    let time = choose(400) as i64 * DAY + [0, 0, 1, 999, 1000, 3_600_000][choose(6) as usize];
    match choose(8) {
        0 => Observation::gone(url, ms(time)),
        1 | 2 => Observation::failed(url, ms(time)),
        3 => Observation::not_modified(url, ms(time)),
        _ => Observation::content(url, ms(time), choose(3), Epoch::from_number(0)),
    }
}

/// Checks a view at times around its last visits.
fn check(view: &Snapshot, model: &Model, choose: &mut impl FnMut(u64) -> u64) {
    let now = choose(900) as i64 * DAY - 30 * DAY + choose(DAY as u64) as i64;
    check_due(view, model, now, choose(u64::from(u32::MAX)) as usize);
    check_figures(view, now);
}

#[test]
fn due_pages_match_scoring_and_sorting_all() {
    for seed in 0..deep(1000) {
        let mut choose = choice(seed);
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let (mut model, mut kept) = (Model::default(), Vec::new());
        for _ in 0..60 {
            match choose(24) {
                0 | 1 => store.seal().unwrap(),
                2 => drop(store.merge(&Progress::default()).unwrap()),
                3 => {
                    let url = URLS[choose(URLS.len() as u64) as usize];
                    store.forget(Scope::Url(url)).unwrap();
                    model.forget(|other| other == url);
                }
                4 => {
                    let under = &PREFIXES[choose(PREFIXES.len() as u64) as usize];
                    store.forget(Scope::Prefix(under.prefix())).unwrap();
                    model.forget(|url| under.covers(url));
                }
                5 => {
                    let under = &PREFIXES[choose(PREFIXES.len() as u64) as usize];
                    store.purge(Scope::Prefix(under.prefix()), &Progress::default()).unwrap();
                    model.forget(|url| under.covers(url));
                }
                6 => {
                    let some: Vec<_> = (0..choose(30)).map(|_| visit(&mut choose)).collect();
                    let requests: Vec<_> = some.iter().copied().map(Operation::Observe).collect();
                    model.load(&requests);
                    store.load(some.into_iter().map(Ok), LoadOptions::default()).unwrap();
                }
                7 => check(&store.snapshot(), &model, &mut choose),
                8 => kept.push((store.snapshot(), model.clone())),
                _ => {
                    let observation = visit(&mut choose);
                    model.observe(&observation, 3);
                    store.observe(observation).unwrap();
                }
            }
        }
        check(&store.snapshot(), &model, &mut choose);
        for (view, model) in &kept {
            check(view, model, &mut choose);
        }
        store.seal().unwrap();
        let reader = Reader::open(on(&disk)).unwrap();
        check(&reader.snapshot(), &model, &mut choose);
        store.close().unwrap();
        let reader = Reader::open(on(&disk)).unwrap();
        check(&reader.snapshot(), &model, &mut choose);
    }
}

/// Equal pages of several segments are ordered by URL, however many there are.
#[test]
fn ties_come_in_surt_order_in_any_memory() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let url = |n: u64| format!("https://{}.example/{n:03}", n % 7);
    let mut expected: Vec<String> = Vec::new();
    for n in 0..300 {
        store.observe(Observation::gone(&url(n * 77 % 300), ms(0))).unwrap();
        if n % 60 == 59 {
            store.seal().unwrap();
        }
    }
    expected.extend(store.snapshot().scan(None).map(|page| page.unwrap().url));
    assert_eq!(expected.len(), 300);
    for memory in [0, 1000, 1 << 20] {
        for budget in [1, 10, 299, 300, 1000, usize::MAX] {
            let due = Due::new(ms(30 * DAY), budget).memory_bytes(memory);
            let found: Vec<_> =
                store.snapshot().due(&due).map(|page| page.unwrap().page.url).collect();
            assert_eq!(found, expected[..budget.min(300)], "{budget} in {memory}");
        }
    }
}

/// All weights are in one octave, and the pages are otherwise alike. The heaviest pages are found
/// wherever they are stored, even after a threshold excludes light ones.
#[test]
fn heaviest_of_equal_pages_are_due_first() {
    let (store, mut weights) = (create(&SimDisk::new(), small()), Vec::new());
    // More pages than are compared with one threshold.
    for page in 0..2000_u32 {
        // Light and heavy pages in turns, each weight sixteen times.
        let weight = 1.0 + f64::from(page * 37 % 125) / 128.0;
        let url = format!("http://example.com/{page:04}");
        // Far from all other fingerprints.
        let fingerprint = u64::from(page + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let visit = Observation::content(&url, ms(DAY), fingerprint, Epoch::from_number(0));
        store.observe(visit.weight(weight)).unwrap();
        weights.push(weight);
    }
    store.seal().unwrap();
    weights.sort_by(|a, b| b.total_cmp(a));
    for budget in [1, 5, 20] {
        let due = store.snapshot().due(&Due::new(ms(30 * DAY), budget).policy(Policy::VALUE));
        let found: Vec<f64> = due.map(|page| page.unwrap().weight).collect();
        assert_eq!(found, weights[..budget]);
    }
}

/// The joined rows of two segments equal the row of the joined record.
#[test]
fn merged_schedule_row_matches_the_merged_record() {
    let store = create(&SimDisk::new(), small());
    for day in 1..=4 {
        // Two pages are known from the first day on, one from the third.
        for page in URLS.iter().take(if day < 3 { 2 } else { 3 }) {
            let epoch = Epoch::from_number(0);
            store.observe(Observation::content(page, ms(day * DAY), day as u64, epoch)).unwrap();
        }
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        sound(&store).unwrap();
    }
}

#[test]
fn failing_page_is_left_alone_for_half_its_failing_time() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let (url, epoch) = (URLS[0], store.change_epoch());
    store.observe(Observation::content(url, ms(0), 1, epoch)).unwrap();
    store.observe(Observation::failed(url, ms(10 * DAY))).unwrap();
    let value = |store: &simkeep::Store, now| {
        store
            .snapshot()
            .due(&Due::new(ms(now), 1).policy(Policy::UNIFORM))
            .next()
            .unwrap()
            .unwrap()
            .value
    };
    // The time for which a page fails is stored in steps of about a thousandth.
    assert_eq!(value(&store, 14 * DAY), 0.0);
    assert!((value(&store, 16 * DAY) - 16.0).abs() < 0.01);
    store.observe(Observation::failed(url, ms(40 * DAY))).unwrap();
    assert_eq!(value(&store, 59 * DAY), 0.0);
    assert!((value(&store, 61 * DAY) - 61.0).abs() < 0.05);
    // At most the largest interval, and at least an hour.
    store.observe(Observation::failed(url, ms(4000 * DAY))).unwrap();
    assert_eq!(value(&store, 4364 * DAY), 0.0);
    assert!(value(&store, 4365 * DAY) > 4000.0);
    let soon = URLS[1];
    store.forget(Scope::Url(url)).unwrap();
    store.observe(Observation::failed(soon, ms(0))).unwrap();
    assert_eq!(value(&store, 3_599_000), 0.0);
    assert_eq!(value(&store, 3_600_000), 1.0 / 24.0);
}

#[test]
fn clock_running_backwards_and_short_intervals_are_accepted() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    assert!(store.snapshot().due(&Due::new(ms(0), 10)).next().is_none());
    store.observe(Observation::gone(URLS[0], ms(10 * DAY))).unwrap();
    let page = store.snapshot().due(&Due::new(ms(0), 10)).next().unwrap().unwrap();
    assert_eq!(page.value, 0.0);
    assert!(
        store.snapshot().due(&Due::new(ms(i64::MIN), 10)).all(|page| page.unwrap().value == 0.0)
    );
    assert!(
        store.snapshot().due(&Due::new(ms(i64::MAX), 10)).all(|page| page.unwrap().value > 1.0)
    );
    let due = Due::new(ms(10 * DAY + 5000), 10).largest_interval("5s".parse().unwrap());
    assert_eq!(store.snapshot().due(&due).count(), 1);
    // A failing page is left alone no longer than that.
    store.observe(Observation::failed(URLS[0], ms(10 * DAY + 1))).unwrap();
    assert!(store.snapshot().due(&due).next().unwrap().unwrap().value > 0.0);
}
