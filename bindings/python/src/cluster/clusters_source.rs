//! The owner of clusters.

use std::sync::Arc;

use simkeep::cluster;

/// The source of clusters.
#[derive(Clone)]
pub(crate) enum ClustersSource {
    One(Arc<cluster::Clusters>),
    /// The clusters at the earlier of two times.
    Before(Arc<cluster::ClusterChanges>),
    /// The clusters at the later time.
    After(Arc<cluster::ClusterChanges>),
}

impl AsRef<cluster::Clusters> for ClustersSource {
    fn as_ref(&self) -> &cluster::Clusters {
        match self {
            ClustersSource::One(of) => of,
            ClustersSource::Before(changes) => changes.before(),
            ClustersSource::After(changes) => changes.after(),
        }
    }
}
