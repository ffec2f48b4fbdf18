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

/// What all rules that there may be find, by comparing all pages of each site.
fn expected(pages: &[Known], k: u32) -> Counts {
    let mut sites: BTreeMap<String, BTreeMap<(bool, Vec<u8>), &Known>> = BTreeMap::new();
    let mut sorted: Vec<&Known> = pages.iter().collect();
    sorted.sort_by_key(|page| &page.url);
    for page in sorted {
        if let Some((site, www)) = site_of(&page.url) {
            let place = (www, surt::key_of(&page.url));
            sites.entry(site).or_default().entry(place).or_insert(page);
        }
    }
    let mut counts = Counts::new();
    for (site, pages) in sites {
        let pages: Vec<&Known> = pages.into_values().collect();
        let kinds = ["scheme", "www", "fragment", "order", "slash", "case"];
        let values = [Some("https"), Some("without"), None, None, Some("without"), None];
        let mut rules: BTreeSet<AliasRule> = kinds
            .iter()
            .zip(values)
            .map(|(kind, value)| AliasRule::new(kind, value).unwrap())
            .collect();
        rules.extend(INDEX.map(|name| AliasRule::Index(name.to_owned())));
        for page in &pages {
            let address = Address::of(&page.url).unwrap();
            let names = address.parameters().filter(|name| !name.is_empty());
            rules.extend(names.map(|name| AliasRule::Parameter(family(name).to_owned())));
        }
        for rule in rules {
            let made = |url: &str| surt::key_of(&rule.apply(url).unwrap_or(url.to_owned()));
            let (mut pairs, mut near, mut visits) = (0, 0, 0);
            for (at, page) in pages.iter().enumerate() {
                let is_one = |other: &&&Known| made(&other.url) == made(&page.url);
                let first = pages[..at].iter().find(is_one);
                if let Some(first) = first.filter(|first| taken(&rule, first) != taken(&rule, page))
                {
                    pairs += 1;
                    near += u64::from((first.fingerprint ^ page.fingerprint).count_ones() <= k);
                    visits += page.visits;
                }
            }
            if pairs > 0 {
                let name = (rule.kind().to_owned(), rule.value().map(str::to_owned));
                let name = if has_direction(&rule) { (name.0, None) } else { name };
                counts.entry(site.clone()).or_default().insert(name, (pairs, near, visits));
            }
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
    for count in sites.iter().flat_map(|site| &site.rules) {
        let near = count.examples.iter().map(|pair| (pair, true));
        for (pair, near) in near.chain(count.exceptions.iter().map(|pair| (pair, false))) {
            assert_eq!(pair.distance, (of(&pair.first) ^ of(&pair.other)).count_ones());
            assert_eq!(pair.distance <= k, near, "{pair:?}");
            let made = |url: &str| surt::key_of(&count.rule.apply(url).unwrap_or(url.to_owned()));
            assert_eq!(made(&pair.first), made(&pair.other), "{} {pair:?}", count.rule);
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
    let path = "(|/|/p|/P|/p/|/p/index\\.html|/p/Index\\.html|/p/default\\.aspx|/p\\.x/|/p//)";
    let query = "(|\\?|\\?s=1|\\?s=2|\\?s=1&a=1|\\?a=1&S|\\?a=1|\\?a=1&s=1|\\?utm_x=1|\\?utm_y&a=1|\\?&|\\?B=1&a=1)";
    let url = format!("https?://{host}(:80|:81)?{path}{query}(|#|#f)");
    let url = proptest::string::string_regex(&url).unwrap();
    prop_oneof![20 => url, 1 => "urn:a|file:///p|ftp://a\\.b/p|HTTP://u@a\\.b/p"]
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
