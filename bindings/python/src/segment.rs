//! One segment: its numbers, sections and tables, and its bytes.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simkeep::inspect;

use crate::arg::{self, Arg, optional};
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::stream::{Item, Stream};
use crate::threaded::{Out, Threaded};
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::Space;

/// What the thread of a dump is called.
const NAME: &str = "simkeep-dump";
/// How many lines are handed on together.
const LINES: usize = 64;

value! {
    SegmentView from segment: simkeep::inspect::SegmentView {
        id: u64,
        bytes: u64,
        level: u64,
        first_operation: u64,
        last_operation: u64,
        pages: u64,
        visits: u64,
        fingerprints: u64,
        resets: u64,
        page_delta: i64,
        visit_delta: i64,
        in_force_delta: i64,
        gone_delta: i64,
        times: Option<(Time, Time)>,
        longest_list: u64,
        written: Time,
        forgotten: u64,
        sections: Tuple<SectionView>,
        tables: Tuple<TableView>,
    }
}

value! {
    SectionView from section: simkeep::inspect::SectionView {
        kind: String,
        part: u16,
        epoch: Option<u32>,
        space: Space,
        offset: u64,
        bytes: u64,
        blocks: u64,
    }
}

value! {
    TableView from table: simkeep::inspect::TableView {
        epoch: u32,
        fingerprints: u32,
        shape: String,
        bytes: u64,
    }
}

value! {
    DumpLine from line: simkeep::inspect::DumpLine {
        offset: u64,
        len: u64,
        bytes: Option<Py<PyBytes>>,
        meaning: String,
        damaged: bool,
        /// For people.
        text: String = line.to_string(),
    }
    also {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

/// Hands on the lines of a dump.
fn dump(
    snapshot: &simkeep::Snapshot,
    id: u64,
    asked: &inspect::DumpQuery,
    out: &Out,
) -> simkeep::Result<()> {
    let mut lines = Vec::new();
    asked.run(snapshot, id, |line| {
        lines.push(Item::DumpLine(Box::new(line)));
        if lines.len() < LINES {
            return ControlFlow::Continue(());
        }
        out.give(std::mem::take(&mut lines))
    })?;
    if !lines.is_empty() {
        let _: ControlFlow<()> = out.give(lines);
    }
    Ok(())
}

#[pymethods]
impl View {
    /// One of the segments by its number, with its sections and fingerprint tables.
    ///
    /// `None` if there is none of that number; `stats` and `overview` have the numbers. Reads
    /// nothing: all of it is known since the segment was opened.
    #[pyo3(signature = (id: "int"))]
    fn segment(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<SegmentView>> {
        let snapshot = self.now(py)?;
        let id = arg::count(Arg::new("id"), id)?;
        let segment =
            py.detach(|| simkeep::inspect::SegmentView::of(&snapshot, id)).or_raise(py)?;
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
    ) -> "Stream[DumpLine]")]
    fn dump<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        section: Option<&Bound<'py, PyAny>>,
        part: Option<&Bound<'py, PyAny>>,
        epoch: Option<&Bound<'py, PyAny>>,
        offset: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stream> {
        let (snapshot, given, id_arg) = (self.now(py)?, id, Arg::new("id"));
        let id = arg::count(id_arg, given)?;
        let mut asked = inspect::DumpQuery::all();
        asked.section =
            optional(section, |v| arg::text(Arg::new("section"), v).map(str::to_owned))?;
        asked.part = optional(part, |v| arg::u16(Arg::new("part"), v))?;
        asked.epoch = optional(epoch, |v| arg::epoch(Arg::new("epoch"), v))?;
        asked.from = optional(offset, |v| arg::count(Arg::new("offset"), v))?.unwrap_or(0);
        if py.detach(|| simkeep::inspect::SegmentView::of(&snapshot, id)).or_raise(py)?.is_none() {
            return Err(id_arg.value_error("the number of a segment of the store", given));
        }
        let lines = Threaded::through(NAME, move |out| dump(&snapshot, id, &asked, out));
        Ok(Stream::new(lines.or_raise(py)?, None, Some(Birth::now())))
    }
}
