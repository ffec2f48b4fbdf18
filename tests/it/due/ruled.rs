//! Due pages with rules and hints, compared with the decision on each page by itself.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use simkeep::disk::SimDisk;
use simkeep::due::{Decision, Due, Hints, Rule, Rules};
use simkeep::recrawl::{Interval, Policy, hinted};
use simkeep::{Epoch, Observation, Page, Progress, Snapshot, Store};
use simkeep_testing::pages::{PREFIXES, SurtPosition, TestPrefix, URLS};
use simkeep_testing::{choice, create, ms, small};

const DAY: i64 = 86_400_000;

/// The largest interval, in seconds: 365 days.
const LARGEST: u64 = 365 * 86_400;

/// The default policies, and those of rules.
const POLICIES: [&str; 8] =
    ["value", "crawl-value", "harmonic", "uniform", "fixed:7d", "thesis", "nutch", "stormcrawler"];

/// The decision on each page without rules.
struct UnruledPages<'s> {
    /// All pages in SURT order.
    pages: Vec<Page>,
    view: &'s Snapshot,
    now: i64,
    values: BTreeMap<(&'static str, String), f64>,
    /// The pages with a leader.
    led: BTreeSet<String>,
}

impl<'s> UnruledPages<'s> {
    fn of(view: &'s Snapshot, now: i64) -> UnruledPages<'s> {
        let (mut values, mut led) = (BTreeMap::new(), BTreeSet::new());
        for policy in POLICIES {
            let due = Due::new(ms(now), usize::MAX).policy(policy.parse().unwrap());
            for page in view.due(&due).map(Result::unwrap) {
                led.extend(page.near.map(|_| page.page.url.clone()));
                values.insert((policy, page.page.url), page.value);
            }
        }
        let pages = view.scan(None).map(Result::unwrap).collect();
        UnruledPages { pages, view, now, values, led }
    }

    fn value(&self, policy: &'static str, url: &str) -> f64 {
        self.values[&(policy, url.to_owned())]
    }

    /// The whole seconds since the last visit.
    fn since_visit(&self, page: &Page) -> u64 {
        let seconds = self.now.div_euclid(1000) - page.last.time.as_ms().div_euclid(1000);
        u64::try_from(seconds).unwrap_or(0)
    }

    /// The seconds by which it is scored, which differ if it fails.
    fn since(&self, page: &Page) -> u64 {
        (self.value("uniform", &page.url) * 86_400.0).round() as u64
    }
}

/// The trust in the hints.
const TRUST: f64 = 0.7;

/// The value of a page with a hint, from its value without.
fn with_hint(
    plain: &UnruledPages<'_>,
    hints: &Hints,
    page: &Page,
    weight: f64,
    otherwise: f64,
) -> f64 {
    let now = plain.now.div_euclid(1000);
    // While it fails, this refers to the last successful visit.
    let last = now - plain.since(page).cast_signed();
    let Some(changed) = hints.changed_after(&page.url, ms(last * 1000), ms(plain.now)) else {
        return otherwise;
    };
    let weight = if page.gone { weight / 8.0 } else { weight };
    let weight = if plain.led.contains(&page.url) { weight / 4.0 } else { weight };
    hinted(TRUST, weight, (changed.as_ms() / 1000 - last) as f64 / 86_400.0, otherwise).unwrap()
}

/// A rule, its prefix, and the name of its policy.
struct NamedRule {
    under: Option<&'static TestPrefix>,
    rule: Rule,
    policy: Option<&'static str>,
}

/// Some rules, with weights that multiply exactly.
fn some_rules(choose: &mut impl FnMut(u64) -> u64, by_order: bool) -> Vec<NamedRule> {
    let mut rules = Vec::new();
    for under in PREFIXES.iter().map(Some).chain([None]) {
        if choose(2) == 0 {
            continue;
        }
        let mut rule = under.map_or(Rule::everywhere(), |under| Rule::under(under.prefix()));
        let days = |days: u64| Interval::from_seconds(days * 86_400 + 1).unwrap();
        let min = choose(40);
        if choose(3) == 0 {
            rule = rule.min(days(min));
        }
        if choose(3) == 0 {
            rule = rule.max(days(min + choose(400)));
        }
        if choose(3) == 0 {
            rule = rule.weight([0.25, 0.5, 2.0, 1024.0][choose(4) as usize]);
        }
        if choose(3) == 0 {
            rule = rule.per_host(choose(4) as usize);
        }
        let policy =
            (choose(3) == 0).then(|| POLICIES[choose(if by_order { 7 } else { 4 }) as usize]);
        if let Some(policy) = policy {
            rule = rule.policy(policy.parse().unwrap());
        }
        rules.push(NamedRule { under, rule, policy });
    }
    rules
}

/// The rule with the longest prefix.
fn longest<'a>(rules: &'a [NamedRule], url: &str) -> Option<&'a NamedRule> {
    let covering = rules.iter().filter(|known| known.under.is_none_or(|under| under.covers(url)));
    covering.max_by_key(|known| known.under.map(|under| under.text.len()))
}

/// The other parameters of a query.
struct RuledQuery {
    hints: Option<Hints>,
    policy: &'static str,
    under: Option<&'static TestPrefix>,
    budget: usize,
    per_host: usize,
}

/// The due pages, with their values and weights.
fn expected(
    plain: &UnruledPages<'_>,
    rules: &[NamedRule],
    question: &RuledQuery,
) -> Vec<(String, f64, f64)> {
    let nothing = NamedRule { under: None, rule: Rule::everywhere(), policy: None };
    let mut scored = Vec::new();
    for (place, page) in plain.pages.iter().enumerate() {
        let known = longest(rules, &page.url).unwrap_or(&nothing);
        let Rule { min, max, weight, .. } = known.rule;
        let left_out = question.under.is_some_and(|under| !under.covers(&page.url));
        if left_out || min.is_some_and(|min| plain.since_visit(page) < min.seconds()) {
            continue;
        }
        let policy = known.policy.unwrap_or(question.policy);
        let by_worth = matches!(policy, "value" | "crawl-value" | "harmonic");
        let mut value = plain.value(policy, &page.url) * if by_worth { weight } else { 1.0 };
        if let Some(hints) = question.hints.as_ref().filter(|_| by_worth) {
            value = with_hint(plain, hints, page, weight, value);
        }
        let largest = max.map_or(LARGEST, |max| max.seconds().min(LARGEST));
        let mut overdue = plain.since(page) as f64 / largest as f64;
        if known.policy.is_some_and(|policy| {
            !["value", "crawl-value", "harmonic", "uniform"].contains(&policy)
        }) {
            overdue = overdue.max(value);
        }
        let overdue = if overdue >= 1.0 { overdue.to_bits() } else { 0 };
        let score = if overdue > 0 { 0 } else { value.to_bits() };
        scored.push((Reverse((overdue, score)), place, page, value, known));
    }
    scored.sort_by_key(|(score, place, ..)| (*score, *place));
    let mut hosts: BTreeMap<_, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (.., page, value, known) in scored {
        let place = SurtPosition::of(&page.url);
        let own = known.rule.per_host.map(|_| known.under.map(|under| under.text));
        let (hostless, labels) = place.host();
        let of_host = hosts.entry((hostless, labels.to_vec(), own)).or_default();
        let most = known.rule.per_host.unwrap_or(question.per_host);
        if found.len() < question.budget && *of_host < most {
            *of_host += 1;
            found.push((page.url.clone(), value, known.rule.weight));
        }
    }
    found
}

fn check(plain: &UnruledPages<'_>, choose: &mut impl FnMut(u64) -> u64) {
    let by_order = choose(4) == 0;
    let rules = some_rules(choose, by_order);
    let hint = |choose: &mut dyn FnMut(u64) -> u64| {
        let time = choose(900) as i64 * DAY - 30 * DAY + choose(5000) as i64;
        (URLS[choose(URLS.len() as u64) as usize], ms(time))
    };
    let hints: Vec<_> = (0..choose(80)).map(|_| hint(choose)).collect();
    let hints = Hints::of(plain.view, hints).unwrap().trust(TRUST).unwrap();
    let question = RuledQuery {
        hints: (choose(3) != 0).then_some(hints),
        policy: POLICIES[choose(if by_order { 7 } else { 4 }) as usize],
        under: (choose(3) == 0).then(|| &PREFIXES[choose(PREFIXES.len() as u64) as usize]),
        budget: [0, 1, 3, usize::MAX][choose(4) as usize],
        per_host: [1, 2, usize::MAX, usize::MAX][choose(4) as usize],
    };
    let given = Rules::new(rules.iter().map(|known| known.rule.clone())).unwrap();
    let mut due = Due::new(ms(plain.now), question.budget)
        .policy(question.policy.parse().unwrap())
        .per_host(question.per_host)
        .memory_bytes([0, 1 << 10, 1 << 20][choose(3) as usize])
        .rules(&given);
    if let Some(hints) = &question.hints {
        due = due.hints(hints);
    }
    if let Some(under) = question.under {
        due = due.under(under.prefix());
    }
    let found = plain.view.due(&due).map(Result::unwrap);
    let found = found.map(|Decision { page, value, weight, .. }| (page.url, value, weight));
    let found: Vec<_> = found.collect();
    assert_eq!(found, expected(plain, &rules, &question), "{due:?}");
}

#[test]
fn due_pages_with_rules_and_hints_match_a_naive_loop() {
    for seed in 0..100 {
        let mut choose = choice(seed);
        let store = create(&SimDisk::new(), small());
        for _ in 0..choose(60) {
            let url = URLS[choose(URLS.len() as u64) as usize];
            let time = choose(400) as i64 * DAY + [0, 1, 999, 1000][choose(4) as usize];
            store
                .observe(match choose(8) {
                    0 => Observation::gone(url, ms(time)),
                    1 => Observation::failed(url, ms(time)),
                    _ => Observation::content(url, ms(time), choose(3), Epoch::from_number(0)),
                })
                .unwrap();
            match choose(12) {
                0 => store.seal().unwrap(),
                1 => drop(store.merge(&Progress::default()).unwrap()),
                _ => {}
            }
        }
        let view = store.snapshot();
        for _ in 0..3 {
            let plain =
                UnruledPages::of(&view, choose(900) as i64 * DAY - 30 * DAY + choose(5000) as i64);
            (0..4).for_each(|_| check(&plain, &mut choose));
        }
    }
}

#[test]
fn minimum_delays_and_maximum_advances_a_page() {
    let store = create(&SimDisk::new(), small());
    let urls = ["https://a.example/", "https://b.example/", "https://c.example/x"];
    for url in urls {
        store.observe(Observation::content(url, ms(0), 1, store.change_epoch())).unwrap();
    }
    let rule = |text: &str| Rule::under(text.parse().unwrap());
    let day = |days: u64| Interval::from_seconds(days * 86_400).unwrap();
    let rules = [
        rule("b.example").min(day(10)).max(day(20)),
        rule("c.example").policy("fixed:5d".parse().unwrap()),
    ];
    let rules = Rules::new(rules).unwrap();
    let due = |days: i64| -> Vec<String> {
        let due = Due::new(ms(days * DAY), 10).policy(Policy::UNIFORM).rules(&rules);
        store.snapshot().due(&due).map(|page| page.unwrap().page.url).collect()
    };
    let [a, b, c] = urls;
    assert_eq!(due(4), [a, c]);
    assert_eq!(due(5), [c, a]);
    assert_eq!(due(9), [c, a]);
    assert_eq!(due(20), [c, b, a]);
}

#[test]
fn hints_of_another_store_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [store, other] =
        ["a", "b"].map(|name| Store::create(folder.path().join(name), small()).unwrap());
    store.observe(Observation::gone(URLS[0], ms(0))).unwrap();
    let due = |hints| Due::new(ms(DAY), 10).hints(&hints);
    let own = Hints::of(&store.snapshot(), [(URLS[0], ms(1))]).unwrap();
    assert_eq!(store.snapshot().due(&due(own)).count(), 1);
    let others = Hints::of(&other.snapshot(), [(URLS[0], ms(1))]).unwrap();
    let mut pages = store.snapshot().due(&due(others));
    let said = pages.next().unwrap().unwrap_err().to_string();
    assert!(said.contains("with another store"), "{said}");
    assert!(pages.next().is_none());
}
