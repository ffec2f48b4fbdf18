//! Looks up queries in tables: the probes of one query, or of many concurrently.

mod cells;
mod rotations;
mod round_buffer;
mod single_probe;
mod survivors;
mod work_limit;

pub(super) use cells::{CellContext, CellLookup};
pub(super) use rotations::{RotationContext, RotationLookup};
pub(super) use single_probe::SingleProbe;
pub(super) use work_limit::WorkLimit;
