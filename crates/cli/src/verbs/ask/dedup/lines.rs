//! What is dropped, for programs.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{ClusteredPage, Clusters};
use simkeep::{Classes, OriginalBy};
use simkeep_formats::escape;

use super::{filter, summary};
use crate::output::json::{Fingerprint, Saw};
use crate::output::words::count;

/// The whole; a page that is dropped, or stays for its class; their sums; or what became of a corpus.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Whole(Whole),
    Page(Listed<'a>),
    Summary(summary::Answer),
    Filtered(filter::Answer),
}

/// What is dropped of a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Whole {
    /// Pages that are compared.
    pages: u64,
    /// Pages with content that took no part, since it has no fingerprint in this epoch.
    without_fingerprint: u64,
    fingerprints: u64,
    /// Within how many bits of the pages that are kept others are dropped.
    k: u32,
    /// How much the texts of a page that is dropped and of what is kept for it have in common at least:
    /// the share of the runs of five words of both that are in each, as 512 bits tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resemblance: Option<f64>,
    /// How many texts were compared, where texts decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<u64>,
    /// Which of several pages is kept: rules one after another.
    rule: String,
    /// Of each one page is kept at least.
    clusters: u64,
    /// Pages to be dropped.
    dropped: u64,
    saw: Saw,
}

/// A page that is listed.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Listed<'a> {
    Dropped(OfDropped<'a>),
    Kept(OfKept<'a>),
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

/// A page that stays, though it is in a cluster that another one leads.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct OfKept<'a> {
    pub(super) url: &'a str,
    /// The page that leads its cluster, and stays as well.
    pub(super) leader: &'a str,
    /// In how many bits the two differ.
    pub(super) distance: u32,
    /// How much their texts have in common, where texts decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resemblance: Option<f64>,
    pub(super) reason: WhyKept,
    /// How many pages the cluster has.
    pub(super) size: u64,
    /// That of the page, not of its leader.
    pub(super) fingerprint: Fingerprint,
    /// The class of the page; null if it has none.
    pub(super) class: Option<u32>,
    /// The class of the leader; null if it has none.
    pub(super) leader_class: Option<u32>,
}

/// Why a page stays.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WhyKept {
    /// Its leader is of another class, which is not open to all.
    OtherClass,
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

impl WhyKept {
    /// As programs read it.
    pub(super) fn key(self) -> &'static str {
        match self {
            WhyKept::OtherClass => "other-class",
        }
    }
}

impl Whole {
    pub(super) fn of(
        clusters: &Clusters,
        dropped: u64,
        (resemblance, compared): (Option<f64>, Option<u64>),
        rule: String,
        saw: Saw,
    ) -> Whole {
        Whole {
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

impl<'a> Listed<'a> {
    /// A page that is led by another one, where all may see pages of the classes in `open`.
    pub(super) fn of(page: &'a ClusteredPage, open: &Classes) -> Option<Listed<'a>> {
        let reason = match page.by? {
            OriginalBy::Digest => Reason::SameDigest,
            OriginalBy::Fingerprint => Reason::SameFingerprint,
            _ => Reason::Near,
        };
        let (url, leader, distance, size) = (&*page.url, &*page.leader, page.distance, page.pages);
        let (resemblance, fingerprint) = (page.resemblance, Fingerprint(page.fingerprint));
        Some(if page.yields(open) {
            let kept = leader;
            Listed::Dropped(OfDropped {
                url,
                kept,
                distance,
                resemblance,
                reason,
                size,
                fingerprint,
            })
        } else {
            Listed::Kept(OfKept {
                url,
                leader,
                distance,
                resemblance,
                reason: WhyKept::OtherClass,
                size,
                fingerprint,
                class: page.class,
                leader_class: page.leader_class,
            })
        })
    }

    /// A row of a table: bits, how much texts have in common if they decide, reason, pages, URL, and
    /// that of the leader.
    pub(super) fn cells(&self) -> Vec<String> {
        let (distance, resemblance, reason, size, url, leader) = match *self {
            Listed::Dropped(OfDropped {
                url, kept, distance, resemblance, reason, size, ..
            }) => (distance, resemblance, reason.key(), size, url, kept),
            Listed::Kept(OfKept { url, leader, distance, resemblance, reason, size, .. }) => {
                (distance, resemblance, reason.key(), size, url, leader)
            }
        };
        let alike = resemblance.map(|share| format!("{share:.2}"));
        let [url, leader] = [url, leader].map(escape::whole);
        let rest = [reason.to_owned(), count(size), url, leader];
        [distance.to_string()].into_iter().chain(alike).chain(rest).collect()
    }
}
