//! The content of a store, counted page by page.

use pyo3::prelude::*;

use crate::convert::time::{PyElapsed, PyTime};
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::inspect::verdict_counts::VerdictCounts;

value! {
    /// The content of a store, counted page by page.
    Census from census: simkeep::inspect::Census {
        pages: u64,
        in_force: u64,
        gone: u64,
        never: u64,
        visits: u64,
        first: Option<PyTime>,
        last: Option<PyTime>,
        hosts: u64,
        largest_hosts: Tuple<HostCensus>,
        fingerprints: Py<FingerprintCensus>,
        sample: Tuple<SampledPage>,
        distances: Tuple<u64>,
        changing: Tuple<u64>,
        /// The length of each period.
        period: PyElapsed,
        periods: Tuple<Period>,
        outside: Py<VerdictCounts>,
    }
}

value! {
    SampledPage from page: simkeep::inspect::SampledPage {
        url: String,
        fingerprint: u64,
    }
}

value! {
    Period from period: simkeep::inspect::Period {
        /// The start of the period.
        start: PyTime = period.from,
        verdicts: Py<VerdictCounts>,
    }
}

value! {
    HostCensus from host: simkeep::inspect::HostCensus {
        host: String,
        pages: u64,
        visits: u64,
        verdicts: Py<VerdictCounts>,
    }
}

value! {
    FingerprintCensus from census: simkeep::inspect::FingerprintCensus {
        epoch: u32,
        pages: u64,
        without: u64,
        popcounts: Tuple<u64>,
        ones: Tuple<u64>,
        values: Tuple<u64>,
        share: f64,
        distinct: u64,
        different: u64 = census.different(),
        distinct_ones: Tuple<u64>,
        shared: Tuple<u64>,
        commonest: Option<(u64, u64)>,
    }
}
