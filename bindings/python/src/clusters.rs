//! Pages near each other, each cluster with a page that leads it.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::cluster;
use simkeep::cluster::{ClusterChanges, RankedPages};

use crate::arg::{self, Arg, optional};
use crate::clustered::PageCluster;
use crate::columns::Kind;
use crate::dropped::Dropped;
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::long::{alone, long};
use crate::progress::{self, Progress};
use crate::stream::{Item, Iterated, Stream};
use crate::threaded::Threaded;
use crate::typed::Tuple;
use crate::value::{FromRust, no_pickle};
use crate::view::View;
use crate::{cluster_changes, clustering};

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

impl Of {
    pub(crate) fn get(&self) -> &cluster::Clusters {
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
        self.of.get()
    }

    /// Where they are, for a thread.
    fn open(&self, py: Python<'_>) -> PyResult<Of> {
        self.birth.check(py)?;
        Ok(self.of.clone())
    }

    /// Lists what some iterator over them gives.
    fn listed(
        &self,
        py: Python<'_>,
        kind: Kind,
        list: impl FnOnce(&cluster::Clusters, &crate::threaded::Out) -> simkeep::Result<()>
        + Send
        + 'static,
    ) -> PyResult<Stream> {
        let of = self.open(py)?;
        let listed = Threaded::through(NAME, move |out| list(of.get(), out)).or_raise(py)?;
        Ok(Stream::new(listed, Some(kind), Some(self.birth)))
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
    fn several(&self) -> u64 {
        self.get().several()
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
    #[pyo3(signature = (pages_min: "int" = 1) -> "Stream[ClusteredPage]")]
    fn by_page(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<Stream> {
        self.listed(py, Kind::ClusteredPages, move |of, out| {
            out.all(of.by_page(pages_min)?, |page| Item::ClusteredPage(Box::new(page)))
        })
    }

    /// The pages of clusters of so many pages at least, cluster by cluster in the order of
    /// `by_size`.
    ///
    /// The leader comes first, then the others by distance and in SURT order. Costs what `by_page`
    /// does.
    #[pyo3(signature = (pages_min: "int" = 1) -> "Stream[ClusteredPage]")]
    fn by_cluster(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<Stream> {
        self.listed(py, Kind::ClusteredPages, move |of, out| {
            out.all(of.by_cluster(pages_min)?, |page| Item::ClusteredPage(Box::new(page)))
        })
    }

    /// The clusters of so many pages at least, the largest first.
    ///
    /// Of equally large ones, that whose leader ranks first. Costs a sort of some 100 bytes a
    /// cluster, and then a read of each leader.
    #[pyo3(signature = (pages_min: "int" = 1) -> "Stream[Cluster]")]
    fn by_size(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = least)] pages_min: u64,
    ) -> PyResult<Stream> {
        self.listed(py, Kind::Clusters, move |of, out| {
            out.all(of.by_size(pages_min)?, |cluster| Item::Cluster(Box::new(cluster)))
        })
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
        alone(py, move || of.get().count_dropped(&open))
    }

    fn __repr__(&self) -> String {
        let (clusters, pages, k) = (self.get().len(), self.pages(), self.k());
        format!("<simkeep.Clusters: {clusters} of {pages} pages within {k} bits>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Clusters", "list what is needed of it"))
    }
}

#[pymethods]
impl View {
    /// Puts all pages into clusters, each with a page that leads it, within k bits of all others in
    /// it.
    ///
    /// `k` is from 0 to 64; by default that within which pages of the epoch are near. Pages are
    /// taken in the order of `rule`. A page leads if no page that leads is within k bits of it;
    /// every other belongs to the nearest of the leaders that rank before it, of equally near ones
    /// to the first. So each page is in one cluster, and no two leaders are within k bits of each
    /// other. The same pages make the same clusters, in whichever order they came.
    ///
    /// Costs reading all pages once, sorts of some 40 bytes a page, and joins of about three times
    /// as many fingerprints as there are. Takes `memory_bytes`, and scratch files for what does not
    /// fit. Other threads run meanwhile. Ctrl-C ends it.
    ///
    /// Raises `EpochError` for an epoch that has ended or is not known, `IoError` if a scratch file
    /// cannot be written, `CancelledError` if `progress` was cancelled.
    ///
    /// Keywords: `rule`, such as "https,shortest-url" ("first-seen"); `at`, the time of the
    /// versions (those in force now); `epoch`; `under`, a prefix; `classes`; `memory_bytes` (512
    /// MiB); `scratch`, a directory for what does not fit.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Clustering]"
    ))]
    fn clusters<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Clusters> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::given(progress));
        let of = long(py, &progress, || asked.run(&snapshot, &progress))?;
        Ok(Clusters::new(Of::One(Arc::new(of)), Birth::now()))
    }

    /// The pages that `clusters` takes for the same question, in SURT order, each with where it
    /// ranks.
    ///
    /// What ranks first is less also than pages of other stores. Reads lazily.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (**like: "Unpack[_types.Clustering]") -> "Stream[RankedPage]")]
    fn ranked<'py>(&self, py: Python<'py>, like: Option<&Bound<'py, PyDict>>) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let asked = clustering::asked(None, like, true)?;
        let ranked = py.detach(|| RankedPages::of(&snapshot, &asked)).or_raise(py)?;
        let items = Iterated::new(ranked, Item::Ranked);
        Ok(Stream::new(items, Some(Kind::Ranked), self.birth()))
    }

    /// The cluster of a page, as `clusters` would find it; `None` if the page is not among those
    /// asked for.
    ///
    /// It is found by searches around the page: as a rule a few, in dense regions thousands. After
    /// 4,096 of them, or 262,144 pages, it looks no further, and is not `complete`. Ctrl-C leaves
    /// it: the searches end by themselves.
    ///
    /// Raises `UrlError` for what no page can have, and what `clusters` raises.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (url: "str", k: "int | None" = None, **like: "Unpack[_types.Clustering]"))]
    fn cluster_of<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<PageCluster>> {
        let snapshot = self.now(py)?;
        let url = arg::url(Arg::new("url"), url)?.to_owned();
        let asked = clustering::asked(k, like, true)?;
        let found = alone(py, move || simkeep::cluster::PageCluster::of(&snapshot, &asked, &url))?;
        FromRust::from_rust(py, found)
    }

    /// Compares the clusters of two times: which pages are led by others, and why.
    ///
    /// The later time may be now, which is `None`. What was forgotten never was, at neither time.
    /// Costs `clusters` twice, of which each takes half of the memory. Ctrl-C ends it.
    ///
    /// Raises what `clusters` raises.
    ///
    /// Takes the keywords of `clusters` but `at`.
    #[pyo3(signature = (
        since: "Time", until: "Time | None" = None, k: "int | None" = None, *, progress=None,
        **like: "Unpack[_types.ClusteringNow]"
    ))]
    fn cluster_changes<'py>(
        &self,
        py: Python<'py>,
        since: &Bound<'py, PyAny>,
        until: Option<&Bound<'py, PyAny>>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<cluster_changes::ClusterChanges> {
        let snapshot = self.now(py)?;
        let since = arg::time(Arg::new("since"), since)?;
        let until = optional(until, |until| arg::time(Arg::new("until"), until))?;
        let (asked, progress) = (clustering::asked(k, like, false)?, progress::given(progress));
        let changes = long(py, &progress, || {
            ClusterChanges::between(&snapshot, &asked, since, until, &progress)
        })?;
        Ok(cluster_changes::ClusterChanges::new(changes))
    }
}
