//! What the benchmarks share: their arguments, their reports, texts to measure by.

pub mod arguments;
pub mod plain;
pub mod report;
pub mod texts;
