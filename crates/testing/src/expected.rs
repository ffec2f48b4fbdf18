//! The answers that the model expects from a store.

use std::collections::BTreeSet;

use super::pages::SurtPosition;
use simkeep::{Content, PropertyOutcome, RestateOutcome, Time, Verdict, Visit, Weight};

/// Another page near a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedNear {
    pub url: String,
    pub distance: u32,
    pub fingerprint: u64,
}

impl From<&simkeep::NearMatch> for ExpectedNear {
    fn from(near: &simkeep::NearMatch) -> ExpectedNear {
        ExpectedNear {
            url: near.url.clone(),
            distance: near.distance,
            fingerprint: near.fingerprint,
        }
    }
}

/// Another page near the content of a visit, and when it was first seen with its content in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedDuplicate {
    pub near: ExpectedNear,
    pub first: i64,
}

impl From<&simkeep::NearDuplicate> for ExpectedDuplicate {
    fn from(of: &simkeep::NearDuplicate) -> ExpectedDuplicate {
        let (url, distance, fingerprint) = (of.url.clone(), of.distance, of.fingerprint);
        ExpectedDuplicate {
            near: ExpectedNear { url, distance, fingerprint },
            first: of.first.as_ms(),
        }
    }
}

/// Another page with the same digest, and when it was first seen with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCopy {
    pub url: String,
    pub first: i64,
}

impl From<&simkeep::ExactCopy> for ExpectedCopy {
    fn from(copy: &simkeep::ExactCopy) -> ExpectedCopy {
        ExpectedCopy { url: copy.url.clone(), first: copy.first.as_ms() }
    }
}

/// The time and the page of a visit that saw a content.
pub type ExpectedCapture = (i64, SurtPosition);

/// The outcome of an observation, with all copies and near pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedOutcome {
    pub verdict: Verdict,
    pub novel: bool,
    pub priority: f64,
    pub also: bool,
    pub copies: Vec<ExpectedCopy>,
    pub near: Vec<ExpectedDuplicate>,
    /// All earlier captures of the digest, and the first capture that a search must find. Their
    /// order is by time and URL.
    pub captures: BTreeSet<ExpectedCapture>,
    pub refers_to: Option<ExpectedCapture>,
    /// The time when the page was first seen with the content of the visit, in milliseconds since
    /// 1970.
    pub since: i64,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedResult {
    Observed(Box<ExpectedOutcome>),
    Restated(RestateOutcome),
    PropertySet(PropertyOutcome),
}

/// The state of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedPage {
    pub url: String,
    pub visits: u64,
    pub first: i64,
    pub last: Visit,
    pub content: Option<Content>,
    pub contents: Vec<Content>,
    pub content_seen: Option<i64>,
    pub modified: Option<i64>,
    pub gone: bool,
    pub weight: Weight,
    /// The class that was set last.
    pub class: Option<u32>,
    pub etag: Option<String>,
    pub target: Option<String>,
}

impl From<simkeep::Page> for ExpectedPage {
    fn from(page: simkeep::Page) -> ExpectedPage {
        ExpectedPage {
            visits: page.visits,
            first: page.first.as_ms(),
            last: page.last,
            content: page.content,
            contents: page.contents,
            content_seen: page.content_seen.map(Time::as_ms),
            modified: page.modified.map(Time::as_ms),
            gone: page.gone,
            weight: page.weight,
            class: page.class,
            etag: page.etag.map(|etag| etag.to_string()),
            target: page.target,
            url: page.url,
        }
    }
}
