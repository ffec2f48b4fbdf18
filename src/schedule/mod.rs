//! Which pages are due: what a visit to each is worth, and the best within a budget.
//!
//! Nothing is kept for this but a row of 16 bytes for each page of a segment, in the order of its
//! hashes ([`Row`](crate::segment::Row)). The rows that all components have of some hashes are looked at
//! together ([`rows`]), and the [`newest`] of a page counts. What a visit is worth is worked out from
//! the row, and from what was learned of all rows ([`score`], [`learned`]); for nearly all it is seen at
//! a glance that it is too little ([`best`]). Only the best are read as pages ([`pages`]). A [`plan`]
//! adds when each of them is due.

mod best;
mod by_rows;
mod by_scan;
mod candidates;
mod decide;
mod decision;
mod hints;
mod hosts;
mod in_order;
mod leader;
mod learned;
mod lease;
mod newest;
mod options;
mod pace;
mod page_kinds;
mod pages;
mod plan;
mod rows;
mod rule;
mod rules;
mod rules_by_page;
mod score;
mod score_cache;
mod skip_cache;
mod sources;
mod survey;
mod waiting;

pub use decision::{Decision, Reason};
pub use hints::Hints;
pub use learned::Learned;
pub use options::Due;
pub(crate) use pace::pace;
pub use pages::DuePages;
pub use plan::{NewPage, Plan};
pub use rule::Rule;
pub use rules::{Rules, RulesError};
pub use survey::Survey;
