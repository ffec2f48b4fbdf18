//! Compares the rule of a page with the longest prefix that covers it.

use proptest::prelude::*;
use simkeep::due::{Rule, Rules, RulesError};
use simkeep::recrawl::Interval;
use simkeep::{Error, Prefix};
use simkeep_testing::pages::{PREFIXES, URLS, in_domain, in_path};

fn prefix(text: &str) -> Prefix {
    Prefix::parse(text).unwrap()
}

fn interval(text: &str) -> Interval {
    text.parse().unwrap()
}

/// Prefixes over few names, so that many contain others.
fn prefixes() -> impl Strategy<Value = String> {
    "(a|b|a\\.b|b\\.a\\.b|c\\.b)((:81)?(/|/x|/x/|/x/y|/xy|/x-|/x/y/x|/\\?q|/x\\?q))?"
}

/// URLs with the same names.
fn urls() -> impl Strategy<Value = String> {
    "https?://(a|b|a\\.b|b\\.a\\.b|c\\.b)(:81)?(/|/x|/x/|/x/y|/xy|/x-|/x/y/x|/x#y)(|\\?q|/y)"
}

/// Whether a page is under a prefix.
fn covers(prefix: &str, url: &str) -> bool {
    match prefix.find('/') {
        Some(at) => in_path(url, &prefix[..at], &prefix[at..]),
        None if prefix.contains(':') => in_path(url, prefix, "/"),
        None => in_domain(url, prefix),
    }
}

/// The number of the rule of a page: the one with the longest prefix.
fn longest(rules: &[String], url: &str) -> Option<usize> {
    let under = (0..rules.len()).filter(|nth| covers(&rules[*nth], url));
    under.max_by_key(|nth| rules[*nth].len())
}

/// Rules that are identified by their weights.
fn numbered(prefixes: &[String]) -> Rules {
    let rule = |(nth, text): (usize, &String)| Rule::under(prefix(text)).weight(nth as f64 + 2.0);
    Rules::new(prefixes.iter().enumerate().map(rule)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn longest_prefix_decides(
        prefixes in prop::collection::hash_set(prefixes(), 0..12),
        urls in prop::collection::vec(urls(), 1..12),
    ) {
        let prefixes: Vec<String> = prefixes.into_iter().collect();
        let rules = numbered(&prefixes);
        for url in urls {
            let expected = longest(&prefixes, &url).map_or(1.0, |nth| nth as f64 + 2.0);
            prop_assert_eq!(rules.of(&url).weight, expected, "{} {:?}", url, prefixes);
        }
    }

    #[test]
    fn longest_prefix_decides_among_all_kinds_of_prefix(
        chosen in prop::sample::subsequence((0..PREFIXES.len()).collect::<Vec<_>>(), 0..=PREFIXES.len())
            .prop_shuffle(),
    ) {
        let rules = Rules::new(chosen.iter().map(|nth| Rule::under(PREFIXES[*nth].prefix()))).unwrap();
        for url in URLS {
            let under = chosen.iter().map(|nth| &PREFIXES[*nth]).filter(|under| under.covers(url));
            let longest = under.max_by_key(|under| under.text.len()).map(|under| under.prefix());
            prop_assert_eq!(&rules.of(url).under, &longest, "{}", url);
        }
    }
}

#[test]
fn rule_without_a_prefix_applies_to_all_other_pages() {
    let everywhere = Rule::everywhere().max(interval("30d"));
    let rules =
        Rules::new([Rule::under(prefix("example.com")).weight(2.0), everywhere.clone()]).unwrap();
    assert_eq!(rules.of("https://example.org/"), &everywhere);
    assert_eq!(rules.of("urn:isbn:1"), &everywhere);
    assert_eq!(rules.of("no URL at all"), &everywhere);
    // Its fields are not inherited.
    assert_eq!(rules.of("https://example.com/").max, None);
    assert_eq!(Rules::default().of("https://example.org/"), &Rule::everywhere());
}

#[test]
fn invalid_rules_are_refused_by_number() {
    let rule = || Rule::under(prefix("example.com"));
    let good = Rule::under(prefix("example.org"))
        .min(interval("1h"))
        .max(interval("1h"))
        .weight(1e-100)
        .per_host(0);
    for (wrong, said) in [
        (rule().weight(0.0), "rule 2: weight must be from 1e-100 to 1e100"),
        (rule().weight(-1.0), "rule 2: weight must be from 1e-100 to 1e100"),
        (rule().weight(f64::MIN_POSITIVE), "rule 2: weight must be from 1e-100 to 1e100"),
        (rule().weight(f64::NAN), "rule 2: weight must be from 1e-100 to 1e100"),
        (rule().weight(f64::INFINITY), "rule 2: weight must be from 1e-100 to 1e100"),
        (rule().min(interval("2d")).max(interval("1d")), "rule 2: min must be at most max"),
    ] {
        let error = Rules::new([good.clone(), wrong]).unwrap_err();
        assert!(matches!(error, RulesError::Rule { nth: 2, cause: Error::InvalidOption { .. } }));
        assert_eq!(error.to_string(), said);
        assert_eq!(Error::from(error).to_string(), said);
    }
}

#[test]
fn duplicate_prefixes_are_refused_by_number() {
    let rules = |texts: &[&str]| Rules::new(texts.iter().map(|text| Rule::under(prefix(text))));
    let said = |texts: &[&str]| rules(texts).unwrap_err().to_string();
    assert_eq!(
        said(&["a.example", "b.example", "c.example", "b.example/", "https://B.example"]),
        "rules 2 and 5 both apply to b.example; merge them into one rule"
    );
    // Of several, the first duplicate is named.
    assert_eq!(
        said(&["a.example", "b.example", "b.example", "a.example", "a.example"]),
        "rules 2 and 3 both apply to b.example; merge them into one rule"
    );
    assert!(
        rules(&["b.example", "b.example/", "b.example:81", "b.example/x", "b.example/x/"]).is_ok()
    );
    let twice = Rules::new([Rule::everywhere(), Rule::everywhere()]).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "rules 1 and 2 both apply to all pages; merge them into one rule"
    );
}
