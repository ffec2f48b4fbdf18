//! Which pages are due: what a visit to each is worth, and the best within a budget.
//!
//! Segments store a row of 16 bytes for each page, in the order of their hashes
//! ([`Row`](crate::segment::Row)). Nothing else is kept for this. A question goes through these steps:
//!
//! 1. [`rows`] reads the rows of all components side by side, by hash. The newest row of a page counts.
//! 2. [`score`] computes what a visit is worth from the row and from the prior of the host, which
//!    [`learned`] estimates from all rows.
//! 3. [`in_order`] keeps the best rows. A cache skips most of them without computing a score. A page is
//!    read here only if its policy needs the last comparisons.
//! 4. [`due_pages`] reads only the best as pages, looks for the page that leads each ([`leader`]), and
//!    decides ([`decide`]).
//!
//! A [`plan`] adds when each page is due. [`lease`] keeps several workers from getting the same page.

mod decide;
mod decision;
mod due;
mod due_pages;
mod hints;
mod in_order;
mod leader;
mod learned;
mod lease;
mod pace;
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
pub use learned::Learned;
pub use plan::Plan;
pub use rules::{Rule, Rules, RulesError};
pub use survey::Survey;
