//! Sizes of a store, and results of maintenance.

use pyo3::Py;

use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::fingerprint::epoch::EpochInfo;

value! {
    SegmentStats from segment: simkeep::SegmentStats {
        id: u64,
        pages: u64,
        visits: u64,
        fingerprints: u64,
        digests: u64,
        bytes: u64,
    }
}

value! {
    Stats from stats: simkeep::Stats {
        pages: u64,
        visits: u64,
        unsealed_visits: u64,
        segments: Tuple<SegmentStats>,
        epochs: Tuple<EpochInfo>,
        epoch_visits: u64,
        /// Whether a new epoch is recommended.
        epoch_due: bool,
        segment_bytes: u64,
        catalog_bytes: u64,
        sequence: u64,
        merge_error: Option<String>,
    }
}

value! {
    /// The result of `forget`.
    Forgotten from forgotten: simkeep::Forgotten {
        pages: u64,
        visits: u64,
    }
}

value! {
    /// The result of `merge`.
    Merged from merged: simkeep::Merged {
        inputs: usize,
        bytes: u64,
    }
}

value! {
    /// The result of `compact`.
    Compacted from compacted: simkeep::Compacted {
        merged: Py<Merged>,
        segment_bytes_before: u64,
        segment_bytes: u64,
        catalog_bytes_before: u64,
        catalog_bytes: u64,
        freed_bytes: u64 = compacted.freed_bytes(),
    }
}

value! {
    /// The result of a load.
    Loaded from loaded: simkeep::load::Loaded {
        observations: u64,
        visits: u64,
        restated: u64,
        weights: u64,
        classes: u64,
        pages: u64,
        new_pages: u64,
        segments: usize,
        bytes: u64,
        begun: Tuple<EpochInfo>,
    }
}
