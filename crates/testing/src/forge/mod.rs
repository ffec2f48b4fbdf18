//! Files made by hand, with any content and valid checksums, which no store would write.

pub mod catalog;
pub mod golden;
pub mod segment;
