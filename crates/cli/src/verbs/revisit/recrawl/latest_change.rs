//! The last change of a page.

use simkeep::fingerprint::Band;
use simkeep::{Page, Snapshot, Time};

/// The last visit that found a page changed, or back at an earlier version.
#[derive(Clone, Copy)]
pub(super) struct LatestChange {
    pub(super) time: Time,
    /// The distance in bits, and its band in the epoch of the content.
    pub(super) distance: Option<(u32, Band)>,
}

impl LatestChange {
    pub(super) fn of(snapshot: &Snapshot, page: &Page) -> simkeep::Result<Option<LatestChange>> {
        let Some(last) = page.changes.last_change() else { return Ok(None) };
        let distance = match last.distance {
            None => None,
            Some(bits) => {
                // Fingerprints of a version in force since then may be of another epoch.
                let then = snapshot.as_of(&page.url, last.time)?;
                let content = then.and_then(|visit| visit.seen.content().copied()).or(page.content);
                content.map(|content| (bits, snapshot.meaning(content.epoch, bits).band))
            }
        };
        Ok(Some(LatestChange { time: last.time, distance }))
    }
}
