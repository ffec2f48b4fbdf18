//! Pages near each other, each cluster with a page that leads it.

use std::sync::Arc;

use pyo3::prelude::*;
use simkeep::cluster;

use crate::call::fork::Birth;
use crate::call::long::alone;
use crate::cluster::clustered::{Cluster, ClusteredPage};
use crate::cluster::dropped::Dropped;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::no_pickle;
use crate::streams::stream::{Item, StreamOf};
use crate::streams::threaded::{Out, Threaded};

/// What the threads are called that go through clusters.
const NAME: &str = "simkeep-clusters";

/// The clusters of a moment of a store: pages near each other, of which one leads.
///
/// They stay in memory or in scratch files until this is gone, with the snapshot that they are of,
/// and can be gone through several times, in several orders. They are of the process that found
/// them: in a forked one, `ForkedError` is raised.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Clusters {
    of: Of,
    birth: Birth,
}

/// Where clusters are.
#[derive(Clone)]
pub(crate) enum Of {
    One(Arc<cluster::Clusters>),
    /// Those of the earlier of two times.
    Before(Arc<cluster::ClusterChanges>),
    /// Those of the later one.
    After(Arc<cluster::ClusterChanges>),
}

impl AsRef<cluster::Clusters> for Of {
    fn as_ref(&self) -> &cluster::Clusters {
        match self {
            Of::One(of) => of,
            Of::Before(changes) => changes.before(),
            Of::After(changes) => changes.after(),
        }
    }
}

impl Clusters {
    pub(crate) fn new(of: Of, birth: Birth) -> Clusters {
        Clusters { of, birth }
    }

    fn get(&self) -> &cluster::Clusters {
        self.of.as_ref()
    }

    /// Where they are, for a thread.
    fn open(&self, py: Python<'_>) -> PyResult<Of> {
        self.birth.check(py)?;
        Ok(self.of.clone())
    }

    /// Lists what some iterator over them gives.
    fn listed<T: Item>(
        &self,
        py: Python<'_>,
        list: impl FnOnce(&cluster::Clusters, &Out<T>) -> simkeep::Result<()> + Send + 'static,
    ) -> PyResult<StreamOf<T::Object>> {
        let of = self.open(py)?;
        let listed = Threaded::through(NAME, move |out| list(of.as_ref(), out)).or_raise(py)?;
        Ok(StreamOf::new(listed, Some(self.birth)))
    }
}

/// How many pages a cluster has at least that is listed.
fn least(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    arg::count(Arg::new("pages_min"), given)
}

#[pymethods]
impl Clusters {
    /// How many pages there are.
    #[getter]
    fn pages(&self) -> u64 {
        self.get().pages()
    }

    /// How many distinct fingerprints they have.
    #[getter]
    fn fingerprints(&self) -> u64 {
        self.get().fingerprints()
    }

    /// The number of the epoch whose fingerprints are compared.
    #[getter]
    fn epoch(&self) -> u32 {
        self.get().epoch().number()
    }

    /// How many other pages have content, but no fingerprint of the epoch: they are in no cluster.
    #[getter]
    fn without_fingerprint(&self) -> u64 {
        self.get().without_fingerprint()
    }

    /// How many clusters have two pages or more.
    #[getter]
    fn multi_page_clusters(&self) -> u64 {
        self.get().multi_page_clusters()
    }

    /// How many pages the largest has.
    #[getter]
    fn largest(&self) -> u64 {
        self.get().largest()
    }

    /// How many clusters have 1 page, 2 or 3, 4 to 7, and so on: those of size s are in bin log2(s).
    #[getter]
    fn sizes(&self, py: Python<'_>) -> PyResult<Tuple<u64>> {
        Tuple::new(py, self.get().sizes())
    }

    /// The distance that counts.
    #[getter]
    fn k(&self) -> u32 {
        self.get().k()
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.get().len())?)
    }

    /// The pages of clusters of so many pages at least, in SURT order, each with the page that
    /// leads it.
    ///
    /// Costs a sort of some 100 bytes a page, in the memory that was asked for, and then a read of
    /// each, in a thread that ends when the stream is closed.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_page(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<ClusteredPage>> {
        self.listed(py, move |of, out: &Out<cluster::ClusteredPage>| {
            out.all(of.by_page(pages_min)?)
        })
    }

    /// The pages of clusters of so many pages at least, cluster by cluster in the order of
    /// `by_size`.
    ///
    /// The leader comes first, then the others by distance and in SURT order. Costs what `by_page`
    /// does.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_cluster(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<ClusteredPage>> {
        self.listed(py, move |of, out: &Out<cluster::ClusteredPage>| {
            out.all(of.by_cluster(pages_min)?)
        })
    }

    /// The clusters of so many pages at least, the largest first.
    ///
    /// Of equally large ones, that whose leader ranks first. Costs a sort of some 100 bytes a
    /// cluster, and then a read of each leader.
    #[pyo3(signature = (pages_min: "int" = 1))]
    fn by_size(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<StreamOf<Cluster>> {
        self.listed(py, move |of, out: &Out<cluster::Cluster>| out.all(of.by_size(pages_min)?))
    }

    /// The pages that are dropped in favour of those that lead them, to look up by URL.
    ///
    /// Dropped is each page that is led by another one of its class, or of one of the classes in
    /// `open`, which all may see; `None` among them is for pages without a class. All others are
    /// kept. Costs a sort of 16 bytes for each of them, and a bit of memory for each page of the
    /// store.
    #[pyo3(signature = (open: "Iterable[int | None] | None" = None))]
    fn dropped(&self, py: Python<'_>, open: Option<&Bound<'_, PyAny>>) -> PyResult<Dropped> {
        let open = optional(open, |v| arg::classes(Arg::new("open"), v))?.unwrap_or_default();
        Dropped::new(py, self.open(py)?, open)
    }

    /// How many pages `dropped` would have. Costs going through the pages once, without their URLs.
    #[pyo3(signature = (open: "Iterable[int | None] | None" = None))]
    fn count_dropped(&self, py: Python<'_>, open: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let open = optional(open, |v| arg::classes(Arg::new("open"), v))?.unwrap_or_default();
        let of = self.open(py)?;
        alone(py, move || of.as_ref().count_dropped(&open))
    }

    fn __repr__(&self) -> String {
        let (clusters, pages, k) = (self.get().len(), self.pages(), self.k());
        format!("<simkeep.Clusters: {clusters} of {pages} pages within {k} bits>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Clusters", "list what is needed of it"))
    }
}
