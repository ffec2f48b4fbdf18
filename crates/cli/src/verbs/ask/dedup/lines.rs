//! Dropped pages, as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{ClusteredPage, Clusters};
use simkeep::{Classes, OriginalBy};
use simkeep_formats::escape;

use super::{filter, summary};
use crate::output::json::{Fingerprint, StoreState};
use crate::output::words::count;

/// The summary of the clusters, a page that is dropped or is kept because of its class, the counts
/// of dropped pages, or the counts of a filtered corpus.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DedupLine<'a> {
    Whole(DedupOverview),
    Page(DedupPage<'a>),
    Summary(summary::DedupTotals),
    Filtered(filter::FilterResult),
}

/// The summary of what to drop from a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DedupOverview {
    /// The number of pages that are compared.
    pages: u64,
    /// Pages with content but without a fingerprint of the epoch, which are not compared: redirects,
    /// stale pages, and content without a digest.
    without_fingerprint: u64,
    fingerprints: u64,
    /// The maximum distance in bits between a dropped page and the page kept in its place.
    k: u32,
    /// The minimum resemblance of the texts of a dropped page and the page kept in its place: the
    /// ratio of their common runs of five words to all of them, estimated from 512 bits. Left out
    /// without --resemblance.
    #[serde(skip_serializing_if = "Option::is_none")]
    resemblance: Option<f64>,
    /// The number of texts that were compared; left out without --resemblance.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<u64>,
    /// The rules that choose the kept page; later rules break ties.
    rule: String,
    /// The number of clusters. At least one page of each is kept.
    clusters: u64,
    /// The number of pages to drop.
    dropped: u64,
    saw: StoreState,
}

/// A page in the list.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DedupPage<'a> {
    Dropped(DroppedDuplicate<'a>),
    Kept(KeptDuplicate<'a>),
}

/// A page to drop.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct DroppedDuplicate<'a> {
    pub(super) url: &'a str,
    /// The page that is kept in its place.
    pub(super) kept: &'a str,
    /// The number of bits in which the two fingerprints differ.
    pub(super) distance: u32,
    /// The resemblance of the two texts, from 0 to 1; left out if texts were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resemblance: Option<f64>,
    pub(super) reason: DropReason,
    /// The number of pages in the cluster.
    pub(super) size: u64,
    /// The fingerprint of the dropped page; null if its content has no fingerprint.
    pub(super) fingerprint: Option<Fingerprint>,
}

/// A page that is kept although another page leads its cluster.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct KeptDuplicate<'a> {
    pub(super) url: &'a str,
    /// The page that leads its cluster, which is also kept.
    pub(super) leader: &'a str,
    /// The number of bits in which the two fingerprints differ.
    pub(super) distance: u32,
    /// The resemblance of the two texts, from 0 to 1; left out if texts were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resemblance: Option<f64>,
    pub(super) reason: KeptReason,
    /// The number of pages in the cluster.
    pub(super) size: u64,
    /// The fingerprint of the page, not of its leader; null if its content has no fingerprint.
    pub(super) fingerprint: Option<Fingerprint>,
    /// The class of the page; null if it has none.
    pub(super) class: Option<u32>,
    /// The class of the leader; null if it has none.
    pub(super) leader_class: Option<u32>,
}

/// The reason why a page is kept.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeptReason {
    /// Its leader has another class, which --open does not list.
    OtherClass,
}

/// The evidence that two pages are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DropReason {
    SameDigest,
    SameFingerprint,
    /// The fingerprints are near each other.
    Near,
}

impl DropReason {
    /// All reasons, in order of strength.
    pub(super) const ALL: [DropReason; 3] =
        [DropReason::SameDigest, DropReason::SameFingerprint, DropReason::Near];

    /// The key of the reason in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            DropReason::SameDigest => "same-digest",
            DropReason::SameFingerprint => "same-fingerprint",
            DropReason::Near => "near",
        }
    }
}

impl KeptReason {
    /// The key of the reason in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            KeptReason::OtherClass => "other-class",
        }
    }
}

impl DedupOverview {
    pub(super) fn of(
        clusters: &Clusters,
        dropped: u64,
        (resemblance, compared): (Option<f64>, Option<u64>),
        rule: String,
        saw: StoreState,
    ) -> DedupOverview {
        DedupOverview {
            pages: clusters.pages(),
            without_fingerprint: clusters.without_fingerprint(),
            fingerprints: clusters.fingerprints(),
            k: clusters.k(),
            resemblance,
            compared,
            rule,
            clusters: clusters.len(),
            dropped,
            saw,
        }
    }
}

impl<'a> DedupPage<'a> {
    /// The line about a page that is not a leader; `None` for a leader. `open` are the classes of
    /// pages that all may see.
    pub(super) fn of(page: &'a ClusteredPage, open: &Classes) -> Option<DedupPage<'a>> {
        let reason = match page.by? {
            OriginalBy::Digest => DropReason::SameDigest,
            OriginalBy::Fingerprint => DropReason::SameFingerprint,
            _ => DropReason::Near,
        };
        let (url, leader, distance, size) = (&*page.url, &*page.leader, page.distance, page.pages);
        let (resemblance, fingerprint) = (page.resemblance, page.fingerprint.map(Fingerprint));
        Some(if page.yields(open) {
            let kept = leader;
            DedupPage::Dropped(DroppedDuplicate {
                url,
                kept,
                distance,
                resemblance,
                reason,
                size,
                fingerprint,
            })
        } else {
            DedupPage::Kept(KeptDuplicate {
                url,
                leader,
                distance,
                resemblance,
                reason: KeptReason::OtherClass,
                size,
                fingerprint,
                class: page.class,
                leader_class: page.leader_class,
            })
        })
    }

    /// The cells of a table row: bits, resemblance if texts were compared, reason, pages, URL, and
    /// the URL of the leader.
    pub(super) fn cells(&self) -> Vec<String> {
        let (distance, resemblance, reason, size, url, leader) = match *self {
            DedupPage::Dropped(DroppedDuplicate {
                url,
                kept,
                distance,
                resemblance,
                reason,
                size,
                ..
            }) => (distance, resemblance, reason.key(), size, url, kept),
            DedupPage::Kept(KeptDuplicate {
                url,
                leader,
                distance,
                resemblance,
                reason,
                size,
                ..
            }) => (distance, resemblance, reason.key(), size, url, leader),
        };
        let alike = resemblance.map(|share| format!("{share:.2}"));
        let [url, leader] = [url, leader].map(escape::escape_untruncated);
        let rest = [reason.to_owned(), count(size), url, leader];
        [distance.to_string()].into_iter().chain(alike).chain(rest).collect()
    }
}
