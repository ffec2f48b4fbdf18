//! Sorting what memory does not hold: keys by eight bytes at a time, and sorted runs in scratch
//! files that are merged again.
//!
//! What is to be sorted is gathered while there is memory for it, sorted there, and written as a
//! *run*. All runs of a kind lie one behind the other in one scratch file, so however many there are,
//! they take one handle and one map. A [`Tournament`] merges them: a comparison or two for every
//! doubling of their number. Runs lie in [frames](Frames) with checksums, so what a medium loses
//! while it waits there is an error, not another answer.

mod digits;
mod frames;
mod sorter;
mod spool;
mod tournament;
mod workspace;

pub(crate) use digits::{Keyed, sort_by_digits};
pub(crate) use frames::{FrameWriter, Frames};
pub(crate) use sorter::{Packed, Sorted, Sorter};
pub(crate) use spool::{Spool, Spooled};
pub(crate) use tournament::Tournament;
pub(crate) use workspace::Workspace;
