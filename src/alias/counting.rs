//! The pages of one site, counted by what rules make of them.

use super::address::Address;
use super::examples::Examples;
use super::groups::{Groups, Key, Member};
use super::names::{Names, Taken};
use super::query::AliasQuery;
use super::site::{AliasCount, AliasSite};
use super::spellings::Spellings;
use super::walk::Standing;
use crate::bug::{Bug, OrBug};
use crate::error::Result;
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
    /// The key of the page before.
    last: Vec<u8>,
    /// What a rule made of a page, and its key.
    url: String,
    key: Vec<u8>,
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
            url: String::new(),
            key: Vec::new(),
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
        if !self.is_another(standing) {
            return Ok(());
        }
        self.pages += 1;
        let address = Address::of(&standing.page.url).or_bug("a page of a site has a host")?;
        self.spellings.add(&address);
        let visits = standing.page.visits;
        let Counting { groups, names, url, key, seed, .. } = self;
        let bare = Member { fingerprint, visits, taken: Member::BARE };
        groups.add(&standing.key, &bare)?;
        let passed_over = names.changes(&address, |rule, changed, taken| {
            surt_of(changed, url, key);
            let taken = hash_of(&taken, standing, *seed);
            groups.join((key.as_slice(), rule), &Member { taken, ..bare })
        })?;
        self.passed_over += u64::from(passed_over);
        Ok(())
    }

    /// What there is of the site, without examples; and the groups that they are to be found in.
    pub(super) fn finish(&self, site: String, asked: &AliasQuery) -> Result<(AliasSite, Examples)> {
        let mut rules = Vec::new();
        for (number, sum) in self.groups.sums(asked.examples) {
            let rule = self.names.rule(number).or_bug("what was counted is a rule")?;
            let count = AliasCount {
                rule: self.spellings.directed(rule),
                holds: false,
                pairs: sum.pairs,
                near: sum.near,
                visits: sum.visits,
                examples: Vec::new(),
                exceptions: Vec::new(),
            };
            let holds = count.pairs >= asked.pairs && count.share() >= asked.share;
            if holds || asked.all {
                rules.push((number, AliasCount { holds, ..count }, sum));
            }
        }
        rules.sort_by(|(_, one, _), (_, other, _)| {
            other.pairs.cmp(&one.pairs).then_with(|| one.rule.cmp(&other.rule))
        });
        let mut examples = Examples::default();
        for (number, _, sum) in rules.iter().take(WITH_EXAMPLES) {
            examples.seek(*number, &sum.examples, true);
            examples.seek(*number, &sum.exceptions, false);
        }
        rules.sort_by(|(_, one, _), (_, other, _)| one.rule.cmp(&other.rule));
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
        if !self.is_another(standing) {
            return Ok(());
        }
        let Counting { names, url, key, seed, k, .. } = self;
        let (url_of_page, visits) = (standing.page.url.as_str(), standing.page.visits);
        let bare = Member { fingerprint, visits, taken: Member::BARE };
        examples.look(Key::bare(&standing.key, *seed), (url_of_page, &bare, *k), |_| true);
        let address = Address::of(url_of_page).or_bug("a page of a site has a host")?;
        names.changes(&address, |rule, changed, taken| {
            surt_of(changed, url, key);
            let member = Member { taken: hash_of(&taken, standing, *seed), ..bare };
            let page = (url_of_page, &member, *k);
            examples.look(Key::bare(key, *seed), page, |of| of == rule);
            Ok::<(), Bug>(())
        })?;
        Ok(())
    }
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
