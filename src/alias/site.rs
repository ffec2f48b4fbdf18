//! The results for a site.

use super::rule::AliasRule;

/// The alias rules of a site, from [`AliasQuery::run`](crate::alias::AliasQuery::run).
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::alias::AliasQuery;
/// use std::ops::ControlFlow;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let summary = AliasQuery::default().run(&store.snapshot(), &Progress::default(), |site| {
///     for count in site.rules.iter().filter(|count| count.holds) {
///         println!("{}: {} holds for {} pages", site.site, count.rule, count.pairs);
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(summary.sites, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AliasSite {
    /// The host without `www.`, in lower case.
    pub site: String,
    /// The number of the site's pages that were compared.
    pub pages: u64,
    /// The sampled share of the URLs that rules make: 1, unless the site exceeded the memory. All
    /// counts of the site's rules refer to the sample.
    pub sampled: f64,
    /// The number of pages with skipped parameters. Limits are 32 parameters on a page, 1,024 names in
    /// a site, and 64 bytes in a name. On a page with long URLs, only 16 KiB / (length of path and
    /// query) parameters are tested.
    pub skipped: u64,
    /// The rules, in the order in which to [apply](super::normalised) them, without duplicates.
    pub rules: Vec<AliasCount>,
}

/// A rule in a site, with its evidence.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::alias::AliasQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for page in 0..10_u64 {
///     for visitor in ["", "&sid=1"] {
///         let url = format!("https://example.com/?page={page}{visitor}");
///         let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
///         store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
///     }
/// }
/// let mut rules = Vec::new();
/// AliasQuery::default().run(&store.snapshot(), &Progress::default(), |site| {
///     rules.extend(site.rules);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!((rules[0].rule.to_string(), rules[0].holds), ("parameter sid".to_owned(), true));
/// assert_eq!((rules[0].near, rules[0].pairs, rules[0].share()), (10, 10, 1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AliasCount {
    /// The rule. A rule with a direction maps to the spelling that more pages of the site have.
    pub rule: AliasRule,
    /// Whether the rule holds, by [`share`](super::AliasQuery::share) and
    /// [`pairs`](super::AliasQuery::pairs).
    pub holds: bool,
    /// The number of redundant pages. The rule maps each redundant page to the URL of an earlier
    /// page in SURT order (the first page of its group; pages without `www.` come before pages with
    /// `www.`), and removes different text from both pages. If there are too few such pages, the
    /// number includes the pairs of this rule with one other rule.
    pub pairs: u64,
    /// The number of redundant pages that are near the earlier page.
    pub near: u64,
    /// Visits to the redundant pages: visits that the rule would have saved.
    pub visits: u64,
    /// Near pairs from different groups, sampled by hash. Only for the 128 rules of a site with the
    /// most pairs.
    pub examples: Vec<AliasPair>,
    /// Pairs that are not near, sampled in the same way.
    pub exceptions: Vec<AliasPair>,
}

impl AliasCount {
    /// The share of near pairs; 0 without any pairs.
    pub fn share(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.near as f64 / self.pairs as f64 }
    }
}

/// Two pages that a rule maps to one URL.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::alias::AliasQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # for page in 0..10_u64 {
/// #     for visitor in ["", "&sid=1"] {
/// #         let url = format!("https://example.com/?page={page}{visitor}");
/// #         let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
/// #         store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
/// #     }
/// # }
/// // Ten pages of a site are known with and without the parameter `sid`.
/// let mut pairs = Vec::new();
/// AliasQuery::default().run(&store.snapshot(), &Progress::default(), |site| {
///     pairs.extend(site.rules.into_iter().flat_map(|count| count.examples));
///     ControlFlow::Continue(())
/// })?;
/// for pair in &pairs {
///     assert_eq!((format!("{}&sid=1", pair.first), pair.distance), (pair.other.clone(), 0));
/// }
/// # assert_eq!(pairs.len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AliasPair {
    /// The first page of the group.
    pub first: String,
    /// Another page of the group.
    pub other: String,
    /// The number of bits in which their fingerprints differ.
    pub distance: u32,
}

/// The totals of a run, from [`AliasQuery::run`](crate::alias::AliasQuery::run).
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::alias::AliasQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # for page in 0..10_u64 {
/// #     for visitor in ["", "&sid=1"] {
/// #         let url = format!("https://example.com/?page={page}{visitor}");
/// #         let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
/// #         store.observe(Observation::content(&url, Time::now(), fingerprint, store.change_epoch()))?;
/// #     }
/// # }
/// // Ten pages of a site are known with and without the parameter `sid`.
/// let totals = AliasQuery::default()
///     .run(&store.snapshot(), &Progress::default(), |_| ControlFlow::Continue(()))?;
/// assert_eq!((totals.sites, totals.pages, totals.rules), (1, 20, 1));
/// assert_eq!(totals.visits, 10); // would have been saved
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasTotals {
    /// The number of sites with a compared page.
    pub sites: u64,
    /// The number of sites with a rule that holds.
    pub sites_with_rules: u64,
    /// The number of sites that were sampled.
    pub sampled: u64,
    /// The number of compared pages. Of pages whose URLs have equal SURT order, one is compared.
    pub pages: u64,
    /// The number of pages with content but without a fingerprint in the epoch, which were not
    /// compared.
    pub without_fingerprint: u64,
    /// The number of pages with [skipped](AliasSite::skipped) parameters, in all sites.
    pub skipped: u64,
    /// The number of rules that hold, in all sites.
    pub rules: u64,
    /// The number of [pairs](AliasCount::pairs) of the rules that hold.
    pub pairs: u64,
    /// The number of [visits](AliasCount::visits) that the rules that hold would have saved.
    pub visits: u64,
}

impl AliasTotals {
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
