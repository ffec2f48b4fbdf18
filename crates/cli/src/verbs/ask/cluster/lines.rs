//! Lines of clusters and their pages, for programs.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{Cluster, ClusteredPage, Clusters, PageCluster};

use super::{changes, counts};
use crate::output::json::{Fingerprint, Saw, Time};

/// The whole, a cluster, or a page; of counts, those of a distance, or a component; a change; or the
/// cluster of one page.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Whole(Whole),
    Cluster(OfCluster<'a>),
    Page(OfPage<'a>),
    Balls(counts::OfBalls),
    Components(counts::OfComponents),
    Component(counts::OfComponent<'a>),
    Change(changes::OfChange<'a>),
    One(One<'a>),
}

/// The clusters of a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Whole {
    /// Pages that are in clusters.
    pages: u64,
    /// Pages with content that took no part, since it has no fingerprint in this epoch.
    without_fingerprint: u64,
    fingerprints: u64,
    /// Within how many bits of their leaders pages are.
    k: u32,
    /// Which of several pages leads: rules one after another.
    rule: String,
    clusters: u64,
    /// Clusters of two pages or more.
    multi_page_clusters: u64,
    /// How many pages the largest has.
    largest: u64,
    saw: Saw,
}

/// A cluster.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfCluster<'a> {
    leader: &'a str,
    /// That of the leader.
    fingerprint: Fingerprint,
    /// When the leader was first seen with what it shows.
    first_seen: Time,
    /// How many pages it has.
    size: u64,
    /// How many bits one of them is from the leader at most.
    max_distance: u32,
}

/// A page in its cluster.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfPage<'a> {
    url: &'a str,
    fingerprint: Fingerprint,
    /// The class that it is of now, whichever time the cluster is of; null if it has none.
    class: Option<u32>,
    /// In how many bits it differs from its leader.
    distance: u32,
    /// The page that leads its cluster, or itself.
    leader: &'a str,
    /// How many pages the cluster has.
    size: u64,
}

/// The cluster of one page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct One<'a> {
    #[serde(flatten)]
    cluster: OfCluster<'a>,
    /// The leader first, then by distance.
    members: Vec<OfPage<'a>>,
    /// Whether no page is missing, and no other can lead.
    complete: bool,
    saw: Saw,
}

impl<'a> One<'a> {
    pub(super) fn of(of: &'a PageCluster, saw: Saw) -> One<'a> {
        let members = of.pages.iter().map(OfPage::from).collect();
        One { cluster: OfCluster::from(&of.cluster), members, complete: of.complete, saw }
    }
}

impl Whole {
    pub(super) fn of(clusters: &Clusters, rule: String, saw: Saw) -> Whole {
        Whole {
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

impl<'a> From<&'a Cluster> for OfCluster<'a> {
    fn from(of: &'a Cluster) -> OfCluster<'a> {
        OfCluster {
            leader: &of.leader,
            fingerprint: Fingerprint(of.fingerprint),
            first_seen: Time(of.first_seen),
            size: of.pages,
            max_distance: of.max_distance,
        }
    }
}

impl<'a> From<&'a ClusteredPage> for OfPage<'a> {
    fn from(of: &'a ClusteredPage) -> OfPage<'a> {
        OfPage {
            url: &of.url,
            fingerprint: Fingerprint(of.fingerprint),
            class: of.class,
            distance: of.distance,
            leader: &of.leader,
            size: of.pages,
        }
    }
}
