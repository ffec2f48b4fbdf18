//! Files made by hand, with any content and checksums that hold: what no store would write.

pub mod catalog;
pub mod golden;
pub mod segment;
