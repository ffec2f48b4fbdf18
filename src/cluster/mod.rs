//! Clusters: pages with nearly the same content, and the page that represents them.
//!
//! A clustering depends only on a snapshot, rules and a distance. Clusters are not stored.
//! Histories are stored, so the clusters of any past time can be computed later.
//!
//! A [`Clustering`] selects the pages, the distance and the rules. Its [result](Clustering::run),
//! [`Clusters`], iterates over [clusters](Cluster) and [pages](ClusteredPage) in several orders. A
//! [`Ranking`] of [rules](RankingRule) determines which page leads.

mod balls;
mod by_digest;
mod candidates;
mod changes;
mod clustering;
mod clusters;
mod column;
mod components;
mod declared;
mod documents;
mod dropped;
mod gather;
mod items;
mod leaders;
mod local;
mod location_set;
mod ranked;
#[cfg(test)]
mod tests;

pub use balls::Balls;
pub use candidates::{Candidacy, Candidates};
pub use changes::{ClusterChange, ClusterChanges, ClusterChangesIter, LeaderChangeReason};
pub use clustering::Clustering;
pub use clusters::{Cluster, ClusteredPage, ClusteredPages, Clusters, ClustersBySize};
pub use components::{ConnectedComponent, ConnectedComponents};
pub use dropped::{DroppedPages, Fate, KeptPage};
pub use local::PageCluster;
pub use location_set::PageLocation;
pub use ranked::{RankedPage, RankedPages};

pub use crate::page::{Ranking, RankingError, RankingRule};
