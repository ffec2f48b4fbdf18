//! What makes the fingerprints of content that is observed now.

use super::epochs::is_of_earlier_version;
use super::origin::Origin;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::{Epoch, EpochInfo, Role};

/// As many fingerprints as an observation takes.
const MOST: usize = 2;

impl Snapshot {
    /// What makes the fingerprints of content that is observed now, each with its epoch, at most two:
    /// of the epoch that [verdicts go by](Snapshot::change_epoch) first, and of the one that
    /// near-duplicates are [sought by](Snapshot::near_epoch). If that is the same one, then of the
    /// newest other that has not ended, so that the distance to content from before a change of epochs
    /// is known.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::fingerprint::Document;
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let origins = store.snapshot().origins()?;
    /// let page = Document::new("The quick brown fox jumps over the lazy dog");
    /// let mut made = Vec::new();
    /// for (epoch, origin) in &origins {
    ///     made.push((*epoch, origin.fingerprinter()?.of_page(&page)?));
    /// }
    /// let (epoch, fingerprint) = made[0];
    /// let mut seen = Observation::content("https://example.com/", Time::now(), fingerprint, epoch);
    /// if let Some(&(epoch, fingerprint)) = made.get(1) {
    ///     seen = seen.also(fingerprint, epoch);
    /// }
    /// store.observe(seen)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Epochs whose fingerprints are made elsewhere, under names that mean nothing to simkeep, are left
    /// out. So is the second, if its table of document frequencies is not there, or if an earlier
    /// version of simkeep made its fingerprints. Reads and checks the tables of the epochs, so keep
    /// the answer as long as the [epochs](Snapshot::epochs) stay the same.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] if an earlier version of simkeep made the fingerprints of the first: begin an
    /// epoch. [`Error::NoTable`] if its table is not there, [`Error::Corrupt`] if a table is
    /// damaged or another one, [`Error::Io`] if it cannot be read.
    pub fn origins(&self) -> Result<Vec<(Epoch, Origin)>> {
        let mut origins = Vec::new();
        for info in of_content(self.epochs()).into_iter().take(MOST) {
            match self.origin(info.epoch) {
                Err(Error::NoTable { .. }) if !origins.is_empty() => {}
                Err(_) if !origins.is_empty() && is_of_earlier_version(&info.name) => {}
                origin => origins.extend(origin?.map(|origin| (info.epoch, origin))),
            }
        }
        Ok(origins)
    }
}

/// The live epochs, each once: that in use for each role first, and then the newest first.
fn of_content(epochs: &[EpochInfo]) -> Vec<&EpochInfo> {
    let live = || epochs.iter().rev().filter(|info| !info.ended);
    let in_use = Role::USES.into_iter().filter_map(|is_for| live().find(|info| is_for(info.role)));
    let mut each: Vec<&EpochInfo> = Vec::new();
    for info in in_use.chain(live()) {
        if !each.contains(&info) {
            each.push(info);
        }
    }
    each
}
