//! Every observation of a store, as a stream.

use std::sync::Arc;

use super::scan::Scan;
use crate::error::Result;
use crate::page::{Entry, Epoch, retain_in_force};

/// An iterator over every observation, from
/// [`Snapshot::observations`](crate::Snapshot::observations). It ends after an error.
#[derive(Debug)]
pub struct Observations {
    scan: Scan,
    /// The page, and the rest of its entries.
    url: Arc<str>,
    entries: std::vec::IntoIter<Entry>,
    /// The numbers that the epochs have elsewhere.
    numbers: Option<Vec<Epoch>>,
    /// Whether only what is in force is returned.
    in_force: bool,
}

impl Observations {
    /// Those of a scan.
    pub(crate) fn of(scan: Scan) -> Observations {
        let (url, entries) = (Arc::from(""), Vec::new().into_iter());
        Observations { scan, url, entries, numbers: None, in_force: false }
    }

    /// Leaves out what is not in force: returns of each page the visits that saw its content last, what
    /// was restated of it, and the last weight. Nothing of pages that are gone, or of which no content
    /// was ever seen.
    ///
    /// ```
    /// use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
    /// store.observe(Observation::content(url, Time::from_ms(2_000)?, 8, epoch))?;
    /// store.observe(Observation::failed(url, Time::from_ms(3_000)?))?;
    /// let all: Vec<_> = store.snapshot().observations(None).in_force().collect();
    /// assert!(matches!(&all[..], [Ok((_, entry))] if entry.time() == Time::from_ms(2_000)?));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_force(self) -> Observations {
        Observations { in_force: true, ..self }
    }

    /// Replaces epoch numbers by those of a load, as returned by
    /// [`LoadEpochs::of`](crate::admin::load::LoadEpochs::of). An epoch that is not among them gets a
    /// number that every store refuses.
    ///
    /// ```
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir()?;
    /// let old = Store::create(dir.path().join("old"), Options::default())?;
    /// let epoch = old.change_epoch();
    /// old.observe(Observation::content("https://example.com/", Time::from_ms(1_780_000_000_000)?, 7, epoch))?;
    ///
    /// let new = Store::create(dir.path().join("new"), Options::default())?;
    /// let snapshot = old.snapshot();
    /// let epochs = LoadEpochs::default();
    /// let observations = snapshot.observations(None).renumbered(epochs.of(&snapshot)?);
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
                Ok((url, mut entries)) => {
                    if self.in_force {
                        retain_in_force(&mut entries, |entry| *entry);
                    }
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
