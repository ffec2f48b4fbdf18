//! One segment: its numbers, sections and tables, and its bytes.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simkeep::inspect;

use crate::arg::{self, Arg, optional};
use crate::error::OrRaise;
use crate::explain::shape;
use crate::fork::Birth;
use crate::overview::times;
use crate::stream::{Item, Stream};
use crate::threaded::{Out, Threaded};
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::value;
use crate::view::View;
use crate::word::Space;

/// What the thread of a dump is called.
const NAME: &str = "simkeep-dump";
/// How many lines are handed on together.
const LINES: usize = 64;

value! {
    /// A segment, by what its file says of itself.
    SegmentView {
        /// Its number, which its file is named after.
        id: u64,
        /// Bytes of the file.
        bytes: u64,
        /// How many merges deep: 0 for one that was sealed, one more than its inputs for a merged one.
        level: u64,
        /// The first operation in it.
        first_operation: u64,
        /// The last operation in it.
        last_operation: u64,
        /// Records of pages.
        pages: u64,
        /// Visits in those records.
        visits: u64,
        /// Distinct fingerprints, counted once for each epoch.
        fingerprints: u64,
        /// Records that hide everything older of their page.
        resets: u64,
        /// What it adds to the pages of the store; less than its records, since some go on with older
        /// ones.
        page_delta: i64,
        /// What it adds to the visits of the store.
        visit_delta: i64,
        /// What it adds to the pages of the store with content that is in force.
        in_force_delta: i64,
        /// What it adds to the pages of the store that are gone.
        gone_delta: i64,
        /// No visit in it is earlier than the first time or later than the last; `None` without visits.
        times: Option<(Time, Time)>,
        /// The most pages that one fingerprint is or was on.
        longest_list: u64,
        /// When it was written.
        written: Time,
        /// How many prefixes were forgotten with it.
        forgotten: u64,
        /// The sections, in the order of the file.
        sections: Tuple<SectionView>,
        /// The fingerprint tables, one for each epoch.
        tables: Tuple<TableView>,
    }
}

value! {
    /// A section of a segment.
    SectionView {
        /// What it holds, as the format names it.
        kind: String,
        /// Its number among those of one kind and epoch, such as which rotation it belongs to.
        part: u16,
        /// The number of the epoch, of a section of fingerprint tables.
        epoch: Option<u32>,
        /// What its bytes are for.
        space: Space,
        /// Where it begins in the file, in bytes.
        offset: u64,
        /// Its length in bytes.
        bytes: u64,
        /// The blocks of 4 KiB that have a checksum each.
        blocks: u64,
    }
}

value! {
    /// The fingerprint tables of an epoch in a segment.
    TableView {
        /// The number of the epoch.
        epoch: u32,
        /// Distinct fingerprints.
        fingerprints: u32,
        /// What finds those that are near: column, rotations or cells.
        shape: String,
        /// Bytes of the fingerprints with all that finds them.
        bytes: u64,
    }
}

value! {
    /// Some bytes of a segment, and what they mean.
    ///
    /// As a text, it is what the pages of `format/` show: the offset in hexadecimal digits, the
    /// bytes, and the meaning. A meaning may quote URLs, which are from strangers: escape it before
    /// a terminal shows it.
    DumpLine {
        /// Where the bytes are in the file.
        offset: u64,
        /// How many there are.
        len: u64,
        /// The bytes; `None` of those that are damaged.
        bytes: Option<Py<PyBytes>>,
        /// What they mean, or what is wrong with them.
        meaning: String,
        /// Whether they are damaged, or are what they cannot be.
        damaged: bool,
        /// For people.
        text: String,
    }
    also {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl SegmentView {
    fn of(py: Python<'_>, of: inspect::SegmentView) -> PyResult<SegmentView> {
        Ok(SegmentView {
            id: of.id,
            bytes: of.bytes,
            level: of.level,
            first_operation: of.first_operation,
            last_operation: of.last_operation,
            pages: of.pages,
            visits: of.visits,
            fingerprints: of.fingerprints,
            resets: of.resets,
            page_delta: of.page_delta,
            visit_delta: of.visit_delta,
            in_force_delta: of.in_force_delta,
            gone_delta: of.gone_delta,
            times: times(of.times),
            longest_list: of.longest_list,
            written: Time(of.written),
            forgotten: of.forgotten,
            sections: Tuple::of(py, of.sections, |section| Ok(SectionView::from(section)))?,
            tables: Tuple::of(py, of.tables, |table| Ok(TableView::from(table)))?,
        })
    }
}

impl From<inspect::SectionView> for SectionView {
    fn from(of: inspect::SectionView) -> SectionView {
        SectionView {
            kind: of.kind.to_owned(),
            part: of.part,
            epoch: of.epoch.map(simkeep::Epoch::number),
            space: of.space.into(),
            offset: of.offset,
            bytes: of.bytes,
            blocks: of.blocks,
        }
    }
}

impl From<inspect::TableView> for TableView {
    fn from(of: inspect::TableView) -> TableView {
        TableView {
            epoch: of.epoch.number(),
            fingerprints: of.fingerprints,
            shape: shape(of.shape),
            bytes: of.bytes,
        }
    }
}

impl DumpLine {
    pub(crate) fn of(py: Python<'_>, line: inspect::DumpLine) -> DumpLine {
        let text = line.to_string();
        let inspect::DumpLine { offset, len, bytes, meaning, damaged, .. } = line;
        let bytes = bytes.map(|bytes| PyBytes::new(py, &bytes).unbind());
        DumpLine { offset, len, bytes, meaning, damaged, text }
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
        segment.map(|segment| SegmentView::of(py, segment)).transpose()
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
