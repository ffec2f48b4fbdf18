//! The fuzz targets and their shared code: a sound store to damage, damage that checksums do not
//! detect, and questions to ask afterwards.
//!
//! A target is a function of an input's bytes that panics if something is wrong. The fuzzer runs it
//! through `fuzz/fuzz_targets/`, and the tests run it with the kept corpus: see `tests/corpus.rs`.

pub mod allocator;
pub mod ask;
mod file_delivery;
pub mod input;
pub mod store;
pub mod targets;
