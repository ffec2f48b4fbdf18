//! What is found, against comparing all pages of a site with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use simkeep_testing::depth::deep;

use super::address::Address;
use super::rule::{INDEX, family};
use super::*;
use crate::disk::SimDisk;
use crate::page::Prefix;
use crate::{Observation, Options, Store};

mod together;

fn store() -> Store {
    let options = Options::default().background(false);
    Store::create(Arc::new(SimDisk::new()), options).unwrap()
}

fn observe(store: &Store, url: &str, fingerprint: Option<u64>, visits: u64) {
    for time in 0..i64::try_from(visits).unwrap() {
        let epoch = store.near_epoch();
        let seen = match fingerprint {
            Some(fingerprint) => Observation::content(url, time, fingerprint, epoch),
            None => Observation::gone(url, time),
        };
        store.observe(seen).unwrap();
    }
}

fn found(store: &Store, asked: &AliasQuery) -> (Aliases, Vec<AliasSite>) {
    let mut sites = Vec::new();
    let told = store.snapshot().aliases(asked, &Progress::default(), |site| {
        sites.push(site);
        ControlFlow::Continue(())
    });
    (told.unwrap(), sites)
}

/// A page as the oracle sees it.
#[derive(Clone, Debug)]
struct Known {
    url: String,
    fingerprint: u64,
    visits: u64,
}

/// Pairs, near ones and visits of each rule, by site.
type Counts = BTreeMap<String, BTreeMap<(String, Option<String>), (u64, u64, u64)>>;

/// The pages of a group, in the order in which groups come, by site.
type Groups<'k> = BTreeMap<String, BTreeMap<(bool, Vec<u8>), Vec<&'k Known>>>;

/// The site of a URL, and whether it is with `www.`; as people would say it.
fn site_of(url: &str) -> Option<(String, bool)> {
    let host = Address::of(url)?.host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    if host.starts_with('[') {
        return Some((host.to_owned(), false));
    }
    let labels: Vec<&str> = host.split('.').collect();
    if labels.iter().any(|label| label.is_empty()) {
        return None;
    }
    Some(match &labels[..] {
        ["www", "www", ..] | ["www", _] | [_] => (host.to_owned(), false),
        ["www", rest @ ..] if rest.iter().all(|label| label.parse::<u8>().is_ok()) => {
            (host.to_owned(), false)
        }
        ["www", rest @ ..] => (rest.join("."), true),
        _ => (host.to_owned(), false),
    })
}

/// The rules that are the same for all sites, in the order in which they are tried.
fn fixed() -> Vec<AliasRule> {
    [
        ("scheme", Some("https")),
        ("www", Some("without")),
        ("fragment", None),
        ("order", None),
        ("slash", Some("without")),
        ("case", None),
        ("escapes", None),
        ("session", None),
        ("slashes", None),
        ("empty-query", None),
    ]
    .iter()
    .map(|(kind, value)| AliasRule::new(kind, *value).unwrap())
    .chain(INDEX.map(|name| AliasRule::Index(name.to_owned())))
    .collect()
}

/// The rules that there may be for the parameters of a URL.
fn of_parameters(url: &str) -> Vec<AliasRule> {
    let address = Address::of(url).unwrap();
    let names = address.parameters().filter(|name| !name.is_empty());
    let mut rules = Vec::new();
    for rule in names.map(|name| AliasRule::Parameter(family(name).to_owned())) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn key_by(rule: &AliasRule, url: &str) -> Vec<u8> {
    surt::key_of(&rule.apply(url).unwrap_or(url.to_owned()))
}

/// Pairs, near ones and visits.
#[derive(Default)]
struct Count(u64, u64, u64);

impl Count {
    fn add(&mut self, first: &Known, page: &Known, k: u32) {
        self.0 += 1;
        self.1 += u64::from((first.fingerprint ^ page.fingerprint).count_ones() <= k);
        self.2 += page.visits;
    }
}

/// What each rule finds by itself, by comparing all pages of a site.
fn alone(pages: &[&Known], k: u32) -> BTreeMap<AliasRule, Count> {
    let mut rules: BTreeSet<AliasRule> = fixed().into_iter().collect();
    rules.extend(pages.iter().flat_map(|page| of_parameters(&page.url)));
    let mut counts: BTreeMap<AliasRule, Count> = BTreeMap::new();
    for rule in rules {
        for (at, page) in pages.iter().enumerate() {
            let is_one = |other: &&&Known| key_by(&rule, &other.url) == key_by(&rule, &page.url);
            let first = pages[..at].iter().find(is_one);
            if let Some(first) = first.filter(|first| taken(&rule, first) != taken(&rule, page)) {
                counts.entry(rule.clone()).or_default().add(first, page, k);
            }
        }
    }
    counts
}

/// What each two rules find at once.
fn together(pages: &[&Known], k: u32) -> BTreeMap<[AliasRule; 2], Count> {
    let mut counts: BTreeMap<[AliasRule; 2], Count> = BTreeMap::new();
    let mut waiting = BTreeSet::new();
    for (at, page) in pages.iter().enumerate() {
        let known = |key: &[u8]| pages[..at].iter().find(|page| surt::key_of(&page.url) == key);
        let rules = fixed().into_iter().chain(of_parameters(&page.url));
        let leads_nowhere = |rule: &AliasRule| {
            rule.apply(&page.url).is_some_and(|url| known(&surt::key_of(&url)).is_none())
        };
        let mut applied: Vec<AliasRule> = rules.filter(leads_nowhere).take(4).collect();
        applied.sort();
        for (nth, first) in applied.iter().enumerate() {
            for second in &applied[nth + 1..] {
                let once = first.apply(&page.url).unwrap();
                let Some(twice) = second.apply(&once).map(|url| surt::key_of(&url)) else {
                    continue;
                };
                let rules = [first.clone(), second.clone()];
                if let Some(other) = known(&twice) {
                    counts.entry(rules).or_default().add(other, page, k);
                } else if twice > surt::key_of(&page.url)
                    && waiting.insert((rules.clone(), twice.clone()))
                {
                    // The first page waits for the one that comes later.
                    let later = pages[at..].iter().find(|page| surt::key_of(&page.url) == twice);
                    if let Some(later) = later {
                        counts.entry(rules).or_default().add(page, later, k);
                    }
                }
            }
        }
        // The one difference on one page, and the other on the other.
        let [scheme, www] = [&fixed()[0], &fixed()[1]];
        if leads_nowhere(www) {
            let key = key_by(www, &page.url);
            let is_other = |other: &&&Known| {
                scheme.apply(&other.url).is_some_and(|url| surt::key_of(&url) == key)
            };
            if let Some(other) = pages[..at].iter().find(is_other) {
                let rules = [scheme.clone(), www.clone()];
                counts.entry(rules).or_default().add(other, page, k);
            }
        }
    }
    counts
}

/// What all rules that there may be find, by comparing all pages of each site, if any number of pairs
/// is enough.
fn expected(pages: &[Known], k: u32) -> Counts {
    let mut sites = Groups::new();
    let mut sorted: Vec<&Known> = pages.iter().collect();
    sorted.sort_by_key(|page| &page.url);
    for page in sorted {
        if let Some((site, www)) = site_of(&page.url) {
            let place = (www, surt::key_of(&page.url));
            sites.entry(site).or_default().entry(place).or_default().push(page);
        }
    }
    let mut counts = Counts::new();
    for (site, pages) in sites {
        let firsts: Vec<&Known> = pages.values().map(|pages| pages[0]).collect();
        let mut found = alone(&firsts, k);
        let decided: Vec<AliasRule> = found.keys().cloned().collect();
        for (rules, Count(pairs, near, visits)) in together(&firsts, k) {
            for rule in rules.into_iter().filter(|rule| !decided.contains(rule)) {
                let count = found.entry(rule).or_default();
                (count.0, count.1, count.2) = (count.0 + pairs, count.1 + near, count.2 + visits);
            }
        }
        // Pages that SURT order does not tell apart.
        for pages in pages.values() {
            let port = |page: &Known| Address::of(&page.url).unwrap().port.to_owned();
            for page in pages.iter().filter(|page| port(page) != port(pages[0])) {
                found.entry(AliasRule::Port).or_default().add(pages[0], page, k);
            }
        }
        for (rule, Count(pairs, near, visits)) in found {
            let name = (rule.kind().to_owned(), rule.value().map(str::to_owned));
            let name = if has_direction(&rule) { (name.0, None) } else { name };
            counts.entry(site.clone()).or_default().insert(name, (pairs, near, visits));
        }
    }
    counts
}

/// What a rule takes from a page that others may have as well, of which it makes the same.
fn taken(rule: &AliasRule, page: &Known) -> String {
    let url = &page.url;
    let is_changed = rule.apply(url).is_some();
    let query = url.split('#').next().unwrap().split_once('?').map_or("", |(_, query)| query);
    match rule {
        _ if !is_changed => String::new(),
        AliasRule::Parameter(name) => {
            let of = |written: &&str| family(written.split('=').next().unwrap()) == name;
            query.split('&').filter(of).collect::<Vec<_>>().join("&")
        }
        AliasRule::Index(name) => name.clone(),
        _ => url.clone(),
    }
}

#[test]
fn spellings_of_hosts_and_ports_are_compared() {
    let store = store();
    for page in 0..20_u64 {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for form in [
            "http://b\u{fc}cher.example/N",
            "http://B\u{dc}CHER.example/N",
            "http://xn--bcher-kva.example:80/N",
            "http://127.0.0.1/N",
            "http://0x7f.1/N",
            "http://a\u{3002}example/N",
        ] {
            observe(&store, &form.replace('N', &page.to_string()), Some(fingerprint), 2);
        }
    }
    let (told, sites) = found(&store, &AliasQuery::default());
    let rules: Vec<(String, String, u64, u64)> = sites
        .iter()
        .flat_map(|site| site.rules.iter().map(move |rule| (site, rule)))
        .map(|(site, rule)| (site.site.clone(), rule.rule.to_string(), rule.pairs, rule.visits))
        .collect();
    let rule = |site: &str, rule: &str| (site.to_owned(), rule.to_owned(), 20, 40);
    // The host with a capital letter is `xn--bcher-2pa` in SURT order; its page is looked up by the
    // bytes of the other, which is not known without a port.
    assert_eq!(rules, [rule("0x7f.1", "host"), rule("xn--bcher-kva.example", "port")]);
    assert_eq!(told.rules, 2);
    let examples = &sites[0].rules[0].examples;
    assert_eq!((examples.len(), examples[0].first.as_str()), (3, "http://127.0.0.1/0"));
}

#[test]
fn a_page_of_very_many_parameters_costs_little_and_that_is_said() {
    let store = store();
    let many: String = (0..1_000).map(|n| format!("&p{n}=1")).collect();
    for page in 0..20_u64 {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for form in ["", "&sid=1"] {
            let url = format!("http://a.example/?q={page}{form}{many}");
            observe(&store, &url, Some(fingerprint), 1);
        }
    }
    let (_, sites) = found(&store, &AliasQuery::default().all(true));
    assert_eq!(sites.iter().map(|site| site.passed_over).sum::<u64>(), 40);
}

fn has_direction(rule: &AliasRule) -> bool {
    matches!(rule, AliasRule::Scheme { .. } | AliasRule::Www { .. } | AliasRule::Slash { .. })
}

fn counts(sites: &[AliasSite]) -> Counts {
    let rule = |count: &AliasCount| {
        let value = count.rule.value().filter(|_| !has_direction(&count.rule));
        let name = (count.rule.kind().to_owned(), value.map(str::to_owned));
        (name, (count.pairs, count.near, count.visits))
    };
    let site = |site: &AliasSite| (site.site.clone(), site.rules.iter().map(rule).collect());
    sites.iter().map(site).collect()
}

/// That each example is a pair of its rule, near or not as is said.
fn check_examples(sites: &[AliasSite], pages: &[Known], k: u32) {
    let of = |url: &str| pages.iter().find(|page| page.url == url).unwrap().fingerprint;
    for (site, count) in
        sites.iter().flat_map(|site| site.rules.iter().map(move |rule| (site, rule)))
    {
        let near = count.examples.iter().map(|pair| (pair, true));
        for (pair, near) in near.chain(count.exceptions.iter().map(|pair| (pair, false))) {
            assert_eq!(pair.distance, (of(&pair.first) ^ of(&pair.other)).count_ones());
            assert_eq!(pair.distance <= k, near, "{pair:?}");
            // By the rule, or by it and another one.
            let is_one = |other: &AliasCount| {
                let mut rules = [count.rule.clone(), other.rule.clone()];
                rules.sort();
                let made = |url: &str| surt::key_of(&normalised(url, &rules));
                made(&pair.first) == made(&pair.other)
            };
            assert!(site.rules.iter().any(is_one), "{} {pair:?}", count.rule);
        }
        assert_eq!(count.examples.is_empty(), count.near == 0);
        assert_eq!(count.exceptions.is_empty(), count.near == count.pairs);
    }
}

/// Prefixes of some of them: domains, hosts, paths.
const UNDER: &[&str] = &["a.b", "a.b/", "www.a.b", "a.b/p", "c.a.b", "b"];

/// URLs over few names, so that rules make many of them one.
fn urls() -> impl Strategy<Value = String> {
    let host = "(www\\.)?(a\\.b|A\\.b\\.|a\\.b|c\\.a\\.b|x\\.a\\.b|z\\.a\\.b|b|1\\.2\\.3\\.4|\\[::1\\]|a\\.\\.b|www\\.a\\.b)";
    let path = "(|/|/p|/P|/p/|/p/index\\.html|/p/Index\\.html|/p/default\\.aspx|/p\\.x/|/p//|//p|/%70|/p;sid=1|/p;sid=2/)";
    let query = "(|\\?|\\?s=1|\\?s=2|\\?s=1&a=1|\\?a=1&S|\\?a=1|\\?a=1&s=1|\\?utm_x=1|\\?utm_y&a=1|\\?&|\\?B=1&a=1)";
    let url = format!("https?://{host}(:80|:81)?{path}{query}(|#|#f)");
    let url = proptest::string::string_regex(&url).unwrap();
    // Few enough that pages differ by two rules at once, and none by one of them.
    let dense = "https?://a\\.b/[pP]?(|\\?a=1&s=1|\\?s=1&a=1|\\?s=1|\\?a=1)#?";
    prop_oneof![20 => url, 10 => dense, 1 => "urn:a|file:///p|ftp://a\\.b/p|HTTP://u@a\\.b/p"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(1_000)).unwrap()))]

    #[test]
    fn rules_are_counted_as_by_comparing_all_pages(
        pages in prop::collection::btree_map(urls(), (0..6_usize, 1..4_u64, any::<bool>()), 0..80),
        sealed in 0..80_usize,
        under in prop::option::of(prop::sample::select(UNDER)),
    ) {
        let store = store();
        let mut known = Vec::new();
        let mut without = 0;
        let prefix = under.map(|under| Prefix::parse(under).unwrap());
        for (at, (url, (content, visits, again))) in pages.into_iter().enumerate() {
            if at == sealed {
                store.seal().unwrap();
            }
            // 0 to 3 are near each other in steps of one bit; 4 is gone, 5 is too short to tell.
            let fingerprint = [0, 1, 3, 0xff00][content % 4];
            let is_under = prefix.as_ref().is_none_or(|prefix| prefix.contains(&surt::key_of(&url)));
            match content {
                4 => observe(&store, &url, None, visits),
                5 => {
                    let short = Observation::content(&url, 0, None, store.near_epoch());
                    store.observe(short).unwrap();
                    without += u64::from(is_under && site_of(&url).is_some());
                }
                _ => {
                    observe(&store, &url, Some(fingerprint), visits);
                    if is_under {
                        known.push(Known { url: url.clone(), fingerprint, visits });
                    }
                }
            }
            if again && content == 4 {
                store.seal().unwrap();
            }
        }
        let asked = AliasQuery::default().k(1).share(0.0).pairs(0).all(true).under(prefix);
        let (told, sites) = found(&store, &asked);
        prop_assert_eq!(counts(&sites), expected(&known, 1));
        prop_assert_eq!(told.without_fingerprint, without);
        check_examples(&sites, &known, 1);
        for page in &known {
            prop_assert_eq!(super::site_of(&page.url), site_of(&page.url).map(|(site, _)| site));
        }
        let share = AliasQuery { share: 0.6, pairs: 2, all: false, ..asked };
        for count in found(&store, &share).1.iter().flat_map(|site| &site.rules) {
            prop_assert!(count.holds && count.pairs >= 2 && count.share() >= 0.6);
        }
    }
}
