//! Clusters of pages, and further results from near pages.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::cluster;

use super::view::View;
use crate::call::fork::ForkCheck;
use crate::call::long::{long, run_uncancellable};
use crate::call::progress::{self, Progress};
use crate::cluster::candidates::Candidates;
use crate::cluster::cluster_changes::ClusterChanges;
use crate::cluster::clustered_pages::{PageCluster, RankedPage};
use crate::cluster::clustering;
use crate::cluster::clusters::Clusters;
use crate::cluster::clusters_source::ClustersSource;
use crate::cluster::connected_components::{self, Balls, ConnectedComponents};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::typed::Tuple;
use crate::convert::value::FromRust;
use crate::streams::source::Iterated;
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// Divides all pages into clusters, each with a leader within k bits of all other pages in the
    /// cluster.
    ///
    /// `k` is from 0 to 64; by default the near distance of the epoch. Pages are taken in the order
    /// of `rule`. A page leads if no leader is within k bits of it; every other page belongs to the
    /// nearest leader that ranks before it, or to the first of equally near leaders. So each page
    /// is in one cluster, and no two leaders are within k bits of each other. The same pages make
    /// the same clusters, regardless of the order of their visits.
    ///
    /// Content without a fingerprint is in a cluster with the pages of the same digest.
    ///
    /// Costs reading all pages once, sorts of some 40 bytes a page, and joins of about three times
    /// the number of fingerprints. Takes `memory_bytes`, and scratch files for data that does not
    /// fit. Other threads run meanwhile. Ctrl-C ends the call.
    ///
    /// Raises `EpochError` for an ended or unknown epoch, `IoError` if a scratch file cannot be
    /// written, `CancelledError` if `progress` was cancelled.
    ///
    /// Keywords: `rule`, for example "https,shortest-url" ("first-seen"); `at`, the time of the
    /// versions (the current versions); `epoch`; `under`, a prefix; `classes`; `memory_bytes` (512
    /// MiB); `scratch`, a directory for scratch files.
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
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::or_default(progress));
        let of = long(py, &progress, || asked.run(&snapshot, &progress))?;
        Ok(Clusters::new(ClustersSource::One(Arc::new(of)), ForkCheck::now()))
    }

    /// The pages with a fingerprint that `clusters` uses for the same arguments, in SURT order, each
    /// with its rank.
    ///
    /// Ranks are comparable with the ranks of other stores. The page with the lowest number ranks
    /// first. Reads lazily, but the rule "canonical" reads all pages once before. Ctrl-C ends this
    /// reading.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (**like: "Unpack[_types.Clustering]"))]
    fn ranked<'py>(
        &self,
        py: Python<'py>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<RankedPage>> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (clustering::asked(None, like, true)?, progress::or_default(None));
        let ranked =
            long(py, &progress, || cluster::RankedPages::of(&snapshot, &asked, &progress))?;
        Ok(StreamOf::new(Iterated::new(ranked), self.birth()))
    }

    /// The cluster of a page, equal to the cluster that `clusters` would find; `None` if the
    /// arguments exclude the page.
    ///
    /// The cluster is found by searches around the page: usually a few, in dense regions thousands.
    /// After 4,096 searches, or 262,144 pages, the call stops, and the result is not `complete`.
    /// Ctrl-C abandons the call; the searches then end in the background.
    ///
    /// Raises `UrlError` for an invalid URL, and the errors of `clusters`.
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
        let found =
            run_uncancellable(py, move || cluster::PageCluster::of(&snapshot, &asked, &url))?;
        FromRust::from_rust(py, found)
    }

    /// Compares the clusters at two times. The result has the pages whose leader changed, with the
    /// reasons.
    ///
    /// `None` as the later time means now. Forgotten pages are in no cluster at either time. Costs
    /// two calls of `clusters`, each with half of the memory. Ctrl-C ends the call.
    ///
    /// Raises the errors of `clusters`.
    ///
    /// Takes the keywords of `clusters` except `at`.
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
    ) -> PyResult<ClusterChanges> {
        let snapshot = self.now(py)?;
        let since = arg::time(Arg::new("since"), since)?;
        let until = optional(until, |until| arg::time(Arg::new("until"), until))?;
        let (asked, progress) =
            (clustering::asked(k, like, false)?, progress::or_default(progress));
        let changes = long(py, &progress, || {
            cluster::ClusterChanges::between(&snapshot, &asked, since, until, &progress)
        })?;
        Ok(ClusterChanges::new(changes))
    }

    /// The pages with other pages within k bits. The texts of these pages are worth comparing.
    ///
    /// If texts decide among candidates that fingerprints propose, choose a distance that is wide
    /// enough: within 10 bits, fingerprints of the default recipe miss one in fifty of the texts
    /// with a resemblance of 0.8. Costs as much as `clusters`, and a join of the pages that are
    /// alone in their clusters with all other pages. Ctrl-C ends the call. Raises the errors of
    /// `clusters`.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Clustering]"
    ))]
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Candidates> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::or_default(progress));
        let of = long(py, &progress, || cluster::Candidates::of(&snapshot, &asked, &progress))?;
        Ok(Candidates::new(of))
    }

    /// Computes connected components: pages within k bits of each other are in one component.
    ///
    /// Tools that remove all but one page of each component work this way. A chain of small steps
    /// may join dissimilar texts; the largest distance within a component shows this. Prefer
    /// `clusters`.
    ///
    /// Costs the join of `all_pairs`, with quadratic time for many near fingerprints, and 16 bytes
    /// for each fingerprint in addition to its memory. Ctrl-C ends the call. Raises the errors of
    /// `clusters`.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Clustering]"
    ))]
    fn connected_components<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<ConnectedComponents> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::or_default(progress));
        ConnectedComponents::from_rust(
            py,
            long(py, &progress, || cluster::ConnectedComponents::of(&snapshot, &asked, &progress))?,
        )
    }

    /// Counts the pages within each distance of each page, from 0 to k. Returns one `Balls` for
    /// each distance.
    ///
    /// With `labels` of pages by URL, pairs are also counted by whether their labels are equal. If
    /// a page has several labels, the last label is used. Costs the join of `all_pairs`, with
    /// quadratic time for many near fingerprints; in addition 4 bytes of memory for each
    /// fingerprint, and the labels. Ctrl-C ends the call. Raises the errors of `clusters`.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (
        k: "int | None" = None, *,
        labels: "Mapping[str, str] | Iterable[tuple[str, str]] | None" = None, progress=None,
        **like: "Unpack[_types.Clustering]"
    ))]
    fn balls<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        labels: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Tuple<Balls>> {
        let snapshot = self.now(py)?;
        let labels = connected_components::labels(labels)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::or_default(progress));
        let balls =
            long(py, &progress, || cluster::Balls::of(&snapshot, &asked, labels, &progress))?;
        FromRust::from_rust(py, balls)
    }
}
