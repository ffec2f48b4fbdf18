//! Shared code of the benchmarks: arguments, reports, and texts to measure.

pub mod arguments;
pub mod plain;
pub mod report;
pub mod texts;
