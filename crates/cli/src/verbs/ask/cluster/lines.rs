//! Lines about clusters and their pages, as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{Cluster, ClusteredPage, Clusters, PageCluster};

use super::{changes, counts};
use crate::output::json::{Fingerprint, StoreState, Time};

/// The summary, a cluster or a page. With --balls, the balls of a distance; with --components, the
/// counts or a component; with --since, a page whose leader changed. For one page, its cluster.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ClusterLine<'a> {
    Whole(ClustersSummary),
    Cluster(ClusterResult<'a>),
    Page(ClusterPage<'a>),
    Balls(counts::BallCounts),
    Components(counts::ComponentCounts),
    Component(counts::ComponentResult<'a>),
    Change(changes::LeaderChangeLine<'a>),
    One(PageClusterResult<'a>),
}

/// The summary of all clusters.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ClustersSummary {
    /// The number of pages in clusters.
    pages: u64,
    /// Pages with content but without a fingerprint of the epoch, which are in no cluster: redirects,
    /// stale pages, and content without a digest.
    without_fingerprint: u64,
    fingerprints: u64,
    /// The maximum distance in bits of a page from its leader.
    k: u32,
    /// The rules that rank leaders; later rules break ties.
    rule: String,
    clusters: u64,
    /// The number of clusters of two or more pages.
    multi_page_clusters: u64,
    /// The number of pages in the largest cluster.
    largest: u64,
    saw: StoreState,
}

/// A cluster.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ClusterResult<'a> {
    leader: &'a str,
    /// The fingerprint of the leader; null if the pages have equal digests and no fingerprints.
    fingerprint: Option<Fingerprint>,
    /// The time when the leader was first seen with its current content.
    first_seen: Time,
    /// The number of pages in the cluster.
    size: u64,
    /// The greatest distance of a page from the leader, in bits.
    max_distance: u32,
}

/// A page in a cluster.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ClusterPage<'a> {
    url: &'a str,
    /// Null if its content has no fingerprint.
    fingerprint: Option<Fingerprint>,
    /// The current class of the page, even if --at selects an earlier time; null if it has none.
    class: Option<u32>,
    /// The number of bits in which it differs from its leader.
    distance: u32,
    /// The page that leads its cluster, perhaps itself.
    leader: &'a str,
    /// The number of pages in the cluster.
    size: u64,
}

/// The cluster of one page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PageClusterResult<'a> {
    #[serde(flatten)]
    cluster: ClusterResult<'a>,
    /// The pages of the cluster: the leader first, then the others by distance.
    members: Vec<ClusterPage<'a>>,
    /// Whether the search was complete. If not, the page may have another leader, or further pages.
    complete: bool,
    saw: StoreState,
}

impl<'a> PageClusterResult<'a> {
    pub(super) fn of(of: &'a PageCluster, saw: StoreState) -> PageClusterResult<'a> {
        let members = of.pages.iter().map(ClusterPage::from).collect();
        PageClusterResult {
            cluster: ClusterResult::from(&of.cluster),
            members,
            complete: of.complete,
            saw,
        }
    }
}

impl ClustersSummary {
    pub(super) fn of(clusters: &Clusters, rule: String, saw: StoreState) -> ClustersSummary {
        ClustersSummary {
            pages: clusters.pages(),
            without_fingerprint: clusters.without_fingerprint(),
            fingerprints: clusters.fingerprints(),
            k: clusters.k(),
            rule,
            clusters: clusters.len(),
            multi_page_clusters: clusters.multi_page_clusters(),
            largest: clusters.largest(),
            saw,
        }
    }
}

impl<'a> From<&'a Cluster> for ClusterResult<'a> {
    fn from(of: &'a Cluster) -> ClusterResult<'a> {
        ClusterResult {
            leader: &of.leader,
            fingerprint: of.fingerprint.map(Fingerprint),
            first_seen: Time(of.first_seen),
            size: of.pages,
            max_distance: of.max_distance,
        }
    }
}

impl<'a> From<&'a ClusteredPage> for ClusterPage<'a> {
    fn from(of: &'a ClusteredPage) -> ClusterPage<'a> {
        ClusterPage {
            url: &of.url,
            fingerprint: of.fingerprint.map(Fingerprint),
            class: of.class,
            distance: of.distance,
            leader: &of.leader,
            size: of.pages,
        }
    }
}
