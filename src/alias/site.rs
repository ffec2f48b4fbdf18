//! What is told of a site.

use super::rule::AliasRule;

/// A site, and the rules that were found for it; from
/// [`AliasQuery::run`](crate::alias::AliasQuery::run).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AliasSite {
    /// The host without `www.`, in lower case.
    pub site: String,
    /// Its pages that took part.
    pub pages: u64,
    /// What share of the URLs that rules make was looked at: 1, unless the site was beyond the memory.
    /// All that is counted of its rules is of these.
    pub sampled: f64,
    /// Pages with so many parameters, or in a site with so many names of them, that some were passed
    /// over: more than 32 on a page, 1,024 names in a site, or 64 bytes in a name. simkeep
    /// tries at most 16 KiB / (length of path and query) parameters, 32 at most.
    pub skipped: u64,
    /// The rules, in the order in which they are to be [applied](super::normalised): none twice.
    pub rules: Vec<AliasCount>,
}

/// A rule in a site, and what speaks for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AliasCount {
    /// The rule. If it has a direction, that is to what more pages of the site have.
    pub rule: AliasRule,
    /// Whether it holds, by [`share`](super::AliasQuery::share) and [`pairs`](super::AliasQuery::pairs).
    pub holds: bool,
    /// Pages that it makes one with a page that stands before them in SURT order (the first of the
    /// group; pages without `www.` come before those with it), and takes something else from: as many
    /// would be spared. If these are too few, with the pairs that it makes with one other rule.
    pub pairs: u64,
    /// Those of them that are near that page.
    pub near: u64,
    /// Visits that these pairs had, without those to the first pages: as many would have been spared.
    pub visits: u64,
    /// Pairs that are near, each of another group, drawn by a hash. Of the 128 rules of a site with most
    /// pairs.
    pub examples: Vec<AliasPair>,
    /// Pairs that are not near, drawn in the same way.
    pub exceptions: Vec<AliasPair>,
}

impl AliasCount {
    /// The share of the pairs that are near; 0 without any.
    pub fn share(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.near as f64 / self.pairs as f64 }
    }
}

/// Two pages that a rule makes one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AliasPair {
    /// The page that stands before all others of the group.
    pub first: String,
    /// Another one.
    pub other: String,
    /// In how many bits their fingerprints differ.
    pub distance: u32,
}

/// What was looked at in all; from [`AliasQuery::run`](crate::alias::AliasQuery::run).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Aliases {
    /// Sites with a page that took part.
    pub sites: u64,
    /// Sites that have a rule that holds.
    pub sites_with_rules: u64,
    /// Sites that were sampled.
    pub sampled: u64,
    /// Pages that took part: of those whose URLs SURT order does not tell apart, one.
    pub pages: u64,
    /// Pages with content that has no fingerprint in the epoch: they took no part.
    pub without_fingerprint: u64,
    /// Pages with parameters that were [passed over](AliasSite::skipped), whether their sites
    /// have rules or not.
    pub skipped: u64,
    /// Rules that hold, all sites together.
    pub rules: u64,
    /// [Pairs](AliasCount::pairs) of these.
    pub pairs: u64,
    /// [Visits](AliasCount::visits) of these.
    pub visits: u64,
}

impl Aliases {
    pub(super) fn add(&mut self, site: &AliasSite) {
        self.sites += 1;
        self.pages += site.pages;
        self.skipped += site.skipped;
        self.sampled += u64::from(site.sampled < 1.0);
        let holding = || site.rules.iter().filter(|rule| rule.holds);
        self.sites_with_rules += u64::from(holding().next().is_some());
        for rule in holding() {
            self.rules += 1;
            self.pairs += rule.pairs;
            self.visits += rule.visits;
        }
    }
}
