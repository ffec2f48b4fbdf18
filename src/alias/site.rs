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
    /// The URLs to which pages of the site point. Not sampled.
    pub declared: DeclaredUrls,
}

/// The URLs to which pages of a site point: [canonical URLs](crate::Observation::canonical) and
/// targets of redirects.
///
/// A canonical URL is a claim of the page, which `aliases` checks by the content of the known page
/// with exactly this URL. No URL is followed further. A page that declares its own URL is not
/// counted.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::alias::AliasQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (epoch, shoes) = (store.change_epoch(), "https://example.com/shoes");
/// store.observe(Observation::content(shoes, Time::now(), 0x00, epoch))?;
/// for (url, fingerprint) in [("https://example.com/shoes?red", 0x01), ("https://example.com/hats", !0)] {
///     let seen = Observation::content(url, Time::now(), fingerprint, epoch);
///     store.observe(seen.canonical(shoes))?;
/// }
/// let mut sites = Vec::new();
/// AliasQuery::default().run(&store.snapshot(), &Progress::default(), |site| {
///     sites.push(site);
///     ControlFlow::Continue(())
/// })?;
/// let declared = &sites[0].declared;
/// assert_eq!((declared.canonicals, declared.near, declared.different), (2, 1, 1));
/// assert_eq!(declared.wrong[0].other, "https://example.com/hats");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeclaredUrls {
    /// The number of pages that declare the URL of another page as canonical.
    pub canonicals: u64,
    /// The number of these pages whose content is near the content of the canonical page.
    pub near: u64,
    /// The number of these pages whose content differs from the content of the canonical page.
    /// The content of the other pages cannot be compared: the canonical page is unknown or outside
    /// of the prefix, or one of the two pages has no fingerprint.
    pub different: u64,
    /// The number of pages that redirect to another page.
    pub redirects: u64,
    /// The pages whose content differs from the content of their canonical page, which is `first`:
    /// the first 1,024 in SURT order.
    pub wrong: Vec<AliasPair>,
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
    /// The number of pages that redirect to another URL of the site, where the rule, alone or with
    /// other rules, explains the difference between the two URLs. The rule
    /// [holds](AliasCount::holds) if pairs and redirects together are enough, and the share of near
    /// pairs suffices.
    pub redirects: u64,
    /// The number of pages that declare a canonical URL of the site, where the rule explains the
    /// difference between the two URLs, and the two contents are near.
    pub canonicals: u64,
    /// The number of pages of this kind whose content is not near the canonical page.
    pub contradicted: u64,
    /// Visits to the redundant and redirecting pages: visits that the rule would have saved.
    pub visits: u64,
    /// Near pairs from different groups, sampled by hash. Only for the 128 rules of a site with the
    /// most pairs.
    pub examples: Vec<AliasPair>,
    /// Pairs that are not near, sampled in the same way.
    pub exceptions: Vec<AliasPair>,
}

impl AliasCount {
    /// The share of near pairs. Without pairs it is 1 if there are redirects, and 0 otherwise.
    ///
    /// Redirects do not raise the share of compared pairs. A site may redirect each expired page to
    /// its start page, and such redirects say nothing about the pages that still have content.
    pub fn share(&self) -> f64 {
        match self.pairs {
            0 => f64::from(u8::from(self.redirects > 0)),
            pairs => self.near as f64 / pairs as f64,
        }
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
    /// The number of [pairs](AliasCount::pairs) of the rules that hold, without redirects.
    pub pairs: u64,
    /// The number of [visits](AliasCount::visits) that the rules that hold would have saved.
    pub visits: u64,
    /// The number of pages with a [canonical URL](DeclaredUrls::canonicals), in all sites with a
    /// compared page.
    pub canonicals: u64,
    /// The number of these pages with [near](DeclaredUrls::near) content.
    pub canonicals_near: u64,
    /// The number of these pages with [different](DeclaredUrls::different) content.
    pub canonicals_different: u64,
    /// The number of pages that [redirect](DeclaredUrls::redirects), in the same sites.
    pub redirects: u64,
}

impl AliasTotals {
    pub(super) fn add(&mut self, site: &AliasSite) {
        self.sites += 1;
        self.pages += site.pages;
        self.skipped += site.skipped;
        self.sampled += u64::from(site.sampled < 1.0);
        self.canonicals += site.declared.canonicals;
        self.canonicals_near += site.declared.near;
        self.canonicals_different += site.declared.different;
        self.redirects += site.declared.redirects;
        let holding = || site.rules.iter().filter(|rule| rule.holds);
        self.sites_with_rules += u64::from(holding().next().is_some());
        for rule in holding() {
            self.rules += 1;
            self.pairs += rule.pairs;
            self.visits += rule.visits;
        }
    }
}
