//! Clusters and the pages in them, as values.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simkeep::cluster;

use crate::time::Time;
use crate::typed::Tuple;
use crate::value::value;
use crate::word::OriginalBy;

value! {
    /// A cluster: pages within a distance of one, which leads them.
    Cluster {
        /// The page that leads.
        leader: String,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
        /// When it was first seen with the content that counts.
        first_seen: Time,
        /// How many pages there are, itself included.
        pages: u64,
        /// The greatest distance of the fingerprint of one of them to its own.
        widest: u32,
    }
}

value! {
    /// A page that is clustered, and where it ranks.
    RankedPage {
        /// The page.
        url: String,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
        /// The class that it is of now; `None` of a page that has none.
        class_: Option<u32>,
        /// Bytes that are less for the page that ranks before others, in whichever store it is.
        rank: Py<PyBytes>,
    }
}

impl RankedPage {
    pub(crate) fn of(py: Python<'_>, of: cluster::RankedPage) -> RankedPage {
        let cluster::RankedPage { url, fingerprint, class, rank, .. } = of;
        RankedPage { url, fingerprint, class_: class, rank: PyBytes::new(py, &rank).unbind() }
    }
}

value! {
    /// A page in its cluster.
    ClusteredPage {
        /// The page.
        url: String,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
        /// The class that it is of now, whichever time the cluster is of; `None` of a page that has
        /// none.
        class_: Option<u32>,
        /// The page that leads its cluster, which may be itself.
        leader: String,
        /// The class that the leader is of now.
        leader_class: Option<u32>,
        /// In how many bits the fingerprints of the two differ.
        distance: u32,
        /// How much the texts of the two have in common, from 0 to 1; `None` of the leader, and where no
        /// texts were compared.
        resemblance: Option<f64>,
        /// How many pages the cluster has.
        pages: u64,
        /// How it is known to be nearly the same as its leader; `None` of the leader, and in what
        /// `cluster_of` finds.
        by: Option<OriginalBy>,
    }
    also {
        /// Whether it leads its cluster.
        #[getter]
        fn leads(&self) -> bool {
            self.url == self.leader
        }
    }
}

value! {
    /// The cluster of one page.
    PageCluster {
        /// The cluster.
        cluster: Py<Cluster>,
        /// Its pages: the leader first, then the others by distance and in SURT order.
        pages: Tuple<ClusteredPage>,
        /// Whether this is what `clusters` would say. If not, the searches around the page were cut
        /// short, and it may be led by another page, or have others.
        complete: bool,
    }
}

impl From<cluster::Cluster> for Cluster {
    fn from(of: cluster::Cluster) -> Cluster {
        let cluster::Cluster { leader, fingerprint, first_seen, pages, widest, .. } = of;
        Cluster { leader, fingerprint, first_seen: Time(first_seen), pages, widest }
    }
}

impl From<cluster::ClusteredPage> for ClusteredPage {
    fn from(page: cluster::ClusteredPage) -> ClusteredPage {
        ClusteredPage {
            url: page.url.to_string(),
            fingerprint: page.fingerprint,
            class_: page.class,
            leader: page.leader.to_string(),
            leader_class: page.leader_class,
            distance: page.distance,
            resemblance: page.resemblance,
            pages: page.pages,
            by: page.by.map(OriginalBy::from),
        }
    }
}

impl PageCluster {
    pub(crate) fn of(py: Python<'_>, of: cluster::PageCluster) -> PyResult<PageCluster> {
        Ok(PageCluster {
            cluster: Py::new(py, Cluster::from(of.cluster))?,
            pages: Tuple::of(py, of.pages, |page| Ok(ClusteredPage::from(page)))?,
            complete: of.complete,
        })
    }
}
