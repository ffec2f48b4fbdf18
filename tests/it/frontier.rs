//! URLs that were found, compared with a naive frontier.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::due::{Due, Reason};
use simkeep::query::{FoundUrls, WaitingUrl};
use simkeep::{
    Error, Found, Observation, Options, Prefix, Progress, Scope, Snapshot, Store, Time, Weight,
};
use simkeep_testing::depth::deep;
use simkeep_testing::{create, ms, open, small};

const DAY: i64 = 86_400_000;

/// The URLs: pages of three hosts, with and without user information.
fn url(page: usize) -> String {
    let user = if page % 4 == 3 { "me@" } else { "" };
    format!("https://{user}host{}.example/{}/{page}", page % 3, page % 2)
}

fn prefix(number: usize) -> Prefix {
    let texts = ["host0.example", "host1.example/1", "host2.example/0", "example"];
    Prefix::parse(texts[number % texts.len()]).unwrap()
}

/// Whether a prefix covers a URL, with user information or without.
fn covers(prefix: &Prefix, url: &str) -> bool {
    let text = prefix.to_string();
    let plain = url.replace("me@", "");
    let path = plain.strip_prefix("https://").unwrap();
    let (host, _) = path.split_once('/').unwrap();
    match text.split_once('/') {
        Some(_) => path.starts_with(&format!("{text}/")),
        None => host == text || host.ends_with(&format!(".{text}")),
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Reports of links: a page, seconds, and a weight.
    Find(Vec<(usize, i64, u8)>),
    Visit(usize),
    Forget(usize),
    ForgetPrefix(usize),
    Purge(usize),
    PurgePrefix(usize),
    Seal,
    Merge,
    Reopen,
}

const PAGES: usize = 12;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let page = 0..PAGES;
    let link = (page.clone(), 0..4i64, 1..4u8);
    let step = prop_oneof![
        6 => prop::collection::vec(link, 1..6).prop_map(Step::Find),
        4 => page.clone().prop_map(Step::Visit),
        2 => page.clone().prop_map(Step::Forget),
        1 => (0..4usize).prop_map(Step::ForgetPrefix),
        1 => page.prop_map(Step::Purge),
        1 => (0..4usize).prop_map(Step::PurgePrefix),
        3 => Just(Step::Seal),
        1 => Just(Step::Merge),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..25)
}

/// A frontier that keeps everything in maps.
#[derive(Clone, Debug, Default)]
struct NaiveFrontier {
    visited: BTreeMap<String, i64>,
    /// The earliest second and the largest weight of each URL.
    found: BTreeMap<String, (i64, u8)>,
}

impl NaiveFrontier {
    fn find(&mut self, url: &str, seconds: i64, weight: u8) {
        let (earliest, largest) = self.found.entry(url.to_owned()).or_insert((seconds, weight));
        (*earliest, *largest) = ((*earliest).min(seconds), (*largest).max(weight));
    }

    fn forget(&mut self, covers: impl Fn(&str) -> bool) -> (u64, u64) {
        let waits = self.waiting().filter(|(url, ..)| covers(url)).count();
        let pages = self.visited.keys().filter(|url| covers(url)).count();
        self.found.retain(|url, _| !covers(url));
        self.visited.retain(|url, _| !covers(url));
        (pages as u64, waits as u64)
    }

    /// The URLs that wait, with their time and weight.
    fn waiting(&self) -> impl Iterator<Item = (&str, i64, u8)> {
        let waits = self.found.iter().filter(|(url, _)| !self.visited.contains_key(*url));
        waits.map(|(url, (seconds, weight))| (url.as_str(), *seconds, *weight))
    }

    fn check(&self, view: &Snapshot, now: i64) {
        let mut waiting: Vec<_> = self.waiting().collect();
        let found =
            |waiting: WaitingUrl| (waiting.url, waiting.time.as_ms() / 1000, waiting.weight);
        let all: Vec<_> = FoundUrls::of(view, None).map(|url| found(url.unwrap())).collect();
        let mut sorted = all.clone();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = |(url, seconds, weight): &(&str, i64, u8)| {
            ((*url).to_owned(), *seconds, f64::from(*weight))
        };
        assert_eq!(sorted, waiting.iter().map(expected).collect::<Vec<_>>());
        for page in 0..PAGES {
            let one = WaitingUrl::get(view, &url(page)).unwrap().map(found);
            assert_eq!(one.as_ref(), all.iter().find(|(of, ..)| *of == url(page)));
        }
        for number in 0..4 {
            // A prefix alone does not cover URLs with user information.
            let under = prefix(number);
            let found = FoundUrls::of(view, &under).map(|url| url.unwrap().url);
            let expected = all.iter().map(|(url, ..)| url.clone());
            let expected = expected.filter(|url| covers(&under, url) && !url.contains('@'));
            let found: Vec<_> = found.filter(|url| !url.contains('@')).collect();
            assert_eq!(found, expected.collect::<Vec<_>>(), "{under}");
        }
        let due = Due::new(ms(now), usize::MAX);
        let decisions: Vec<_> = view.due(&due).map(|decision| decision.unwrap()).collect();
        let pages = decisions.iter().filter(|of| of.page.is_some());
        assert_eq!(pages.count(), self.visited.len());
        assert!(decisions.is_sorted_by(|a, b| a.value >= b.value));
        let mut due: Vec<_> = decisions
            .iter()
            .filter(|of| of.page.is_none())
            .map(|of| {
                let Reason::Found { time } = of.reason else { panic!("{:?}", of.reason) };
                (of.url.as_str(), time.as_ms() / 1000, of.weight)
            })
            .collect();
        due.sort_by(|a, b| a.0.cmp(b.0));
        waiting.sort_unstable();
        let expected: Vec<_> = waiting
            .iter()
            .map(|(url, seconds, weight)| (*url, *seconds, f64::from(*weight)))
            .collect();
        assert_eq!(due, expected);
        assert_eq!(view.scan(None).count(), self.visited.len());
    }
}

fn apply(store: &Store, frontier: &mut NaiveFrontier, step: &Step, now: i64) {
    match step {
        Step::Find(links) => {
            let urls: Vec<String> = links.iter().map(|(page, ..)| url(*page)).collect();
            let found = links.iter().zip(&urls).map(|((_, seconds, weight), url)| {
                Found::new(url, ms(seconds * 1000 + 7)).weight(f64::from(*weight))
            });
            let discovered = store.discover(&found.collect::<Vec<_>>()).unwrap();
            assert_eq!(discovered.written + discovered.repeated, links.len() as u64);
            for ((_, seconds, weight), url) in links.iter().zip(&urls) {
                frontier.find(url, *seconds, *weight);
            }
        }
        Step::Visit(page) => {
            let seen = (*page as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let url = url(*page);
            let seen = Observation::content(&url, ms(now), seen, store.change_epoch());
            store.observe(seen).unwrap();
            frontier.visited.insert(url, now);
        }
        Step::Forget(page) | Step::Purge(page) => {
            let url = url(*page);
            let scope = Scope::Url(&url);
            let forgotten = match step {
                Step::Purge(_) => store.purge(scope, &Progress::default()).unwrap(),
                _ => store.forget(scope).unwrap(),
            };
            let expected = frontier.forget(|other| other == url);
            assert_eq!((forgotten.pages, forgotten.found), expected);
        }
        Step::ForgetPrefix(number) | Step::PurgePrefix(number) => {
            let under = prefix(*number);
            let scope = Scope::Prefix(under.clone());
            let forgotten = match step {
                Step::PurgePrefix(_) => store.purge(scope, &Progress::default()).unwrap(),
                _ => store.forget(scope).unwrap(),
            };
            let expected = frontier.forget(|other| covers(&under, other));
            assert_eq!((forgotten.pages, forgotten.found), expected, "{under}");
        }
        Step::Seal => store.seal().unwrap(),
        Step::Merge => drop(store.merge(&Progress::default()).unwrap()),
        Step::Reopen => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(300)).unwrap()))]

    #[test]
    fn frontier_matches_the_naive_one(steps in steps()) {
        let disk = SimDisk::new();
        let mut store = create(&disk, small());
        let mut frontier = NaiveFrontier::default();
        let mut now = 100 * DAY;
        let mut earlier = Vec::new();
        for step in steps {
            now += 1000;
            earlier.push((store.snapshot(), frontier.clone()));
            apply(&store, &mut frontier, &step, now);
            if matches!(step, Step::Reopen) {
                earlier.clear();
                drop(store);
                store = open(&disk, small());
            }
            frontier.check(&store.snapshot(), now);
        }
        // Earlier snapshots are unchanged, unless their bytes were purged.
        for (snapshot, frontier) in earlier.into_iter().rev().take(4) {
            frontier.check(&snapshot, now);
        }
    }
}

#[test]
fn link_does_not_bring_back_a_page() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let found = |page| store.discover(&[Found::new(&url(page), ms(0))]).unwrap().written;
    store.observe(Observation::gone(&url(0), ms(1000))).unwrap();
    assert_eq!(found(0), 1);
    assert!(WaitingUrl::get(&store.snapshot(), &url(0)).unwrap().is_none());
    store.seal().unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.segments[0].found, stats.found), (0, 0));
    // Forgotten, it is found like any other.
    store.forget(Scope::Url(&url(0))).unwrap();
    assert_eq!(found(0), 1);
    assert!(WaitingUrl::get(&store.snapshot(), &url(0)).unwrap().is_some());
    assert_eq!(store.stats().unwrap().found, 1);
}

#[test]
fn found_urls_are_leased_with_pages() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let lease = |budget: usize| {
        let due = Due::new(ms(DAY), budget).per_host(2);
        let leased = store.lease_due(&due, "1h".parse().unwrap()).unwrap();
        leased
            .into_iter()
            .map(|decision| (decision.url, decision.page.is_some()))
            .collect::<Vec<_>>()
    };
    let urls: Vec<String> = (0..4).map(|page| format!("https://h.example/{page}")).collect();
    let links = urls.iter().zip([1.0, 3.0, 2.0, 0.5]);
    let links: Vec<_> = links.map(|(url, weight)| Found::new(url, ms(0)).weight(weight)).collect();
    store.discover(&links).unwrap();
    assert_eq!(lease(9), [(urls[1].clone(), false), (urls[2].clone(), false)]);
    // The limit of the host counts leases.
    assert_eq!(lease(9), []);
    store.observe(Observation::gone(&urls[1], ms(DAY))).unwrap();
    assert_eq!(store.leased(), 1);
    assert_eq!(lease(9), [(urls[0].clone(), false)]);
    assert!(store.release(&urls[2]).unwrap());
    assert_eq!(lease(9), [(urls[2].clone(), false)]);
}

#[test]
fn invalid_reports_are_refused_together() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let good = Found::new("https://a.example/", ms(0));
    let long = format!("https://a.example/{}", "x".repeat(9000));
    for url in ["", &long, "https://a.example/\n"] {
        let failed = store.discover(&[good, Found::new(url, ms(0))]);
        assert!(matches!(failed, Err(Error::Url(_))), "{url:?}: {failed:?}");
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let failed = store.discover(&[good, good.weight(Weight::from(weight))]);
        assert!(matches!(failed, Err(Error::InvalidOption { name: "weight", .. })), "{weight}");
    }
    assert_eq!(FoundUrls::of(&store.snapshot(), None).count(), 0);
    // Odd URLs that are valid, a link of a page to itself, and a repetition.
    let deep = format!("https://a.example{}", "/a".repeat(4000));
    let odd = [
        "no url",
        "https://a.example/?&&=",
        "https://a.example/%zz%",
        &deep,
        "mailto:me@a.example",
    ];
    for url in odd {
        assert_eq!(store.discover(&[Found::new(url, ms(0))]).unwrap().written, 1);
    }
    let discovered = store.discover(&[good.from(good.url), good, good, good.weight(2.0)]).unwrap();
    assert_eq!((discovered.written, discovered.repeated), (2, 2));
    store.seal().unwrap();
    assert_eq!(FoundUrls::of(&store.snapshot(), None).count(), odd.len() + 1);
    let options = Options::default().clock_tolerance(Some(std::time::Duration::from_secs(60)));
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), options).unwrap();
    let late = Time::now() + std::time::Duration::from_secs(3600);
    let failed = store.discover(&[Found::new("https://a.example/", late)]);
    assert!(matches!(failed, Err(Error::InTheFuture { .. })));
}

#[test]
fn found_url_takes_at_most_60_bytes() {
    let disk = SimDisk::new();
    let store = create(&disk, Options::default());
    let urls: Vec<String> = (0..20_000)
        .map(|n| {
            format!("https://site{}.example/archive/{}/a-title-of-words-{n}.html", n % 200, n % 17)
        })
        .collect();
    let links: Vec<_> = urls.iter().map(|url| Found::new(url, ms(0))).collect();
    store.discover(&links).unwrap();
    store.seal().unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.segments[0].found, stats.pages), (20_000, 0));
    let each = stats.segment_bytes as f64 / 20_000.0;
    assert!(each <= 60.0, "{each} bytes for each found URL");
}
