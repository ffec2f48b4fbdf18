//! The fuzz targets, and what they share: a sound store to damage, ways to damage it that the
//! checksums do not notice, and questions to ask of what is left.
//!
//! A target is a function of an input's bytes that panics where something is wrong. The fuzzer runs
//! it through `fuzz_targets/`, and the tests of the crate with the kept corpus.

pub mod allocator;
pub mod ask;
pub mod catalog;
#[allow(dead_code, reason = "the tool uses more of it")]
mod cli;
mod feed;
pub mod input;
pub mod segment;
pub mod store;
#[path = "../../tests/support/mod.rs"]
mod support;
pub mod targets;
