//! Every observation of a store, as a stream.

use std::sync::Arc;

use super::scan::Scan;
use crate::error::Result;
use crate::page::{Entry, Epoch};

/// An iterator over every observation, from
/// [`Snapshot::observations`](super::Snapshot::observations). It ends after an error.
#[derive(Debug)]
pub struct Observations {
    scan: Scan,
    /// The page, and the rest of its entries.
    url: Arc<str>,
    entries: std::vec::IntoIter<Entry>,
    /// The numbers that the epochs have elsewhere.
    numbers: Option<Vec<Epoch>>,
}

impl Observations {
    /// Those of a scan.
    pub(super) fn of(scan: Scan) -> Observations {
        Observations { scan, url: Arc::from(""), entries: Vec::new().into_iter(), numbers: None }
    }

    /// Replaces epoch numbers by those of a load, as returned by
    /// [`LoadEpochs::of`](super::LoadEpochs::of). An epoch that is not among them gets a number
    /// that every store refuses.
    ///
    /// ```
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// use simkeep::{Observation, Options, Store};
    /// # let dir = tempfile::tempdir()?;
    /// let old = Store::create(dir.path().join("old"), Options::default())?;
    /// let epoch = old.change_epoch();
    /// old.observe(Observation::content("https://example.com/", 1_780_000_000_000, 7, epoch))?;
    ///
    /// let new = Store::create(dir.path().join("new"), Options::default())?;
    /// let snapshot = old.snapshot();
    /// let epochs = LoadEpochs::default();
    /// let observations = snapshot.observations().renumbered(epochs.of(&snapshot)?);
    /// new.load(observations, LoadOptions::default().epochs(epochs))?;
    /// assert_eq!(new.stats()?.pages, 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn renumbered(self, numbers: Vec<Epoch>) -> Observations {
        Observations { numbers: Some(numbers), ..self }
    }
}

impl Iterator for Observations {
    type Item = Result<(Arc<str>, Entry)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.next() {
                let entry = match &self.numbers {
                    Some(numbers) => renumbered(entry, numbers),
                    None => entry,
                };
                return Some(Ok((Arc::clone(&self.url), entry)));
            }
            match self.scan.next_entries()? {
                Ok((url, entries)) => {
                    self.url = Arc::from(url);
                    self.entries = entries.into_iter();
                }
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

/// An entry with the number that its epoch has elsewhere.
fn renumbered(mut entry: Entry, numbers: &[Epoch]) -> Entry {
    if let Some(epoch) = entry.epoch_mut() {
        // One that has no name here has none there either.
        *epoch = numbers.get(epoch.count() as usize).copied().unwrap_or(Epoch(u32::MAX));
    }
    entry
}
