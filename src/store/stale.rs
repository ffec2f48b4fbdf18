//! Stale pages: those without a fingerprint of the newest epoch.

use super::scan::Scan;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Content, Epoch};

/// A page whose version in force has a fingerprint, but none of the newest epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StalePage {
    /// The page.
    pub url: String,
    /// When that version was last seen, in milliseconds since 1970: the time to restate.
    pub time: i64,
    /// Its newest fingerprint.
    pub content: Content,
}

/// An iterator over stale pages, from [`Snapshot::stale`](super::Snapshot::stale). It ends after an
/// error.
#[derive(Debug)]
pub struct Stale {
    scan: Scan,
    newest: Epoch,
}

impl Stale {
    /// Those of a snapshot that come after a page, or all. Nothing is read if all fingerprints are of
    /// the newest epoch.
    pub(super) fn new(snapshot: &Snapshot, after: Option<&str>) -> Stale {
        let newest = snapshot.newest_epoch();
        let scan = match may_be_stale(snapshot, newest) {
            true => Scan::new(snapshot, None, after),
            false => Scan::none(snapshot, None),
        };
        Stale { scan, newest }
    }
}

/// Whether any component has fingerprints of another epoch. Those of an ended one may have no tables any
/// more.
fn may_be_stale(snapshot: &Snapshot, newest: Epoch) -> bool {
    // The scan says it, if nothing is known.
    snapshot.view.check().is_err()
        || snapshot.epochs().iter().any(|info| info.ended)
        || snapshot.view.components().any(|component| component.has_others(newest.0))
}

impl Iterator for Stale {
    type Item = Result<StalePage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.scan.next()? {
                Err(e) => return Some(Err(e)),
                Ok(page) => {
                    if let (Some(content), Some(time)) = (page.content, page.content_seen)
                        && content.fingerprint.is_some()
                        && content.epoch != self.newest
                    {
                        return Some(Ok(StalePage { url: page.url, time, content }));
                    }
                }
            }
        }
    }
}
