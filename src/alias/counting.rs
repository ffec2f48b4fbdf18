//! Counts the pairs of each rule among the pages of one site.

use std::collections::HashMap;

use super::address::UrlParts;
use super::declared::{Declaration, DeclarationCounter};
use super::examples::Examples;
use super::groups::{AliasGroups, BARE, GroupKey, GroupMember, RuleTotals, share};
use super::names::{
    AliasRuleNumber, HOST, HOST_AND_PORT, HOST_AND_SCHEME, PORT, ParameterNames, RemovedText,
    SOUGHT_MAX, TOGETHER_MAX, split_combined,
};
use super::query::AliasQuery;
use super::rule::{AliasRule, has_port, normalised};
use super::site::{AliasCount, AliasPair, AliasSite};
use super::spelling::Spellings;
use super::walk::WalkedPage;
use crate::bug::{Bug, OrBug};
use crate::error::{Error, Result};
use crate::order::sort_few_by;
use crate::page::surt;

/// The maximum number of rules of a site that get examples; the rules with the most pairs are
/// chosen.
const WITH_EXAMPLES: usize = 128;

/// The counts of a site so far.
pub(super) struct SiteCounter {
    groups: AliasGroups,
    names: ParameterNames,
    spellings: Spellings,
    pages: u64,
    skipped: u64,
    seed: u64,
    k: u32,
    /// The key of the previous page, and the URL and the fingerprint of the first page with this
    /// key.
    last: Vec<u8>,
    first: (String, u64),
    /// The URL that a rule makes of a page, and its SURT key.
    url: String,
    key: Vec<u8>,
    /// The keys of the URLs that single rules have made of the current page.
    made: Vec<GroupKey>,
    /// Near and other pairs of the rule for hosts, alone or with another rule. The two pages of
    /// such a pair are not neighbours, so the second pass cannot find the pair again.
    hosts: [Vec<(AliasRuleNumber, AliasPair)>; 2],
    /// The URLs to which pages point.
    declared: DeclarationCounter,
    /// The maximum number of pairs to keep of each kind.
    examples: usize,
}

/// The pairs of a rule, by itself and with other rules.
#[derive(Default)]
struct RulePairs<'s> {
    alone: Option<&'s RuleTotals>,
    /// The pairs of this rule with another rule. They count because this rule has too few pairs by
    /// itself.
    together: Vec<(AliasRuleNumber, &'s RuleTotals)>,
}

impl RulePairs<'_> {
    /// The numbers of pairs, near pairs and visits.
    fn count(&self) -> [u64; 3] {
        let all = self.alone.into_iter().chain(self.together.iter().map(|(_, sum)| *sum));
        all.fold([0; 3], |[pairs, near, visits], sum| {
            [pairs + sum.pairs, near + sum.near, visits + sum.visits]
        })
    }
}

impl SiteCounter {
    pub(super) fn new(asked: &AliasQuery, k: u32, seed: u64) -> SiteCounter {
        SiteCounter {
            groups: AliasGroups::new(asked.memory_bytes, k),
            names: ParameterNames::default(),
            spellings: Spellings::default(),
            pages: 0,
            skipped: 0,
            seed,
            k,
            last: Vec::new(),
            first: (String::new(), 0),
            url: String::new(),
            key: Vec::new(),
            made: Vec::new(),
            hosts: [Vec::new(), Vec::new()],
            declared: DeclarationCounter::default(),
            examples: asked.examples,
        }
    }

    /// Whether the SURT key of a page differs from the key of the previous page.
    fn is_another(&mut self, walked: &WalkedPage, fingerprint: u64) -> bool {
        let is_another = self.last != walked.key;
        if is_another {
            self.last.clone_from(&walked.key);
            self.first.0.clone_from(&walked.page.url);
            self.first.1 = fingerprint;
        }
        is_another
    }

    /// Counts a page with the given fingerprint.
    pub(super) fn add(&mut self, walked: &WalkedPage, fingerprint: u64) -> Result<()> {
        if !self.is_another(walked, fingerprint) {
            return self.add_spelling(walked, fingerprint);
        }
        let address = UrlParts::of(&walked.page.url).or_bug("a page of a site has a host")?;
        let (visits, port) = (walked.page.visits, has_port(&address));
        let bare = GroupMember { fingerprint, visits, removed: GroupMember::BARE, port };
        self.pages += 1;
        self.spellings.add(&address);
        self.made.clear();
        let SiteCounter { groups, names, url, key, made, seed, .. } = self;
        groups.add(GroupKey::bare(&walked.key, *seed), &bare)?;
        let skipped = names.changes(
            &address,
            TOGETHER_MAX,
            |_| true,
            |rule, changed, taken| {
                surt_of(changed, url, key);
                let bare_key = GroupKey::bare(key, *seed);
                let taken = hash_of(&taken, walked, *seed);
                let member = GroupMember { removed: taken, port: has_port(changed), ..bare };
                if split_combined(rule).is_some() {
                    // Pages come in the order of their keys.
                    let may_come = *key > walked.key;
                    groups.join_both((bare_key, rule), &member, may_come)?;
                    return Ok(false);
                }
                let has_bare = groups.join((bare_key, rule), &member)?;
                // Two rules that make the same URL of the page are not a crossed pair.
                if !has_bare && !made.contains(&bare_key) {
                    groups.cross((bare_key, rule), &member)?;
                }
                made.push(bare_key);
                Ok::<bool, Error>(has_bare)
            },
        )?;
        self.skipped += u64::from(skipped);
        Ok(())
    }

    /// Counts a page that has the same SURT key as the previous page. Its port or its host may be
    /// spelled in another way.
    fn add_spelling(&mut self, walked: &WalkedPage, fingerprint: u64) -> Result<()> {
        let url = &walked.page.url;
        let Some(rule) = spelled(&self.first.0, url) else { return Ok(()) };
        let (taken, visits) = (GroupMember::hash_removed(url, self.seed), walked.page.visits);
        let member = GroupMember { fingerprint, visits, removed: taken, port: false };
        self.groups.join_bare((GroupKey::bare(&walked.key, self.seed), rule), &member)?;
        if rule != PORT {
            let (first, of_first) = self.first.clone();
            self.keep_host_pair(rule, [(first, of_first), (url.clone(), fingerprint)]);
        }
        Ok(())
    }

    /// Counts a page as a pair with the page whose host has the form that browsers write. The rule
    /// is the rule for hosts, or its combination with another rule.
    pub(super) fn add_host(
        &mut self,
        walked: &WalkedPage,
        fingerprint: u64,
        (rule, url, of_first): (AliasRuleNumber, String, u64),
    ) -> Result<()> {
        let (page, port) = (&walked.page, false);
        let first =
            GroupMember { fingerprint: of_first, visits: 0, removed: GroupMember::BARE, port };
        let taken = GroupMember::hash_removed(&page.url, self.seed);
        let member = GroupMember { fingerprint, visits: page.visits, removed: taken, port };
        let key = GroupKey::bare(&walked.key, self.seed);
        self.groups.join_pair((key, rule), &first, &member)?;
        self.keep_host_pair(rule, [(url, of_first), (page.url.clone(), fingerprint)]);
        Ok(())
    }

    /// Counts the URL to which a page points.
    pub(super) fn add_declared(&mut self, of: &Declaration<'_>) {
        self.declared.add(&mut self.names, of, self.k);
    }

    /// Keeps a pair as an example of the rule for hosts, if fewer than `examples` are kept.
    fn keep_host_pair(&mut self, rule: AliasRuleNumber, pages: [(String, u64); 2]) {
        let [(first, of_first), (other, of_other)] = pages;
        let distance = (of_first ^ of_other).count_ones();
        let [near, far] = &mut self.hosts;
        let pairs = if distance <= self.k { near } else { far };
        if pairs.iter().filter(|(of, _)| *of == rule).count() < self.examples {
            pairs.push((rule, AliasPair { first, other, distance }));
        }
    }

    /// Returns the site without examples, and the groups in which the second pass finds the
    /// examples.
    pub(super) fn finish(
        &mut self,
        site: String,
        asked: &AliasQuery,
    ) -> Result<(AliasSite, Examples)> {
        let sums = self.groups.sums(asked.examples);
        let mut rules = Vec::new();
        let mut found_of = evidence(&sums, asked);
        for number in self.declared.rules.keys() {
            found_of.entry(*number).or_default();
        }
        for (number, found) in found_of {
            let rule = self.names.rule(number).or_bug("each count belongs to a rule")?;
            let [pairs, near, visits] = found.count();
            let declared = self.declared.of_rule(number, self.groups.share());
            let count = AliasCount {
                rule: self.spellings.directed(rule),
                holds: false,
                pairs,
                near,
                redirects: declared.redirects,
                canonicals: declared.canonicals,
                contradicted: declared.contradicted,
                visits: visits + declared.visits,
                examples: Vec::new(),
                exceptions: Vec::new(),
            };
            let has_enough = count.pairs + count.redirects >= asked.pairs;
            // A canonical URL is only a claim: without pairs or redirects, no rule holds. Redirects
            // supply missing pairs, and do not raise the share of compared pairs.
            let has_any = count.pairs + count.redirects > 0;
            let holds = has_enough && has_any && count.share() >= asked.share;
            if holds || asked.all {
                rules.push((number, AliasCount { holds, ..count }, found));
            }
        }
        sort_few_by(&mut rules, |(_, one, _), (_, other, _)| {
            other.pairs.cmp(&one.pairs).then_with(|| one.rule.cmp(&other.rule))
        });
        let mut examples = Examples::new(asked.examples);
        for (number, _, found) in rules.iter().take(WITH_EXAMPLES) {
            let alone = found.alone.map(|sum| (*number, sum));
            let all = alone.into_iter().chain(found.together.iter().copied());
            for (by, sum) in all.filter(|(by, _)| !OF_HOSTS.contains(by)) {
                examples.seek((*number, by), &sum.examples, true);
                examples.seek((*number, by), &sum.exceptions, false);
            }
        }
        sort_few_by(&mut rules, |(_, one, _), (_, other, _)| one.rule.cmp(&other.rule));
        for (number, count, found) in &mut rules {
            let is_of = |by: AliasRuleNumber| {
                by == *number && found.alone.is_some()
                    || found.together.iter().any(|(both, _)| *both == by)
            };
            for (of, pairs) in
                [&mut count.examples, &mut count.exceptions].into_iter().zip(&self.hosts)
            {
                of.extend(pairs.iter().filter(|(by, _)| is_of(*by)).map(|(_, pair)| pair.clone()));
                of.sort_unstable();
                of.truncate(asked.examples);
            }
        }
        let (numbers, rules) = rules.into_iter().map(|(number, rule, _)| (number, rule)).unzip();
        examples.rules = numbers;
        let (pages, sampled) = (self.pages, self.groups.share());
        let declared = std::mem::take(&mut self.declared.site);
        let site = AliasSite { site, pages, sampled, skipped: self.skipped, rules, declared };
        Ok((site, examples))
    }

    /// Starts the second pass over the site.
    pub(super) fn again(&mut self) {
        self.last.clear();
    }

    /// Looks for examples in a page of the second pass.
    pub(super) fn look(
        &mut self,
        walked: &WalkedPage,
        fingerprint: u64,
        examples: &mut Examples,
    ) -> Result<()> {
        let is_another = self.is_another(walked, fingerprint);
        let SiteCounter { groups, names, url, key, seed, k, first, .. } = self;
        let (url_of_page, visits) = (walked.page.url.as_str(), walked.page.visits);
        let key_of_page = GroupKey::bare(&walked.key, *seed);
        if !is_another {
            let taken = GroupMember::hash_removed(url_of_page, *seed);
            let member = GroupMember { fingerprint, visits, removed: taken, port: false };
            if let Some(rule) = spelled(&first.0, url_of_page) {
                examples.look(key_of_page, (url_of_page, &member, *k), rule, true);
            }
            return Ok(());
        }
        let address = UrlParts::of(url_of_page).or_bug("a page of a site has a host")?;
        let port = has_port(&address);
        let bare = GroupMember { fingerprint, visits, removed: GroupMember::BARE, port };
        examples.look(key_of_page, (url_of_page, &bare, *k), BARE, false);
        // Without a sample, the rules that were tried when this page was counted are tried again.
        // With a sample, a page that was known then may have been dropped, so more rules are tried.
        let most = if groups.is_sample() { SOUGHT_MAX } else { TOGETHER_MAX };
        let wanted = std::mem::take(&mut examples.wanted);
        let tried = names.changes(
            &address,
            most,
            |both| wanted.contains(&both),
            |rule, changed, taken| {
                surt_of(changed, url, key);
                let bare_key = GroupKey::bare(key, *seed);
                let taken = hash_of(&taken, walked, *seed);
                let member = GroupMember { removed: taken, port: has_port(changed), ..bare };
                let is_known = *key <= walked.key && groups.has(bare_key);
                examples.look(bare_key, (url_of_page, &member, *k), rule, is_known);
                Ok::<bool, Bug>(is_known)
            },
        );
        examples.wanted = wanted;
        tried.map_err(Error::from).map(|_| ())
    }
}

/// Pairs of the rule for hosts, alone or with another rule.
const OF_HOSTS: [AliasRuleNumber; 3] = [HOST, HOST_AND_PORT, HOST_AND_SCHEME];

/// The evidence for each rule: its own pairs. If a rule has too few pairs, its pairs with one other
/// rule count as well, if the pairs of both rules together suffice, wherever the two differences
/// are. These pairs do not count for a rule whose own pairs are evidence against it.
fn evidence<'s>(
    sums: &'s HashMap<AliasRuleNumber, RuleTotals>,
    asked: &AliasQuery,
) -> HashMap<AliasRuleNumber, RulePairs<'s>> {
    let suffices = |sum: &RuleTotals| sum.pairs >= asked.pairs;
    let mut all: HashMap<AliasRuleNumber, RulePairs<'s>> = HashMap::new();
    let mut together: HashMap<[AliasRuleNumber; 2], Vec<(AliasRuleNumber, &'s RuleTotals)>> =
        HashMap::new();
    for (number, sum) in sums {
        match split_combined(*number) {
            None => all.entry(*number).or_default().alone = Some(sum),
            Some(mut rules) => {
                rules.sort_unstable();
                together.entry(rules).or_default().push((*number, sum));
            }
        }
    }
    for (rules, found) in together {
        let found = RulePairs { alone: None, together: found };
        let [pairs, near, _] = found.count();
        let alone = rules.map(|rule| sums.get(&rule).filter(|sum| suffices(sum)));
        if pairs < asked.pairs
            || share(near, pairs) < asked.share
            || alone.iter().flatten().any(|sum| sum.share() < asked.share)
        {
            continue;
        }
        for (rule, alone) in rules.into_iter().zip(alone) {
            if alone.is_none() {
                all.entry(rule).or_default().together.extend(&found.together);
            }
        }
    }
    all
}

/// The rule by which a page with the SURT key of the first page has the URL of the first page.
fn spelled(first: &str, page: &str) -> Option<AliasRuleNumber> {
    let [host, port] = [AliasRule::Host, AliasRule::Port];
    [(PORT, vec![port.clone()]), (HOST, vec![host.clone()]), (HOST_AND_PORT, vec![host, port])]
        .into_iter()
        .find(|(_, rules)| normalised(first, rules) == normalised(page, rules))
        .map(|(number, _)| number)
}

/// The hash of the text that a rule removes from a page's URL.
fn hash_of(taken: &RemovedText, walked: &WalkedPage, seed: u64) -> u64 {
    match taken {
        RemovedText::All => GroupMember::hash_removed(&walked.page.url, seed),
        RemovedText::Text(text) => GroupMember::hash_removed(text, seed),
    }
}

/// Computes the SURT key of a URL in parts.
fn surt_of(address: &UrlParts<'_>, url: &mut String, out: &mut Vec<u8>) {
    url.clear();
    address.write(url);
    out.clear();
    surt::key(url, out);
}
