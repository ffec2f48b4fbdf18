//! Looks up queries in tables: the probes of one query, or of many concurrently.

mod cells;
mod own;
mod patience;
mod rotations;
mod survivors;
mod wheel;

pub(super) use cells::{CellGround, CellLookup};
pub(super) use own::Own;
pub(super) use patience::Patience;
pub(super) use rotations::{RotationGround, RotationLookup};
