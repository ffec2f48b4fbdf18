//! What a crawler asks a store each time: questions to a [`Snapshot`] of the moment, and how the store
//! itself is.

use super::answer::{History, Page, Stats};
use super::handle::Store;
use super::open;
use super::query::{Matches, Query};
use super::snapshot::Snapshot;
use super::verify::{Verified, VerifyOptions, verify_open};
use crate::error::{Error, Result};
use crate::page::{Epoch, Visit};

impl Store {
    /// A consistent view of everything that was acknowledged: all that a store can be asked.
    ///
    /// Costs two short locks, which nobody holds while something is read or written. What this store
    /// answers itself are the questions that a crawler asks each time.
    pub fn snapshot(&self) -> Snapshot {
        self.live().snapshot()
    }

    /// Asks [`Snapshot::near`] of this moment: the pages within distance `k`, at most 16.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.snapshot().near(fingerprint, k)
    }

    /// Asks [`Snapshot::search`] of this moment: the pages near a fingerprint.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.snapshot().search(query)
    }

    /// Asks [`Snapshot::history`] of this moment: all visits of a page, with what each meant.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn history(&self, url: &str) -> Result<History> {
        self.snapshot().history(url)
    }

    /// Asks [`Snapshot::as_of`] of this moment: the content of a page that was in force at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        self.snapshot().as_of(url, time)
    }

    /// Asks [`Snapshot::latest`] of this moment: a page as it stands.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], or [`Error::Corrupt`] if what it touches is damaged.
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.snapshot().latest(url)
    }

    /// The epoch that was registered last: the one to observe in.
    pub fn newest_epoch(&self) -> Epoch {
        self.live().view().newest_epoch()
    }

    /// Sizes of the store. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        self.call(|shared| {
            let snapshot = shared.base.live.snapshot();
            snapshot.view.check()?;
            Ok(Stats {
                catalog_bytes: open::catalog_bytes(&shared.base.disk)?,
                merge_error: shared.compactor.error().as_ref().map(Error::to_string),
                ..snapshot.sizes(shared.base.options.epoch_visits)?
            })
        })
    }

    /// Checks a store that is to go on working: reads all of it with plain reads, checks every checksum,
    /// and that everything fits together. Names every flaw, not only the first.
    ///
    /// Costs a read of all files, at most as many bytes a second as the options say. What is observed
    /// meanwhile is not waited for; commits wait while the catalog is copied to memory.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Store, VerifyOptions};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let verified = store.verify(VerifyOptions::default().rate(20 << 20))?;
    /// assert!(verified.is_sound(), "{:?}", verified.flaws);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if its progress was, [`Error::Io`] if a file cannot be opened. What is
    /// damaged is no error but stands in the answer; [`Verified::sound`] makes one of it.
    pub fn verify(&self, options: VerifyOptions) -> Result<Verified> {
        self.call(|shared| verify_open(&shared.base, options))
    }
}
