//! What is dropped, for programs.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::OriginalBy;
use simkeep::cluster::{ClusteredPage, Clusters};

use super::{filter, summary};
use crate::json::{Fingerprint, Saw};

/// The whole; a page that is dropped; their sums; or what became of a corpus.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Whole(Whole),
    Dropped(OfDropped<'a>),
    Summary(summary::Answer),
    Filtered(filter::Answer),
}

/// What is dropped of a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Whole {
    /// Pages that are compared.
    pages: u64,
    fingerprints: u64,
    /// Within how many bits of the pages that are kept others are dropped.
    k: u32,
    /// How much the texts of a page that is dropped and of what is kept for it have in common at least:
    /// the share of the runs of five words of both that are in each, as 512 bits tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resemblance: Option<f64>,
    /// Which of several pages is kept: rules one after another.
    rule: String,
    /// Of each one page is kept.
    clusters: u64,
    /// Pages to be dropped.
    dropped: u64,
    saw: Saw,
}

/// A page that is dropped.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct OfDropped<'a> {
    pub(super) url: &'a str,
    /// The page that is kept for it.
    pub(super) kept: &'a str,
    /// In how many bits the two differ.
    pub(super) distance: u32,
    /// How much their texts have in common, where texts decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resemblance: Option<f64>,
    pub(super) reason: Reason,
    /// How many pages the cluster has.
    pub(super) size: u64,
    /// That of the page that is dropped.
    pub(super) fingerprint: Fingerprint,
}

/// How two pages are known to be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    SameDigest,
    SameFingerprint,
    /// Their fingerprints are near.
    Near,
}

impl Reason {
    /// All of them.
    pub(super) const ALL: [Reason; 3] = [Reason::SameDigest, Reason::SameFingerprint, Reason::Near];

    /// As programs read it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Reason::SameDigest => "same-digest",
            Reason::SameFingerprint => "same-fingerprint",
            Reason::Near => "near",
        }
    }
}

impl Whole {
    pub(super) fn of(
        clusters: &Clusters,
        resemblance: Option<f64>,
        rule: String,
        saw: Saw,
    ) -> Whole {
        Whole {
            pages: clusters.pages(),
            fingerprints: clusters.fingerprints(),
            k: clusters.k(),
            resemblance,
            rule,
            clusters: clusters.len(),
            dropped: super::dropped(clusters),
            saw,
        }
    }
}

impl<'a> OfDropped<'a> {
    /// A page, if it is dropped.
    pub(super) fn of(page: &'a ClusteredPage) -> Option<OfDropped<'a>> {
        let reason = match page.by? {
            OriginalBy::Digest => Reason::SameDigest,
            OriginalBy::Fingerprint => Reason::SameFingerprint,
            _ => Reason::Near,
        };
        Some(OfDropped {
            url: &page.url,
            kept: &page.leader,
            distance: page.distance,
            resemblance: page.resemblance,
            reason,
            size: page.pages,
            fingerprint: Fingerprint(page.fingerprint),
        })
    }
}
