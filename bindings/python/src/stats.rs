//! Sizes of a store, and what maintenance did.

use pyo3::prelude::*;

use crate::epoch::EpochInfo;
use crate::typed::Tuple;
use crate::value::value;

value! {
    /// Sizes of one segment.
    SegmentStats {
        /// Its number.
        id: u64,
        /// Page records.
        pages: u64,
        /// Visits.
        visits: u64,
        /// Distinct fingerprints, counted once for each epoch.
        fingerprints: u64,
        /// Bytes of the file.
        bytes: u64,
    }
}

value! {
    /// Sizes of a store.
    Stats {
        /// Pages known.
        pages: u64,
        /// Visits known.
        visits: u64,
        /// Visits that are not yet in a segment.
        unsealed_visits: u64,
        /// Live segments, oldest first.
        segments: Tuple<SegmentStats>,
        /// Epochs, by number.
        epochs: Tuple<EpochInfo>,
        /// Visits that have come since the newest epoch in use began.
        epoch_visits: u64,
        /// Whether a new epoch is advised.
        epoch_due: bool,
        /// Bytes of the live segments.
        segment_bytes: u64,
        /// Bytes of the catalog and its journal.
        catalog_bytes: u64,
        /// The number of the last acknowledged operation.
        sequence: u64,
        /// Why the last merge in the background failed, if it did.
        merge_error: Option<String>,
    }
}

value! {
    /// What `forget` has hidden.
    Forgotten {
        /// Pages.
        pages: u64,
        /// Visits of those pages.
        visits: u64,
    }
}

value! {
    /// What `merge` did.
    Merged {
        /// Segments that went in.
        inputs: usize,
        /// Bytes written.
        bytes: u64,
    }
}

value! {
    /// What `compact` did.
    Compacted {
        /// The merge.
        merged: Py<Merged>,
        /// Bytes of the segments before.
        segment_bytes_before: u64,
        /// Bytes of the segments now.
        segment_bytes: u64,
        /// Bytes of the catalog before, with the journal.
        catalog_bytes_before: u64,
        /// Bytes of the catalog now.
        catalog_bytes: u64,
        /// How many bytes less the store takes.
        gave_back: u64,
    }
}

value! {
    /// What a load did.
    Loaded {
        /// Observations that were taken.
        observations: u64,
        /// Visits that the store did not have.
        visits: u64,
        /// What was restated that the store did not have.
        restated: u64,
        /// Weights that the store did not have.
        weighed: u64,
        /// Classes that the store did not have.
        classed: u64,
        /// Pages with such visits, weights or classes, or something restated.
        pages: u64,
        /// How many of these pages the store did not know before.
        new_pages: u64,
        /// Segments that were made.
        segments: usize,
        /// Bytes of these segments.
        bytes: u64,
        /// Epochs that began with it.
        begun: Tuple<EpochInfo>,
    }
}

fn epochs(py: Python<'_>, infos: &[simkeep::EpochInfo]) -> PyResult<Tuple<EpochInfo>> {
    Tuple::of(py, infos, |info| EpochInfo::of(py, info))
}

impl Stats {
    pub(crate) fn of(py: Python<'_>, stats: simkeep::Stats) -> PyResult<Stats> {
        let segments = Tuple::of(py, stats.segments, |segment| {
            let simkeep::SegmentStats { id, pages, visits, fingerprints, bytes, .. } = segment;
            Ok(SegmentStats { id, pages, visits, fingerprints, bytes })
        })?;
        Ok(Stats {
            pages: stats.pages,
            visits: stats.visits,
            unsealed_visits: stats.unsealed_visits,
            segments,
            epochs: epochs(py, &stats.epochs)?,
            epoch_visits: stats.epoch_visits,
            epoch_due: stats.epoch_due,
            segment_bytes: stats.segment_bytes,
            catalog_bytes: stats.catalog_bytes,
            sequence: stats.sequence,
            merge_error: stats.merge_error,
        })
    }
}

impl From<simkeep::Forgotten> for Forgotten {
    fn from(forgotten: simkeep::Forgotten) -> Forgotten {
        Forgotten { pages: forgotten.pages, visits: forgotten.visits }
    }
}

impl From<simkeep::Merged> for Merged {
    fn from(merged: simkeep::Merged) -> Merged {
        Merged { inputs: merged.inputs, bytes: merged.bytes }
    }
}

impl Compacted {
    pub(crate) fn of(py: Python<'_>, compacted: simkeep::Compacted) -> PyResult<Compacted> {
        Ok(Compacted {
            merged: Py::new(py, Merged::from(compacted.merged))?,
            segment_bytes_before: compacted.segment_bytes_before,
            segment_bytes: compacted.segment_bytes,
            catalog_bytes_before: compacted.catalog_bytes_before,
            catalog_bytes: compacted.catalog_bytes,
            gave_back: compacted.gave_back(),
        })
    }
}

impl Loaded {
    pub(crate) fn of(py: Python<'_>, loaded: simkeep::load::Loaded) -> PyResult<Loaded> {
        Ok(Loaded {
            observations: loaded.observations,
            visits: loaded.visits,
            restated: loaded.restated,
            weighed: loaded.weighed,
            classed: loaded.classed,
            pages: loaded.pages,
            new_pages: loaded.new_pages,
            segments: loaded.segments,
            bytes: loaded.bytes,
            begun: epochs(py, &loaded.begun)?,
        })
    }
}
