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
    /// Creates a query for the `budget` most valuable pages at time `now`, by the crawl value.
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
    #[must_use]
    pub fn budget(self, pages: usize) -> Due {
        Due { budget: pages, ..self }
    }

    /// Sets the policy that orders the pages. Default: the crawl value.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Due {
        Due { policy, ..self }
    }

    /// Restricts the query to pages under a prefix.
    #[must_use]
    pub fn under(self, prefix: Prefix) -> Due {
        Due { under: Some(prefix), ..self }
    }

    /// Returns at most `pages` pages of each host. Takes memory for each host in the result.
    #[must_use]
    pub fn per_host(self, pages: usize) -> Due {
        Due { per_host: pages, ..self }
    }

    /// Sets the maximum time between visits. Pages unvisited for longer come first, the most
    /// overdue at the front, whatever their value. Default: 365 days.
    ///
    /// With the crawl value alone, two kinds of pages would never be visited again: pages that
    /// change faster than visits can follow, and pages that never change.
    #[must_use]
    pub fn largest_interval(self, interval: Interval) -> Due {
        Due { largest_interval: Some(interval), ..self }
    }

    /// Sets the priors for the change rates of pages. Default: the priors
    /// [learned](crate::due::LearnedPriors::of) from all pages of the snapshot, once for the
    /// snapshot and its clones.
    ///
    /// A program that queries new snapshots often can reuse priors for an hour.
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
    #[must_use]
    pub fn rules(self, rules: &Rules) -> Due {
        Due { rules: rules.clone(), ..self }
    }

    /// Sets hints: times when pages changed. Hints count only for policies that use the value of a
    /// visit, `value` and `harmonic`. A hinted page has the value that [`Hints::worth`] returns.
    /// While a page fails, its last successful visit counts as its last visit.
    ///
    /// Reads the URLs of pages that may have hints.
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
