//! What a store is on the whole, without reading its pages.

use pyo3::prelude::*;

use crate::epoch::EpochInfo;
use crate::error::OrRaise;
use crate::integrity::Flaw;
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::Space;

value! {
    Overview from overview: simkeep::inspect::Overview {
        sequence: u64,
        pages: u64,
        in_force: u64,
        gone: u64,
        never: u64,
        visits: u64,
        first: Option<Time>,
        last: Option<Time>,
        unsealed_pages: u64,
        unsealed: Option<(u64, u64)>,
        fingerprints: u64,
        commonest_pages: u64,
        epochs: Tuple<EpochOverview>,
        segments: Tuple<SegmentOverview>,
        space: Tuple<SpaceOf>,
        hosts: Tuple<HostShare>,
        flaw: Option<Py<Flaw>>,
    }
}

value! {
    EpochOverview from epoch: simkeep::inspect::EpochOverview {
        info: Py<EpochInfo>,
        fingerprints: u64,
        is_in_use: bool,
    }
}

value! {
    SegmentOverview from segment: simkeep::inspect::SegmentOverview {
        id: u64,
        level: u64,
        first_operation: u64,
        last_operation: u64,
        pages: u64,
        visits: u64,
        times: Option<(Time, Time)>,
        written: Time,
        bytes: u64,
        shape: Option<String>,
        superseded: f64,
    }
}

value! {
    SpaceOf from space: simkeep::inspect::SpaceOf {
        of: Space,
        bytes: u64,
    }
}

value! {
    HostShare from host: simkeep::inspect::HostShare {
        host: String,
        share: f64,
    }
}

value! {
    Compaction from compaction: simkeep::inspect::Compaction {
        segments: usize,
        segment_bytes: u64,
        unsealed_pages: u64,
        gives_back_bytes: u64,
        takes_bytes: u64,
    }
}

#[pymethods]
impl View {
    /// What the store is on the whole: its numbers, epochs and segments, what their bytes are for.
    ///
    /// Also about which hosts have many pages. Costs as much for a large store: it reads 64 pages,
    /// and numbers of what is open already. Damaged pages raise nothing, and are named.
    fn overview(&self, py: Python<'_>) -> PyResult<Overview> {
        let snapshot = self.now(py)?;
        let overview = py.detach(|| simkeep::inspect::Overview::of(&snapshot)).or_raise(py)?;
        Overview::from_rust(py, overview)
    }

    /// About what `compact` gives back.
    ///
    /// That is what newer segments have again, and the fingerprint tables of epochs that have
    /// ended. Costs what `overview` does.
    fn compaction(&self, py: Python<'_>) -> PyResult<Compaction> {
        let snapshot = self.now(py)?;
        let compaction = py.detach(|| simkeep::inspect::Compaction::of(&snapshot)).or_raise(py)?;
        Compaction::from_rust(py, compaction)
    }
}
