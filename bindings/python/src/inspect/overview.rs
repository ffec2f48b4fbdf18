//! A summary of a store without reading its pages.

use pyo3::prelude::*;

use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::convert::word::Space;
use crate::fingerprint::epoch::EpochInfo;
use crate::maintain::integrity::Corruption;

value! {
    Overview from overview: simkeep::inspect::Overview {
        sequence: u64,
        pages: u64,
        in_force: u64,
        gone: u64,
        never: u64,
        visits: u64,
        first: Option<PyTime>,
        last: Option<PyTime>,
        unsealed_pages: u64,
        unsealed: Option<(u64, u64)>,
        fingerprints: u64,
        commonest_pages: u64,
        epochs: Tuple<EpochOverview>,
        segments: Tuple<SegmentOverview>,
        space: Tuple<SpaceUsage>,
        hosts: Tuple<HostShare>,
        flaw: Option<Py<Corruption>>,
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
        times: Option<(PyTime, PyTime)>,
        written: PyTime,
        bytes: u64,
        shape: Option<String>,
        superseded: f64,
    }
}

value! {
    SpaceUsage from space: simkeep::inspect::SpaceUsage {
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
    CompactionEstimate from compaction: simkeep::inspect::CompactionEstimate {
        segments: usize,
        segment_bytes: u64,
        unsealed_pages: u64,
        reclaimable_bytes: u64,
        temporary_bytes: u64,
    }
}
