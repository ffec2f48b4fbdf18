//! The decision about a page, and its reason.

use std::fmt;

use crate::engine::results::Page;
use crate::page::Prefix;
use crate::recrawl::{Interval, Rate};
use crate::time::Time;

/// The decision about a page: the value of a visit, the due time, and the reason.
///
/// `Display` formats the decision as a sentence for people.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::Due;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// const DAY: Duration = Duration::from_secs(86_400);
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// let start = Time::from_ms(1_700_000_000_000)?;
/// for (week, fingerprint) in [(0, 0x00), (1, 0xff), (2, 0xff00)] {
///     store.observe(Observation::content(url, start + 7 * week * DAY, fingerprint, epoch))?;
/// }
/// let decision = store.snapshot().due(&Due::new(start + 30 * DAY, 1)).next().unwrap()?;
/// assert_eq!((decision.page.url.as_str(), decision.page.changes.changes()), (url, 2));
/// assert!(decision.value > 0.0 && decision.rate.per_day > 0.02);
/// println!("{url}: {decision}"); // in a sentence
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The page, with its last visit and its history of [changes](Page::changes).
    pub page: Page,
    /// The value that the [policy](crate::recrawl::Policy) computes now. For `crawl-value`, it is the
    /// number of days for which a visit makes the page fresh, times the page's weight; for `value`,
    /// a tenth of the harmonic index is added. The weight counts an eighth if the page is gone, and
    /// a quarter if another page [leads](field@Decision::near) it.
    pub value: f64,
    /// The estimated change rate.
    pub rate: Rate,
    /// The weight of the page times the factor of its rule. The reductions for a page that is gone
    /// or led are not included.
    pub weight: f64,
    /// The due time by a [`Plan`](super::Plan), in milliseconds since 1970; the due time may be
    /// past. `None` without a plan, or if the due time is after the latest possible time of a
    /// visit.
    pub due: Option<Time>,
    /// The interval from the last visit to the due time if no visit fails; `None` without a plan.
    pub every: Option<Interval>,
    /// The prefix of the page's [rule](super::Rule); `None` if the rule is for all pages.
    pub rule: Option<Prefix>,
    /// The page that leads this page. If this page declares a near page as
    /// [canonical](crate::Observation::canonical), that page leads, unless it points to another page
    /// itself. Otherwise, among near pages, the leader is the page that was first visited with its
    /// current content; of pages visited at the same time, the first in SURT order leads. Pages that
    /// are led by their canonical page lead no page. `None` if this page is the leader, or if the
    /// policy does not use the value of a visit.
    ///
    /// Pages are near if the distance of their contents is at most the near distance of the store
    /// ([`Options::near_distance`]), identical content included. The nearest 16 pages are compared.
    /// If more pages share exactly this fingerprint, the first 17 of them in SURT order are
    /// compared, and the leader of these 17 leads all others. The search stops early if very many
    /// pages had such content once and have other content now.
    ///
    /// [`Options::near_distance`]: crate::Options::near_distance
    pub near: Option<String>,
    /// The reason for the decision.
    pub reason: Reason,
}

/// The reason for a decision.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::{Due, Reason};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// const DAY: Duration = Duration::from_secs(86_400);
/// let start = Time::from_ms(1_700_000_000_000)?;
/// let seen = Observation::content("https://example.com/", start, 7, store.change_epoch());
/// store.observe(seen)?;
/// let due = Due::new(start + 30 * DAY, 1);
/// let reason = |due: &Due| Ok::<_, simkeep::Error>(store.snapshot().due(due).next().unwrap()?.reason);
/// assert_eq!(reason(&due)?, Reason::Worth);
/// let weekly = "7d".parse()?;
/// assert_eq!(reason(&due.largest_interval(weekly))?, Reason::Overdue { after: weekly });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The value of a visit now. If the policy uses the time since the last visit instead, this
    /// time.
    Worth,
    /// A hint reports a change since the last visit.
    Hinted {
        /// The time of the change, in milliseconds since 1970, in whole seconds.
        changed: Time,
    },
    /// The page was unvisited for longer than allowed, so it comes before other pages.
    Overdue {
        /// The maximum time between visits.
        after: Interval,
    },
    /// The rule of the page forbids a visit before a time has passed since the last visit.
    NotYet {
        /// The minimum time between two visits.
        min: Interval,
    },
    /// The last visits failed. The page waits for half of the time for which it has been failing,
    /// but at least for an hour and at most for the [largest interval](super::Due::largest_interval).
    LeftAlone {
        /// The end of the wait, in milliseconds since 1970.
        until: Time,
    },
    /// The last visit lies in the future, so the time since the last visit is unknown.
    Ahead,
}

/// The values of a page without visits, from [`Plan::of_new`](crate::due::Plan::of_new).
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::{Due, Plan};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # const DAY: Duration = Duration::from_secs(86_400);
/// let start = Time::from_ms(1_700_000_000_000)?;
/// for n in 0..100_u64 {
///     let (url, epoch) = (format!("https://example.com/{n}"), store.change_epoch());
///     let fingerprint = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
///     store.observe(Observation::content(&url, start, fingerprint, epoch))?;
///     store.observe(Observation::content(&url, start + 7 * DAY, !fingerprint, epoch))?;
/// }
/// let plan = Plan::of(&store.snapshot(), &Due::new(start + 8 * DAY, 0), 5.0)?;
/// // The pages of this host change often, so a new page probably does, too.
/// let page = plan.of_new("https://example.com/new")?;
/// let other = plan.of_new("https://example.org/new")?;
/// assert!(page.rate.per_day > 0.05 && page.weight == 1.0);
/// # assert!(page.value > 0.0 && other.value > 0.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewPage {
    /// The value of a visit, as if the page was last visited the largest interval ago. The value is
    /// comparable with the [value](Decision::value) of other pages.
    pub value: f64,
    /// The estimated change rate, based on the pages of the same host.
    pub rate: Rate,
    /// The weight that the page's rule sets.
    pub weight: f64,
    /// The interval between visits.
    pub every: Interval,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Worth => f.write_str("by the value of a visit"),
            Reason::Hinted { changed } => write!(f, "a hint says that it changed at {}", changed),
            Reason::Overdue { after } => write!(f, "not visited for more than {after}"),
            Reason::NotYet { min } => {
                write!(f, "no visit is allowed within {min} of its last visit")
            }
            Reason::LeftAlone { until } => {
                write!(f, "its last visit failed, so it is left alone until {}", until)
            }
            Reason::Ahead => f.write_str("its last visit lies in the future"),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decision { page, value, rate, .. } = self;
        write!(f, "{}; a visit is worth {}", self.reason, legible(*value, 2))?;
        if let Some(leader) = &self.near {
            write!(f, ", a quarter of its own value, because {leader} leads its near-duplicates")?;
        }
        let (changes, returns) = (page.changes.changes(), page.changes.returns());
        match page.changes.comparisons() {
            0 => f.write_str("; no two of its visits were compared")?,
            all => write!(f, "; {changes} of {all} comparisons found a change")?,
        }
        if returns > 0 {
            write!(f, ", {returns} found an earlier version again")?;
        }
        let [per_day, low, high] = [rate.per_day, rate.low, rate.high].map(RateDisplay);
        write!(f, "; {per_day} changes a day ({low} to {high})")?;
        match self.due {
            Some(due) => write!(f, "; due at {}", due),
            None => Ok(()),
        }
    }
}

/// Formats a value with `decimals` decimals, or with two significant digits if the value is very
/// small or large.
pub(super) fn legible(value: f64, decimals: usize) -> String {
    // Weights have no fixed unit, so a value may have any magnitude.
    if value == 0.0 || value.is_infinite() || (1e-4..1e9).contains(&value) {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

/// Formats a rate with at least two significant digits, even for a very slow rate.
struct RateDisplay(f64);

impl fmt::Display for RateDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The slowest rate of a belief is 2^-20 a day, about 10^-6, so six zeros are enough.
        let zeros = (0..6).take_while(|zeros| self.0 < 0.1_f64.powi(zeros + 1)).count();
        write!(f, "{:.*}", zeros + 2, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worths_are_short_in_any_unit() {
        let texts = [0.0, 12.3, 0.004, 1e-30, 6.7e32, f64::INFINITY].map(|v| legible(v, 2));
        assert_eq!(texts, ["0.00", "12.30", "0.00", "1.0e-30", "6.7e32", "inf"]);
    }

    #[test]
    fn slow_rates_stay_distinguishable() {
        let texts =
            [12.3, 1.0, 0.5, 0.25, 0.034, 0.0017, 0.000_002].map(|r| RateDisplay(r).to_string());
        assert_eq!(texts, ["12.30", "1.00", "0.50", "0.25", "0.034", "0.0017", "0.0000020"]);
    }
}
