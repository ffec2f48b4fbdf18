//! Random operations on a store and on a set of observations: whatever happened, both answer alike.
//!
//! The memtable is tiny and merges take two segments, so a page's history is spread over many
//! components, some forgotten in between. The disk is simulated, so the power can go at any moment.

mod agreement;
mod answers;
mod operations;
mod run;
