//! What the journal holds, counted.

use std::collections::BTreeSet;

use super::operations::OperationKind;
use super::verdict_counts::VerdictCounts;
use crate::engine::answer::HistoryEntry;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::inspect::Operations;
use crate::page::Property;
use crate::time::Time;

/// What the journal holds: the operations that no segment has yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalView {
    /// The first operation in it; 0 if it is empty.
    pub first_operation: u64,
    /// The last operation in it; 0 if it is empty.
    pub last_operation: u64,
    /// How many there are.
    pub operations: u64,
    /// Different pages among them.
    pub pages: u64,
    /// When the first and the last visit was; `None` without visits.
    pub times: Option<(Time, Time)>,
    /// What its visits found.
    pub verdicts: VerdictCounts,
    /// Contents restated in another epoch.
    pub restated: u64,
    /// Weights that pages were given.
    pub weights: u64,
    /// Classes that pages were given.
    pub classes: u64,
    /// Pages and prefixes that were forgotten.
    pub forgotten: u64,
}

impl JournalView {
    /// What the journal holds, in numbers. Costs a look at the page of each operation, and memory
    /// for the URLs of its pages.
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
    /// [`Error::Poisoned`](crate::Error::Poisoned) if a bug was met before.
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
        let count = match *entry {
            HistoryEntry::Restated(_) => &mut self.restated,
            HistoryEntry::Property(given) => match given.property {
                Property::Weight(_) => &mut self.weights,
                Property::Class(_) => &mut self.classes,
            },
            HistoryEntry::Visit { visit, verdict, .. } => {
                let (first, last) = self.times.unwrap_or((visit.time, visit.time));
                self.times = Some((first.min(visit.time), last.max(visit.time)));
                return self.verdicts.add(verdict);
            }
        };
        *count += 1;
    }
}
