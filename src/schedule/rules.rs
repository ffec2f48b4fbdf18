//! Rules for the pages under prefixes, and the selection of the rule of a page.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::order::sort_few_by;
use crate::page::{Prefix, surt};
use crate::recrawl::{Interval, Policy};

/// Rules for pages under prefixes. The rule with the longest prefix applies alone. An option that
/// this rule does not set is not taken from a rule with a shorter prefix.
///
/// The rules take some 250 bytes per rule. A clone shares the memory.
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::due::{Rule, Rules};
/// # fn main() -> simkeep::Result<()> {
/// let rules = Rules::new([
///     Rule::everywhere().max("30d".parse()?),
///     Rule::under(Prefix::parse("example.com")?).weight(2.0),
///     Rule::under(Prefix::parse("example.com/news")?).max("6h".parse()?),
/// ])?;
/// assert_eq!(rules.of("https://www.example.com/about").weight, 2.0);
/// assert_eq!(rules.of("https://example.com/news/today").weight, 1.0);
/// assert_eq!(rules.of("https://example.org/").under, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    /// The rule for all pages first, then the other rules sorted by prefix.
    rules: Arc<Vec<Rule>>,
    /// The keys at which another rule takes effect, in SURT order.
    edges: Arc<Vec<RuleEdge>>,
}

/// The index of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RuleNumber(u32);

impl RuleNumber {
    /// The rule for pages without another rule.
    pub(super) const EVERYWHERE: RuleNumber = RuleNumber(0);
}

/// A key at which another rule takes effect: the start or the end of a prefix's range.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleEdge {
    /// The rule whose range starts or ends at the key.
    of: RuleNumber,
    /// Whether the range ends at the key.
    ends: bool,
    holds: RuleNumber,
}

impl RuleEdge {
    /// Returns the rule that applies from this key.
    pub(super) fn holds(&self) -> RuleNumber {
        self.holds
    }
}

/// The reason why rules are invalid.
///
/// ```
/// use simkeep::due::{Rule, Rules, RulesError};
/// let error = Rules::new([Rule::everywhere(), Rule::everywhere().weight(2.0)]).unwrap_err();
/// assert!(matches!(error, RulesError::Twice { under: None, first: 1, second: 2 }));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RulesError {
    /// A rule has an invalid value.
    Rule {
        /// The number of the rule, counted from 1.
        nth: usize,
        /// The invalid option.
        cause: Error,
    },
    /// Two rules have the same prefix.
    Twice {
        /// The prefix of the two rules; `None` if both rules are for all pages.
        under: Option<Prefix>,
        /// The number of the first of the two rules, counted from 1.
        first: usize,
        /// The number of the second of the two rules, counted from 1.
        second: usize,
    },
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RulesError::Rule { nth, cause } => write!(f, "rule {nth}: {cause}"),
            RulesError::Twice { under, first, second } => {
                write!(f, "rules {first} and {second} both apply to ")?;
                match under {
                    Some(prefix) => write!(f, "{prefix}")?,
                    None => f.write_str("all pages")?,
                }
                f.write_str("; merge them into one rule")
            }
        }
    }
}

impl std::error::Error for RulesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RulesError::Rule { cause, .. } => Some(cause),
            RulesError::Twice { .. } => None,
        }
    }
}

impl From<RulesError> for Error {
    /// Converts invalid rules to [`Error::InvalidArgument`].
    fn from(error: RulesError) -> Error {
        Error::invalid_argument(error.to_string())
    }
}

impl Default for Rules {
    /// Returns an empty set of rules.
    fn default() -> Rules {
        Rules { rules: Arc::new(vec![Rule::everywhere()]), edges: Arc::default() }
    }
}

impl Rules {
    /// Collects rules in any order. Takes the time to sort the rules by prefix.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::due::{Rule, Rules};
    /// let news = || Rule::under(Prefix::parse("example.com/news").unwrap());
    /// assert!(Rules::new([Rule::everywhere(), news().weight(2.0)]).is_ok());
    /// assert!(Rules::new([news(), news()]).is_err()); // the same prefix twice
    /// assert!(Rules::new([news().weight(-1.0)]).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// If a rule has a weight outside 1e-100 to 1e100, or a `min` above its `max`; or if two rules
    /// have the same prefix. The error numbers the rules from 1.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Result<Rules, RulesError> {
        let mut numbered = Vec::new();
        for (nth, rule) in (1..).zip(rules) {
            rule.check().map_err(|cause| RulesError::Rule { nth, cause })?;
            numbered.push((nth, rule));
        }
        // A stable sort, so of two rules with the same prefix the caller's first rule stays first.
        sort_few_by(&mut numbered, |(_, a), (_, b)| start(a).cmp(&start(b)));
        let pairs = numbered.windows(2).filter_map(|pair| match pair {
            [(first, one), (second, other)] if one.under == other.under => {
                Some((*second, *first, one))
            }
            _ => None,
        });
        // Reports the first conflict in the caller's order, not in the order of prefixes.
        if let Some((second, first, rule)) = pairs.min_by_key(|(second, ..)| *second) {
            return Err(RulesError::Twice { under: rule.under.clone(), first, second });
        }
        // `None` sorts before all prefixes, so rule 0 is always the rule for all pages.
        let everywhere = match numbered.first() {
            Some((_, first)) if first.under.is_none() => None,
            _ => Some(Rule::everywhere()),
        };
        let rules = numbered.into_iter().map(|(_, rule)| rule);
        let rules: Vec<Rule> = everywhere.into_iter().chain(rules).collect();
        let edges = edges(&rules);
        Ok(Rules { rules: Arc::new(rules), edges: Arc::new(edges) })
    }

    /// Returns the rule of a page; without a matching rule, a rule without options.
    ///
    /// Takes logarithmic time in the number of rules.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::due::{Rule, Rules};
    /// # fn main() -> simkeep::Result<()> {
    /// let docs = Rule::under(Prefix::parse("example.com/docs")?).weight(2.0);
    /// let rules = Rules::new([Rule::everywhere().weight(0.5), docs])?;
    /// assert_eq!(rules.of("https://example.com/docs/a").weight, 2.0);
    /// assert_eq!(rules.of("https://example.com/").weight, 0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(&self, url: &str) -> &Rule {
        self.get(self.number_of(url))
    }

    /// Returns the index of the rule of a page.
    pub(super) fn number_of(&self, url: &str) -> RuleNumber {
        if self.edges.is_empty() {
            return RuleNumber::EVERYWHERE;
        }
        let key = surt::key_of(url);
        // The last edge at or before the key decides, since edges already reflect the nesting.
        let passed = self.edges.partition_point(|edge| self.key(edge) <= key.as_slice());
        let last = passed.checked_sub(1).and_then(|last| self.edges.get(last));
        last.map_or(RuleNumber::EVERYWHERE, |edge| edge.holds)
    }

    #[expect(clippy::indexing_slicing, reason = "a number is that of a rule")]
    pub(super) fn get(&self, number: RuleNumber) -> &Rule {
        &self.rules[number.0 as usize]
    }

    /// Returns all rules.
    pub(super) fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the keys at which another rule takes effect, in SURT order.
    pub(super) fn edges(&self) -> &[RuleEdge] {
        &self.edges
    }

    /// Returns the key of an edge.
    #[expect(clippy::expect_used, reason = "only ranges have edges")]
    pub(super) fn key(&self, edge: &RuleEdge) -> &[u8] {
        let (start, end) = range(self.get(edge.of)).expect("the rule has a prefix");
        if edge.ends { end } else { start }
    }
}

/// Returns the key range of a rule; `None` if the rule is for all pages.
fn range(rule: &Rule) -> Option<(&[u8], &[u8])> {
    rule.under.as_ref().map(Prefix::range)
}

/// Returns the sort key of a rule: the rule for all pages comes first.
fn start(rule: &Rule) -> Option<&[u8]> {
    range(rule).map(|(start, _)| start)
}

/// Computes the keys at which rules take effect. The rules are sorted, and their ranges are nested
/// or disjoint.
fn edges(rules: &[Rule]) -> Vec<RuleEdge> {
    let mut edges = Vec::with_capacity(2 * rules.len());
    // A sweep with a stack of the open ranges, the innermost range last. The ranges belong to
    // prefixes, so they nest or are disjoint.
    let mut open: Vec<(RuleNumber, &[u8])> = Vec::new();
    let outer = |open: &[(RuleNumber, &[u8])]| {
        open.last().map_or(RuleNumber::EVERYWHERE, |(rule, _)| *rule)
    };
    for (of, rule) in (0..).map(RuleNumber).zip(rules) {
        let Some((start, end)) = range(rule) else { continue };
        // At the end of a range, the enclosing rule applies again.
        while let Some((ended, _)) = open.pop_if(|(_, end)| *end <= start) {
            edges.push(RuleEdge { of: ended, ends: true, holds: outer(&open) });
        }
        edges.push(RuleEdge { of, ends: false, holds: of });
        open.push((of, end));
    }
    while let Some((ended, _)) = open.pop() {
        edges.push(RuleEdge { of: ended, ends: true, holds: outer(&open) });
    }
    edges
}

/// Options for visits to the pages under a prefix, or to all pages. [`Rules`](super::Rules) selects
/// the rule of a page.
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::due::Rule;
/// # fn main() -> simkeep::Result<()> {
/// let news = Rule::under(Prefix::parse("example.com/news")?)
///     .min("1h".parse()?)
///     .max("7d".parse()?)
///     .weight(2.0)
///     .per_host(100)
///     .policy("harmonic".parse()?);
/// assert_eq!(news.weight, 2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// The prefix of the pages; `None` for all pages.
    pub under: Option<Prefix>,
    /// The minimum time between two visits. Default: none.
    pub min: Option<Interval>,
    /// The maximum time between two visits. After this time, the page comes before other pages, the
    /// most overdue page first. Default: none.
    pub max: Option<Interval>,
    /// A factor for the weight of a page. Default: 1.
    pub weight: f64,
    /// The maximum number of pages of one host in a result, counted within this rule. With 0, the
    /// pages of the rule are left out. Default: no limit.
    pub per_host: Option<usize>,
    /// The policy that orders the pages. Default: the policy of the query.
    pub policy: Option<Policy>,
}

impl Rule {
    /// Returns a rule without options for the pages under a prefix.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::due::Rule;
    /// # fn main() -> simkeep::Result<()> {
    /// let rule = Rule::under(Prefix::parse("example.com/news")?);
    /// assert_eq!((rule.weight, rule.max), (1.0, None)); // without options
    /// # Ok(())
    /// # }
    /// ```
    pub fn under(prefix: Prefix) -> Rule {
        Rule { under: Some(prefix), ..Rule::everywhere() }
    }

    /// Returns a rule without options for all pages that match no other rule.
    ///
    /// ```
    /// use simkeep::due::Rule;
    /// # fn main() -> simkeep::Result<()> {
    /// let rule = Rule::everywhere().max("30d".parse()?);
    /// assert_eq!(rule.under, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn everywhere() -> Rule {
        Rule { under: None, min: None, max: None, weight: 1.0, per_host: None, policy: None }
    }

    /// Sets [`min`](field@Rule::min).
    #[must_use]
    pub fn min(self, min: Interval) -> Rule {
        Rule { min: Some(min), ..self }
    }

    /// Sets [`max`](field@Rule::max); at least [`min`](field@Rule::min).
    #[must_use]
    pub fn max(self, max: Interval) -> Rule {
        Rule { max: Some(max), ..self }
    }

    /// Sets [`weight`](field@Rule::weight); from 1e-100 to 1e100.
    #[must_use]
    pub fn weight(self, weight: f64) -> Rule {
        Rule { weight, ..self }
    }

    /// Sets [`per_host`](field@Rule::per_host). With 0, no page of the rule is returned or leased,
    /// for example while a host asks for a pause. A rule with a longer prefix still returns its
    /// pages. A [`Plan`](super::Plan) does not leave out the pages of the rule.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::Prefix;
    /// use simkeep::due::{Due, Rule, Rules};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for (url, fingerprint) in [("https://example.com/", 0x00), ("https://example.org/", !0)] {
    ///     store.observe(Observation::content(url, start, fingerprint, store.change_epoch()))?;
    /// }
    /// let rules = Rules::new([Rule::under(Prefix::parse("example.com")?).per_host(0)])?;
    /// let due = Due::new(start + Duration::from_secs(30 * 86_400), 100).rules(&rules);
    /// let pages: Vec<_> = store.snapshot().due(&due).collect::<Result<_, _>>()?;
    /// assert_eq!((pages.len(), pages[0].page.url.as_str()), (1, "https://example.org/"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn per_host(self, per_host: usize) -> Rule {
        Rule { per_host: Some(per_host), ..self }
    }

    /// Sets [`policy`](field@Rule::policy).
    #[must_use]
    pub fn policy(self, policy: Policy) -> Rule {
        Rule { policy: Some(policy), ..self }
    }

    /// Whether the rule leaves out its pages.
    #[inline]
    pub(super) fn excludes(&self) -> bool {
        self.per_host == Some(0)
    }

    /// Checks that the values are valid.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name, takes| Err(Error::InvalidOption { name, takes });
        // The limits ensure that the product with any weight of a page is positive and finite.
        if !(1e-100..=1e100).contains(&self.weight) {
            return wrong("weight", "from 1e-100 to 1e100");
        }
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => wrong("min", "at most max"),
            _ => Ok(()),
        }
    }
}

/// The rules of the pages of a component. A page is identified by its number in SURT order.
#[derive(Debug, Default)]
pub(super) struct RulesByPage {
    /// The pages at which another rule takes effect, sorted. The rule for all pages applies before
    /// the first of these pages.
    from: Vec<(u32, RuleNumber)>,
}

impl RulesByPage {
    /// Finds the rules of `pages`; `bound` returns the first page whose key is not before the given
    /// key.
    ///
    /// Calls `bound` at most once for each edge, and not much more often than there are pages:
    /// `bound` is not called for an edge between two edges with the same bound.
    pub(super) fn new(
        rules: &Rules,
        pages: Range<u32>,
        mut bound: impl FnMut(&[u8]) -> Result<u32>,
    ) -> Result<RulesByPage> {
        let mut held = RulesByPage::default();
        let mut bound = |edge: &RuleEdge| bound(rules.key(edge));
        held.find(rules.edges(), pages, &mut bound)?;
        Ok(held)
    }

    /// Finds the positions of edges among `pages`.
    fn find(
        &mut self,
        edges: &[RuleEdge],
        pages: Range<u32>,
        bound: &mut impl FnMut(&RuleEdge) -> Result<u32>,
    ) -> Result<()> {
        if pages.is_empty() {
            // All these edges lie before one page, so the last edge decides, and no edge is looked
            // up.
            if let Some(last) = edges.last() {
                self.hold(pages.start, last.holds());
            }
            return Ok(());
        }
        let (before, others) = edges.split_at(edges.len() / 2);
        let Some((middle, after)) = others.split_first() else { return Ok(()) };
        // Bisects the edges: if no page lies between two edges, the edges between them are not
        // looked up.
        let at = bound(middle)?.clamp(pages.start, pages.end);
        self.find(before, pages.start..at, bound)?;
        self.hold(at, middle.holds());
        self.find(after, at..pages.end, bound)
    }

    /// Sets the rule for the pages from `page`. If several edges lie at one page, the last one
    /// counts.
    fn hold(&mut self, page: u32, rule: RuleNumber) {
        match self.from.last_mut() {
            Some(last) if last.0 == page => last.1 = rule,
            _ => self.from.push((page, rule)),
        }
    }

    /// Returns the rule of a page.
    #[inline]
    pub(super) fn at(&self, page: u32) -> RuleNumber {
        let passed = self.from.partition_point(|(from, _)| *from <= page);
        let last = passed.checked_sub(1).and_then(|last| self.from.get(last));
        last.map_or(RuleNumber::EVERYWHERE, |(_, rule)| *rule)
    }
}
