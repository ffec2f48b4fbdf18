//! The query for due pages: time, budget, policy, and limits.

use super::hints::Hints;
use super::learned::LearnedPriors;
use super::rules::Rules;
use crate::page::Prefix;
use crate::recrawl::{Interval, Policy};
use crate::time::Time;

/// A query for the pages to visit next, for [`Snapshot::due`](crate::Snapshot::due).
///
/// ```
/// use simkeep::{Prefix, Time};
/// use simkeep::due::Due;
/// # fn main() -> simkeep::Result<()> {
/// let news = Due::new(Time::now(), 5_000)
///     .policy("harmonic".parse()?)
///     .under(Prefix::parse("example.com/news")?)
///     .per_host(100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Due {
    pub(super) now: Time,
    pub(super) budget: usize,
    pub(super) policy: Policy,
    pub(super) under: Option<Prefix>,
    pub(super) per_host: usize,
    pub(super) largest_interval: Option<Interval>,
    pub(super) learned: Option<LearnedPriors>,
    pub(super) threshold: Option<f64>,
    pub(super) rules: Rules,
    pub(super) hints: Option<Hints>,
    pub(super) memory_bytes: usize,
}

impl Due {
    /// Creates a query for the `budget` most valuable pages at time `now`, by the policy `value`.
    ///
    /// ```
    /// # use simkeep::{Options, Store, Time};
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let due = Due::new(Time::now(), 100);
    /// assert_eq!(store.snapshot().due(&due).count(), 0); // an empty store has no pages
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(now: impl Into<Time>, budget: usize) -> Due {
        Due {
            now: now.into(),
            budget,
            policy: Policy::default(),
            under: None,
            per_host: usize::MAX,
            largest_interval: None,
            learned: None,
            threshold: None,
            rules: Rules::default(),
            hints: None,
            memory_bytes: 64 << 20,
        }
    }

    /// Sets the time.
    #[must_use]
    pub fn now(self, now: impl Into<Time>) -> Due {
        Due { now: now.into(), ..self }
    }

    /// Sets the maximum number of pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for (path, fingerprint) in [("a", 0x00), ("b", 0xffff), ("c", !0)] {
    ///     let url = format!("https://example.com/{path}");
    ///     store.observe(Observation::content(&url, start, fingerprint, store.change_epoch()))?;
    /// }
    /// let due = Due::new(start + Duration::from_secs(30 * 86_400), 100);
    /// assert_eq!(store.snapshot().due(&due.clone()).count(), 3);
    /// assert_eq!(store.snapshot().due(&due.budget(2)).count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn budget(self, pages: usize) -> Due {
        Due { budget: pages, ..self }
    }

    /// Sets the policy that orders the pages. Default: `value`.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let seen = Observation::content("https://example.com/", start, 7, store.change_epoch());
    /// store.observe(seen)?;
    /// let now = start + Duration::from_secs(14 * 86_400);
    /// // Two weeks are twice the interval of this policy.
    /// let due = Due::new(now, 1).policy("fixed:7d".parse()?);
    /// assert_eq!(store.snapshot().due(&due).next().unwrap()?.value, 2.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn policy(self, policy: Policy) -> Due {
        Due { policy, ..self }
    }

    /// Restricts the query to pages under a prefix.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for (url, fingerprint) in [("https://example.com/", 0x00), ("https://example.org/", !0)] {
    ///     store.observe(Observation::content(url, start, fingerprint, store.change_epoch()))?;
    /// }
    /// let now = start + Duration::from_secs(30 * 86_400);
    /// let due = Due::new(now, 100).under(Prefix::parse("example.org")?);
    /// let pages: Vec<_> = store.snapshot().due(&due).collect::<Result<_, _>>()?;
    /// assert_eq!((pages.len(), pages[0].page.url.as_str()), (1, "https://example.org/"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under(self, prefix: Prefix) -> Due {
        Due { under: Some(prefix), ..self }
    }

    /// Returns at most `pages` pages of each host. Takes memory for each host in the result.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for (page, fingerprint) in [("com/a", 0x00), ("com/b", 0xffff), ("org/", !0)] {
    ///     let url = format!("https://example.{page}");
    ///     store.observe(Observation::content(&url, start, fingerprint, store.change_epoch()))?;
    /// }
    /// let due = Due::new(start + Duration::from_secs(30 * 86_400), 100).per_host(1);
    /// assert_eq!(store.snapshot().due(&due).count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn per_host(self, pages: usize) -> Due {
        Due { per_host: pages, ..self }
    }

    /// Sets the maximum time between visits. Pages unvisited for longer come first, the most
    /// overdue at the front, whatever their value. Default: 365 days.
    ///
    /// By their value alone, two kinds of pages would be visited very seldom: pages that change
    /// faster than visits can follow, and pages that never change.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::{Due, Reason};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let seen = Observation::content("https://example.com/", start, 7, store.change_epoch());
    /// store.observe(seen)?;
    /// let now = start + Duration::from_secs(8 * 86_400);
    /// let due = Due::new(now, 1).largest_interval("7d".parse()?);
    /// let decision = store.snapshot().due(&due).next().unwrap()?;
    /// assert_eq!(decision.reason, Reason::Overdue { after: "7d".parse()? });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn largest_interval(self, interval: Interval) -> Due {
        Due { largest_interval: Some(interval), ..self }
    }

    /// Sets the priors for the change rates of pages. Default: the priors
    /// [learned](crate::due::LearnedPriors::of) from all pages of the snapshot, once for the
    /// snapshot and its clones.
    ///
    /// A program that queries new snapshots often can reuse priors for an hour.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::{Due, LearnedPriors};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let learned = LearnedPriors::of(&store.snapshot())?; // once an hour
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let due = Due::new(Time::now(), 100).learned(&learned);
    /// assert_eq!(store.snapshot().due(&due).count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn learned(self, learned: &LearnedPriors) -> Due {
        Due { learned: Some(learned.clone()), ..self }
    }

    /// Sets rules for the pages under prefixes. Options that a rule does not set come from this
    /// query.
    ///
    /// A page is not returned before the `min` of its rule has passed since its last visit. A page
    /// counts as unvisited for the [largest interval](Due::largest_interval) after the `max` of its
    /// rule. The same applies after the interval of its rule's policy, if the policy has an
    /// interval. The weight of the page is multiplied by the weight of the rule. Scores of
    /// different policies are compared without conversion. Pages of a rule with `per_host` are
    /// counted separately.
    ///
    /// Costs time and up to 16 bytes for each rule in each segment, except in segments without
    /// pages near the prefix. Reads each page whose rule has a policy that uses the order of
    /// comparisons.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::{Due, Reason, Rule, Rules};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let url = "https://example.com/news";
    /// store.observe(Observation::content(url, start, 7, store.change_epoch()))?;
    /// let news = Rule::under(Prefix::parse("example.com/news")?).max("6h".parse()?);
    /// let now = start + Duration::from_secs(86_400);
    /// let due = Due::new(now, 1).rules(&Rules::new([news])?);
    /// let decision = store.snapshot().due(&due).next().unwrap()?;
    /// assert_eq!(decision.reason, Reason::Overdue { after: "6h".parse()? });
    /// assert_eq!(decision.rule.unwrap().to_string(), "example.com/news");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rules(self, rules: &Rules) -> Due {
        Due { rules: rules.clone(), ..self }
    }

    /// Sets hints: times when pages changed. Hints count only for policies that use the value of a
    /// visit: `value`, `crawl-value` and `harmonic`. A hinted page has the value that
    /// [`Hints::worth`] returns. While a page fails, its last successful visit counts as its last
    /// visit.
    ///
    /// Reads the URLs of pages that may have hints.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::{Due, Hints, Reason};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let (url, day) = ("https://example.com/", Duration::from_secs(86_400));
    /// store.observe(Observation::content(url, start, 7, store.change_epoch()))?;
    /// // The sitemap of the site reports a change.
    /// let hints = Hints::of(&store.snapshot(), [(url, start + day)])?;
    /// let due = Due::new(start + 2 * day, 1).hints(&hints);
    /// let decision = store.snapshot().due(&due).next().unwrap()?;
    /// assert_eq!(decision.reason, Reason::Hinted { changed: start + day });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn hints(self, hints: &Hints) -> Due {
        Due { hints: Some(hints.clone()), ..self }
    }

    /// Sets the memory for selected pages. Default: 64 MiB, enough for some hundred thousand pages.
    /// For larger budgets, all rows are read again each time the memory fills; policies that use
    /// the order of comparisons also read all their pages again. If the policy uses the value of a
    /// visit, a quarter of the memory is for pages that other pages lead.
    #[must_use]
    pub fn memory_bytes(self, bytes: usize) -> Due {
        Due { memory_bytes: bytes, ..self }
    }

    /// Whether some policy uses the value of a visit, so that leaders matter.
    pub(super) fn uses_leaders(&self) -> bool {
        self.policies().any(|policy| policy.index().is_some())
    }

    fn policies(&self) -> impl Iterator<Item = Policy> {
        // A rule without a policy uses the policy of the query.
        self.rules.all().iter().filter_map(|rule| rule.policy).chain([self.policy])
    }

    /// Returns the largest interval.
    pub(super) fn largest(&self) -> Interval {
        self.largest_interval.unwrap_or(Interval::YEAR)
    }
}
