//! Limits of visits a day to hosts: leases compared with a naive count, and plans with the sums of
//! their own dates.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::due::{Decision, Due, LearnedPriors, Plan, Rule, Rules};
use simkeep::recrawl::Interval;
use simkeep::{Error, Observation, Prefix, Snapshot, Store};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms, open, small};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A day on which all pages are due.
const START: i64 = 1000 * DAY;

fn under(text: &str) -> Rule {
    Rule::under(Prefix::parse(text).unwrap())
}

fn rules(rules: impl IntoIterator<Item = Rule>) -> Rules {
    Rules::new(rules).unwrap()
}

fn host(url: &str) -> String {
    url.split('/').nth(2).unwrap().to_owned()
}

/// Four hosts with pages that changed more or less often. No page is near another.
fn store_of(disk: &SimDisk, pages: u64) -> Store {
    let (store, mut choose) = (create(disk, small()), choice(3));
    for page in 0..pages {
        let url = format!("https://h{}.example/{page}", page % 4);
        let mut fingerprint = choose(u64::MAX);
        for week in 0..6 {
            if choose(12) < page % 7 {
                fingerprint = choose(u64::MAX);
            }
            let time = ms(week * 7 * DAY + choose(DAY as u64).cast_signed());
            let seen = Observation::content(&url, time, fingerprint, store.change_epoch());
            store.observe(seen).unwrap();
        }
    }
    store
}

fn lease(store: &Store, due: &Due) -> Vec<String> {
    let pages = store.lease_due(due, Interval::from_seconds(3600).unwrap()).unwrap();
    pages.into_iter().map(|page| page.url).collect()
}

fn visit(store: &Store, url: &str, time: i64) {
    let page = store.snapshot().latest(url).unwrap().unwrap();
    let fingerprint = page.contents[0].fingerprint.unwrap();
    store.observe(Observation::content(url, ms(time), fingerprint, store.change_epoch())).unwrap();
}

/// The visits that a host allows, counted naively.
struct NaiveHost {
    /// The days without a visit before the first call.
    idle: f64,
    visits: Option<f64>,
    time: i64,
}

impl NaiveHost {
    /// Takes a visit if the host allows one.
    fn take(&mut self, time: i64, per_day: f64) -> bool {
        let visits = self.visits.unwrap_or((self.idle * per_day).min(1.0));
        let accrued = (time - self.time) as f64 / DAY as f64 * per_day;
        let visits = (visits + accrued).min(per_day + 1.0);
        let is_allowed = visits > 1.0 - 1e-6;
        self.visits = Some(if is_allowed { visits - 1.0 } else { visits });
        self.time = time;
        is_allowed
    }
}

/// The hosts at the first call after a store was opened.
fn naive_hosts(pages: &[Decision], now: i64) -> BTreeMap<String, NaiveHost> {
    let mut hosts = BTreeMap::<String, NaiveHost>::new();
    for page in pages {
        // A row has whole seconds.
        let seconds =
            now.div_euclid(1000) - page.page.as_ref().unwrap().last.time.as_ms().div_euclid(1000);
        let idle = seconds as f64 / 86_400.0;
        let new = || NaiveHost { idle, visits: None, time: now };
        let of_host = hosts.entry(host(&page.url)).or_insert_with(new);
        of_host.idle = of_host.idle.min(idle);
    }
    hosts
}

fn steps() -> impl Strategy<Value = Vec<(i64, usize, bool)>> {
    prop::collection::vec((0..30 * HOUR, 0..9usize, prop::bool::weighted(0.05)), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(60)).unwrap()))]

    /// The best pages whose hosts allow a visit, before and after a restart.
    #[test]
    fn lease_returns_the_best_pages_that_their_hosts_allow(
        steps in steps(),
        limits in prop::collection::vec(prop::sample::select(vec![0.05, 0.5, 1.0, 2.5, 8.0]), 3),
    ) {
        let disk = SimDisk::new();
        let mut store = store_of(&disk, 40);
        let named = ["h0.example", "h1.example", "h2.example"];
        let limited = named.iter().zip(&limits).map(|(prefix, n)| under(prefix).visits_per_day(*n));
        let rules = rules(limited);
        let (mut now, mut hosts) = (START, None);
        for (wait, budget, reopens) in steps {
            now += wait;
            if reopens {
                drop(store);
                store = open(&disk, small());
                hosts = None;
            }
            let view = store.snapshot();
            let due = Due::new(ms(now), usize::MAX).learned(&LearnedPriors::of(&view).unwrap());
            let pages: Vec<Decision> = view.due(&due).map(|page| page.unwrap()).collect();
            let hosts = hosts.get_or_insert_with(|| naive_hosts(&pages, now));
            let mut wanted = Vec::new();
            for page in pages.iter().filter(|page| page.value > 0.0) {
                let url = &page.url;
                let limit = rules.of(url).visits_per_day;
                if wanted.len() < budget
                    && limit.is_none_or(|n| hosts.get_mut(&host(url)).unwrap().take(now, n))
                {
                    wanted.push(url.clone());
                }
            }
            let due = due.budget(budget).rules(&rules);
            prop_assert_eq!(&lease(&store, &due), &wanted);
            for url in wanted {
                visit(&store, &url, now);
            }
        }
    }
}

#[test]
fn limited_host_leaves_its_visits_to_others() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 80);
    let rules =
        rules([under("h0.example").visits_per_day(2.0), under("h1.example").visits_per_day(0.25)]);
    let (days, mut of_host) = (40, BTreeMap::<String, u32>::new());
    for hour in 0..days * 24 {
        let now = START + hour * HOUR;
        for url in lease(&store, &Due::new(ms(now), 1).rules(&rules)) {
            visit(&store, &url, now);
            *of_host.entry(host(&url)).or_default() += 1;
        }
    }
    assert!((80..=81).contains(&of_host["h0.example"]), "{of_host:?}");
    assert!((10..=11).contains(&of_host["h1.example"]), "{of_host:?}");
    // None of the 24 visits a day is lost.
    assert_eq!(of_host.values().sum::<u32>(), 40 * 24, "{of_host:?}");
}

/// Most pages belong to a host at its limit, so they are skipped without being read.
#[test]
fn many_pages_of_a_limited_host_are_skipped() {
    let disk = SimDisk::new();
    let (store, mut choose) = (create(&disk, small()), choice(9));
    for part in 0..3 {
        for page in 0..700 {
            let host = if page % 10 == 0 { page % 3 } else { 7 };
            let path = if page % 4 == 0 { "news/" } else { "" };
            let url = format!("https://h{host}.example/{path}{part}-{page}");
            let time = ms(choose(DAY as u64).cast_signed());
            let seen = Observation::content(&url, time, choose(u64::MAX), store.change_epoch());
            store.observe(seen.weight(if host == 7 { 9.0 } else { 1.0 })).unwrap();
        }
        if part < 2 {
            store.seal().unwrap();
        }
    }
    let rules = rules([
        under("h7.example").visits_per_day(20.0),
        under("h7.example/news").visits_per_day(5.0),
        under("h1.example").visits_per_day(2.0),
    ]);
    let (all, due) = (Due::new(ms(START), usize::MAX), Due::new(ms(START), 150).rules(&rules));
    for memory in [1 << 10, 64 << 20] {
        let mut counts = BTreeMap::<(String, Option<String>), f64>::new();
        let pages = store.snapshot().due(&all).map(|page| page.unwrap().url);
        let expected: Vec<String> = pages
            .filter(|url| {
                let rule = rules.of(url);
                let key = (host(url), rule.under.as_ref().map(Prefix::to_string));
                let count = counts.entry(key).or_default();
                *count += 1.0;
                rule.visits_per_day.is_none_or(|most| *count <= most)
            })
            .take(150)
            .collect();
        let due = due.clone().memory_bytes(memory);
        let found = store.snapshot().due(&due).map(|page| page.unwrap().url);
        assert_eq!(found.collect::<Vec<_>>(), expected, "{memory}");
    }
}

#[test]
fn released_and_expired_leases_count_as_visits() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 40);
    let rules = rules([Rule::everywhere().visits_per_day(0.1)]);
    let due = |hours| Due::new(ms(START + hours * HOUR), 100).rules(&rules);
    let leased = lease(&store, &due(0));
    assert_eq!(leased.len(), 4);
    for url in &leased {
        assert!(store.release(url).unwrap());
    }
    assert!(lease(&store, &due(0)).is_empty());
    assert!(lease(&store, &due(5)).is_empty());
    assert_eq!(lease(&store, &due(240)).len(), 4);
}

#[test]
fn rules_of_nested_prefixes_count_separately() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 40);
    let rules = rules([
        Rule::everywhere().visits_per_day(1.0),
        under("h1.example").visits_per_day(1.0),
        under("h1.example/5").visits_per_day(1.0),
    ]);
    let of_h1 = lease(&store, &Due::new(ms(START), 100).rules(&rules));
    let of_h1: Vec<&String> = of_h1.iter().filter(|url| host(url) == "h1.example").collect();
    assert_eq!(of_h1.len(), 2, "{of_h1:?}");
    assert!(of_h1.iter().any(|url| url.ends_with("/5")), "{of_h1:?}");
}

/// More hosts than are kept before full allowances are dropped, with limits that change.
#[test]
fn changed_limits_and_clocks_never_refuse_a_chosen_page() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for page in 0..3000 {
        let url = format!("https://h{}.example/{page}", page % 1500);
        let fingerprint = choice(page)(u64::MAX);
        store
            .observe(Observation::content(&url, ms(0), fingerprint, store.change_epoch()))
            .unwrap();
    }
    let days = [0, 1, 1, 2, -5, -4, 3, 3, 4];
    for (day, per_day) in days.into_iter().zip([0.1, 1.0, 100.0, 0.2, 7.0, 0.01, 50.0, 0.01, 2.0]) {
        let rules = rules([Rule::everywhere().visits_per_day(per_day)]);
        let due = Due::new(ms(START + day * DAY), 400).rules(&rules);
        for _ in 0..5 {
            for url in lease(&store, &due) {
                store.release(&url).unwrap();
            }
        }
    }
}

#[test]
fn restarts_neither_starve_a_host_nor_give_it_more() {
    let disk = SimDisk::new();
    let mut store = store_of(&disk, 40);
    let rules = rules([Rule::everywhere().visits_per_day(0.5)]);
    let (days, mut visits) = (60, BTreeMap::<String, u32>::new());
    for step in 0..days * 4 {
        let now = START + step * DAY / 4;
        for url in lease(&store, &Due::new(ms(now), 10).rules(&rules)) {
            visit(&store, &url, now);
            *visits.entry(host(&url)).or_default() += 1;
        }
        drop(store);
        store = open(&disk, small());
    }
    for (host, visits) in visits {
        assert!((29..=31).contains(&visits), "{host}: {visits}");
    }
}

#[test]
fn query_without_leases_returns_a_days_visits() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 40);
    let rules = rules([
        Rule::everywhere().visits_per_day(2.5),
        under("h1.example").visits_per_day(1e-6),
        under("h2.example").visits_per_day(1e9),
    ]);
    let due = Due::new(ms(START), usize::MAX).rules(&rules);
    let count = |due: &Due| {
        let pages = store.snapshot().due(due).map(|page| host(&page.unwrap().url));
        pages.fold(BTreeMap::<String, usize>::new(), |mut counts, host| {
            *counts.entry(host).or_default() += 1;
            counts
        })
    };
    assert_eq!(count(&due).into_values().collect::<Vec<_>>(), [3, 1, 10, 3]);
    // The smaller of two limits counts.
    assert_eq!(count(&due.per_host(2)).into_values().collect::<Vec<_>>(), [2, 1, 2, 2]);
}

/// All pages with their dates by a plan.
fn dated(view: &Snapshot, plan: &Plan) -> Vec<Decision> {
    view.scan(None).map(|page| plan.decide(view, &page.unwrap().url).unwrap().unwrap()).collect()
}

/// The visits a day to each host, by the dates of a plan.
fn visits(pages: &[Decision]) -> BTreeMap<String, f64> {
    pages.iter().fold(BTreeMap::new(), |mut visits, page| {
        *visits.entry(host(&page.url)).or_default() += 1.0 / page.every.unwrap().days();
        visits
    })
}

fn limits(limit: f64) -> Rules {
    rules([
        under("h0.example").visits_per_day(limit),
        under("h1.example").visits_per_day(1e6),
        under("h2.example").visits_per_day(limit / 1.5).weight(2.0),
    ])
}

#[test]
fn plan_gives_each_host_what_it_allows() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 200);
    let view = store.snapshot();
    let free = Due::new(ms(START), 0);
    for (limit, per_day) in [(1.0, 10.0), (0.3, 2.0), (2.0, 30.0), (1.0, 1.2)] {
        let due = free.clone().rules(&limits(limit));
        let plan = Plan::of(&view, &due, per_day).unwrap();
        let pages = dated(&view, &plan);
        let found = visits(&pages);
        let limited: Vec<&str> = plan.limited().iter().map(|host| host.host.as_str()).collect();
        let without = Plan::of(&view, &free, per_day).unwrap();
        let is_limited = visits(&dated(&view, &without))["h0.example"] > limit;
        assert_eq!((per_day > 1.5, limited.contains(&"h0.example")), (is_limited, is_limited));
        assert!(!limited.contains(&"h1.example"));
        for host in plan.limited() {
            let visits = found[&host.host];
            assert!((visits / host.visits_per_day - 1.0).abs() < 1e-3, "{visits} of {host:?}");
            assert_eq!(host.gain, host.price - plan.threshold());
        }
        assert!(plan.limited().is_sorted_by(|a, b| a.gain >= b.gain));
        // The others get the rest.
        let all: f64 = found.values().sum();
        assert!((all / per_day - 1.0).abs() < 1e-3, "{all} of {per_day}");
        assert!((plan.visits_per_day() / per_day - 1.0).abs() < 1e-3);
        let price = |page: &Decision| {
            let mut hosts = plan.limited().iter().filter(|of| of.host == host(&page.url));
            hosts.next().map(|host| host.price)
        };
        assert!(pages.iter().all(|page| page.price == price(page)));
        // `due` returns the decisions of the plan.
        for page in view.due(&due.budget(usize::MAX).plan(&plan)) {
            let page = page.unwrap();
            assert_eq!(plan.decide(&view, &page.url).unwrap().as_ref(), Some(&page));
        }
        let every = |plan: &Plan| plan.of_new("https://h0.example/new").unwrap().every;
        assert!(!is_limited || every(&plan) > every(&without));
    }
}

#[test]
fn visit_more_gains_what_a_plan_says() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 400);
    let view = store.snapshot();
    // Freshness is what the crawl value maximizes, so a gain in it can be compared.
    let fresh = |limit: f64| {
        let rules = rules([under("h0.example").visits_per_day(limit)]);
        let due = Due::new(ms(START), 0).rules(&rules).policy("crawl-value".parse().unwrap());
        let plan = Plan::of(&view, &due, 12.0).unwrap();
        let gain = plan.limited().first().map(|host| host.gain);
        (plan.freshness() * plan.pages(), gain)
    };
    let (step, (before, gain)) = (0.01, fresh(1.0));
    let found = (fresh(1.0 + step).0 - before) / step;
    let gain = gain.unwrap();
    assert!(gain > 1.0 && (found / gain - 1.0).abs() < 0.1, "{found} instead of {gain}");
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 120);
    let view = store.snapshot();
    let due = Due::new(ms(START), 0);
    let ample = due.clone().rules(&rules([Rule::everywhere().visits_per_day(1000.0)]));
    let [one, other] = [due, ample].map(|due| Plan::of(&view, &due, 20.0).unwrap());
    assert_eq!(one.to_string(), other.to_string());
    assert_eq!((one.threshold(), one.freshness()), (other.threshold(), other.freshness()));
    assert!(other.limited().is_empty());
    assert_eq!(dated(&view, &one), dated(&view, &other));
}

#[test]
fn plan_of_limited_hosts_alone_leaves_visits_over() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 120);
    // A host with one page, too.
    let seen = Observation::content("https://one.example/", ms(0), 1 << 60, store.change_epoch());
    store.observe(seen).unwrap();
    let rules = rules([Rule::everywhere().visits_per_day(0.5)]);
    let view = store.snapshot();
    let plan = Plan::of(&view, &Due::new(ms(START), 0).rules(&rules), 20.0).unwrap();
    assert_eq!(plan.limited().len(), 5);
    assert!((plan.visits_per_day() - 2.5).abs() < 1e-3, "{plan}");
    for host in plan.limited() {
        assert!(host.price.is_finite() && host.price > 0.0, "{host:?}");
    }
    for (host, visits) in visits(&dated(&view, &plan)) {
        assert!((visits - 0.5).abs() < 1e-3, "{host}: {visits}");
    }
}

#[test]
fn limits_below_the_latest_dates_have_no_price() {
    let disk = SimDisk::new();
    let store = store_of(&disk, 120);
    let view = store.snapshot();
    let rules = rules([Rule::everywhere().max("10d".parse().unwrap()).visits_per_day(0.5)]);
    let plan = Plan::of(&view, &Due::new(ms(START), 0).rules(&rules), 20.0).unwrap();
    assert_eq!(plan.limited().len(), 4);
    for host in plan.limited() {
        assert_eq!((host.price, host.gain), (f64::INFINITY, f64::INFINITY));
    }
    // 30 pages a host every 10 days would be 3 visits a day.
    assert!((plan.visits_per_day() - 2.0).abs() < 1e-4);
    // Pages that are visited every 60 days are less fresh than every 10 days.
    let free = Due::new(ms(START), 0);
    let every_60_days = Plan::of(&view, &free, 2.0).unwrap().freshness();
    assert!(plan.freshness() < every_60_days + 1e-6, "{} {every_60_days}", plan.freshness());
    let decision = plan.decide(&view, "https://h0.example/0").unwrap().unwrap();
    assert_eq!(decision.every, Some("10d".parse().unwrap()));
    assert!(decision.to_string().contains("its host allows no more visits"), "{decision}");
}

#[test]
fn invalid_limits_are_refused() {
    for visits in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e-7, 1e10] {
        let refused = Rules::new([Rule::everywhere().visits_per_day(visits)]).unwrap_err();
        let refused = Error::from(refused).to_string();
        assert!(refused.contains("visits_per_day must be from 1e-6 to 1e9"), "{refused}");
    }
}
