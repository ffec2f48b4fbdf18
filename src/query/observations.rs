//! Every observation of a store, as a stream.

use std::sync::Arc;

use super::scan::Scan;
use crate::error::Result;
use crate::page::{Entry, Epoch, retain_in_force};

/// An iterator over every observation, from
/// [`Snapshot::observations`](crate::Snapshot::observations). The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::gone(url, Time::from_ms(1_000)?))?;
/// store.observe(Observation::failed(url, Time::from_ms(2_000)?))?;
/// let mut times = Vec::new();
/// for item in store.snapshot().observations(None) {
///     let (url, entry) = item?;
///     println!("{url} was visited at {}", entry.time());
///     times.push(entry.time().as_ms());
/// }
/// assert_eq!(times, [1_000, 2_000]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Observations {
    scan: Scan,
    /// The page of the remaining entries.
    url: Arc<str>,
    entries: std::vec::IntoIter<Entry>,
    /// The numbers that the epochs have in another store.
    numbers: Option<Vec<Epoch>>,
    /// Whether to return only entries in force.
    in_force: bool,
}

impl Observations {
    /// Iterates over the entries of a scan's pages.
    pub(crate) fn of(scan: Scan) -> Observations {
        let (url, entries) = (Arc::from(""), Vec::new().into_iter());
        Observations { scan, url, entries, numbers: None, in_force: false }
    }

    /// Leaves out all entries that do not describe the current state. For each page, returns the
    /// visits that saw the page's last content, the restatements of these visits, and the current
    /// properties. Leaves out pages that are gone, or whose content was never seen.
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

    /// Replaces epoch numbers by the numbers that
    /// [`LoadEpochs::of`](crate::admin::load::LoadEpochs::of) returned for a load. An epoch that is
    /// not in `numbers` gets a number that every store rejects.
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
                        retain_in_force(&mut entries, Entry::clone);
                    }
                    self.url = Arc::from(url);
                    self.entries = entries.into_iter();
                }
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

/// Replaces the epoch number of an entry by the number in another store.
fn renumbered(mut entry: Entry, numbers: &[Epoch]) -> Entry {
    if let Some(epoch) = entry.epoch_mut() {
        // If an epoch has no name in this store, its replacement has no name in the other store
        // either.
        *epoch = numbers.get(epoch.count() as usize).copied().unwrap_or(Epoch(u32::MAX));
    }
    entry
}
