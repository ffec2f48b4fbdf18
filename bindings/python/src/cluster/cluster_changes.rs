//! The changes of clusters between two times.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::cluster;

use crate::call::fork::ForkCheck;
use crate::cluster::clusters::Clusters;
use crate::cluster::clusters_source::ClustersSource;
use crate::convert::error::OrRaise;
use crate::convert::value::{no_pickle, value};
use crate::convert::word::LeaderChangeReason;
use crate::streams::columns::{BatchFunction, Int32, Utf8, Word, columns};
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of threads that iterate over changes.
const NAME: &str = "simkeep-changes";

value! {
    ClusterChange from change: simkeep::cluster::ClusterChange {
        url: String,
        before: Option<String>,
        after: Option<String>,
        reason: LeaderChangeReason = change.reason,
        /// The distance in bits by which the page or its leader changed, if the reason is such a
        /// change, and both versions have fingerprints.
        bits: Option<u32> = changed_bits(change.reason),
    }
}

/// Returns the distance by which the page or its leader changed, if the reason is such a change and
/// both versions have fingerprints.
pub(crate) fn changed_bits(reason: cluster::LeaderChangeReason) -> Option<u32> {
    match reason {
        cluster::LeaderChangeReason::Changed { bits }
        | cluster::LeaderChangeReason::LeaderChanged { bits } => bits,
        _ => None,
    }
}

impl StreamItem for cluster::ClusterChange {
    type Object = ClusterChange;
    const TABLE: Option<BatchFunction<Self>> = Some(|changes, signed| {
        columns! {
            for change in changes, signed;
            url: Utf8 = &change.url,
            before: Option<Utf8> = change.before.as_deref(),
            after: Option<Utf8> = change.after.as_deref(),
            reason: Word = LeaderChangeReason::from(change.reason).value(),
            bits: Option<Int32> = changed_bits(change.reason),
        }
    });
}

/// The clusters at two times: an iterable over the pages whose leader changed, in SURT order.
///
/// The changes can be iterated several times. Each iteration reads both clusterings, in a thread
/// that ends when the stream is closed. The object belongs to the process that made it.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct ClusterChanges {
    of: Arc<cluster::ClusterChanges>,
    birth: ForkCheck,
}

impl ClusterChanges {
    pub(crate) fn new(of: cluster::ClusterChanges) -> ClusterChanges {
        ClusterChanges { of: Arc::new(of), birth: ForkCheck::now() }
    }
}

#[pymethods]
impl ClusterChanges {
    /// The clusters at the earlier time.
    #[getter]
    fn before(&self) -> Clusters {
        Clusters::new(ClustersSource::Before(Arc::clone(&self.of)), self.birth)
    }

    /// The clusters at the later time.
    #[getter]
    fn after(&self) -> Clusters {
        Clusters::new(ClustersSource::After(Arc::clone(&self.of)), self.birth)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<StreamOf<ClusterChange>> {
        self.birth.check(py)?;
        let of = Arc::clone(&self.of);
        let list = move |out: &ThreadOutput<cluster::ClusterChange>| out.all(of.iter()?);
        let listed = ThreadedItems::through(NAME, list).or_raise(py)?;
        Ok(StreamOf::new(listed, Some(self.birth)))
    }

    fn __repr__(&self) -> String {
        let (before, after) = (self.of.before(), self.of.after());
        format!("<simkeep.ClusterChanges: {} clusters, then {}>", before.len(), after.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("ClusterChanges", "pickle a list of its items"))
    }
}
