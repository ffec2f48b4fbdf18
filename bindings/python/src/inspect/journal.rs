//! The journal: the operations that are not in a segment yet.

use pyo3::prelude::*;
use simkeep::{Prefix, inspect};

use crate::call::fork::ForkCheck;
use crate::convert::error::OrRaise;
use crate::convert::time::PyTime;
use crate::convert::typed::Typed;
use crate::convert::value::{FromRust, value};
use crate::convert::word::OperationKind;
use crate::inspect::verdict_counts::VerdictCounts;
use crate::pages::history::PyHistoryEntry;
use crate::streams::stream::{Stream, StreamItem};
use crate::streams::threaded::ThreadedItems;

/// The name of the thread that lists operations.
const NAME: &str = "simkeep-journal";

value! {
    JournalView from journal: simkeep::inspect::JournalView {
        first_operation: u64,
        last_operation: u64,
        operations: u64,
        pages: u64,
        times: Option<(PyTime, PyTime)>,
        verdicts: Py<VerdictCounts>,
        restated: u64,
        weights: u64,
        classes: u64,
        etags: u64,
        targets: u64,
        forgotten: u64,
    }
}

value! {
    /// An acknowledged operation.
    LoggedOperation {
        /// The number of the operation.
        sequence: u64,
        /// The effect of the operation.
        kind: OperationKind,
        /// The URL of the page; `None` for a forgotten prefix.
        url: Option<String>,
        /// The new entry of the page: `VisitEntry`, `Restated` or `PropertyEntry`; `None` for a
        /// forget.
        entry: Option<Typed<PyHistoryEntry>>,
        /// The prefix that was forgotten.
        prefix: Option<String>,
        /// The number of known pages under the prefix.
        pages: Option<u64>,
        /// The number of known visits that were forgotten.
        visits: Option<u64>,
    }
}

impl FromRust<inspect::LoggedOperation> for LoggedOperation {
    fn from_rust(py: Python<'_>, of: inspect::LoggedOperation) -> PyResult<LoggedOperation> {
        let inspect::LoggedOperation { sequence, kind: of, .. } = of;
        let kind = OperationKind::from(&of);
        let (mut url, mut entry, mut prefix, mut pages, mut visits) =
            (None, None, None, None, None);
        match of {
            inspect::OperationKind::Entry { url: page, entry: got } => {
                entry = Some(FromRust::from_rust(py, (&*page, got))?);
                url = Some(page);
            }
            inspect::OperationKind::Forget { url: page, visits: of } => {
                (url, visits) = (Some(page), Some(of));
            }
            inspect::OperationKind::ForgetPrefix { prefix: under, pages: known, visits: of } => {
                (prefix, pages, visits) = (Some(under.to_string()), Some(known), Some(of));
            }
        }
        Ok(LoggedOperation { sequence, kind, url, entry, prefix, pages, visits })
    }
}

impl StreamItem for inspect::LoggedOperation {
    type Object = LoggedOperation;
}

/// The operations in the journal, in the order in which they were acknowledged.
#[pyclass(frozen, extends = Stream, module = "simkeep")]
pub(crate) struct Operations {
    available: Option<(u64, u64)>,
}

impl Operations {
    /// Lists the selected operations. With a prefix, only the operations of pages under the prefix
    /// are selected.
    pub(crate) fn list(
        py: Python<'_>,
        all: inspect::Operations,
        under: Option<Prefix>,
    ) -> PyResult<Py<Operations>> {
        let available = all.available().map(std::ops::RangeInclusive::into_inner);
        let progress = simkeep::Progress::default();
        let items = ThreadedItems::begin(NAME, progress, move |progress, out| {
            let wanted = |of: &simkeep::Result<inspect::LoggedOperation>| match (of, &under) {
                (Ok(of), Some(under)) => of.kind.is_under(under),
                _ => true,
            };
            out.all(all.take_while(|_| !progress.is_cancelled()).filter(wanted))
        });
        let stream = Stream::new(items.or_raise(py)?, Some(ForkCheck::now()));
        Py::new(py, PyClassInitializer::from(stream).add_subclass(Operations { available }))
    }
}

#[pymethods]
impl Operations {
    /// The numbers of the first and the last operation in the journal.
    ///
    /// `None` if the journal is empty. Earlier operations were sealed.
    #[getter]
    fn available(&self) -> Option<(u64, u64)> {
        self.available
    }
}
