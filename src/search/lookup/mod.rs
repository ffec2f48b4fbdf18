//! Looks up queries in tables: the probes of one query, or of many concurrently.

mod cells;
mod rotations;
mod round_buffer;
mod single_probe;
mod survivors;
mod work_limit;

pub(super) use cells::{CellGround, CellLookup};
pub(super) use rotations::{RotationGround, RotationLookup};
pub(super) use single_probe::SingleProbe;
pub(super) use work_limit::WorkLimit;
