//! Trying policies on pages whose changes are known.
//!
//! A simulated crawler visits pages as a [`Decider`] says, within a [`Budget`], and [`crawl`] measures
//! how fresh its pages are: all deciders with the same pages, the same visits a day and the same steps.
//! [`PoissonPage`]s change as the model says, at rates that [`Rates`] draws; the pages of a store are
//! [replayed](crate::Snapshot::replay). Whatever else is a [`Page`] can be crawled as well.
//!
//! What a crawl can reach at best is worked out beside them, from the true rates: by
//! [`fixed_intervals`](super::fixed_intervals), [`random_times`](super::random_times) and
//! [`few_misses`](super::few_misses).
//!
//! Results are equal on every machine, and a seed names the pages.

mod crawl;
mod decider;
mod learned;
mod measure;
mod page;
mod pick;
mod poisson;
mod random;
mod span;
mod visited;

pub use crawl::crawl;
pub use decider::{Decider, Learning};
pub use measure::Figures;
pub use page::{Comparisons, Difference, Notes, Page};
pub use poisson::{PoissonPage, Rates};
pub use span::{Budget, Span};
