//! The history of every page of a store, as a stream.

use super::page_range::PageRange;
use super::scan::Scan;
use crate::engine::results::{History, HistoryEntry};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::retain_in_force;

/// An iterator over the histories of pages. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::query::Histories;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://example.com/b", "https://example.com/a"] {
///     store.observe(Observation::gone(url, Time::now()))?;
/// }
/// let histories = Histories::of(&store.snapshot(), None);
/// let visits = histories.map(|page| page.map(|(url, history)| (url.to_string(), history.len())));
/// let visits = visits.collect::<simkeep::Result<Vec<_>>>()?;
/// assert_eq!(visits[0], ("https://example.com/a".to_owned(), 1)); // in SURT order
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Histories {
    scan: Scan,
    /// Whether to return only the entries in force.
    in_force: bool,
}

impl Histories {
    /// Returns the history of every page of a range, in SURT order. Each history equals the result
    /// of [`history`](Snapshot::history) for the page. Reads each page once, lazily and mostly
    /// sequentially. Takes the memory of a [`scan`](Snapshot::scan) and of the history of one page.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::query::Histories;
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// for page in Histories::of(&store.snapshot(), None) {
    ///     let (url, history) = page?;
    ///     history.iter().for_each(|entry| println!("{url} {entry}"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`](crate::Error::Corrupt) if the data of its page is damaged. The
    /// iterator ends after this item.
    pub fn of<'a>(snapshot: &Snapshot, range: impl Into<PageRange<'a>>) -> Histories {
        Histories { scan: Scan::new(snapshot, range), in_force: false }
    }

    /// Returns only the entries that describe the current state of each page, in the way of
    /// [`Observations::in_force`](super::observations::Observations::in_force). Leaves out pages
    /// without such entries. The verdicts of the remaining visits do not change.
    ///
    /// ```
    /// use simkeep::query::Histories;
    /// use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
    /// store.observe(Observation::content(url, Time::from_ms(2_000)?, 8, epoch))?;
    /// store.observe(Observation::gone("https://example.com/old", Time::from_ms(1_000)?))?;
    /// let all: Vec<_> = Histories::of(&store.snapshot(), None).in_force().collect::<Result<_, _>>()?;
    /// assert_eq!((all.len(), all[0].1.len()), (1, 1));
    /// let (visit, verdict) = all[0].1[0].visit().unwrap();
    /// assert_eq!((visit.time, verdict.distance().unwrap().bits), (Time::from_ms(2_000)?, 4));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_force(self) -> Histories {
        Histories { in_force: true, ..self }
    }
}

impl Iterator for Histories {
    type Item = Result<(String, History)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (url, mut history) = match self.scan.next_with_verdicts()? {
                Ok((url, history, _)) => (url, history),
                Err(e) => return Some(Err(e)),
            };
            if self.in_force {
                retain_in_force(&mut history, HistoryEntry::entry);
            }
            if !history.is_empty() {
                return Some(Ok((url, history)));
            }
        }
    }
}
