//! External sorting: sorts keys eight bytes at a time, writes sorted runs to scratch files, and
//! merges the runs.
//!
//! Items are collected up to the memory limit, sorted, and written as a *run*. All runs of a sorter
//! are in one scratch file, so any number of runs takes one handle and one map. A [`Tournament`]
//! merges the runs with one or two comparisons for each doubling of the number of runs. Runs
//! consist of [frames](FrameReader) with checksums, so damaged scratch data is an error, never a wrong
//! answer.

mod digits;
mod frames;
mod sorter;
mod spool;
mod tournament;
mod workspace;

pub(crate) use digits::{Keyed, sort_by_digits};
pub(crate) use frames::{FrameReader, FrameWriter};
pub(crate) use sorter::{FixedSizeItem, SortedItems, Sorter};
pub(crate) use spool::{Spool, SpoolContent};
pub(crate) use tournament::Tournament;
pub(crate) use workspace::Workspace;
