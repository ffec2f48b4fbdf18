//! Due pages: the value of a visit to each page, and the best pages within a budget.
//!
//! Segments store a row of 16 bytes for each page, sorted by URL hash
//! ([`ScheduleRow`](crate::segment::ScheduleRow)). There is no other state for scheduling. A query
//! runs in four steps:
//!
//! 1. [`rows`] merges the rows of all components by hash. The newest row of a page counts.
//! 2. [`score`] computes the value of a visit from the row and from the prior of the host.
//!    [`learned`] estimates the priors from all rows.
//! 3. [`pages_by_score`] keeps the best rows. A cache skips most rows without computing a score. This
//!    step reads a page only if the page's policy needs the last comparisons.
//! 4. [`due_pages`] reads only the best pages, searches the leader of each page ([`leader`]),
//!    and decides about the page ([`decide`]).
//!
//! A [`plan`] adds due times. [`lease`] prevents that several workers get the same page.

mod decide;
mod decision;
mod due;
mod due_pages;
mod hints;
mod leader;
mod learned;
mod lease;
mod pace;
mod pages_by_score;
mod plan;
mod rows;
mod rules;
mod score;
mod sources;
mod survey;

pub use decision::{Decision, NewPage, Reason};
pub use due::Due;
pub use due_pages::DuePages;
pub use hints::Hints;
pub use learned::LearnedPriors;
pub use plan::Plan;
pub use rules::{Rule, Rules, RulesError};
pub use survey::Survey;
