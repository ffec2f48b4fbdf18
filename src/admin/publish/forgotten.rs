//! Whether older generations have what was forgotten since.

use std::sync::Arc;

use crate::catalog::{Published, SegmentRow};
use crate::disk::{Access, Disk};
use crate::engine::files::Files;
use crate::error::{Error, Result};
use crate::layout::{Kind, Tag};
use crate::segment::Frame;

/// Whether anything was forgotten between two states that are published in a directory. `None` if that
/// cannot be told: a merge leaves nothing of what was forgotten before. Costs a small read for each
/// segment that came since.
pub(super) fn forgotten(
    disk: &Arc<dyn Disk>,
    older: &Published,
    newer: &Published,
) -> Result<Option<bool>> {
    let frame = |row: &SegmentRow| {
        let name = Files::Published(newer.store).segment(row);
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        Frame::read(&*file, name, row.id)
    };
    let last = older.last_sequence();
    let mut is_known = true;
    for row in newer.segments.iter().filter(|row| !older.segments.contains(row)) {
        let made = frame(row)?;
        let numbers = made.numbers();
        if row.first_sequence > last {
            if numbers.resets > 0 || made.place(Tag::of(Kind::Tombstones)).bytes() > 0 {
                return Ok(Some(true));
            }
            continue;
        }
        let is_within = |of: &&SegmentRow| {
            row.first_sequence <= of.first_sequence && of.last_sequence <= row.last_sequence
        };
        let mut known: i64 = 0;
        for of in older.segments.iter().filter(is_within) {
            known = known.saturating_add(frame(of)?.numbers().delta.visits);
        }
        if numbers.delta.visits < known {
            return Ok(Some(true));
        }
        // Where each operation is a visit that is known still, nothing was forgotten.
        let operations = row.last_sequence - row.first_sequence + 1;
        is_known &= row.last_sequence <= last || numbers.visits == operations;
    }
    Ok(is_known.then_some(false))
}
