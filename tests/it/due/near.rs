//! Pages with near-duplicates, compared with a loop over all pairs of pages and a sort.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::collections::{BTreeMap, BTreeSet};

use simkeep::disk::SimDisk;
use simkeep::due::{Decision, Due, Hints, Plan, Rule, Rules};
use simkeep::load::LoadOptions;
use simkeep::recrawl::Policy;
use simkeep::{
    Digest, Epoch, EpochInfo, Observation, Options, Progress, Reader, Restatement, Role, Scope,
    Snapshot, Store,
};
use simkeep_testing::depth::deep;
use simkeep_testing::leaders::NaiveLeaders;
use simkeep_testing::{choice, create, ms, on, small};

const DAY: i64 = 86_400_000;

/// All visits are within this many days, fewer than it takes to be overdue.
const DAYS: u64 = 60;

/// The policies that use the order of comparisons.
const ORDERS: [&str; 3] = ["thesis", "nutch", "stormcrawler"];

fn url(n: u64) -> String {
    format!("https://h{}.example/{n:02}", n % 5)
}

/// A fingerprint near one of a few: some differ by the near distance, some by one bit more, and some in
/// a reserved bit of an epoch. One of them is frequent.
fn fingerprint(choose: &mut impl FnMut(u64) -> u64) -> u64 {
    let cluster = [0, 0x00ff_00ff_00ff_00ff, 0xffff_0000_ffff_0000][choose(3) as usize];
    let flips = if choose(2) == 0 { 0 } else { choose(4) };
    let cluster = if flips == 0 { 0 } else { cluster };
    (0..flips).fold(cluster, |near, _| near ^ 1 << [0, 1, 2, 3, 4, 60][choose(6) as usize])
}

fn digest(choose: &mut impl FnMut(u64) -> u64) -> Option<Digest> {
    (choose(2) == 0).then(|| Digest([choose(4) as u8; 16]))
}

/// Canonical URLs of pages on each host. Some are pages of the host, some are of another host, and some
/// are no pages.
const CANONICALS: [&str; 10] = [
    "/00",
    "/01",
    "/02",
    "/05#top",
    "06",
    "/10",
    "https://h1.example/01",
    "//h2.example/02",
    "mailto:a@b",
    "",
];

/// The live epochs.
fn living(epochs: &[EpochInfo]) -> Vec<Epoch> {
    epochs.iter().filter(|info| !info.ended).map(|info| info.epoch).collect()
}

/// A random visit of some page, in few epochs and at few times.
fn visit<'u>(
    url: &'u str,
    epochs: &[Epoch],
    choose: &mut impl FnMut(u64) -> u64,
) -> Observation<'u> {
    let time = choose(8) as i64 * DAY + choose(3) as i64;
    let mut epoch = || epochs[(choose(epochs.len() as u64) * choose(2)) as usize];
    let (of, other) = (epoch(), epoch());
    let seen = match choose(12) {
        0 => Observation::gone(url, ms(time)),
        1 => Observation::failed(url, ms(time)),
        2 => Observation::not_modified(url, ms(time)),
        _ => Observation::content(url, ms(time), fingerprint(choose), of),
    };
    let digest = digest(choose);
    let seen = match digest.filter(|_| seen.visit.seen.content().is_some()) {
        Some(digest) => seen.digest(digest),
        None => seen,
    };
    let also = seen.visit.seen.content().is_some() && of != other && choose(2) == 0;
    let seen = if also { seen.also(fingerprint(choose), other) } else { seen };
    let seen = if choose(3) == 0 { seen.canonical(CANONICALS[choose(10) as usize]) } else { seen };
    // A page with a leader may be worth as much as one without.
    if choose(3) == 0 { seen.weight(4.0) } else { seen }
}

/// Fills a store in all the ways in which pages come and go.
fn fill(store: &Store, choose: &mut impl FnMut(u64) -> u64) {
    let mut ended = false;
    let pages = 10 + choose(50);
    for _ in 0..choose(250) {
        let epochs = living(store.snapshot().epochs());
        let of = url(choose(pages));
        match choose(40) {
            0..3 => store.seal().unwrap(),
            3 => drop(store.merge(&Progress::default()).unwrap()),
            4 => {
                let _ = store.forget(Scope::Url(&of)).unwrap();
            }
            5 if choose(3) == 0 => {
                let under = format!("h{}.example", choose(5));
                let _ = store.forget(Scope::Prefix(under.parse().unwrap())).unwrap();
            }
            6 => {
                let urls: Vec<String> = (0..choose(30)).map(|_| url(choose(pages))).collect();
                let some = urls.iter().map(|url| Ok(visit(url, &epochs, choose)));
                let some: Vec<_> = some.collect();
                store.load(some, LoadOptions::default()).unwrap();
            }
            7..10 => {
                let epoch = epochs[choose(epochs.len() as u64) as usize];
                let page = store.snapshot().latest(&of).unwrap();
                if let Some(time) = page.and_then(|page| page.content_seen) {
                    let restated = Restatement::new(&of, time, fingerprint(choose), epoch);
                    store.restate(restated).unwrap();
                }
            }
            10 if !ended => {
                store.end_epoch(Epoch::from_number(0), u64::MAX).unwrap();
                ended = true;
            }
            _ => drop(store.observe(visit(&of, &epochs, choose)).unwrap()),
        }
    }
}

/// The decision on each page by itself, in due order. If a policy by order is given, pages without a
/// rule use it.
fn expected(
    view: &Snapshot,
    leaders: &NaiveLeaders,
    plan: &Plan,
    by_order: Option<Policy>,
) -> Vec<Decision> {
    let decide = |url: &str| plan.decide(view, url).unwrap().unwrap();
    let mut all: Vec<Decision> = leaders.pages().map(|page| decide(&page.url)).collect();
    for page in &all {
        // A page that uses the order of comparisons has no leader.
        let goes_by_worth = by_order.is_none() || page.rule.is_some();
        let leader = leaders.leader(&page.page.url).filter(|_| goes_by_worth);
        assert_eq!(page.near.as_deref(), leader, "of {page:?}");
    }
    // They were in SURT order, and equal pages keep it.
    all.sort_by(|a, b| b.value.total_cmp(&a.value));
    all
}

/// Selects at most `budget` pages, and at most `per_host` of each host.
fn some(all: &[Decision], budget: usize, per_host: usize) -> Vec<Decision> {
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_allowed = |page: &&Decision| {
        let of_host = hosts.entry(page.page.url.split('/').nth(2).unwrap().to_owned()).or_default();
        *of_host += 1;
        *of_host <= per_host
    };
    all.iter().filter(|page| is_allowed(page)).take(budget).cloned().collect()
}

fn check(view: &Snapshot, choose: &mut impl FnMut(u64) -> u64) {
    let leaders = NaiveLeaders::of(view);
    let now = (8 + choose(DAYS - 8)) as i64 * DAY + choose(DAY as u64) as i64;
    let hint = |choose: &mut dyn FnMut(u64) -> u64| (url(choose(60)), ms(choose(60) as i64 * DAY));
    let hints: Vec<_> = (0..choose(40)).map(|_| hint(choose)).collect();
    let hints = Hints::of(view, hints).unwrap();
    for policy in ["value", "crawl-value", "harmonic"] {
        let policy: Policy = policy.parse().unwrap();
        let mut due = Due::new(ms(now), usize::MAX).policy(policy);
        if choose(2) == 0 {
            due = due.hints(&hints);
        }
        let by_order = (choose(3) == 0).then(|| ORDERS[choose(3) as usize].parse().unwrap());
        if let Some(by_order) = by_order {
            let hosts = (0..5).filter(|_| choose(2) == 0).map(|host| format!("h{host}.example"));
            let rules = hosts.map(|host| Rule::under(host.parse().unwrap()).policy(policy));
            due = due.policy(by_order).rules(&Rules::new(rules.collect::<Vec<_>>()).unwrap());
        }
        let plan = Plan::of(view, &due, 10.0).unwrap();
        let all = expected(view, &leaders, &plan, by_order);
        let due = due.plan(&plan);
        for _ in 0..4 {
            let budget = [0, 1, 3, 10, usize::MAX, usize::MAX][choose(6) as usize];
            let per_host = [1, 3, usize::MAX, usize::MAX][choose(4) as usize];
            let memory = [0, 1 << 10, 1 << 13, 1 << 20][choose(4) as usize];
            let due = due.clone().budget(budget).per_host(per_host).memory_bytes(memory);
            let found: Vec<Decision> = view.due(&due).map(Result::unwrap).collect();
            assert_eq!(found, some(&all, budget, per_host), "{due:?}");
        }
    }
}

#[test]
fn near_duplicates_rank_by_a_quarter_of_their_weight() {
    for seed in 0..deep(300) {
        let mut choose = choice(seed);
        let disk = SimDisk::new();
        let near_distance = [None, None, Some(0), Some(5)][choose(4) as usize];
        let store = create(&disk, small().near_distance(near_distance));
        if choose(2) == 0 {
            store.register_epoch("words2-sqrt-reserved8/2", Role::Both).unwrap();
        }
        store.register_epoch("change alone", Role::Change).unwrap();
        fill(&store, &mut choose);
        let kept = store.snapshot();
        fill(&store, &mut choose);
        check(&kept, &mut choose);
        check(&store.snapshot(), &mut choose);
        store.seal().unwrap();
        let reader = Reader::open(on(&disk)).unwrap();
        check(&reader.snapshot(), &mut choose);
    }
}

/// A store with one cluster of pages that differ in `bits` at most, visited at these times.
fn cluster(times: impl Iterator<Item = i64>, bits: u32) -> Store {
    let store = create(&SimDisk::new(), Options::default().background(false));
    for (n, time) in (0..).zip(times) {
        let fingerprint = if bits == 0 { 7 } else { 7 ^ 1 << (n % 60) };
        let url = url(n);
        store
            .observe(Observation::content(
                &url,
                ms(time),
                fingerprint,
                store.snapshot().near_epoch(),
            ))
            .unwrap();
        if n % 300 == 299 {
            store.seal().unwrap();
        }
    }
    store
}

/// However many pages are equal, one of them counts in full.
#[test]
fn one_of_a_thousand_identical_pages_leads_the_others() {
    let times: [&dyn Fn(i64) -> i64; 4] = [&|n| n, &|n| 1000 - n, &|_| 5, &|n| n * 7919 % 1000];
    for time in times {
        let store = cluster((0..1000).map(time), 0);
        let view = store.snapshot();
        let since = std::time::Instant::now();
        let due = Due::new(ms(30 * DAY), usize::MAX);
        let all: Vec<Decision> = view.due(&due).map(Result::unwrap).collect();
        let took = since.elapsed();
        let leads = all.iter().filter(|page| page.near.is_none());
        let leads: BTreeSet<&str> = leads.map(|page| page.page.url.as_str()).collect();
        assert_eq!((all.len(), leads.len()), (1000, 1), "{leads:?}");
        assert!(all.iter().all(|page| page.near.as_ref().is_none_or(|l| leads.contains(&**l))));
        assert!(took.as_secs() < 5, "{took:?}");
        // Also in little memory, and for the best pages alone.
        for budget in [1, 10, 1000] {
            let due = due.clone().budget(budget).memory_bytes(2000);
            let some: Vec<Decision> = view.due(&due).map(Result::unwrap).collect();
            assert_eq!(some, all[..budget], "{budget}");
        }
    }
}

/// A page that has led stays the leader, whatever it and the others become in between.
#[test]
fn first_page_with_the_content_leads_while_it_has_it() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    let (a, b) = ("https://a.example/", "https://b.example/");
    let see = |url: &str, day: i64, fingerprint: u64| {
        let seen = Observation::content(url, ms(day * DAY), fingerprint, epoch).visit;
        store.observe(Observation::of(url, seen)).unwrap();
    };
    let near = || -> BTreeMap<String, Option<String>> {
        let pages = store.snapshot().due(&Due::new(ms(30 * DAY), 9)).map(Result::unwrap);
        pages.map(|page| (page.page.url, page.near)).collect()
    };
    see(b, 1, 0);
    see(a, 2, 1);
    assert_eq!((near()[a].as_deref(), &near()[b]), (Some(b), &None));
    // It returns to its first content, and leads again.
    see(b, 3, !0);
    assert_eq!((&near()[a], &near()[b]), (&None, &None));
    see(b, 4, 0);
    assert_eq!((near()[a].as_deref(), &near()[b]), (Some(b), &None));
    store.seal().unwrap();
    assert_eq!((near()[a].as_deref(), &near()[b]), (Some(b), &None));
    // A gone page neither leads nor has a leader.
    store.observe(Observation::gone(b, ms(5 * DAY))).unwrap();
    assert_eq!((&near()[a], &near()[b]), (&None, &None));
}

/// Pages are seen before their canonical pages, which lead them nevertheless. A page whose canonical URL
/// has other content is led by the first page.
#[test]
fn near_canonical_pages_lead() {
    let leaders = |declare: bool, wrong: u64| -> BTreeMap<String, (Option<String>, f64)> {
        let store = create(&SimDisk::new(), small());
        let epoch = store.snapshot().near_epoch();
        for page in 0..50_u64 {
            let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (plain, print) =
                (format!("https://a.example/{page}"), format!("https://a.example/{page}?print"));
            let canonical = format!("/{}", if page == wrong { page + 1 } else { page });
            let seen = Observation::content(&print, ms(0), content ^ 1, epoch);
            store.observe(if declare { seen.canonical(&canonical) } else { seen }).unwrap();
            store.observe(Observation::content(&plain, ms(DAY), content, epoch)).unwrap();
        }
        let pages = store.snapshot().due(&Due::new(ms(30 * DAY), 1000)).map(Result::unwrap);
        pages.map(|page| (page.page.url, (page.near, page.value))).collect()
    };
    let (without, with) = (leaders(false, 17), leaders(true, 17));
    for page in 0..50 {
        let (plain, print) =
            (format!("https://a.example/{page}"), format!("https://a.example/{page}?print"));
        assert_eq!((&without[&plain].0, &without[&print].0), (&Some(print.clone()), &None));
        let expected = match page {
            17 => (&Some(print.clone()), &None),
            _ => (&None, &Some(plain.clone())),
        };
        assert_eq!((&with[&plain].0, &with[&print].0), expected, "{page}");
        let is_led = |page: &(Option<String>, f64)| page.0.is_some();
        // In both cases one of the two URLs counts a quarter.
        let led = [&with[&plain], &with[&print]].into_iter().filter(|page| is_led(page));
        assert_eq!(led.count(), 1);
    }
}

#[test]
fn canonical_urls_make_no_cycle_of_leaders() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    let see = |url: &str, day: i64, canonical: &str| {
        let seen = Observation::content(url, ms(day * DAY), 7, epoch).canonical(canonical);
        store.observe(seen).unwrap();
    };
    let near = || -> BTreeMap<String, Option<String>> {
        let pages = store.snapshot().due(&Due::new(ms(30 * DAY), 1000)).map(Result::unwrap);
        pages.map(|page| (page.page.url, page.near)).collect()
    };
    // Two pages point to each other: the first one leads.
    see("http://a.b/1", 1, "/2");
    see("http://a.b/2", 2, "/1");
    assert_eq!(
        (&near()["http://a.b/1"], near()["http://a.b/2"].as_deref()),
        (&None, Some("http://a.b/1"))
    );
    // A page that leads by time points to a later page.
    see("http://a.b/1", 3, "/3");
    see("http://a.b/3", 4, "/3");
    let leaders = near();
    assert_eq!(leaders["http://a.b/1"].as_deref(), Some("http://a.b/3"));
    assert_eq!(leaders["http://a.b/2"], None, "page 1 points to another page and leads no page");
    assert_eq!(leaders["http://a.b/3"].as_deref(), Some("http://a.b/2"));
    // More copies than are compared: all but the canonical page are led by it.
    for copy in 0..100 {
        see(&format!("http://a.b/2/{copy:03}"), 0, "/9");
    }
    see("http://a.b/9", 9, "");
    let leaders = near();
    let led = leaders.values().filter(|leader| leader.as_deref() == Some("http://a.b/9")).count();
    assert_eq!((led, &leaders["http://a.b/9"]), (100, &Some("http://a.b/2".to_owned())));
}

/// Overdue pages come first whatever their weight, and name their leader.
#[test]
fn overdue_near_duplicate_keeps_its_place() {
    let store = cluster([2, 1].into_iter(), 0);
    let due = Due::new(ms(500 * DAY), 9);
    let all: Vec<Decision> = store.snapshot().due(&due).map(Result::unwrap).collect();
    let (first, second) = (&all[0], &all[1]);
    // Both are equal to the second, so they come in SURT order.
    assert_eq!((first.near.as_ref(), &second.near), (Some(&second.page.url), &None));
    assert_eq!(first.value * 4.0, second.value);
    let said = first.to_string();
    assert!(said.contains("a quarter of its own value, because https://h1.example/01"), "{said}");
    // A policy that does not use the value of visits ignores near-duplicates.
    let fixed = due.policy("fixed:7d".parse().unwrap());
    assert!(store.snapshot().due(&fixed).all(|page| page.unwrap().near.is_none()));
}
