//! What a store consists of.

use pyo3::prelude::*;
use simkeep::inspect;

use super::view::View;
use crate::call::long::{alone, long};
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::inspect::census::Census;
use crate::inspect::journal::{JournalView, Operations};
use crate::inspect::overview::{Compaction, Overview};
use crate::inspect::segment::{self, DumpLine, SegmentView};
use crate::inspect::trace::Trace;
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// What the store is on the whole: its numbers, epochs and segments, what their bytes are for.
    ///
    /// Also about which hosts have many pages. Costs as much for a large store: it reads 64 pages,
    /// and numbers of what is open already. Damaged pages raise nothing, and are named.
    fn overview(&self, py: Python<'_>) -> PyResult<Overview> {
        let snapshot = self.now(py)?;
        Overview::from_rust(py, py.detach(|| inspect::Overview::of(&snapshot)).or_raise(py)?)
    }

    /// About what `compact` frees.
    ///
    /// That is what newer segments have again, and the fingerprint tables of epochs that have
    /// ended. Costs what `overview` does.
    fn compaction(&self, py: Python<'_>) -> PyResult<Compaction> {
        let snapshot = self.now(py)?;
        let of = py.detach(|| inspect::Compaction::of(&snapshot)).or_raise(py)?;
        Compaction::from_rust(py, of)
    }

    /// Counts what the store has, in one pass over all its pages and visits.
    ///
    /// That is hosts, fingerprints, and what visits found, by when they were. Takes some 64 MiB,
    /// however many there are. The progress counts pages. Ctrl-C ends it.
    ///
    /// Raises `CorruptError` if what it touches is damaged, `CancelledError` if `progress` was
    /// cancelled.
    #[pyo3(signature = (*, progress=None))]
    fn census(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Census> {
        let (snapshot, progress) = (self.now(py)?, progress::given(progress));
        Census::from_rust(py, long(py, &progress, || inspect::Census::of(&snapshot, &progress))?)
    }

    /// One of the segments by its number, with its sections and fingerprint tables.
    ///
    /// `None` if there is none of that number; `stats` and `overview` have the numbers. Reads
    /// nothing: all of it is known since the segment was opened.
    #[pyo3(signature = (id: "int"))]
    fn segment(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<SegmentView>> {
        let snapshot = self.now(py)?;
        let id = arg::count(Arg::new("id"), id)?;
        let segment = py.detach(|| inspect::SegmentView::of(&snapshot, id)).or_raise(py)?;
        FromRust::from_rust(py, segment)
    }

    /// The bytes of a segment, each with its meaning, in the order of the file.
    ///
    /// Of all sections of a name, as `SectionView.kind` has it, or "head", "table" or "trailer"; of
    /// those with one number `part`, or of one `epoch`; from an `offset` in the file on, with what
    /// ends behind it. A damaged block is a line that says so, and raises nothing.
    ///
    /// Reads the file once, from that offset on, in a thread that waits for whoever reads the
    /// lines, and ends when the stream is closed. Raises `ValueError` if there is no segment of
    /// that number, and `IoError` if its file cannot be opened.
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

    /// What the journal holds, in numbers: the operations that no segment has yet.
    ///
    /// Costs a look at the page of each operation, and memory for the URLs of its pages. Ctrl-C
    /// leaves it.
    fn journal(&self, py: Python<'_>) -> PyResult<JournalView> {
        let snapshot = self.now(py)?;
        JournalView::from_rust(py, alone(py, move || inspect::JournalView::of(&snapshot))?)
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
        let all = py.detach(|| inspect::Operations::after(&snapshot, after));
        Operations::list(py, all, under)
    }

    /// All that is known of a page, and where that stands; `None` for an unknown page.
    ///
    /// Costs reading the page's record in each segment that has it. Raises `UrlError` for what no
    /// page can have.
    #[pyo3(signature = (url: "str"))]
    fn trace(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Option<Trace>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let trace = py.detach(|| inspect::Trace::of(&snapshot, url)).or_raise(py)?;
        FromRust::from_rust(py, trace)
    }
}
