//! What a crawler asks a store all the time: shortcuts to a [`Snapshot`] of the moment, and the
//! state of the store itself.

use crate::engine::answer::{History, Page, Stats};
use crate::engine::open;
use crate::engine::search::query::{Matches, Query};
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Store;
use crate::error::{Error, Result};
use crate::page::{Epoch, Visit};
use crate::time::Time;

impl Store {
    /// A consistent view of everything acknowledged so far, which answers every question about the
    /// store.
    ///
    /// Costs two short locks, which nobody holds while reading or writing files. The store itself
    /// answers only the questions that a crawler asks all the time.
    pub fn snapshot(&self) -> Snapshot {
        self.live().snapshot()
    }

    /// Pages within distance `k` now, at most 16: [`Snapshot::near`] on a snapshot of the moment.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.snapshot().near(fingerprint, k)
    }

    /// Pages near a fingerprint now: [`Snapshot::search`] on a snapshot of the moment.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.snapshot().search(query)
    }

    /// All visits of a page, with what each meant: [`Snapshot::history`] on a snapshot of the
    /// moment.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn history(&self, url: &str) -> Result<History> {
        self.snapshot().history(url)
    }

    /// The visit whose content was in force at a time: [`Snapshot::as_of`] on a snapshot of the
    /// moment.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn as_of(&self, url: &str, time: impl Into<Time>) -> Result<Option<Visit>> {
        self.snapshot().as_of(url, time)
    }

    /// The current state of a page: [`Snapshot::latest`] on a snapshot of the moment.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.snapshot().latest(url)
    }

    /// The epoch that verdicts go by now: [`Snapshot::change_epoch`] on a snapshot of the moment. If
    /// no other has a role of its own, observations belong to it.
    pub fn change_epoch(&self) -> Epoch {
        self.live().view().epochs.change()
    }

    /// The epoch that near-duplicates are sought by now: [`Snapshot::near_epoch`] on a snapshot of the
    /// moment.
    pub fn near_epoch(&self) -> Epoch {
        self.live().view().epochs.near()
    }

    /// Sizes of the store. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        self.call(|db| {
            let snapshot = db.core.live.snapshot();
            snapshot.view.check()?;
            Ok(Stats {
                catalog_bytes: open::catalog_bytes(&db.core.disk)?,
                merge_error: db.compactor.error().as_ref().map(Error::to_string),
                ..snapshot.sizes(db.core.options.epoch_visits)?
            })
        })
    }
}
