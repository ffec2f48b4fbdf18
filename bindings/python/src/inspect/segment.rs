//! A segment: its figures, sections and tables, and its bytes.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simkeep::{Result, Snapshot, inspect};

use crate::call::fork::ForkCheck;
use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::convert::word::Space;
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of the thread of a dump.
const NAME: &str = "simkeep-dump";
/// The number of lines in a chunk.
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
        times: Option<(PyTime, PyTime)>,
        longest_list: u64,
        written: PyTime,
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
        of_digests: bool,
        space: Space,
        offset: u64,
        bytes: u64,
        blocks: u64,
    }
}

value! {
    TableView from table: simkeep::inspect::TableView {
        epoch: Option<u32>,
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
        /// The line as text for people.
        text: String = line.to_string(),
    }
    also {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl StreamItem for inspect::DumpLine {
    type Object = DumpLine;
}

/// Streams the lines of a dump.
pub(crate) fn dump(
    snapshot: Snapshot,
    id: u64,
    asked: inspect::DumpQuery,
) -> Result<StreamOf<DumpLine>> {
    let lines = ThreadedItems::through(NAME, move |out| run(&snapshot, id, &asked, out))?;
    Ok(StreamOf::new(lines, Some(ForkCheck::now())))
}

/// Sends the lines of a dump.
fn run(
    snapshot: &Snapshot,
    id: u64,
    asked: &inspect::DumpQuery,
    out: &ThreadOutput<inspect::DumpLine>,
) -> Result<()> {
    let mut lines = Vec::new();
    asked.run(snapshot, id, |line| {
        lines.push(line);
        if lines.len() < LINES {
            return ControlFlow::Continue(());
        }
        out.send(std::mem::take(&mut lines))
    })?;
    if !lines.is_empty() {
        let _: ControlFlow<()> = out.send(lines);
    }
    Ok(())
}
