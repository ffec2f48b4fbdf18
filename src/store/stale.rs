//! Pages that have no fingerprint of the newest epoch yet.

use super::scan::Scan;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Content, Epoch};

impl Snapshot {
    /// Pages whose version in force has no fingerprint of the newest epoch, in SURT order; from the
    /// first after `after` on, if that is given.
    ///
    /// For each that the content is still at hand of, [`Store::restate`](super::Store::restate) says
    /// its fingerprint in the newest epoch. Whoever does so in several sittings goes on after the URL
    /// that was the last. Costs a scan, some microseconds a page; nothing where there are no
    /// fingerprints of another epoch.
    ///
    /// # Errors
    ///
    /// Of the items: those of [`scan`](Snapshot::scan).
    pub fn stale(&self, after: Option<&str>) -> Stale {
        let newest = self.newest_epoch();
        let scan = if self.may_be_stale(newest) { self.scan_after(after) } else { self.no_scan() };
        Stale { scan, newest }
    }

    /// Whether any component has fingerprints of another epoch. Those of an ended one may have no
    /// tables any more.
    fn may_be_stale(&self, newest: Epoch) -> bool {
        // The scan says it, if nothing is known.
        self.view.check().is_err()
            || self.epochs().iter().any(|info| info.ended)
            || self.view.components().any(|component| component.has_others(newest.0))
    }
}

/// A page whose version in force has no fingerprint of the newest epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalePage {
    /// The page.
    pub url: String,
    /// When that version was last seen, in milliseconds since 1970: the time to restate.
    pub time: i64,
    /// Its newest fingerprint.
    pub content: Content,
}

/// Pages from [`Snapshot::stale`]. After an error there is nothing more.
#[derive(Debug)]
pub struct Stale {
    scan: Scan,
    newest: Epoch,
}

impl Iterator for Stale {
    type Item = Result<StalePage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.scan.next()? {
                Err(e) => return Some(Err(e)),
                Ok(page) => {
                    if let (Some(content), Some(time)) = (page.content, page.content_seen)
                        && content.epoch != self.newest
                    {
                        return Some(Ok(StalePage { url: page.url, time, content }));
                    }
                }
            }
        }
    }
}
