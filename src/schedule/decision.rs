//! What is decided about a page, and why.

use std::fmt;

use crate::engine::answer::Page;
use crate::page::Prefix;
use crate::recrawl::{Interval, Rate};
use crate::time::Time;

/// What is decided about a page: what a visit to it is worth, when it is due, and why.
///
/// For people, its `Display` says it in words and figures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The page, with its last visit, and with what its visits tell of how it
    /// [changes](Page::changes).
    pub page: Page,
    /// What the [policy](crate::recrawl::Policy) makes of it now. By the crawl value that is what a
    /// visit is worth: the days for which it makes the page fresh, times its weight. A page that is gone
    /// counts for an eighth, and one that another [leads](field@Decision::near) for a quarter.
    pub value: f64,
    /// How often it is believed to change.
    pub rate: Rate,
    /// How much it matters: its weight, with the factor of its rule. What is made of that if the page is
    /// gone, or if another leads it, is not in it.
    pub weight: f64,
    /// When it is due by a [`Plan`](super::Plan), in milliseconds since 1970: that may be past. `None`
    /// without a plan, and if it is at the end of all time.
    pub due: Option<Time>,
    /// How long after its last visit that is, if no visit fails; `None` without a plan.
    pub every: Option<Interval>,
    /// The prefix of the [rule](super::Rule) that it goes by, if it is not one for all pages.
    pub rule: Option<Prefix>,
    /// The page that leads it, if any does: of the pages near it, the one that was first visited with
    /// the content that it has in force, if that was before this one was, and in SURT order if at the
    /// same time. None is looked for unless the policy goes by what a visit is worth.
    ///
    /// Pages are near within the distance of the store ([`Options::near_distance`]), whether their
    /// content is the same or nearly so. Of those near the nearest 16 are looked at; of more with just
    /// this fingerprint the first 17 in SURT order, of which one leads all others. As any search, this
    /// one gives up in a crowd of pages that had such content once and have other content now.
    ///
    /// [`Options::near_distance`]: crate::Options::near_distance
    pub near: Option<String>,
    /// What decides.
    pub reason: Reason,
}

/// What decides when a page is visited.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// What a visit is worth by now, or by its policy the time since the last one.
    Worth,
    /// A hint says that it has changed since its last visit.
    Hinted {
        /// When it changed, in milliseconds since 1970, to the second.
        changed: Time,
    },
    /// It was not visited for so long that it comes first.
    Overdue {
        /// How long it may be left unvisited.
        after: Interval,
    },
    /// Its rule has it not visited before this time after its last visit.
    NotYet {
        /// The least time between two visits.
        min: Interval,
    },
    /// Its last visits failed, and it is left alone until this time, in milliseconds since 1970.
    LeftAlone {
        /// When it is as if they had not failed.
        until: Time,
    },
    /// Its last visit lies in the future, so nothing is known of the time since.
    Ahead,
}

/// What a page that nobody has visited is worth: from
/// [`Plan::of_new`](crate::due::Plan::of_new).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewPage {
    /// What a visit is worth, as of a page that was not visited for the largest interval: it is compared
    /// with the [value](Decision::value) of others.
    pub value: f64,
    /// How often it is believed to change, by the pages of its host.
    pub rate: Rate,
    /// How much it matters, by its rule.
    pub weight: f64,
    /// How often it is going to be visited.
    pub every: Interval,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Worth => f.write_str("by what a visit is worth"),
            Reason::Hinted { changed } => write!(f, "said to have changed at {}", changed),
            Reason::Overdue { after } => write!(f, "not visited for more than {after}"),
            Reason::NotYet { min } => write!(f, "not to be visited within {min} of its last visit"),
            Reason::LeftAlone { until } => {
                write!(f, "failed when last visited, and left alone until {}", until)
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
            write!(f, ", as it weighs a quarter beside {leader}")?;
        }
        let (changes, returns) = (page.changes.changes(), page.changes.returns());
        match page.changes.comparisons() {
            0 => f.write_str("; no two visits of it were compared")?,
            all => write!(f, "; {changes} of {all} comparisons found it changed")?,
        }
        if returns > 0 {
            write!(f, ", {returns} found it back at an earlier version")?;
        }
        let [per_day, low, high] = [rate.per_day, rate.low, rate.high].map(Figure);
        write!(f, "; {per_day} changes a day ({low} to {high})")?;
        match self.due {
            Some(due) => write!(f, "; due at {}", due),
            None => Ok(()),
        }
    }
}

/// Writes what a visit is worth with a number of decimals, or with two digits if it is very small or
/// large.
pub(super) fn legible(value: f64, decimals: usize) -> String {
    // Weights have any unit, so a value has any magnitude.
    if value == 0.0 || value.is_infinite() || (1e-4..1e9).contains(&value) {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.1e}")
    }
}

/// A rate with two digits that tell at least, however slow it is.
struct Figure(f64);

impl fmt::Display for Figure {
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
    fn worths_of_any_unit_are_short() {
        let told = [0.0, 12.3, 0.004, 1e-30, 6.7e32, f64::INFINITY].map(|v| legible(v, 2));
        assert_eq!(told, ["0.00", "12.30", "0.00", "1.0e-30", "6.7e32", "inf"]);
    }

    #[test]
    fn slow_rates_are_told_apart() {
        let told = [12.3, 1.0, 0.5, 0.25, 0.034, 0.0017, 0.000_002].map(|r| Figure(r).to_string());
        assert_eq!(told, ["12.30", "1.00", "0.50", "0.25", "0.034", "0.0017", "0.0000020"]);
    }
}
