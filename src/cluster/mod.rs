//! Clusters: pages with nearly the same content, and the one that stands for them.
//!
//! A clustering is a function of a snapshot, rules and a distance, and of nothing else. Nothing of it is
//! stored: histories are, so the clusters of any past time can be had afterwards.
//!
//! A [`Clustering`] says which pages, how near, and by which rules. Its [result](Clustering::run),
//! [`Clusters`], goes through [clusters](Cluster) and [pages](ClusteredPage) in several orders. Who
//! leads is for a [`Ranking`] of [rules](Rule) to say.

mod balls;
mod candidates;
mod changes;
mod clustering;
mod clusters;
mod column;
mod components;
mod documents;
mod dropped;
mod gather;
mod items;
mod leaders;
mod local;
mod places;
mod ranked;
#[cfg(test)]
mod tests;

pub use balls::Balls;
pub use candidates::{Candidacy, Candidates};
pub use changes::{ClusterChange, ClusterChanges, ClusterChangesIter, LeaderChangeReason};
pub use clustering::Clustering;
pub use clusters::{BySize, Cluster, ClusteredPage, ClusteredPages, Clusters};
pub use components::{Component, Components};
pub use dropped::{Dropped, Fate, KeptFor};
pub use local::PageCluster;
pub use places::PageLocation;
pub use ranked::{RankedPage, RankedPages};

pub use crate::page::{Ranking, RankingError, Rule};
