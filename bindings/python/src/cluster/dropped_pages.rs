//! The pages that are dropped in favour of their leaders.
//!
//! The result borrows the clusters. So the result stays in a separate thread, which answers queries
//! until the last sender of queries is dropped.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use simkeep::cluster::{self, PageLocation};
use simkeep::{Classes, Result};

use crate::call::fork::ForkCheck;
use crate::call::long::{PAUSE, no_result_error, thread_error};
use crate::cluster::clustered_pages::ClusteredPage;
use crate::cluster::clusters_source::ClustersSource;
use crate::convert::arg::{self, Arg};
use crate::convert::error::{OrRaise, raise};
use crate::convert::value::{FromRust, no_pickle, value};
use crate::convert::word::Fate;
use crate::streams::stream::StreamOf;
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of threads that list dropped pages.
const NAME: &str = "simkeep-dropped";

value! {
    PageFate from of: simkeep::cluster::Fate {
        /// Whether the page is kept or dropped.
        fate: Fate = of,
        /// The digest of the compared content, if the page is dropped and has a digest. Other
        /// content of the page, for example an older version, may have no kept near-duplicate.
        digest: Option<[u8; 16]> = match of {
            cluster::Fate::Dropped { digest } => digest,
            _ => None,
        },
    }
}

value! {
    KeptPage from kept: simkeep::cluster::KeptPage {
        url: String,
        distance: u32,
    }
}

/// A query, with the channel for its result.
type DroppedQuery = Box<dyn FnOnce(&cluster::DroppedPages<'_>) + Send>;

/// The pages that are dropped in favour of their leaders, by URL.
///
/// As Arrow data, the result is a table with the columns of `pages`. `len` is the number of the
/// dropped pages. Threads may share the object; their queries run one after another. The object
/// belongs to the process that made it.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct DroppedPages {
    /// The sender of queries; `None` once the object is being dropped.
    ask: Option<Sender<DroppedQuery>>,
    thread: Option<JoinHandle<()>>,
    len: u64,
    of: ClustersSource,
    open: Classes,
    birth: ForkCheck,
}

impl DroppedPages {
    /// Finds the dropped pages of clusters, while checking for signals.
    pub(crate) fn new(py: Python<'_>, of: ClustersSource, open: Classes) -> PyResult<DroppedPages> {
        let clusters = (of.clone(), open.clone());
        let (ask, questions) = channel();
        let (found, mut is_found) = sync_channel(1);
        let answers = move || answer(clusters.0.as_ref(), &clusters.1, &found, &questions);
        let thread =
            thread::Builder::new().name(NAME.to_owned()).spawn(answers).map_err(thread_error);
        let thread = thread.or_raise(py)?;
        let len = loop {
            let waiting = &mut is_found;
            match py.detach(move || waiting.recv_timeout(PAUSE)) {
                Ok(found) => break found.or_raise(py)?,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Err(raise(py, no_result_error())),
            }
        };
        let (ask, thread, birth) = (Some(ask), Some(thread), ForkCheck::now());
        Ok(DroppedPages { ask, thread, len, of, open, birth })
    }

    /// Sends a query to the thread.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&cluster::DroppedPages<'_>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.birth.check(py)?;
        let (send, answer) = sync_channel(1);
        let question: DroppedQuery = Box::new(move |of| {
            // The thread that sent the query waits for the result.
            let _ = send.send(question(of));
        });
        py.detach(move || {
            let ask = self.ask.as_ref().ok_or_else(no_result_error)?;
            ask.send(question).map_err(|_| no_result_error())?;
            answer.recv().map_err(|_| no_result_error())?
        })
        .or_raise(py)
    }
}

/// Finds the dropped pages, reports their number, and answers queries until the last sender of
/// queries is dropped.
fn answer(
    of: &cluster::Clusters,
    open: &Classes,
    found: &SyncSender<Result<u64>>,
    questions: &Receiver<DroppedQuery>,
) {
    let dropped = of.dropped(open);
    let count = dropped.as_ref().map(cluster::DroppedPages::len).map_err(Clone::clone);
    // If the receiver was dropped, there will be no queries.
    if found.send(count).is_ok()
        && let Ok(dropped) = &dropped
    {
        questions.iter().for_each(|question| question(dropped));
    }
}

#[pymethods]
impl DroppedPages {
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len)?)
    }

    /// The fate of a page. Costs a lookup; for a dropped page, also reading its head.
    ///
    /// Raises `UrlError` for an invalid URL.
    #[pyo3(signature = (url: "str"))]
    fn fate<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<PageFate> {
        let url = arg::url(Arg::new("url"), url)?.to_owned();
        PageFate::from_rust(py, self.ask(py, move |dropped| dropped.fate(&url))?)
    }

    /// The page that is kept instead of a dropped page, with the distance of the two pages.
    ///
    /// `None` if the page is not dropped. Costs as much as `fate`, and reading the kept page.
    #[pyo3(signature = (url: "str"))]
    fn kept_for<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Option<KeptPage>> {
        let url = arg::url(Arg::new("url"), url)?.to_owned();
        FromRust::from_rust(py, self.ask(py, move |dropped| dropped.kept_for(&url))?)
    }

    /// The dropped pages in SURT order, each with its leader, the page that is kept.
    ///
    /// As Arrow data, the stream has the columns `url`, `leader` and `distance`, and the further
    /// columns of `Clusters.by_page`. Costs as much as `by_page`.
    fn pages(&self, py: Python<'_>) -> PyResult<StreamOf<ClusteredPage>> {
        self.birth.check(py)?;
        let (of, open) = (self.of.clone(), self.open.clone());
        let pages =
            ThreadedItems::through(NAME, move |out: &ThreadOutput<cluster::ClusteredPage>| {
                let pages = of.as_ref().by_page(2)?;
                out.all(pages.filter(|page| page.as_ref().map_or(true, |page| page.yields(&open))))
            });
        Ok(StreamOf::new(pages.or_raise(py)?, Some(self.birth)))
    }

    /// The table of `pages`, as a stream of Arrow data in a capsule.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.pages(py)?.into_bound_py_any(py)?;
        pages.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// Whether the page at a `location` from `Candidates.candidacy` is dropped.
    ///
    /// Costs no lookup.
    #[pyo3(signature = (location: "int"))]
    fn has<'py>(&self, py: Python<'py>, location: &Bound<'py, PyAny>) -> PyResult<bool> {
        let location = PageLocation::from_bits(arg::fingerprint(Arg::new("location"), location)?);
        self.ask(py, move |dropped| Ok(dropped.has(location)))
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.DroppedPages: {} pages>", self.len)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("DroppedPages", "find them again"))
    }
}

/// Ends the thread by dropping the sender of queries. The thread releases the clusters itself.
impl Drop for DroppedPages {
    fn drop(&mut self) {
        if !self.birth.is_current_process() {
            // In a child process the thread does not exist, and locks that it held stay locked.
            std::mem::forget((self.ask.take(), self.thread.take()));
        }
    }
}
