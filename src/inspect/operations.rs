//! The operations that are still in the journal, in order of acknowledgement.

use std::ops::RangeInclusive;

use crate::bug::OrBug;
use crate::engine::epochs::Epochs;
use crate::engine::memtable::{Effect, Memtable, MemtableContents, MemtableOperation};
use crate::engine::results::HistoryEntry;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::layout::Delta;
use crate::page::{Content, Entry, Prefix, Seen, Verdict, Visit, surt};

/// An acknowledged operation.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Operations;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://example.com/", "https://example.org/"] {
///     store.observe(Observation::gone(url, Time::now()))?;
/// }
/// let operations = Operations::after(&store.snapshot(), 0);
/// let numbers = operations.map(|operation| Ok(operation?.sequence));
/// assert_eq!(numbers.collect::<simkeep::Result<Vec<_>>>()?, [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoggedOperation {
    /// The sequence number of the operation.
    pub sequence: u64,
    /// The effect of the operation.
    pub kind: OperationKind,
}

/// The effect of an operation.
///
/// ```
/// # use simkeep::{Observation, Options, Scope, Store, Time};
/// use simkeep::inspect::{OperationKind, Operations};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::gone(url, Time::now()))?;
/// store.forget(Scope::Url(url))?;
/// for operation in Operations::after(&store.snapshot(), 0) {
///     match operation?.kind {
///         OperationKind::Entry { url, entry } => println!("{url}: {entry}"),
///         OperationKind::Forget { visits, .. } => assert_eq!(visits, 1),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum OperationKind {
    /// A page got an entry: a visit with its verdict, a restatement, or a property.
    Entry {
        /// The page.
        url: String,
        /// The entry.
        entry: HistoryEntry,
    },
    /// A page was forgotten.
    Forget {
        /// The page.
        url: String,
        /// The number of the page's visits.
        visits: u64,
    },
    /// All pages under a prefix were forgotten.
    ForgetPrefix {
        /// The prefix.
        prefix: Prefix,
        /// The number of pages under the prefix.
        pages: u64,
        /// The number of visits to the pages under the prefix.
        visits: u64,
    },
}

impl OperationKind {
    /// Returns whether the operation concerns a page under `prefix`, or a prefix that overlaps
    /// `prefix`.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Store, Time};
    /// use simkeep::inspect::Operations;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for url in ["https://example.com/news", "https://example.com/terms"] {
    ///     store.observe(Observation::gone(url, Time::now()))?;
    /// }
    /// let (mut count, news) = (0, Prefix::parse("example.com/news")?);
    /// for operation in Operations::after(&store.snapshot(), 0) {
    ///     count += usize::from(operation?.kind.is_under(&news));
    /// }
    /// assert_eq!(count, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_under(&self, prefix: &Prefix) -> bool {
        match self {
            OperationKind::Entry { url, .. } | OperationKind::Forget { url, .. } => {
                prefix.contains(&surt::key_of(url))
            }
            OperationKind::ForgetPrefix { prefix: other, .. } => {
                prefix.covers(other) || other.covers(prefix)
            }
        }
    }
}

/// An iterator over the operations in the journal, from [`Operations::after`].
///
/// Reads lazily. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Operations;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// // A program that follows the store keeps the number of the last operation.
/// let seen = store.snapshot().sequence();
/// store.observe(Observation::gone("https://example.org/", Time::now()))?;
/// let new = Operations::after(&store.snapshot(), seen);
/// assert_eq!((new.available(), new.count()), (Some(1..=2), 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Operations {
    snapshot: Snapshot,
    available: Option<RangeInclusive<u64>>,
    /// The number of the next operation.
    next: u64,
}

impl Operations {
    /// Iterates over the operations in the journal after the operation number `after`, in order of
    /// acknowledgement; visits come with their verdicts. Sealed operations are no longer in the
    /// journal: the store still has their visits, but not their order. Costs a lookup of the page
    /// for each operation.
    ///
    /// A fingerprint [of another epoch](crate::Observation::also), a weight or a class that was
    /// observed with a visit is a separate operation after the visit. A restatement directly after
    /// its visit counts as part of the visit, as in a history, even if the restatement was a
    /// separate call. In this case the verdict may differ from the acknowledged verdict.
    ///
    /// ```
    /// use simkeep::inspect::Operations;
    /// # fn main() -> simkeep::Result<()> {
    /// use simkeep::inspect::OperationKind;
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::from_ms(0)?))?;
    /// store.observe(Observation::gone("https://example.com/a", Time::from_ms(0)?))?;
    /// let last = Operations::after(&store.snapshot(), 1).next().expect("there are two")?;
    /// let OperationKind::Entry { url, entry } = last.kind else { panic!("it was a visit") };
    /// assert_eq!((last.sequence, url.as_str()), (2, "https://example.com/a"));
    /// assert_eq!(entry.visit().map(|(_, verdict)| verdict), Some(Verdict::Gone));
    /// # Ok(())
    /// # }
    /// ```
    pub fn after(snapshot: &Snapshot, after: u64) -> Operations {
        let numbers =
            snapshot.view().memtables.iter().filter_map(|memtable| memtable.read().sequences);
        let numbers: Vec<(u64, u64)> = numbers.collect();
        let ends = numbers.first().zip(numbers.last());
        let available = ends.map(|(first, last)| first.0..=last.1.min(snapshot.sequence()));
        let available = available.filter(|available| !available.is_empty());
        let first = available.as_ref().map_or(u64::MAX, |available| *available.start());
        Operations {
            snapshot: snapshot.clone(),
            available,
            next: first.max(after.saturating_add(1)),
        }
    }

    /// The numbers of the first and the last operation in the journal; `None` if the journal is
    /// empty. Earlier operations were sealed.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::inspect::Operations;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// assert_eq!(Operations::after(&store.snapshot(), 0).available(), Some(1..=1));
    /// store.seal()?; // empties the journal
    /// assert_eq!(Operations::after(&store.snapshot(), 0).available(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn available(&self) -> Option<RangeInclusive<u64>> {
        self.available.clone()
    }

    fn read(&self, sequence: u64) -> Result<OperationKind> {
        let view = self.snapshot.view();
        view.check()?;
        let of = |memtable: &Memtable| {
            let inner = memtable.read();
            let logged = inner.operation_at(sequence)?;
            Some(operation_kind(&inner, sequence, &logged, &view.epochs))
        };
        let mut found = view.memtables.iter().filter_map(|memtable| of(memtable));
        Ok(found.next().or_bug("a journal has every operation from its first to its last")?)
    }
}

impl Iterator for Operations {
    type Item = Result<LoggedOperation>;

    fn next(&mut self) -> Option<Self::Item> {
        let sequence = self.next;
        if !self.available.as_ref()?.contains(&sequence) {
            return None;
        }
        let kind = self.snapshot.poison_on_bug(|| self.read(sequence));
        if kind.is_err() {
            self.available = None;
        }
        self.next += 1;
        Some(kind.map(|kind| LoggedOperation { sequence, kind }))
    }
}

fn operation_kind(
    inner: &MemtableContents,
    sequence: u64,
    logged: &MemtableOperation<'_>,
    epochs: &Epochs,
) -> OperationKind {
    let unsigned = i64::unsigned_abs;
    match logged {
        MemtableOperation::Entry(page, entry) => {
            let url = page.url().to_owned();
            let entry = match entry {
                Entry::Restated(restated) => HistoryEntry::Restated(*restated),
                Entry::Property(given) => HistoryEntry::Property(given.clone()),
                Entry::Visit(visit) => {
                    let also = also(inner, sequence, &url, visit);
                    let mut head = page.head_at(sequence - 1);
                    let verdict = Effect::of(&mut head, entry, &also, epochs).verdict;
                    // A late visit was new to the store. A visit that is not new is no operation.
                    let verdict = verdict.map_or(Verdict::OutOfOrder, |visit| visit.verdict);
                    let meaning = verdict.distance().map(|distance| epochs.meaning(distance));
                    HistoryEntry::Visit { visit: *visit, verdict, meaning }
                }
            };
            OperationKind::Entry { url, entry }
        }
        MemtableOperation::Page(page, Delta { visits, .. }) => {
            OperationKind::Forget { url: page.url().to_owned(), visits: unsigned(*visits) }
        }
        MemtableOperation::Prefix(prefix, Delta { pages, visits, .. }) => {
            OperationKind::ForgetPrefix {
                prefix: (*prefix).clone(),
                pages: unsigned(*pages),
                visits: unsigned(*visits),
            }
        }
    }
}

/// Returns the further fingerprints of a visit's content, from the restatements directly after the
/// visit.
fn also(inner: &MemtableContents, sequence: u64, url: &str, visit: &Visit) -> Vec<Content> {
    let Seen::Content(content) = visit.seen else { return Vec::new() };
    let restated = |sequence: u64| match inner.operation_at(sequence)? {
        MemtableOperation::Entry(page, Entry::Restated(restated))
            if page.url() == url
                && (restated.time, restated.digest) == (visit.time, content.digest) =>
        {
            Some(restated.content())
        }
        _ => None,
    };
    (sequence + 1..).map_while(restated).collect()
}
