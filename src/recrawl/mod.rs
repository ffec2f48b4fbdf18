//! When to visit a page again: how often it changes, and what a visit is worth.
//!
//! Everything here is a pure function of what it is given: no files, no clock, no randomness. Times are
//! in days and rates in changes a day. Changes of a page are taken for a Poisson process: as likely in
//! one hour as in the next.
//!
//! - [`naive`], [`regular`], [`irregular`] and [`last_modified`] estimate the rate at which a page
//!   changes, each from less regular visits or from more that is known of them.
//! - [`value`] and [`harmonic`] are what a visit is worth for the time since the last one, and
//!   [`interval`] is how long it takes to be worth a threshold. [`hinted`] weighs what a sitemap says.
//! - A [`Belief`] says of each rate how likely it is: a [`Prior`] times the [`Likelihood`] of what was
//!   seen. What a visit is worth is best taken as its expectation over that. A [`Fit`] learns a prior
//!   from many pages, and [`Hosts`] learn one for the pages of each host.
//! - [`simulate`] tries policies on pages whose changes are known.
//! - [`fixed_intervals`], [`random_times`] and [`few_misses`] are the best that a budget can do for
//!   pages whose rates are known: what a policy is measured by.
//! - A [`Policy`] puts pages in order, by name: by what a visit is worth, or by the rules of other
//!   crawlers, from the [`Recent`] comparisons of a page.
//!
//! Results are equal on every machine, to the last bit. They decide which page comes first, so they are
//! made from the arithmetic that IEEE 754 fixes, and not from a system's `exp` and `ln`.
//!
//! ```
//! use simkeep::recrawl::{Change, Comparison, Halves, irregular};
//! # fn main() -> simkeep::Result<()> {
//! let visits = [
//!     Comparison::new(7.0, Change::None)?,
//!     Comparison::new(14.0, Change::Undated)?, // two weeks later it was another
//!     Comparison::new(7.0, Change::None)?,
//! ];
//! let per_day = irregular(&visits, Halves::Unchanged)?;
//! assert!((0.03..0.04).contains(&per_day)); // a change in about four weeks
//! # Ok(())
//! # }
//! ```

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
mod optimum;
mod policy;
mod prior;
mod rate;
mod real;
mod recent;
pub mod simulate;
mod solve;
mod value;
mod worths;

pub(crate) use belief::Odds;
pub use belief::{Belief, Rate};
pub(crate) use budget::spend;
pub(crate) use class::Class;
pub(crate) use code::{Code, Summary, mean_step};
pub(crate) use code::{of_step, step_of};
pub use comparison::{Change, Comparison};
pub use error::RecrawlError;
pub use fit::{Evidence, Fit, Priors};
pub use hosts::Hosts;
pub use interval::Interval;
pub use likelihood::Likelihood;
pub use multiplicative::Schedule;
pub use optimum::{KnownPage, Optimum, few_misses, fixed_intervals, random_times};
pub use policy::{Policy, PolicyInput};
pub use prior::Prior;
pub use rate::{Halves, irregular, last_modified, naive, regular};
pub use recent::Recent;
pub use value::{Index, harmonic, hinted, interval, value};
pub(crate) use worths::{Curve, Worths};
