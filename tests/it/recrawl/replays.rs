//! Replayed crawls of the pages of a store.

use simkeep::fingerprint::Recipe;
use simkeep::query::Replay;
use simkeep::recrawl::Policy;
use simkeep::recrawl::simulate::{Budget, Decider, SimulationResult, Span, crawl};
use simkeep::{Changes, Observation, Options, Origin, Role, Store};
use simkeep_testing::ms;

const DAY: i64 = 86_400_000;
const URL: &str = "https://example.com/";

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
    (dir, store)
}

fn replay(store: &Store) -> Replay {
    store.snapshot().replay(None, 100, Changes::RETURN_SHARE).unwrap()
}

/// Crawls each page every `days` days.
fn every(replay: &Replay, days: f64, (from, to): (f64, f64)) -> SimulationResult {
    let (budget, span) = (Budget::every(days).unwrap(), Span::new(0.5, from, to).unwrap());
    crawl(&replay.pages, budget, span, Decider::policy(Policy::UNIFORM), &mut || {}).unwrap()
}

#[test]
fn replayed_page_is_fresh_until_it_was_found_changed() {
    let (_dir, store) = store();
    let epoch = store.change_epoch();
    // From day 4 on two bits differ, from day 16 on 32 more; on day 30 the first version returns.
    for (day, bits) in [(0, 0), (2, 0), (4, 0b11), (9, 0b11), (16, !0 >> 30), (30, 0), (40, 0)] {
        store.observe(Observation::content(URL, ms(day * DAY), bits, epoch)).unwrap();
    }
    store.observe(Observation::failed(URL, ms(5 * DAY))).unwrap();
    store.observe(Observation::not_modified(URL, ms(20 * DAY))).unwrap();
    let replay = replay(&store);
    assert_eq!((replay.pages.len(), replay.first, replay.last), (1, ms(0), ms(40 * DAY)));
    // The visits are on days 0 (when the page is found), 9.5, 19.5, 29.5 and 39.5.
    let (minor, major, back) = (5.5, 3.5, 9.5);
    let figures = every(&replay, 10.0, (0.0, 40.0));
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b} {figures:?}");
    near(figures.freshness, 1.0 - (minor + major + back) / 40.0);
    near(figures.near_freshness, 1.0 - (major + back) / 40.0);
    near(figures.divergence, (minor * 2.0 + major * 32.0 + back * 34.0) / 64.0 / 40.0);
    near(figures.staleness, (major + back) / 40.0);
    near(figures.visits_per_day, 4.0 / 40.0);
}

#[test]
fn new_epoch_is_not_a_page_change() {
    let (_dir, store) = store();
    let old = store.change_epoch();
    store.observe(Observation::content(URL, ms(0), 0, old)).unwrap();
    let origin = Origin::new(Recipe::DEFAULT).extractor("other/1").unwrap();
    let new = store.begin_epoch(&origin, Role::Both).unwrap();
    store.observe(Observation::content(URL, ms(10 * DAY), !0, new)).unwrap();
    store.observe(Observation::content(URL, ms(20 * DAY), !0 >> 1, new)).unwrap();
    let figures = every(&replay(&store), 1e6, (0.0, 30.0));
    // The page is not visited again. One bit differs from day 20 on.
    assert_eq!(figures.freshness, 2.0 / 3.0);
    assert_eq!(figures.near_freshness, 1.0);
    assert!((figures.divergence - 1.0 / 64.0 / 3.0).abs() < 1e-12);
}

#[test]
fn replayed_pages_start_at_their_first_visit_and_can_go() {
    let (_dir, store) = store();
    let epoch = store.change_epoch();
    for (url, day) in [("https://a.example/", 0), ("https://b.example/", 10)] {
        store.observe(Observation::content(url, ms(day * DAY), 1, epoch)).unwrap();
    }
    store.observe(Observation::gone("https://b.example/", ms(15 * DAY))).unwrap();
    store.observe(Observation::failed("https://c.example/", ms(0))).unwrap();
    let replay = replay(&store);
    assert_eq!((replay.pages.len(), replay.of), (2, 2));
    let figures = every(&replay, 1e6, (0.0, 20.0));
    // There are 30 page-days in all. One page is outdated for 5 of them.
    assert!((figures.freshness - 25.0 / 30.0).abs() < 1e-12, "{figures:?}");
    assert_eq!(store.snapshot().replay(None, 1, 0.5).unwrap().pages.len(), 1);
    assert_eq!(store.snapshot().replay(None, 0, 0.5).unwrap().of, 2);
    assert!(store.snapshot().replay(None, 1, f64::NAN).is_err());
}

#[test]
fn replayed_crawl_learns_what_the_store_learned() {
    use simkeep::recrawl::simulate::{Notes as _, SimulatedPage as _};
    let (_dir, store) = store();
    let epoch = store.change_epoch();
    let mut bits = 1_u64;
    for day in 0..300 {
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let seen = if bits.is_multiple_of(3) { bits } else { bits % 4 * 0x0f0f_0f0f };
        store.observe(Observation::content(URL, ms(day * DAY), seen, epoch)).unwrap();
    }
    let view = store.snapshot();
    let entries: Vec<_> = view.history(URL).unwrap().iter().map(|entry| entry.entry()).collect();
    let expected = Changes::of(&entries, view.epochs());
    let page = &replay(&store).pages[0];
    let version = |day: f64| page.starts().iter().filter(|start| **start <= day).count() - 1;
    let mut notes = page.found(0.0, 0);
    for day in 1..300 {
        page.visited(&mut notes, f64::from(day), version(f64::from(day))).unwrap();
    }
    let mut likelihood = simkeep::recrawl::Likelihood::flat();
    for (comparison, times) in expected.counted(Changes::RETURN_SHARE) {
        likelihood.add(comparison, times).unwrap();
    }
    assert_eq!(notes.likelihood(), likelihood);
    assert_eq!(notes.comparisons(), 299);
    assert!(notes.recent().changes().eq(expected.recent(ms(0), ms(299 * DAY)).changes()));
    assert!(notes.estimate().unwrap() > 0.1);
}
