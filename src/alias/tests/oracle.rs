//! The oracle: finds rules by comparing all pages of a site with each other.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::alias::address::UrlParts;
use crate::alias::rule::{INDEX, family};

/// A page as the oracle sees it.
#[derive(Clone, Debug)]
pub(super) struct OraclePage {
    pub(super) url: String,
    pub(super) fingerprint: u64,
    pub(super) visits: u64,
}

/// Pairs, near pairs and visits of each rule, by site.
pub(super) type SiteRuleCounts =
    BTreeMap<String, BTreeMap<(String, Option<String>), (u64, u64, u64)>>;

/// The pages of a group, in the order of groups, by site.
type PagesBySite<'k> = BTreeMap<String, BTreeMap<(bool, Vec<u8>), Vec<&'k OraclePage>>>;

/// The site of a URL in its usual form, and whether the URL's host has `www.`.
pub(super) fn site_of(url: &str) -> Option<(String, bool)> {
    let host = UrlParts::of(url)?.host.to_ascii_lowercase();
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

/// The rules that apply to all sites, in the order in which they are tried.
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

/// The possible rules for the parameters of a URL.
fn of_parameters(url: &str) -> Vec<AliasRule> {
    let address = UrlParts::of(url).unwrap();
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

/// The numbers of pairs, near pairs and visits.
#[derive(Default)]
struct RulePairCount(u64, u64, u64);

impl RulePairCount {
    fn add(&mut self, first: &OraclePage, page: &OraclePage, k: u32) {
        self.0 += 1;
        self.1 += u64::from((first.fingerprint ^ page.fingerprint).count_ones() <= k);
        self.2 += page.visits;
    }

    fn join(&mut self, other: &RulePairCount) {
        (self.0, self.1, self.2) = (self.0 + other.0, self.1 + other.1, self.2 + other.2);
    }
}

/// The counts of combinations of two rules.
type CombinedCounts = BTreeMap<[AliasRule; 2], RulePairCount>;

/// Counts each rule by itself, by comparing all pages of a site. Also returns the pairs whose ports
/// are spelled differently, for combining the rule with the rule for ports.
fn alone(pages: &[&OraclePage], k: u32) -> (BTreeMap<AliasRule, RulePairCount>, CombinedCounts) {
    let mut rules: BTreeSet<AliasRule> = fixed().into_iter().collect();
    rules.extend(pages.iter().flat_map(|page| of_parameters(&page.url)));
    let (mut counts, mut ports) =
        (BTreeMap::<AliasRule, RulePairCount>::new(), CombinedCounts::new());
    for rule in rules {
        let has_port = |page: &OraclePage| {
            let url = rule.apply(&page.url).unwrap_or(page.url.clone());
            AliasRule::Port.apply(&url).is_some()
        };
        for (at, page) in pages.iter().enumerate() {
            let is_one =
                |other: &&&OraclePage| key_by(&rule, &other.url) == key_by(&rule, &page.url);
            let first = pages[..at].iter().find(is_one);
            if let Some(first) = first.filter(|first| taken(&rule, first) != taken(&rule, page)) {
                counts.entry(rule.clone()).or_default().add(first, page, k);
                if has_port(first) != has_port(page) {
                    let mut both = [rule.clone(), AliasRule::Port];
                    both.sort();
                    ports.entry(both).or_default().add(first, page, k);
                }
            }
        }
    }
    (counts, ports)
}

/// The rules that change a URL, in the order in which they are tried.
fn rules_of(url: &str) -> Vec<AliasRule> {
    let rules = fixed().into_iter().chain(of_parameters(url));
    rules.filter(|rule| rule.apply(url).is_some()).collect()
}

/// The priority of a rule when rules are combined.
fn rank(rule: &AliasRule) -> u8 {
    match (rule.kind(), rule.value()) {
        ("parameter", Some("utm_*" | "sid")) => 1,
        ("parameter" | "case", _) => 2,
        _ => 0,
    }
}

/// Counts the pairs of two rules that both change the same page.
fn together(pages: &[&OraclePage], k: u32, counts: &mut CombinedCounts) {
    let mut waiting = BTreeSet::new();
    for (at, page) in pages.iter().enumerate() {
        let known = |key: &[u8]| pages[..=at].iter().find(|page| surt::key_of(&page.url) == key);
        let leads_nowhere = |rule: &AliasRule| known(&key_by(rule, &page.url)).is_none();
        let mut applied: Vec<AliasRule> =
            rules_of(&page.url).into_iter().filter(leads_nowhere).collect();
        applied.sort_by_key(rank);
        applied.truncate(5);
        applied.sort();
        let slash = AliasRule::Slash { with: false };
        let slash = Some(slash).filter(|slash| slash.apply(&page.url).is_none());
        for (nth, first) in applied.iter().enumerate() {
            for second in
                applied[nth + 1..].iter().chain(slash.iter().filter(|slash| first < slash))
            {
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
                    // This page waits for a page that comes later.
                    let later = pages[at..].iter().find(|page| surt::key_of(&page.url) == twice);
                    if let Some(later) = later {
                        counts.entry(rules).or_default().add(page, later, k);
                    }
                }
            }
        }
    }
}

/// Counts the pairs of two rules that each change one page of a pair.
fn crossed(pages: &[&OraclePage], k: u32, counts: &mut CombinedCounts) {
    // For each URL, the rules of names that map a page to it, in order.
    let mut named: BTreeMap<Vec<u8>, Vec<AliasRule>> = BTreeMap::new();
    for (at, page) in pages.iter().enumerate() {
        let mut made = BTreeSet::new();
        for rule in rules_of(&page.url) {
            let key = key_by(&rule, &page.url);
            let names = named.entry(key.clone()).or_default();
            if !fixed()[..10].contains(&rule) && !names.contains(&rule) {
                names.push(rule.clone());
            }
            let is_known = pages[..=at].iter().any(|page| surt::key_of(&page.url) == key);
            if is_known || !made.insert(key.clone()) {
                continue;
            }
            let others = fixed().into_iter().take(10).chain(names.iter().take(4).cloned());
            for other in others.filter(|other| *other != rule) {
                let leads_there = |page: &&&OraclePage| {
                    other.apply(&page.url).is_some_and(|url| surt::key_of(&url) == key)
                };
                if let Some(first) = pages[..at].iter().find(leads_there) {
                    let mut rules = [rule.clone(), other];
                    rules.sort();
                    counts.entry(rules).or_default().add(first, page, k);
                }
            }
        }
    }
}

/// Counts the rule for hosts, alone and with another rule, if one page may belong to another site.
fn of_other_hosts(
    page: &OraclePage,
    pages: &[OraclePage],
    k: u32,
) -> Option<(Vec<AliasRule>, RulePairCount)> {
    let (host, schemes) =
        (AliasRule::Host, [true, false].map(|secure| AliasRule::Scheme { secure }));
    let changed = host.apply(&page.url)?;
    let known = |url: &str| pages.iter().find(|other| other.url == url);
    if surt::key_of(&changed) == surt::key_of(&page.url) {
        return None;
    }
    let other = schemes.iter().find_map(|scheme| scheme.apply(&changed));
    let mut count = RulePairCount::default();
    if let Some(first) = known(&changed) {
        count.add(first, page, k);
        return Some((vec![host], count));
    }
    count.add(known(&other?)?, page, k);
    Some((vec![host, fixed().remove(0)], count))
}

/// Counts all possible rules by comparing all pages of each site, with no minimum number of pairs.
pub(super) fn expected(pages: &[OraclePage], k: u32) -> SiteRuleCounts {
    let mut sites = PagesBySite::new();
    let mut sorted: Vec<&OraclePage> = pages.iter().collect();
    sorted.sort_by_key(|page| &page.url);
    for page in sorted {
        if let Some((site, www)) = site_of(&page.url) {
            let place = (www, surt::key_of(&page.url));
            sites.entry(site).or_default().entry(place).or_default().push(page);
        }
    }
    let mut counts = SiteRuleCounts::new();
    for (site, groups) in sites {
        let firsts: Vec<&OraclePage> = groups.values().map(|pages| pages[0]).collect();
        let (mut found, mut both) = alone(&firsts, k);
        together(&firsts, k, &mut both);
        crossed(&firsts, k, &mut both);
        let mut add =
            |rules: Vec<AliasRule>, count: RulePairCount| match <[AliasRule; 2]>::try_from(rules) {
                Ok(rules) => both.entry(rules).or_default().join(&count),
                Err(rules) => found.entry(rules[0].clone()).or_default().join(&count),
            };
        for (rules, count) in
            groups.values().flatten().filter_map(|page| of_other_hosts(page, pages, k))
        {
            add(rules, count);
        }
        // Pages with equal SURT keys.
        for (first, page) in groups.values().flat_map(|of| of[1..].iter().map(|page| (of[0], page)))
        {
            let ways = [
                vec![AliasRule::Port],
                vec![AliasRule::Host],
                vec![AliasRule::Host, AliasRule::Port],
            ];
            let is_one = |rules: &Vec<AliasRule>| {
                normalised(&first.url, rules) == normalised(&page.url, rules)
            };
            if let Some(rules) = ways.into_iter().find(is_one) {
                let mut count = RulePairCount::default();
                count.add(first, page, k);
                add(rules, count);
            }
        }
        let decided: Vec<AliasRule> = found.keys().cloned().collect();
        for (rules, count) in both {
            for rule in rules.into_iter().filter(|rule| !decided.contains(rule)) {
                found.entry(rule).or_default().join(&count);
            }
        }
        for (rule, RulePairCount(pairs, near, visits)) in found {
            let name = (rule.kind().to_owned(), rule.value().map(str::to_owned));
            let name = if has_direction(&rule) { (name.0, None) } else { name };
            counts.entry(site.clone()).or_default().insert(name, (pairs, near, visits));
        }
    }
    counts
}

/// The text that a rule removes from a page: pages from which a rule removes equal text are not a
/// pair.
fn taken(rule: &AliasRule, page: &OraclePage) -> String {
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

pub(super) fn has_direction(rule: &AliasRule) -> bool {
    matches!(rule, AliasRule::Scheme { .. } | AliasRule::Www { .. } | AliasRule::Slash { .. })
}
