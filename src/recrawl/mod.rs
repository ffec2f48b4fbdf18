//! Recrawl scheduling: the change rate of a page, and the value of a visit.
//!
//! All functions of this module are pure: no files, no clock, no randomness. Times are in days, and
//! rates in changes a day. The model for the changes of a page is a Poisson process: a change is
//! equally likely at any time.
//!
//! - [`naive`], [`regular`], [`irregular`] and [`last_modified`] estimate the change rate of a
//!   page. The estimates differ in the regularity of visits and in the information that they need.
//! - [`PriorityIndex::worth`] computes the value of a visit from the time since the last visit.
//!   [`interval`](fn@interval) computes the time until the value reaches a threshold. [`hinted`]
//!   includes a date from a sitemap.
//! - [`PriorityIndex::announced`] includes the [`Announcements`] of sources. [`SourceCounts`] learn how
//!   reliable a source is.
//! - [`Novelty`] is the probability that an unvisited page has content of its own, from the pages with
//!   similar URLs.
//! - A [`Belief`] contains the probability of each rate: a [`Prior`] times the [`Likelihood`] of
//!   the comparisons. The best estimate of a visit's value is the expectation of the value over the
//!   belief. A [`Fit`] learns a prior from many pages, and [`HostPriors`] learns a prior for each host.
//! - [`simulate`] runs policies on pages with known changes.
//! - [`fixed_intervals`], [`random_times`] and [`few_misses`] compute the optimum for pages with
//!   known rates, as a yardstick for policies. [`limited_intervals`] includes limits of hosts.
//! - A [`Policy`] has a name and orders pages. A policy uses the value of a visit, or it implements
//!   the rules of another crawler with the [`RecentComparisons`] comparisons of a page.
//!
//! Results are equal on every machine, to the last bit, since they decide the order of pages. Only
//! operations that IEEE 754 specifies exactly are used, not the system's `exp` and `ln`.
//!
//! ```
//! use simkeep::recrawl::{Change, Comparison, Pseudocounts, irregular};
//! # fn main() -> simkeep::Result<()> {
//! let visits = [
//!     Comparison::new(7.0, Change::None)?,
//!     Comparison::new(14.0, Change::Undated)?, // two weeks later it was another
//!     Comparison::new(7.0, Change::None)?,
//! ];
//! let per_day = irregular(&visits, Pseudocounts::Unchanged)?;
//! assert!((0.03..0.04).contains(&per_day)); // a change in about four weeks
//! # Ok(())
//! # }
//! ```

mod announcement;
mod belief;
mod budget;
mod check;
mod class;
mod code;
mod comparison;
mod error;
mod fit;
mod grid;
mod hosts;
mod interval;
mod likelihood;
mod multiplicative;
mod novelty;
mod optimum;
mod policy;
mod prior;
mod rate;
mod real;
mod recent;
pub mod simulate;
mod solve;
mod value;
mod visit_value_table;

pub use announcement::{Announcements, SourceCounts, SourceReliability};
pub(crate) use belief::Odds;
pub use belief::{Belief, Rate};
pub(crate) use budget::spend;
pub(crate) use class::PriorClass;
pub(crate) use code::{ComparisonCode, ComparisonSummary, mean_step};
pub(crate) use code::{of_step, step_of};
pub(crate) use comparison::HALVED_AT;
pub use comparison::{Change, Comparison};
pub use error::RecrawlError;
pub use fit::{Evidence, Fit, Priors};
pub use hosts::HostPriors;
pub use interval::Interval;
pub use likelihood::Likelihood;
pub use multiplicative::Schedule;
pub use novelty::{FirstVisits, Novelty, novelty_draw};
pub use optimum::{
    KnownHost, KnownPage, LimitedOptimum, Optimum, few_misses, fixed_intervals, limited_intervals,
    random_times,
};
pub use policy::{Policy, PolicyInput};
pub use prior::Prior;
pub use rate::{Pseudocounts, irregular, last_modified, naive, regular};
pub use recent::RecentComparisons;
pub use value::{PriorityIndex, hinted, interval};
pub(crate) use visit_value_table::{ValueCurve, VisitValueTable};
