//! The parts of a store.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::inspect;

use super::view::View;
use crate::call::long::{long, run_uncancellable};
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::inspect::census::Census;
use crate::inspect::journal::{JournalView, Operations};
use crate::inspect::overview::{CompactionEstimate, Overview};
use crate::inspect::requests::{self, HostRequests, RequestCounts};
use crate::inspect::segment::{self, DumpLine, SegmentView};
use crate::inspect::trace::Trace;
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// A summary of the store: its figures, epochs and segments, and the use of its bytes.
    ///
    /// The summary estimates the hosts with the most pages. The cost does not grow with the store:
    /// 64 pages are read, and data that is already open. Damaged pages raise no exception, and are
    /// listed.
    fn overview(&self, py: Python<'_>) -> PyResult<Overview> {
        let snapshot = self.now(py)?;
        Overview::from_rust(py, py.detach(|| inspect::Overview::of(&snapshot)).or_raise(py)?)
    }

    /// Estimates the space that `compact` would free.
    ///
    /// The freed space is the data that newer segments repeat, and the fingerprint tables of ended
    /// epochs. Costs as much as `overview`.
    fn compaction_estimate(&self, py: Python<'_>) -> PyResult<CompactionEstimate> {
        let snapshot = self.now(py)?;
        let of = py.detach(|| inspect::CompactionEstimate::of(&snapshot)).or_raise(py)?;
        CompactionEstimate::from_rust(py, of)
    }

    /// Counts the content of the store, in one pass over all its pages and visits.
    ///
    /// Counts hosts, fingerprints, and results of visits by time. Takes some 64 MiB for any size of
    /// the store. The progress counts pages. Ctrl-C ends the call.
    ///
    /// Raises `CorruptError` if the data that it reads is damaged, `CancelledError` if `progress`
    /// was cancelled.
    #[pyo3(signature = (*, progress=None))]
    fn census(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Census> {
        let (snapshot, progress) = (self.now(py)?, progress::or_default(progress));
        Census::from_rust(py, long(py, &progress, || inspect::Census::of(&snapshot, &progress))?)
    }

    /// Counts what the requests of the crawl transferred, and what they saved: bodies that servers
    /// did not send again (304), unchanged bodies, and copies.
    ///
    /// Reads all histories, twice with `copies=True`. Takes the memory of one history, and scratch
    /// files of 50 bytes for each version if copies are counted. Other threads run meanwhile. The
    /// progress counts pages. Ctrl-C ends the call.
    ///
    /// Raises `IoError` if there is no space for scratch files.
    ///
    /// Keywords: `under`, a prefix; `copies=True` also counts copies; `memory_bytes` to sort
    /// versions (64 MiB); `scratch`, a directory for scratch files.
    #[pyo3(signature = (*, progress=None, **like: "Unpack[_types.RequestSurvey]"))]
    fn requests<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<RequestCounts> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (requests::asked(like)?, progress::or_default(progress));
        RequestCounts::from_rust(py, long(py, &progress, || asked.totals(&snapshot, &progress))?)
    }

    /// Counts the requests to each host, in SURT order: which hosts deserve conditional requests.
    ///
    /// Costs as much as `requests`, in a thread that waits for the reader and ends when the stream
    /// is closed. As Arrow data, the stream has a row for each host.
    ///
    /// Takes the keywords of `requests`.
    #[pyo3(signature = (*, progress=None, **like: "Unpack[_types.RequestSurvey]"))]
    fn requests_by_host<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<HostRequests>> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (requests::asked(like)?, progress::or_default(progress));
        requests::by_host(py, snapshot, asked, progress)
    }

    /// The segment with this number, with its sections and fingerprint tables.
    ///
    /// `None` if there is no such segment; `stats` and `overview` have the numbers. Reads no data:
    /// all figures are in memory since the segment was opened.
    #[pyo3(signature = (id: "int"))]
    fn segment(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<SegmentView>> {
        let snapshot = self.now(py)?;
        let id = arg::count(Arg::new("id"), id)?;
        let segment = py.detach(|| inspect::SegmentView::of(&snapshot, id)).or_raise(py)?;
        FromRust::from_rust(py, segment)
    }

    /// The bytes of a segment and their meaning, in the order of the file.
    ///
    /// `section` selects the sections with a name, as in `SectionView.kind`, or "head", "table" or
    /// "trailer"; `part` and `epoch` select among these sections. `offset` leaves out all lines
    /// whose bytes end before it in the file. A damaged block becomes a line that reports the
    /// damage, and raises no exception.
    ///
    /// Reads the file once, from `offset` on, in a thread that waits for the reader of the lines,
    /// and ends when the stream is closed. Raises `ValueError` if there is no segment with this
    /// number, and `IoError` if its file cannot be opened.
    #[pyo3(signature = (
        id: "int", *, section: "str | None" = None, part: "int | None" = None,
        epoch: "int | None" = None, offset: "int | None" = None
    ))]
    fn dump<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        section: Option<&Bound<'py, PyAny>>,
        part: Option<&Bound<'py, PyAny>>,
        epoch: Option<&Bound<'py, PyAny>>,
        offset: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<StreamOf<DumpLine>> {
        let (snapshot, given, id_arg) = (self.now(py)?, id, Arg::new("id"));
        let id = arg::count(id_arg, given)?;
        let mut asked = inspect::DumpQuery::all();
        asked.section =
            optional(section, |v| arg::text(Arg::new("section"), v).map(str::to_owned))?;
        asked.part = optional(part, |v| arg::u16(Arg::new("part"), v))?;
        asked.epoch = optional(epoch, |v| arg::epoch(Arg::new("epoch"), v))?;
        asked.from = optional(offset, |v| arg::count(Arg::new("offset"), v))?.unwrap_or(0);
        if py.detach(|| inspect::SegmentView::of(&snapshot, id)).or_raise(py)?.is_none() {
            return Err(id_arg.value_error("the number of a segment of the store", given));
        }
        segment::dump(snapshot, id, asked).or_raise(py)
    }

    /// Summary figures of the journal: the operations that are not in a segment yet.
    ///
    /// Costs a lookup of the page of each operation, and memory for the URLs of the pages. Ctrl-C
    /// abandons the call.
    fn journal(&self, py: Python<'_>) -> PyResult<JournalView> {
        let snapshot = self.now(py)?;
        JournalView::from_rust(
            py,
            run_uncancellable(py, move || inspect::JournalView::of(&snapshot))?,
        )
    }

    /// The operations in the journal, in the order in which they were acknowledged.
    ///
    /// `after` selects the operations with a greater number. A visit has its verdict. `under`, a
    /// prefix, selects the operations on pages under the prefix, and on prefixes that overlap it.
    /// Sealed operations are no longer in the journal. A further fingerprint, a weight or a class
    /// that was observed with a visit is a separate operation, after the operation of the visit.
    ///
    /// Costs a lookup of the page of each operation, in a thread that waits for the reader, and
    /// ends when the stream is closed.
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
        let all = py.detach(|| inspect::Operations::after(&snapshot, after));
        Operations::list(py, all, under)
    }

    /// All data about a page, and the places where the data is stored; `None` for an unknown page.
    ///
    /// Costs reading the page's record in each segment that has a record of the page. Raises
    /// `UrlError` for an invalid URL.
    #[pyo3(signature = (url: "str"))]
    fn trace(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Option<Trace>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let trace = py.detach(|| inspect::Trace::of(&snapshot, url)).or_raise(py)?;
        FromRust::from_rust(py, trace)
    }
}
