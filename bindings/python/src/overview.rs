//! What a store is on the whole, without reading its pages.

use pyo3::prelude::*;
use simkeep::inspect;

use crate::epoch::EpochInfo;
use crate::error::OrRaise;
use crate::explain::shape;
use crate::integrity::Flaw;
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::Space;

value! {
    /// What a store is on the whole.
    Overview {
        /// The number of the last operation.
        sequence: u64,
        /// Pages that are known.
        pages: u64,
        /// Pages with content that is in force.
        in_force: u64,
        /// Pages that are gone.
        gone: u64,
        /// Pages of which no content was ever seen.
        never: u64,
        /// Visits to all pages.
        visits: u64,
        /// No visit was earlier: that of the earliest one, unless that was forgotten and merged away;
        /// `None` without visits.
        first: Option<Time>,
        /// No visit was later; `None` without visits.
        last: Option<Time>,
        /// Pages of which something is in the journal, and in no segment yet.
        unsealed_pages: u64,
        /// The first and the last operation that the journal holds; `None` if it is empty.
        unsealed: Option<(u64, u64)>,
        /// Distinct fingerprints, counted once for each segment or memtable and each epoch that has
        /// them.
        fingerprints: u64,
        /// The most pages that one fingerprint is or was on in one segment.
        commonest_pages: u64,
        /// All epochs, by number.
        epochs: Tuple<EpochOverview>,
        /// The live segments, the oldest first.
        segments: Tuple<SegmentOverview>,
        /// Bytes of the segments by what they are for, the most first.
        space: Tuple<SpaceOf>,
        /// The hosts that have more than about one in fifty of the pages, the largest first. They are
        /// told from 64 pages at equal distances in SURT order, and without what is in the journal.
        hosts: Tuple<HostShare>,
        /// What was found to be damaged among those 64 pages; then there are no hosts.
        flaw: Option<Py<Flaw>>,
    }
}

value! {
    /// An epoch, and what there is of it.
    EpochOverview {
        /// The epoch.
        info: Py<EpochInfo>,
        /// Distinct fingerprints, counted once for each segment or memtable that has them.
        fingerprints: u64,
        /// Whether verdicts or searches go by it.
        is_in_use: bool,
    }
}

value! {
    /// A segment by its numbers.
    SegmentOverview {
        /// Its number.
        id: u64,
        /// How many merges deep: 0 for one that was sealed.
        level: u64,
        /// The first operation in it.
        first_operation: u64,
        /// The last operation in it.
        last_operation: u64,
        /// Records of pages.
        pages: u64,
        /// Visits in them.
        visits: u64,
        /// No visit in it is earlier than the first time or later than the last; `None` without visits.
        times: Option<(Time, Time)>,
        /// When it was written.
        written: Time,
        /// Bytes of the file.
        bytes: u64,
        /// What finds its fingerprints, those of the epoch of which it has most: column, rotations or
        /// cells; `None` if it has none.
        shape: Option<String>,
        /// About what share of its records is of pages that newer segments have a record of, too, or
        /// that were forgotten, from 0 to 1.
        superseded: f64,
    }
}

value! {
    /// How many bytes are for something.
    SpaceOf {
        /// What they are for.
        of: Space,
        /// How many.
        bytes: u64,
    }
}

value! {
    /// How much of a store a host is.
    HostShare {
        /// The host; of URLs without one their scheme and a colon.
        host: String,
        /// About what share of the pages it has, from 0 to 1.
        share: f64,
    }
}

value! {
    /// An estimate of what `compact` does to the segments.
    Compaction {
        /// How many segments there are.
        segments: usize,
        /// Bytes of them.
        segment_bytes: u64,
        /// Pages of which something is in no segment yet: it will be in the merged one.
        unsealed_pages: u64,
        /// About how many bytes a merge of all gives back.
        gives_back_bytes: u64,
        /// The free room that the merge takes until it is done, in bytes.
        takes_bytes: u64,
    }
}

/// A pair of times.
pub(crate) fn times(times: Option<(simkeep::Time, simkeep::Time)>) -> Option<(Time, Time)> {
    times.map(|(first, last)| (Time(first), Time(last)))
}

impl EpochOverview {
    fn of(py: Python<'_>, epoch: &inspect::EpochOverview) -> PyResult<EpochOverview> {
        Ok(EpochOverview {
            info: Py::new(py, EpochInfo::from_rust(py, epoch.info.clone())?)?,
            fingerprints: epoch.fingerprints,
            is_in_use: epoch.is_in_use,
        })
    }
}

impl From<inspect::SegmentOverview> for SegmentOverview {
    fn from(of: inspect::SegmentOverview) -> SegmentOverview {
        SegmentOverview {
            id: of.id,
            level: of.level,
            first_operation: of.first_operation,
            last_operation: of.last_operation,
            pages: of.pages,
            visits: of.visits,
            times: times(of.times),
            written: Time(of.written),
            bytes: of.bytes,
            shape: of.shape.map(shape),
            superseded: of.superseded,
        }
    }
}

impl Overview {
    fn of(py: Python<'_>, of: inspect::Overview) -> PyResult<Overview> {
        Ok(Overview {
            sequence: of.sequence,
            pages: of.pages,
            in_force: of.in_force,
            gone: of.gone,
            never: of.never,
            visits: of.visits,
            first: of.first.map(Time),
            last: of.last.map(Time),
            unsealed_pages: of.unsealed_pages,
            unsealed: of.unsealed,
            fingerprints: of.fingerprints,
            commonest_pages: of.commonest_pages,
            epochs: Tuple::of(py, of.epochs, |epoch| EpochOverview::of(py, &epoch))?,
            segments: Tuple::of(py, of.segments, |segment| Ok(SegmentOverview::from(segment)))?,
            space: Tuple::of(py, of.space, |space| {
                Ok(SpaceOf { of: space.of.into(), bytes: space.bytes })
            })?,
            hosts: Tuple::of(py, of.hosts, |host| {
                let inspect::HostShare { host, share, .. } = host;
                Ok(HostShare { host, share })
            })?,
            flaw: of.flaw.map(|flaw| Py::new(py, Flaw::from(flaw))).transpose()?,
        })
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
        Overview::of(py, py.detach(|| simkeep::inspect::Overview::of(&snapshot)).or_raise(py)?)
    }

    /// About what `compact` gives back.
    ///
    /// That is what newer segments have again, and the fingerprint tables of epochs that have
    /// ended. Costs what `overview` does.
    fn compaction(&self, py: Python<'_>) -> PyResult<Compaction> {
        let snapshot = self.now(py)?;
        let of = py.detach(|| simkeep::inspect::Compaction::of(&snapshot)).or_raise(py)?;
        Ok(Compaction {
            segments: of.segments,
            segment_bytes: of.segment_bytes,
            unsealed_pages: of.unsealed_pages,
            gives_back_bytes: of.gives_back_bytes,
            takes_bytes: of.takes_bytes,
        })
    }
}
