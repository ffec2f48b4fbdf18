//! A column of distances.

/// No distance, in a column of distances.
pub const SIMKEEP_NO_DISTANCE: u8 = 255;

/// A distance for a column. It is at most 64.
pub(crate) fn of(distance: Option<u32>) -> u8 {
    distance.and_then(|bits| u8::try_from(bits).ok()).unwrap_or(SIMKEEP_NO_DISTANCE)
}
