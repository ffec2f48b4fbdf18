//! Compares the rules that the query finds with a comparison of all pages of a site with each
//! other.

use std::sync::Arc;

use proptest::prelude::*;
use simkeep_testing::depth::deep;

use super::*;
use crate::disk::SimDisk;
use crate::engine::options::Options;
use crate::engine::store::Store;
use crate::page::{Observation, Prefix};
use crate::time::Time;
use oracle::{OraclePage, SiteRuleCounts, expected, has_direction, site_of};

mod oracle;
mod together;

fn store() -> Store {
    let options = Options::default().background(false);
    Store::create(Arc::new(SimDisk::new()), options).unwrap()
}

fn observe(store: &Store, url: &str, fingerprint: Option<u64>, visits: u64) {
    for time in 0..i64::try_from(visits).unwrap() {
        let epoch = store.snapshot().near_epoch();
        let seen = match fingerprint {
            Some(fingerprint) => {
                Observation::content(url, Time::from_ms_unchecked(time), fingerprint, epoch)
            }
            None => Observation::gone(url, Time::from_ms_unchecked(time)),
        };
        store.observe(seen).unwrap();
    }
}

fn found(store: &Store, asked: &AliasQuery) -> (AliasTotals, Vec<AliasSite>) {
    let mut sites = Vec::new();
    let summary = asked.run(&store.snapshot(), &Progress::default(), |site| {
        sites.push(site);
        ControlFlow::Continue(())
    });
    (summary.unwrap(), sites)
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
    let (summary, sites) = found(&store, &AliasQuery::default());
    let rules: Vec<(String, String, u64, u64)> = sites
        .iter()
        .flat_map(|site| site.rules.iter().map(move |rule| (site, rule)))
        .map(|(site, rule)| (site.site.clone(), rule.rule.to_string(), rule.pairs, rule.visits))
        .collect();
    let rule = |site: &str, rule: &str| (site.to_owned(), rule.to_owned(), 20, 40);
    // The host with a capital letter is `xn--bcher-2pa` in SURT order. Its page is looked up by the
    // bytes of the URL with the other host, and that URL is not known without a port.
    let expected = [
        rule("0x7f.1", "host"),
        rule("xn--bcher-kva.example", "host"),
        rule("xn--bcher-kva.example", "port"),
    ];
    assert_eq!(rules, expected);
    assert_eq!(summary.rules, 3);
    let examples = &sites[0].rules[0].examples;
    assert_eq!((examples.len(), examples[0].first.as_str()), (3, "http://127.0.0.1/0"));
}

#[test]
fn page_with_many_parameters_is_counted_cheaply() {
    let store = store();
    let many: String = (0..1_000).map(|n| format!("&p{n}=1")).collect();
    for page in 0..20_u64 {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for form in ["", "&sid=1"] {
            let url = format!("http://a.example/?q={page}{form}{many}");
            observe(&store, &url, Some(fingerprint), 1);
        }
    }
    let (summary, sites) = found(&store, &AliasQuery::default().all(true));
    assert_eq!(sites.iter().map(|site| site.skipped).sum::<u64>(), 40);
    assert_eq!(summary.skipped, 40);
    // Skipped parameters are counted even if no rule is found.
    let (summary, sites) = found(&store, &AliasQuery::default().pairs(1_000));
    assert_eq!((summary.skipped, sites.len()), (40, 0));
}

fn counts(sites: &[AliasSite]) -> SiteRuleCounts {
    let rule = |count: &AliasCount| {
        let value = count.rule.value().filter(|_| !has_direction(&count.rule));
        let name = (count.rule.kind().to_owned(), value.map(str::to_owned));
        (name, (count.pairs, count.near, count.visits))
    };
    let site = |site: &AliasSite| (site.site.clone(), site.rules.iter().map(rule).collect());
    sites.iter().map(site).collect()
}

/// Checks that each example is a pair of its rule, and near or not as reported.
fn check_examples(sites: &[AliasSite], pages: &[OraclePage], k: u32) {
    let of = |url: &str| pages.iter().find(|page| page.url == url).unwrap().fingerprint;
    for (site, count) in
        sites.iter().flat_map(|site| site.rules.iter().map(move |rule| (site, rule)))
    {
        let near = count.examples.iter().map(|pair| (pair, true));
        for (pair, near) in near.chain(count.exceptions.iter().map(|pair| (pair, false))) {
            assert_eq!(pair.distance, (of(&pair.first) ^ of(&pair.other)).count_ones());
            assert_eq!(pair.distance <= k, near, "{pair:?}");
            // The two pages are a pair by the rule alone, or by the rule together with another
            // rule.
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

/// Prefixes of some of the URLs: domains, hosts, paths.
const UNDER: &[&str] = &["a.b", "a.b/", "www.a.b", "a.b/p", "c.a.b", "b"];

/// URLs made of few names, so that rules map many of them to one URL.
fn urls() -> impl Strategy<Value = String> {
    let host = "(www\\.)?(a\\.b|A\\.b|A\\.b\\.|127\\.1|127\\.0\\.0\\.1|a\\.b|c\\.a\\.b|x\\.a\\.b|z\\.a\\.b|b|1\\.2\\.3\\.4|\\[::1\\]|a\\.\\.b|www\\.a\\.b)";
    let path = "(|/|/p|/P|/p/|/p/index\\.html|/p/Index\\.html|/p/default\\.aspx|/p\\.x/|/p//|//p|/%70|/p;sid=1|/p;sid=2/|/p/;sid=A|/\\\\p|/%7e)";
    let query = "(|\\?|\\?s=1|\\?s=2|\\?s=1&a=1|\\?a=1&S|\\?a=1|\\?a=1&s=1|\\?utm_x=1|\\?utm_y&a=1|\\?&|\\?B=1&a=1)";
    let url = format!("https?://{host}(:80|:81)?{path}{query}(|#|#f)");
    let url = proptest::string::string_regex(&url).unwrap();
    // The names are few enough that pages differ by two rules at once, and no pair differs by only
    // one of the two rules.
    let dense = "https?://a\\.b/[pP]?/?(|\\?utm_x=1|\\?a=1&s=1|\\?s=1&a=1|\\?s=1|\\?a=1)#?";
    prop_oneof![20 => url, 10 => dense, 1 => "urn:a|file:///p|ftp://a\\.b/p|[hH]ttp://u@a\\.b/p"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(1_000)).unwrap()))]

    #[test]
    fn rule_counts_match_comparing_all_pages(
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
            // Values 0 to 3 are near each other in steps of one bit; 4 is gone, 5 is too short.
            let fingerprint = [0, 1, 3, 0xff00][content % 4];
            let is_under = prefix.as_ref().is_none_or(|prefix| prefix.contains(&surt::key_of(&url)));
            match content {
                4 => observe(&store, &url, None, visits),
                5 => {
                    let short = Observation::content(&url, Time::from_ms_unchecked(0), None, store.snapshot().near_epoch());
                    store.observe(short).unwrap();
                    without += u64::from(is_under && site_of(&url).is_some());
                }
                _ => {
                    observe(&store, &url, Some(fingerprint), visits);
                    if is_under {
                        known.push(OraclePage { url: url.clone(), fingerprint, visits });
                    }
                }
            }
            if again && content == 4 {
                store.seal().unwrap();
            }
        }
        let asked = AliasQuery::default().k(1).share(0.0).pairs(0).all(true).under(prefix);
        let (summary, sites) = found(&store, &asked);
        prop_assert_eq!(counts(&sites), expected(&known, 1));
        prop_assert_eq!(summary.without_fingerprint, without);
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
