//! Which pages are asked for: the time, the budget, the policy, and bounds.

use super::hints::Hints;
use super::learned::Learned;
use super::rules::Rules;
use crate::page::Prefix;
use crate::recrawl::{Interval, Policy};
use crate::time::Time;

/// Which pages to visit next: a question for [`Snapshot::due`](crate::Snapshot::due).
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
    pub(super) learned: Option<Learned>,
    pub(super) threshold: Option<f64>,
    pub(super) rules: Rules,
    pub(super) hints: Option<Hints>,
    pub(super) memory_bytes: usize,
}

impl Due {
    /// Returns the best `budget` pages at a time, by the crawl value.
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

    /// At most so many pages.
    #[must_use]
    pub fn budget(self, pages: usize) -> Due {
        Due { budget: pages, ..self }
    }

    /// What puts pages in order. Default: by the crawl value.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Due {
        Due { policy, ..self }
    }

    /// Only pages under a prefix.
    #[must_use]
    pub fn under(self, prefix: Prefix) -> Due {
        Due { under: Some(prefix), ..self }
    }

    /// Of each host at most so many. Takes memory for each host that pages are returned of.
    #[must_use]
    pub fn per_host(self, pages: usize) -> Due {
        Due { per_host: pages, ..self }
    }

    /// A page that was not visited for this long comes first, whatever a visit is worth; of these the
    /// most overdue. Default: 365 days.
    ///
    /// By the crawl value, pages that surely change faster than visits can follow, and pages that never
    /// change, would otherwise not be visited again.
    #[must_use]
    pub fn largest_interval(self, interval: Interval) -> Due {
        Due { largest_interval: Some(interval), ..self }
    }

    /// What pages are believed to change like, before their own visits are looked at. Default: what is
    /// [learned](crate::due::Learned::of) from all pages of the snapshot, once for it and its clones.
    ///
    /// What a store is asked often, with a new snapshot each time, may as well go by what it told an
    /// hour ago.
    #[must_use]
    pub fn learned(self, learned: &Learned) -> Due {
        Due { learned: Some(learned.clone()), ..self }
    }

    /// Rules for the pages under prefixes. A page that its rule has no word for goes by what is asked
    /// here.
    ///
    /// A page is not returned before the `min` of its rule. Past its `max`, it is as one that was not
    /// visited for the [largest interval](Due::largest_interval), which ends no later; and so it is past
    /// its date, if its rule has a policy with an interval. Its weight is multiplied with that of the
    /// rule. Scores of several policies are compared as they are. If a rule has a `per_host`, its pages
    /// are counted by themselves.
    ///
    /// Takes time for each rule in each segment, and up to 16 bytes, unless no page is near its prefix.
    /// Each page is read whose rule has a policy by the order of comparisons.
    #[must_use]
    pub fn rules(self, rules: &Rules) -> Due {
        Due { rules: rules.clone(), ..self }
    }

    /// What is said of when pages changed. It counts by the policies that go by what a visit is worth,
    /// `value` and `harmonic`: a page that changed is worth what [`Hints::worth`] says. While a page
    /// fails, its last visit is the last one that did not.
    ///
    /// Of the pages that it says something of, the URLs are read.
    #[must_use]
    pub fn hints(self, hints: &Hints) -> Due {
        Due { hints: Some(hints.clone()), ..self }
    }

    /// Memory for the pages that are chosen. Default: 64 MiB, which holds some hundred thousand. If the
    /// budget takes more, all rows are read once more for each time that it fills, and by policies that
    /// go by the order of comparisons all their pages, too. If the policy goes by what a visit is worth,
    /// a quarter of it is for pages that others lead.
    #[must_use]
    pub fn memory_bytes(self, bytes: usize) -> Due {
        Due { memory_bytes: bytes, ..self }
    }

    /// Whether some pages go by what a visit is worth, so that it matters whether others lead them.
    pub(super) fn minds_leaders(&self) -> bool {
        self.policies().any(|policy| policy.index().is_some())
    }

    fn policies(&self) -> impl Iterator<Item = Policy> {
        // A rule without a policy goes by that of the question.
        self.rules.all().iter().filter_map(|rule| rule.policy).chain([self.policy])
    }

    /// The largest interval.
    pub(super) fn largest(&self) -> Interval {
        self.largest_interval.unwrap_or(Interval::YEAR)
    }
}
