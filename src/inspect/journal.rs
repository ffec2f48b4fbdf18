//! Counts of the journal's contents.

use std::collections::BTreeSet;

use super::operations::OperationKind;
use super::verdict_counts::VerdictCounts;
use crate::engine::results::HistoryEntry;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::inspect::Operations;
use crate::page::Property;
use crate::time::Time;

/// The contents of the journal: operations that no segment has yet.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::JournalView;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let journal = JournalView::of(&store.snapshot())?;
/// assert_eq!((journal.operations, journal.pages), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalView {
    /// The number of the first operation in the journal; 0 if the journal is empty.
    pub first_operation: u64,
    /// The number of the last operation in the journal; 0 if the journal is empty.
    pub last_operation: u64,
    /// The number of operations in the journal.
    pub operations: u64,
    /// The number of distinct pages in the operations.
    pub pages: u64,
    /// The times of the earliest and the latest visit; `None` without visits.
    pub times: Option<(Time, Time)>,
    /// The results of the visits in the journal.
    pub verdicts: VerdictCounts,
    /// The number of contents restated in another epoch.
    pub restated: u64,
    /// The number of weights that were set.
    pub weights: u64,
    /// The number of classes that were set.
    pub classes: u64,
    /// The number of entity tags of contents.
    pub etags: u64,
    /// The number of targets of contents.
    pub targets: u64,
    /// The number of forgotten pages and prefixes.
    pub forgotten: u64,
}

impl JournalView {
    /// Counts the contents of the journal. Costs a lookup for each operation, and memory for the
    /// URLs of the operations' pages.
    ///
    /// ```
    /// use simkeep::inspect::JournalView;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let journal = JournalView::of(&store.snapshot())?;
    /// assert_eq!((journal.operations, journal.pages, journal.verdicts.gone), (1, 1, 1));
    /// store.seal()?;
    /// assert_eq!(JournalView::of(&store.snapshot())?.operations, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`](crate::Error::Poisoned) after a bug.
    pub fn of(snapshot: &Snapshot) -> Result<JournalView> {
        let operations = Operations::after(snapshot, 0);
        let mut view = JournalView::default();
        if let Some(held) = operations.available() {
            (view.first_operation, view.last_operation) = held.into_inner();
        }
        let mut pages = BTreeSet::new();
        for operation in operations {
            view.operations += 1;
            let (url, entry) = match operation?.kind {
                OperationKind::Entry { url, entry } => (url, entry),
                OperationKind::Forget { .. } | OperationKind::ForgetPrefix { .. } => {
                    view.forgotten += 1;
                    continue;
                }
            };
            view.entry(&entry);
            pages.insert(url);
        }
        view.pages = pages.len() as u64;
        Ok(view)
    }

    fn entry(&mut self, entry: &HistoryEntry) {
        let count = match entry {
            HistoryEntry::Restated(_) => &mut self.restated,
            HistoryEntry::Property(given) => match &given.property {
                Property::Weight(_) => &mut self.weights,
                Property::Class(_) => &mut self.classes,
                Property::ETag(_) => &mut self.etags,
                Property::Target(_) => &mut self.targets,
            },
            HistoryEntry::Visit { visit, verdict, .. } => {
                let (first, last) = self.times.unwrap_or((visit.time, visit.time));
                self.times = Some((first.min(visit.time), last.max(visit.time)));
                return self.verdicts.add(*verdict);
            }
        };
        *count += 1;
    }
}
