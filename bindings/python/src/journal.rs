//! The journal: the operations that no segment has yet.

use pyo3::prelude::*;
use simkeep::inspect;

use crate::arg::{self, Arg, optional};
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::found::Found;
use crate::history::HistoryEntry;
use crate::long::alone;
use crate::stream::{Item, Stream};
use crate::threaded::Threaded;
use crate::time::Time;
use crate::typed::Typed;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::Done;

/// What the thread is called that goes through operations.
const NAME: &str = "simkeep-journal";

value! {
    JournalView from journal: simkeep::inspect::JournalView {
        first_operation: u64,
        last_operation: u64,
        operations: u64,
        pages: u64,
        times: Option<(Time, Time)>,
        found: Py<Found>,
        restated: u64,
        weights: u64,
        classes: u64,
        forgotten: u64,
    }
}

value! {
    /// An operation, as it was acknowledged.
    Operation {
        /// Its number.
        sequence: u64,
        /// What it did.
        done: Done,
        /// The page; `None` if a prefix was forgotten.
        url: Option<String>,
        /// The entry that the page got: `Judged`, `Restated` or `Given`; `None` if something was
        /// forgotten.
        entry: Option<Typed<HistoryEntry>>,
        /// The prefix that was forgotten.
        prefix: Option<String>,
        /// How many pages were known under the prefix.
        pages: Option<u64>,
        /// How many visits were known of what was forgotten.
        visits: Option<u64>,
    }
}

impl FromRust<inspect::Operation> for Operation {
    fn from_rust(py: Python<'_>, of: inspect::Operation) -> PyResult<Operation> {
        let inspect::Operation { sequence, done: of, .. } = of;
        let done = Done::from(&of);
        let (mut url, mut entry, mut prefix, mut pages, mut visits) =
            (None, None, None, None, None);
        match of {
            inspect::Done::Entry { url: page, entry: got } => {
                (url, entry) = (Some(page), Some(FromRust::from_rust(py, got)?));
            }
            inspect::Done::Forgot { url: page, visits: of } => {
                (url, visits) = (Some(page), Some(of));
            }
            inspect::Done::ForgotPrefix { prefix: under, pages: known, visits: of } => {
                (prefix, pages, visits) = (Some(under.to_string()), Some(known), Some(of));
            }
        }
        Ok(Operation { sequence, done, url, entry, prefix, pages, visits })
    }
}

/// The operations that the journal holds, in the order in which they were acknowledged.
#[pyclass(frozen, extends = Stream, module = "simkeep")]
pub(crate) struct Operations {
    held: Option<(u64, u64)>,
}

#[pymethods]
impl Operations {
    /// The numbers of the first and the last operation that the journal holds.
    ///
    /// `None` if it is empty. What comes before them was sealed.
    #[getter]
    fn held(&self) -> Option<(u64, u64)> {
        self.held
    }
}

#[pymethods]
impl View {
    /// What the journal holds, in numbers: the operations that no segment has yet.
    ///
    /// Costs a look at the page of each operation, and memory for the URLs of its pages. Ctrl-C
    /// leaves it.
    fn journal(&self, py: Python<'_>) -> PyResult<JournalView> {
        let snapshot = self.now(py)?;
        let journal = alone(py, move || simkeep::inspect::JournalView::of(&snapshot))?;
        JournalView::from_rust(py, journal)
    }

    /// The operations that the journal holds, in the order in which they were acknowledged.
    ///
    /// Those behind the one with the number `after`; a visit with its verdict. With a prefix
    /// `under`, those of pages under it, and of prefixes that have pages with it in common. What
    /// was sealed is in no journal any more. A further fingerprint, a weight or a class that came
    /// with a visit is an operation of its own, after that visit.
    ///
    /// Costs a look at the page for each, in a thread that waits for whoever reads, and ends when
    /// the stream is closed.
    #[pyo3(signature = (after: "int | None" = None, *, under: "str | None" = None))]
    fn operations<'py>(
        &self,
        py: Python<'py>,
        after: Option<&Bound<'py, PyAny>>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Operations>> {
        let snapshot = self.now(py)?;
        let after = optional(after, |v| arg::count(Arg::new("after"), v))?.unwrap_or(0);
        let under = optional(under, |v| arg::prefix(Arg::new("under"), v))?;
        let all = py.detach(|| simkeep::inspect::Operations::after(&snapshot, after));
        let held = all.held().map(std::ops::RangeInclusive::into_inner);
        let progress = simkeep::Progress::default();
        let items = Threaded::begin(NAME, progress, move |progress, out| {
            let wanted = |of: &simkeep::Result<inspect::Operation>| match (of, &under) {
                (Ok(of), Some(under)) => of.done.is_under(under),
                _ => true,
            };
            let all = all.take_while(|_| !progress.is_cancelled()).filter(wanted);
            out.all(all, |of| Item::Operation(Box::new(of)))
        });
        let stream = Stream::new(items.or_raise(py)?, None, Some(Birth::now()));
        Py::new(py, PyClassInitializer::from(stream).add_subclass(Operations { held }))
    }
}
