//! Looking into tables: the probes of one query, or of many, on their way together.

mod cells;
mod rotations;
mod survivors;
mod wheel;

pub(super) use cells::{CellGround, CellLookup};
pub(super) use rotations::{Own, RotationGround, RotationLookup};
