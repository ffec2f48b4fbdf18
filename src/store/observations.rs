//! Everything that was observed, as a stream.

use std::sync::Arc;

use super::scan::Scan;
use crate::error::Result;
use crate::page::{Epoch, Visit};

/// Every observation, from [`Snapshot::observations`](super::Snapshot::observations). After an error there is nothing more.
#[derive(Debug)]
pub struct Observations {
    scan: Scan,
    /// The page, and the rest of its visits.
    url: Arc<str>,
    visits: std::vec::IntoIter<Visit>,
    /// The numbers that the epochs have elsewhere.
    numbers: Option<Vec<Epoch>>,
}

impl Observations {
    /// Those of a scan.
    pub(super) fn of(scan: Scan) -> Observations {
        Observations { scan, url: Arc::from(""), visits: Vec::new().into_iter(), numbers: None }
    }

    /// The same with the numbers that the epochs have in a load, as
    /// [`LoadEpochs::of`](super::LoadEpochs::of) tells them. One beyond them gets a number that every
    /// store refuses.
    ///
    /// ```
    /// use simkeep::{LoadEpochs, LoadOptions, Observation, Options, Store};
    /// # let dir = tempfile::tempdir()?;
    /// let old = Store::create(dir.path().join("old"), Options::default())?;
    /// let epoch = old.newest_epoch();
    /// old.observe(Observation::content("https://example.com/", 1_780_000_000_000, 7, epoch))?;
    ///
    /// let new = Store::create(dir.path().join("new"), Options::default())?;
    /// let snapshot = old.snapshot();
    /// let epochs = LoadEpochs::default();
    /// let observations = snapshot.observations().renumbered(epochs.of(&snapshot)?);
    /// new.load(observations, LoadOptions::default().epochs(&epochs))?;
    /// assert_eq!(new.stats()?.pages, 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn renumbered(self, numbers: Vec<Epoch>) -> Observations {
        Observations { numbers: Some(numbers), ..self }
    }
}

impl Iterator for Observations {
    type Item = Result<(Arc<str>, Visit)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(visit) = self.visits.next() {
                let visit = match &self.numbers {
                    Some(numbers) => renumbered(visit, numbers),
                    None => visit,
                };
                return Some(Ok((Arc::clone(&self.url), visit)));
            }
            match self.scan.next_visits()? {
                Ok((url, visits)) => {
                    self.url = Arc::from(url);
                    self.visits = visits.into_iter();
                }
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

/// The same visit with the number that its epoch has elsewhere.
fn renumbered(mut visit: Visit, numbers: &[Epoch]) -> Visit {
    if let Some(content) = visit.seen.content_mut() {
        let there = usize::try_from(content.epoch.count()).ok().and_then(|at| numbers.get(at));
        // One that has no name here has none there either.
        content.epoch = there.copied().unwrap_or(Epoch(u32::MAX));
    }
    visit
}
