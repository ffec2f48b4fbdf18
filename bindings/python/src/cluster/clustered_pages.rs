//! Clusters and their pages, as values.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simkeep::cluster;

use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::convert::word::OriginalBy;
use crate::streams::columns::{
    BatchFunction, Binary, Bits, Float64, Int32, Int64, Timestamp, Utf8, Word, columns,
};
use crate::streams::stream::StreamItem;

value! {
    Cluster from cluster: simkeep::cluster::Cluster {
        leader: String,
        fingerprint: Option<u64>,
        first_seen: PyTime,
        pages: u64,
        max_distance: u32,
    }
}

value! {
    RankedPage from page: simkeep::cluster::RankedPage {
        url: String,
        fingerprint: u64,
        /// The current class; `None` for a page without a class.
        class_: Option<u32> = page.class,
        rank: Py<PyBytes>,
    }
}

value! {
    ClusteredPage from page: simkeep::cluster::ClusteredPage {
        url: String,
        fingerprint: Option<u64>,
        /// The current class, for any time of the clusters; `None` for a page without a class.
        class_: Option<u32> = page.class,
        leader: String,
        leader_class: Option<u32>,
        distance: u32,
        resemblance: Option<f64>,
        pages: u64,
        /// The reason why the page is known to be nearly equal to its leader; `None` for the
        /// leader, and in results of `cluster_of`.
        by: Option<OriginalBy>,
    }
    also {
        /// Whether the page leads its cluster.
        #[getter]
        fn is_leader(&self) -> bool {
            self.url == self.leader
        }
    }
}

value! {
    /// The cluster of a page.
    PageCluster from of: simkeep::cluster::PageCluster {
        cluster: Py<Cluster>,
        pages: Tuple<ClusteredPage>,
        /// Whether this cluster equals the cluster of the page in `clusters`. If not, the searches
        /// around the page were cut short: another page may be the leader, or pages may be missing.
        complete: bool,
    }
}

impl StreamItem for cluster::Cluster {
    type Object = Cluster;
    const TABLE: Option<BatchFunction<Self>> = Some(|clusters, signed| {
        columns! {
            for cluster in clusters, signed;
            leader: Utf8 = &cluster.leader,
            fingerprint: Option<Bits> = cluster.fingerprint,
            first_seen: Timestamp = cluster.first_seen,
            pages: Int64 = cluster.pages,
            max_distance: Int32 = cluster.max_distance,
        }
    });
}

impl StreamItem for cluster::RankedPage {
    type Object = RankedPage;
    const TABLE: Option<BatchFunction<Self>> = Some(|pages, signed| {
        columns! {
            for page in pages, signed;
            url: Utf8 = &page.url,
            fingerprint: Bits = page.fingerprint,
            class_: Option<Int64> = page.class,
            rank: Binary = &page.rank,
        }
    });
}

impl StreamItem for cluster::ClusteredPage {
    type Object = ClusteredPage;
    const TABLE: Option<BatchFunction<Self>> = Some(|pages, signed| {
        columns! {
            for page in pages, signed;
            url: Utf8 = &page.url,
            fingerprint: Option<Bits> = page.fingerprint,
            class_: Option<Int64> = page.class,
            leader: Utf8 = &page.leader,
            leader_class: Option<Int64> = page.leader_class,
            distance: Int32 = page.distance,
            resemblance: Option<Float64> = page.resemblance,
            pages: Int64 = page.pages,
            by: Option<Word> = page.by.map(|by| OriginalBy::from(by).value()),
        }
    });
}
