//! The pages of one site, counted by what rules make of them.

use std::collections::HashMap;

use super::address::Address;
use super::examples::Examples;
use super::groups::{BARE, Groups, Key, Member, Sum};
use super::names::{
    HOST, Names, Number, PORT, SCHEME, SCHEME_OR_WWW, SOUGHT_MAX, TOGETHER_MAX, Taken, WWW, both,
};
use super::query::AliasQuery;
use super::site::{AliasCount, AliasPair, AliasSite};
use super::spellings::Spellings;
use super::walk::Standing;
use crate::bug::{Bug, OrBug};
use crate::error::{Error, Result};
use crate::page::surt;

/// The rules of a site that have examples: those with most pairs.
const WITH_EXAMPLES: usize = 128;

/// What is known of a site so far.
pub(super) struct Counting {
    groups: Groups,
    names: Names,
    spellings: Spellings,
    pages: u64,
    passed_over: u64,
    seed: u64,
    k: u32,
    /// The key of the page before, and the port of the first page that has it, as it is written.
    last: Vec<u8>,
    port: String,
    /// What a rule made of a page, and its key.
    url: String,
    key: Vec<u8>,
    /// Pairs of the rule for hosts, of which one page is of another site: near ones, and others.
    hosts: [Vec<AliasPair>; 2],
}

/// What is found of a rule, by itself and with another.
#[derive(Default)]
struct Found<'s> {
    alone: Option<&'s Sum>,
    /// Two rules at once that hold, where this one does not by itself.
    together: Vec<(Number, &'s Sum)>,
}

impl Found<'_> {
    /// Pairs, near ones, visits.
    fn count(&self) -> [u64; 3] {
        let all = self.alone.into_iter().chain(self.together.iter().map(|(_, sum)| *sum));
        all.fold([0; 3], |[pairs, near, visits], sum| {
            [pairs + sum.pairs, near + sum.near, visits + sum.visits]
        })
    }
}

impl Counting {
    pub(super) fn new(memory_bytes: usize, k: u32, seed: u64) -> Counting {
        Counting {
            groups: Groups::new(memory_bytes, k, seed),
            names: Names::default(),
            spellings: Spellings::default(),
            pages: 0,
            passed_over: 0,
            seed,
            k,
            last: Vec::new(),
            port: String::new(),
            url: String::new(),
            key: Vec::new(),
            hosts: [Vec::new(), Vec::new()],
        }
    }

    /// Whether a page is another than the one before, as SURT order has it.
    fn is_another(&mut self, standing: &Standing) -> bool {
        let is_another = self.last != standing.key;
        self.last.clone_from(&standing.key);
        is_another
    }

    /// Counts a page that has this fingerprint.
    pub(super) fn add(&mut self, standing: &Standing, fingerprint: u64) -> Result<()> {
        let visits = standing.page.visits;
        let bare = Member { fingerprint, visits, taken: Member::BARE };
        let address = Address::of(&standing.page.url).or_bug("a page of a site has a host")?;
        if !self.is_another(standing) {
            if address.port != self.port {
                let taken = Member::taken(&standing.page.url, self.seed);
                let member = Member { taken, ..bare };
                self.groups.join_known((&standing.key, BARE, PORT), &member)?;
            }
            return Ok(());
        }
        address.port.clone_into(&mut self.port);
        self.pages += 1;
        self.spellings.add(&address);
        let Counting { groups, names, url, key, seed, .. } = self;
        groups.add(&standing.key, &bare)?;
        let passed_over = names.changes(
            &address,
            TOGETHER_MAX,
            |_| true,
            |rule, changed, taken| {
                surt_of(changed, url, key);
                let taken = hash_of(&taken, standing, *seed);
                let member = Member { taken, ..bare };
                if both(rule).is_some() {
                    // Pages come in the order of their keys.
                    let may_come = *key > standing.key;
                    groups.join_both((key.as_slice(), rule), &member, may_come)?;
                    return Ok(false);
                }
                let has_bare = groups.join((key.as_slice(), rule), &member)?;
                if rule == WWW && !has_bare {
                    groups.join_known((key.as_slice(), SCHEME, SCHEME_OR_WWW), &member)?;
                }
                Ok::<bool, Error>(has_bare)
            },
        )?;
        self.passed_over += u64::from(passed_over);
        Ok(())
    }

    /// Counts a page as a pair with that of the host as browsers write it.
    pub(super) fn add_host(
        &mut self,
        standing: &Standing,
        fingerprint: u64,
        (url, other): (String, u64),
        examples: usize,
    ) -> Result<()> {
        let page = &standing.page;
        let first = Member { fingerprint: other, visits: 0, taken: Member::BARE };
        let taken = Member::taken(&page.url, self.seed);
        let member = Member { fingerprint, visits: page.visits, taken };
        self.groups.join_other((&standing.key, HOST), [&first, &member])?;
        let distance = (fingerprint ^ other).count_ones();
        let [near, far] = &mut self.hosts;
        let pairs = if distance <= self.k { near } else { far };
        if pairs.len() < examples {
            pairs.push(AliasPair { first: url, other: page.url.clone(), distance });
        }
        Ok(())
    }

    /// What there is of the site, without examples; and the groups that they are to be found in.
    pub(super) fn finish(
        &mut self,
        site: String,
        asked: &AliasQuery,
    ) -> Result<(AliasSite, Examples)> {
        let sums = self.groups.sums(asked.examples);
        let mut rules = Vec::new();
        for (number, found) in evidence(&sums, asked) {
            let rule = self.names.rule(number).or_bug("what was counted is a rule")?;
            let [pairs, near, visits] = found.count();
            let count = AliasCount {
                rule: self.spellings.directed(rule),
                holds: false,
                pairs,
                near,
                visits,
                examples: Vec::new(),
                exceptions: Vec::new(),
            };
            let holds = count.pairs >= asked.pairs && count.share() >= asked.share;
            if holds || asked.all {
                rules.push((number, AliasCount { holds, ..count }, found));
            }
        }
        rules.sort_by(|(_, one, _), (_, other, _)| {
            other.pairs.cmp(&one.pairs).then_with(|| one.rule.cmp(&other.rule))
        });
        let mut examples = Examples::new(asked.examples);
        for (number, _, found) in rules.iter().take(WITH_EXAMPLES).filter(|(of, ..)| *of != HOST) {
            let alone = found.alone.map(|sum| (*number, sum));
            for (by, sum) in alone.into_iter().chain(found.together.iter().copied()) {
                examples.seek((*number, by), &sum.examples, true);
                examples.seek((*number, by), &sum.exceptions, false);
            }
        }
        rules.sort_by(|(_, one, _), (_, other, _)| one.rule.cmp(&other.rule));
        for (_, count, _) in rules.iter_mut().filter(|(of, ..)| *of == HOST) {
            [count.examples, count.exceptions] = std::mem::take(&mut self.hosts);
        }
        let (numbers, rules) = rules.into_iter().map(|(number, rule, _)| (number, rule)).unzip();
        examples.rules = numbers;
        let (pages, sampled) = (self.pages, self.groups.share());
        let site = AliasSite { site, pages, sampled, passed_over: self.passed_over, rules };
        Ok((site, examples))
    }

    /// Begins to read the site once more.
    pub(super) fn again(&mut self) {
        self.last.clear();
    }

    /// Looks for examples in a page that comes again.
    pub(super) fn look(
        &mut self,
        standing: &Standing,
        fingerprint: u64,
        examples: &mut Examples,
    ) -> Result<()> {
        let is_another = self.is_another(standing);
        let Counting { groups, names, url, key, seed, k, .. } = self;
        let (url_of_page, visits) = (standing.page.url.as_str(), standing.page.visits);
        let bare = Member { fingerprint, visits, taken: Member::BARE };
        let key_of_page = Key::bare(&standing.key, *seed);
        if !is_another {
            let member = Member { taken: Member::taken(url_of_page, *seed), ..bare };
            examples.look(key_of_page, (url_of_page, &member, *k), |of| of == PORT);
            return Ok(());
        }
        examples.look(key_of_page, (url_of_page, &bare, *k), |_| true);
        let address = Address::of(url_of_page).or_bug("a page of a site has a host")?;
        // Without a sample the same rules are tried as when this page was counted. A sample may have
        // dropped a known page since then, so more rules are tried.
        let most = if groups.is_sample() { SOUGHT_MAX } else { TOGETHER_MAX };
        let wanted = std::mem::take(&mut examples.wanted);
        let tried = names.changes(
            &address,
            most,
            |both| wanted.contains(&both),
            |rule, changed, taken| {
                surt_of(changed, url, key);
                let bare_key = Key::bare(key, *seed);
                let member = Member { taken: hash_of(&taken, standing, *seed), ..bare };
                let page = (url_of_page, &member, *k);
                let is_either = |of| of == SCHEME_OR_WWW && [SCHEME, WWW].contains(&rule);
                examples.look(bare_key, page, |of| of == rule || is_either(of));
                Ok::<bool, Bug>(*key <= standing.key && groups.has(bare_key))
            },
        );
        examples.wanted = wanted;
        tried.map_err(Error::from).map(|_| ())
    }
}

/// What speaks for each rule: its own pairs; and where these do not suffice, those that it makes with
/// one other rule, if they suffice. A rule whose own pairs speak against it has no others.
fn evidence<'s>(sums: &'s HashMap<Number, Sum>, asked: &AliasQuery) -> HashMap<Number, Found<'s>> {
    let holds = |sum: &Sum| sum.share() >= asked.share;
    let suffices = |sum: &Sum| sum.pairs >= asked.pairs;
    let single = sums.iter().filter(|(number, _)| both(**number).is_none());
    let of = |(number, sum): (&Number, &'s Sum)| {
        (*number, Found { alone: Some(sum), together: Vec::new() })
    };
    let mut all: HashMap<Number, Found<'s>> = single.map(of).collect();
    for (number, sum) in sums {
        let Some(rules) = both(*number).filter(|_| suffices(sum) && holds(sum)) else { continue };
        let alone = rules.map(|rule| sums.get(&rule).filter(|sum| suffices(sum)));
        if alone.iter().flatten().any(|sum| !holds(sum)) {
            continue;
        }
        for (rule, alone) in rules.into_iter().zip(alone) {
            if alone.is_none() {
                all.entry(rule).or_default().together.push((*number, sum));
            }
        }
    }
    all
}

/// What is taken from a page, by a hash.
fn hash_of(taken: &Taken, standing: &Standing, seed: u64) -> u64 {
    match taken {
        Taken::All => Member::taken(&standing.page.url, seed),
        Taken::Text(text) => Member::taken(text, seed),
    }
}

/// The SURT key of a URL in its parts.
fn surt_of(address: &Address<'_>, url: &mut String, out: &mut Vec<u8>) {
    url.clear();
    address.write(url);
    out.clear();
    surt::key(url, out);
}
