//! All fingerprints and pairs of fingerprints, also for distributed joins.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simkeep::Query;
use simkeep::query::DistinctFingerprints;

use super::view::View;
use crate::call::fork::ForkCheck;
use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::fingerprint::fingerprint_input;
use crate::search::join_plan::{BUCKETS, JoinPlan, TaskChunk};
use crate::search::matches::{NearPair, PagePair};
use crate::search::{pairs, query};
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// All different fingerprints of pages, each once, in no particular order.
    ///
    /// Reads all fingerprints on all cores, and waits for their reader. The call ends when the
    /// iterator is closed.
    ///
    /// Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and
    /// `threads` of `near`.
    #[pyo3(signature = (*, progress=None, **like: "Unpack[_types.FingerprintPairs]"))]
    fn all_fingerprints<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<u64>> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, 0), like)?;
        let all =
            pairs::fingerprints(snapshot, query, progress::or_default(progress)).or_raise(py)?;
        Ok(StreamOf::new(all, Some(ForkCheck::now())))
    }

    /// All pairs of different fingerprints of pages within k bits of each other, in no particular
    /// order.
    ///
    /// A join of all fingerprints, which runs on all cores in 256 MiB, and waits for the reader of
    /// the pairs. The join ends when the iterator is closed.
    ///
    /// Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and
    /// `threads` of `near`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None,
        **like: "Unpack[_types.FingerprintPairs]"
    ))]
    fn all_pairs<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<NearPair>> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let join =
            pairs::of_fingerprints(snapshot, query, progress::or_default(progress)).or_raise(py)?;
        Ok(StreamOf::new(join, Some(ForkCheck::now())))
    }

    /// All pairs of one of these fingerprints and a different fingerprint of a page within k bits.
    ///
    /// Pairs come in no particular order. A pair is returned once for each of its fingerprints that
    /// is in the argument. The fingerprints in the argument need not belong to a page. `near_batch`
    /// explains the accepted types.
    ///
    /// Costs a search for each fingerprint, on all cores, and waits for the reader of the pairs.
    /// The search ends when the iterator is closed. For as many fingerprints as the store has,
    /// prefer `all_pairs`.
    #[pyo3(signature = (
        fingerprints: "_types.Fingerprints", /, k: "int | None" = None, *, progress=None,
        **like: "Unpack[_types.FingerprintPairs]"
    ))]
    fn pairs_with<'py>(
        &self,
        py: Python<'py>,
        fingerprints: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<NearPair>> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let given = fingerprint_input::fingerprints(Arg::new("fingerprints"), fingerprints)?;
        given.check_recipe(py, &snapshot, query.epoch)?;
        let given = given.bits;
        let pairs =
            pairs::with(snapshot, given, query, progress::or_default(progress)).or_raise(py)?;
        Ok(StreamOf::new(pairs, Some(ForkCheck::now())))
    }

    /// Pairs of pages with fingerprints within k bits of each other, in no particular order.
    ///
    /// By default each fingerprint is represented by its first page, and pages with equal
    /// fingerprints are not paired.
    ///
    /// Keywords: `equal=True` also pairs pages with the same fingerprint; `pages_per_fingerprint`,
    /// the maximum number of pages of each fingerprint to pair (1; `None` for all); `epoch`,
    /// `under`, `classes`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.PairQuery]"
    ))]
    fn page_pairs<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<PagePair>> {
        let snapshot = self.now(py)?;
        let asked = query::pairs(query::distance(k, &snapshot)?, like)?;
        let join = pairs::of_pages(snapshot, asked, progress::or_default(progress)).or_raise(py)?;
        Ok(StreamOf::new(join, Some(ForkCheck::now())))
    }

    /// Counts the different fingerprints of pages, for a distributed join within `k` bits.
    ///
    /// A `JoinPlan` is made from the counts. Fingerprints are counted in `buckets` buckets for each
    /// part of the join. `buckets` is a power of two, and exceeds the number of tasks. Reads all
    /// fingerprints on all cores. Ctrl-C ends the call.
    ///
    /// Takes the keywords `epoch`, `under`, `classes`, `at`, `seen` and `ever` of `near`.
    #[pyo3(signature = (
        k: "int", *, buckets: "int | None" = None, progress=None, **like: "Unpack[_types.FingerprintPairs]"
    ))]
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        k: &Bound<'py, PyAny>,
        buckets: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = self.now(py)?;
        let k = arg::distance(Arg::new("k"), k)?;
        let buckets = optional(buckets, |v| arg::u32(Arg::new("buckets"), v))?.unwrap_or(BUCKETS);
        let query = query::with(Query::new(0, 0), like)?;
        let progress = progress::or_default(progress);
        let histogram = long(py, &progress, || {
            DistinctFingerprints::selected_by(&query).histogram(&snapshot, k, buckets, &progress)
        })?;
        Ok(PyBytes::new(py, &histogram.to_bytes()))
    }

    /// Distributes the different fingerprints of pages to the tasks of a join of several stores.
    ///
    /// Returns triples: the number of a task, whether the fingerprints belong to its second piece,
    /// and the fingerprints as `bytes`, 8 bytes for each, little-endian. Takes the keywords of the
    /// `histogram` call.
    ///
    /// Each triple has up to `chunk_bytes` (4 MiB), and up to `chunk_bytes` are buffered for each
    /// task. Reads all fingerprints on all cores, and waits for their reader. The call ends when
    /// the iterator is closed.
    #[pyo3(signature = (
        plan, *, chunk_bytes: "int | None" = None, progress=None, **like: "Unpack[_types.FingerprintPairs]"
    ))]
    fn partition<'py>(
        &self,
        py: Python<'py>,
        plan: &Bound<'py, JoinPlan>,
        chunk_bytes: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<TaskChunk>> {
        let snapshot = self.now(py)?;
        let bytes = optional(chunk_bytes, |v| arg::size(Arg::new("chunk_bytes"), v))?;
        let query = query::with(Query::new(0, 0), like)?;
        plan.get().partition(snapshot, query, bytes, progress::or_default(progress)).or_raise(py)
    }
}
