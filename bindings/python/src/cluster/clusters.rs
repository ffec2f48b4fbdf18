//! Clusters of near pages, each with a leader.

use pyo3::prelude::*;
use simkeep::cluster;

use crate::call::fork::ForkCheck;
use crate::call::long::run_uncancellable;
use crate::cluster::clustered_pages::{Cluster, ClusteredPage};
use crate::cluster::clusters_source::ClustersSource;
use crate::cluster::dropped_pages::DroppedPages;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::no_pickle;
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of threads that iterate over clusters.
const NAME: &str = "simkeep-clusters";

/// The clusters of a store at a point in time: groups of near pages with a leader.
///
/// The clusters and their snapshot stay in memory or in scratch files until this object is
/// released. The clusters can be iterated several times, in several orders. Clusters belong to the
/// process that made them; in a forked process they raise `ForkedError`.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Clusters {
    of: ClustersSource,
    birth: ForkCheck,
}

impl Clusters {
    pub(crate) fn new(of: ClustersSource, birth: ForkCheck) -> Clusters {
        Clusters { of, birth }
    }

    fn get(&self) -> &cluster::Clusters {
        self.of.as_ref()
    }

    /// Returns the source, for a thread.
    fn open(&self, py: Python<'_>) -> PyResult<ClustersSource> {
        self.birth.check(py)?;
        Ok(self.of.clone())
    }

    /// Starts a stream over the items of an iterator.
    fn listed<T: StreamItem>(
        &self,
        py: Python<'_>,
        list: impl FnOnce(&cluster::Clusters, &ThreadOutput<T>) -> simkeep::Result<()> + Send + 'static,
    ) -> PyResult<StreamOf<T::Object>> {
        let of = self.open(py)?;
        let listed =
            ThreadedItems::through(NAME, move |out| list(of.as_ref(), out)).or_raise(py)?;
        Ok(StreamOf::new(listed, Some(self.birth)))
    }
}

/// Returns the minimum number of pages of a listed cluster.
fn least(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    arg::count(Arg::new("pages_min"), given)
}

#[pymethods]
impl Clusters {
    /// The number of pages.
    #[getter]
    fn pages(&self) -> u64 {
        self.get().pages()
    }

    /// The number of distinct fingerprints of the clustered pages.
    #[getter]
    fn fingerprints(&self) -> u64 {
        self.get().fingerprints()
    }

    /// The number of the epoch whose fingerprints are compared.
    #[getter]
    fn epoch(&self) -> u32 {
        self.get().epoch().number()
    }

    /// The number of pages with content, but without a fingerprint of the epoch, which are in no
    /// cluster: stale pages, redirects, and pages without a digest.
    #[getter]
    fn without_fingerprint(&self) -> u64 {
        self.get().without_fingerprint()
    }

    /// The number of clusters with at least two pages.
    #[getter]
    fn multi_page_clusters(&self) -> u64 {
        self.get().multi_page_clusters()
    }

    /// The number of pages in the largest cluster.
    #[getter]
    fn largest(&self) -> u64 {
        self.get().largest()
    }

    /// The numbers of clusters with 1 page, 2 or 3, 4 to 7, and so on: bin log2(s) counts clusters
    /// of size s.
    #[getter]
    fn sizes(&self, py: Python<'_>) -> PyResult<Tuple<u64>> {
        Tuple::new(py, self.get().sizes())
    }

    /// The distance of the clustering, in bits.
    #[getter]
    fn k(&self) -> u32 {
        self.get().k()
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.get().len())?)
    }

    /// The pages of clusters with at least this many pages, in SURT order, each with its leader.
    ///
    /// Costs a sort of some 100 bytes a page, within `memory_bytes`, and then a read of each page, in
    /// a thread that ends when the stream is closed.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_page(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<ClusteredPage>> {
        self.listed(py, move |of, out: &ThreadOutput<cluster::ClusteredPage>| {
            out.all(of.by_page(pages_min)?)
        })
    }

    /// The pages of clusters with at least this many pages, cluster by cluster in the order of
    /// `by_size`.
    ///
    /// In each cluster the leader comes first, then the other pages by distance and in SURT order.
    /// Costs as much as `by_page`.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_cluster(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<ClusteredPage>> {
        self.listed(py, move |of, out: &ThreadOutput<cluster::ClusteredPage>| {
            out.all(of.by_cluster(pages_min)?)
        })
    }

    /// The clusters with at least this many pages, the largest first.
    ///
    /// Equally large clusters are in the order of their leaders. Costs a sort of some 100 bytes a
    /// cluster, and then a read of each leader.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_size(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<Cluster>> {
        self.listed(py, move |of, out: &ThreadOutput<cluster::Cluster>| {
            out.all(of.by_size(pages_min)?)
        })
    }

    /// The pages that are dropped in favour of their leaders, to look up by URL, and as a table.
    ///
    /// A page is dropped if its leader is another page of its class, or a page of a class in
    /// `open`, which everybody may see. `None` in `open` means pages without a class. All other
    /// pages are kept. Costs a sort of 16 bytes for each dropped page, and one bit of memory for
    /// each page of the store.
    #[pyo3(signature = (open: "Iterable[int | None] | None" = None))]
    fn dropped(&self, py: Python<'_>, open: Option<&Bound<'_, PyAny>>) -> PyResult<DroppedPages> {
        let open = optional(open, |v| arg::classes(Arg::new("open"), v))?.unwrap_or_default();
        DroppedPages::new(py, self.open(py)?, open)
    }

    /// The number of pages in `dropped`. Costs one pass over the pages, without their URLs.
    #[pyo3(signature = (open: "Iterable[int | None] | None" = None))]
    fn count_dropped(&self, py: Python<'_>, open: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let open = optional(open, |v| arg::classes(Arg::new("open"), v))?.unwrap_or_default();
        let of = self.open(py)?;
        run_uncancellable(py, move || of.as_ref().count_dropped(&open))
    }

    fn __repr__(&self) -> String {
        let (clusters, pages, k) = (self.get().len(), self.pages(), self.k());
        format!("<simkeep.Clusters: {clusters} of {pages} pages within {k} bits>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Clusters", "pickle a list of its items"))
    }
}
