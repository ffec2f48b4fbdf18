//! The fuzz targets, and what they share: a sound store to damage, ways to damage it that the
//! checksums do not notice, and questions to ask of what is left.
//!
//! A target is a function of an input's bytes that panics where something is wrong. The fuzzer runs
//! it through `fuzz/fuzz_targets/`, and the tests with the kept corpus: see `tests/corpus.rs`.

pub mod allocator;
pub mod ask;
mod feed;
pub mod input;
pub mod store;
pub mod targets;
