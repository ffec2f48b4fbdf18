//! Simulates policies on pages with known changes.
//!
//! A simulated crawler visits pages in the order of a [`Decider`], within a [`Budget`], and
//! [`crawl`](fn@crawl) measures the freshness of the pages. All deciders get the same pages, the
//! same visits a day and the same steps. [`RandomPage`]s change by a [`ChangeProcess`], at rates
//! drawn from [`Rates`]; the pages of a store are [replayed](crate::Snapshot::replay). Any other
//! [`SimulatedPage`] can be crawled as well.
//!
//! The upper bounds for a crawl are computed from the true rates:
//! [`fixed_intervals`](super::fixed_intervals), [`random_times`](super::random_times) and
//! [`few_misses`](super::few_misses).
//!
//! Results are equal on every machine, and a seed determines the pages.

mod crawl;
mod decider;
mod discovered_page;
mod learned;
mod measure;
mod page;
mod pick;
mod process;
mod random;
mod random_page;
mod rates;
mod span;

pub use crawl::crawl;
pub use decider::{Decider, Learning};
pub use measure::SimulationResult;
pub use page::{Comparisons, Notes, SimulatedPage, VersionDifference};
pub use process::ChangeProcess;
pub use random_page::RandomPage;
pub use rates::Rates;
pub use span::{Budget, Span};
