//! The differences between the pages of two stores, or of one store at two times.

use pyo3::prelude::*;
use simkeep::{EpochInfo as CrateEpochInfo, Result, query};

use crate::call::fork::ForkCheck;
use crate::convert::error::OrRaise;
use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::convert::word::Verdict;
use crate::fingerprint::epoch::EpochInfo;
use crate::pages::history::{PyEntry, of_page};
use crate::pages::outcome::VerdictParts;
use crate::pages::page::Content;
use crate::streams::columns::{
    BatchFunction, Bits, Float64, Int32, Int64, Timestamp, Utf8, Word, columns,
};
use crate::streams::source::{Iterated, StreamSource};
use crate::streams::stream::{Stream, StreamItem};

value! {
    /// A page whose current version differs.
    Difference from of: simkeep::query::Difference {
        url: String,
        verdict: Verdict = VerdictParts::from(of.verdict).verdict,
        /// The distance of the fingerprints in bits; `None` if the distance is unknown.
        distance: Option<u32> = VerdictParts::from(of.verdict).distance,
        /// The epoch of the compared fingerprints.
        distance_epoch: Option<u32> = VerdictParts::from(of.verdict).distance_epoch,
        /// The time when the version that the page reverted to was last seen; `None` if the page
        /// was not reverted.
        to: Option<PyTime> = VerdictParts::from(of.verdict).to,
        priority: f64,
        before: Option<Py<Content>>,
        after: Option<Py<Content>>,
        seen: Option<PyTime>,
    }
}

value! {
    /// Entries of a page that exist on only one side.
    ExactDifference from of: simkeep::query::ExactDifference {
        url: String,
        before: Tuple<PyEntry> = of_page(&of.url, of.before),
        after: Tuple<PyEntry> = of_page(&of.url, of.after),
    }
}

impl StreamItem for query::Difference {
    type Object = Difference;
    const TABLE: Option<BatchFunction<Self>> = Some(|differences, signed| {
        let fingerprint = |of: Option<simkeep::Content>| of.and_then(|content| content.fingerprint);
        let epoch = |of: Option<simkeep::Content>| of.map(|content| content.epoch.number());
        columns! {
            for (of, parts) in differences.iter().map(|of| (of, VerdictParts::from(of.verdict))), signed;
            url: Utf8 = &of.url,
            verdict: Word = parts.verdict.value(),
            distance: Option<Int32> = parts.distance,
            to: Option<Timestamp> = parts.to.map(|time| time.0),
            priority: Float64 = of.priority,
            before: Option<Bits> = fingerprint(of.before),
            before_epoch: Option<Int64> = epoch(of.before),
            after: Option<Bits> = fingerprint(of.after),
            after_epoch: Option<Int64> = epoch(of.after),
            seen: Option<Timestamp> = of.seen,
        }
    });
}

impl StreamItem for query::ExactDifference {
    type Object = ExactDifference;
}

/// Differences between pages: a stream in SURT order, read lazily.
#[pyclass(frozen, extends = Stream, generic, module = "simkeep")]
pub(crate) struct Diff {
    epochs: Vec<CrateEpochInfo>,
}

#[pymethods]
impl Diff {
    /// The epochs of the contents and distances.
    ///
    /// The epochs of the earlier side keep their numbers. The epochs that only the later side has
    /// follow.
    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<EpochInfo>> {
        self.epochs.iter().map(|info| EpochInfo::from_rust(py, info.clone())).collect()
    }
}

impl Diff {
    pub(crate) fn of<T: StreamItem>(
        py: Python<'_>,
        source: impl StreamSource<T> + 'static,
        epochs: Vec<CrateEpochInfo>,
        birth: Option<ForkCheck>,
    ) -> PyResult<Py<Diff>> {
        let stream = Stream::new(source, birth);
        Py::new(py, PyClassInitializer::from(stream).add_subclass(Diff { epochs }))
    }

    /// Returns the pages whose current version differs.
    pub(crate) fn inexact(
        py: Python<'_>,
        diff: Result<query::Diff>,
        birth: Option<ForkCheck>,
    ) -> PyResult<Py<Diff>> {
        let diff = diff.or_raise(py)?;
        let epochs = diff.epochs().to_vec();
        Diff::of(py, Iterated::new(diff), epochs, birth)
    }
}
