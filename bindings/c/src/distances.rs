//! A column of distances.

/// The value for "no distance" in a column of distances.
pub const SIMKEEP_NO_DISTANCE: u8 = 255;

/// Converts a distance, at most 64, for a column.
pub(crate) fn of(distance: Option<u32>) -> u8 {
    distance.and_then(|bits| u8::try_from(bits).ok()).unwrap_or(SIMKEEP_NO_DISTANCE)
}
