//! Random operations on a store and on a set of observations, which must always answer alike.
//!
//! The memtable is tiny and merges take two segments, so the history of a page is spread over many
//! components, with forgetting in between. The disk is simulated, so the power can fail at any moment.

mod agreement;
mod answers;
mod operations;
mod run;
