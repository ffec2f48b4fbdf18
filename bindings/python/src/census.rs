//! What a store has, counted page by page.

use pyo3::prelude::*;
use simkeep::inspect;

use crate::found::Found;
use crate::long::long;
use crate::progress::{self, Progress};
use crate::time::{Elapsed, Time};
use crate::typed::Tuple;
use crate::value::value;
use crate::view::View;

value! {
    /// What a store has, counted page by page.
    Census {
        /// Pages that are known.
        pages: u64,
        /// Pages with content in force.
        in_force: u64,
        /// Pages that are gone.
        gone: u64,
        /// Pages whose content was never seen.
        never: u64,
        /// Visits to all pages.
        visits: u64,
        /// When the earliest visit was; `None` without visits.
        first: Option<Time>,
        /// When the latest visit was; `None` without visits.
        last: Option<Time>,
        /// Hosts that have pages; URLs without one count as one for each scheme.
        hosts: u64,
        /// The twenty hosts with most pages, the largest first.
        largest_hosts: Tuple<HostCensus>,
        /// The fingerprints by which near-duplicates are sought.
        fingerprints: Py<FingerprintCensus>,
        /// Pages that have such a fingerprint now, drawn by a hash of their URLs: ten thousand, or all.
        sample: Tuple<SampledPage>,
        /// How many visits found the page so many bits away from the version before: of 0 bits first, of
        /// 64 last.
        distances: Tuple<u64>,
        /// How many pages changed at what share of their visits that could tell: at none, and up to a
        /// tenth, two tenths and so on, in eleven numbers.
        changing: Tuple<u64>,
        /// How long each period is.
        period: Elapsed,
        /// What visits found by when they were, in order of time: at most 400 periods.
        periods: Tuple<Period>,
        /// What visits found that are in none of the periods, since they are far from all others.
        outside: Py<Found>,
    }
}

value! {
    /// A page that was drawn.
    SampledPage {
        /// The page.
        url: String,
        /// The fingerprint of its content, with reserved bits set to 0.
        fingerprint: u64,
    }
}

value! {
    /// What visits found in a period.
    Period {
        /// When it begins.
        start: Time,
        /// What its visits found.
        found: Py<Found>,
    }
}

value! {
    /// What is counted of a host.
    HostCensus {
        /// The host; of URLs without one their scheme and a colon.
        host: String,
        /// Its pages.
        pages: u64,
        /// Visits to them.
        visits: u64,
        /// What these found.
        found: Py<Found>,
    }
}

value! {
    /// What is counted of the fingerprints of an epoch that pages have now.
    FingerprintCensus {
        /// The number of the epoch.
        epoch: u32,
        /// Pages that have one.
        pages: u64,
        /// Pages whose content has none.
        without: u64,
        /// Pages by how many bits of their fingerprint are 1: none first, all 64 last.
        popcounts: Tuple<u64>,
        /// How many pages have a 1 in each of the 64 bits, the lowest first.
        ones: Tuple<u64>,
        /// Pages by the highest eight bits of their fingerprint, in 256 numbers.
        values: Tuple<u64>,
        /// What share of the different fingerprints is counted in what follows: 1 if there are at most a
        /// million, and otherwise that of a sample.
        share: f64,
        /// Different fingerprints that are counted.
        distinct: u64,
        /// About how many different fingerprints there are: exactly, if all were counted.
        different: u64,
        /// How many of those counted have a 1 in each of the 64 bits, the lowest first.
        distinct_ones: Tuple<u64>,
        /// How many of those counted are on so many pages: on 1, on 2 or 3, on 4 to 7 and so on.
        shared: Tuple<u64>,
        /// The fingerprint that is on most pages, and on how many; `None` if there is none, or only a
        /// sample was counted.
        commonest: Option<(u64, u64)>,
    }
}

fn counts(py: Python<'_>, counts: &[u64]) -> PyResult<Tuple<u64>> {
    Tuple::new(py, counts)
}

impl FingerprintCensus {
    fn of(py: Python<'_>, of: &inspect::FingerprintCensus) -> PyResult<FingerprintCensus> {
        Ok(FingerprintCensus {
            epoch: of.epoch.number(),
            pages: of.pages,
            without: of.without,
            popcounts: counts(py, &of.popcounts)?,
            ones: counts(py, &of.ones)?,
            values: counts(py, &of.values)?,
            share: of.share,
            distinct: of.distinct,
            different: of.different(),
            distinct_ones: counts(py, &of.distinct_ones)?,
            shared: counts(py, &of.shared)?,
            commonest: of.commonest,
        })
    }
}

impl Census {
    fn of(py: Python<'_>, of: inspect::Census) -> PyResult<Census> {
        let fingerprints = Py::new(py, FingerprintCensus::of(py, &of.fingerprints)?)?;
        Ok(Census {
            pages: of.pages,
            in_force: of.in_force,
            gone: of.gone,
            never: of.never,
            visits: of.visits,
            first: of.first.map(Time),
            last: of.last.map(Time),
            hosts: of.hosts,
            largest_hosts: Tuple::of(py, of.largest_hosts, |host| {
                let found = Found::of(py, &host.found)?;
                let inspect::HostCensus { host, pages, visits, .. } = host;
                Ok(HostCensus { host, pages, visits, found })
            })?,
            fingerprints,
            sample: Tuple::of(py, of.sample, |page| {
                let inspect::SampledPage { url, fingerprint, .. } = page;
                Ok(SampledPage { url, fingerprint })
            })?,
            distances: counts(py, &of.distances)?,
            changing: counts(py, &of.changing)?,
            period: Elapsed(of.period),
            periods: Tuple::of(py, of.periods, |period| {
                Ok(Period { start: Time(period.from), found: Found::of(py, &period.found)? })
            })?,
            outside: Found::of(py, &of.outside)?,
        })
    }
}

#[pymethods]
impl View {
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
        Census::of(py, long(py, &progress, || simkeep::inspect::Census::of(&snapshot, &progress))?)
    }
}
