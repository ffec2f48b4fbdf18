//! The answers that the model expects from a store.

use simkeep::{Content, PropertyOutcome, RestateOutcome, Time, Verdict, Visit, Weight};

/// Another page near a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub url: String,
    pub distance: u32,
    pub fingerprint: u64,
}

impl From<&simkeep::Near> for Near {
    fn from(near: &simkeep::Near) -> Near {
        Near { url: near.url.clone(), distance: near.distance, fingerprint: near.fingerprint }
    }
}

/// Another page near the content of a visit, and when it was first seen with its content in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearDuplicate {
    pub near: Near,
    pub first: i64,
}

impl From<&simkeep::NearDuplicate> for NearDuplicate {
    fn from(of: &simkeep::NearDuplicate) -> NearDuplicate {
        let (url, distance, fingerprint) = (of.url.clone(), of.distance, of.fingerprint);
        NearDuplicate { near: Near { url, distance, fingerprint }, first: of.first.as_ms() }
    }
}

/// Another page with the same digest, and when it was first seen with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactCopy {
    pub url: String,
    pub first: i64,
}

impl From<&simkeep::ExactCopy> for ExactCopy {
    fn from(copy: &simkeep::ExactCopy) -> ExactCopy {
        ExactCopy { url: copy.url.clone(), first: copy.first.as_ms() }
    }
}

/// The outcome of an observation, with all copies and near pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub verdict: Verdict,
    pub novel: bool,
    pub priority: f64,
    pub also: bool,
    pub copies: Vec<ExactCopy>,
    pub near: Vec<NearDuplicate>,
    /// The time when the page was first seen with the content of the visit, in milliseconds since
    /// 1970.
    pub since: i64,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationResult {
    Observed(Outcome),
    Restated(RestateOutcome),
    PropertySet(PropertyOutcome),
}

/// The state of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
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
}

impl From<simkeep::Page> for Page {
    fn from(page: simkeep::Page) -> Page {
        Page {
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
            url: page.url,
        }
    }
}
