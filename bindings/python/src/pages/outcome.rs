//! The outcome of an observation.

use pyo3::prelude::*;

use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::convert::word::{Band, OriginalBy, SameBy, Verdict};

value! {
    /// Another page with the same digest: an exact copy.
    ExactCopy from copy: simkeep::ExactCopy {
        url: String,
        first: PyTime,
    }
}

value! {
    /// The pages whose current version is exactly a content.
    Copies from copies: simkeep::query::Copies {
        pages: Tuple<ExactCopy>,
        /// Whether there are no other pages. If not, there are more than the limit, or the search
        /// was bounded.
        complete: bool,
    }
}

value! {
    /// A visit that saw a content; see `Outcome.refers_to`.
    Capture from capture: simkeep::Capture {
        url: String,
        time: PyTime,
    }
}

value! {
    NearDuplicate from near: simkeep::NearDuplicate {
        url: String,
        distance: u32,
        fingerprint: u64,
        first: PyTime,
    }
}

value! {
    Original from original: simkeep::Original {
        url: String,
        distance: u32,
        by: OriginalBy,
    }
}

value! {
    /// The meaning of a distance between two versions of a page. As text: "moderately, some 0.5 to
    /// 6 % of its words".
    Meaning from meaning: simkeep::fingerprint::Meaning {
        distance: u32,
        band: Band,
        /// The minimum and the maximum share of changed words, from 0 to 1, in 8 of 10 cases.
        changed: (f32, f32) = meaning.changed(),
        /// The meaning as text for people.
        text: String = meaning.to_string(),
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

value! {
    /// The outcome of an observation. As text: "changed by 4 bits: moderately, some 0.5 to 6 % of
    /// its words; near another page".
    Outcome from outcome: simkeep::Outcome {
        verdict: Verdict = VerdictParts::from(outcome.verdict).verdict,
        /// The reason why the page is known to be the same, if the verdict is `same`.
        by: Option<SameBy> = VerdictParts::from(outcome.verdict).by,
        /// The distance of the page's fingerprint from the fingerprint of the previous version, in
        /// bits; `None` if the distance is unknown, or if the page did not change.
        distance: Option<u32> = VerdictParts::from(outcome.verdict).distance,
        /// The epoch of the compared fingerprints.
        distance_epoch: Option<u32> = VerdictParts::from(outcome.verdict).distance_epoch,
        /// The time when the version that the page reverted to was last seen; `None` if the page
        /// was not reverted.
        to: Option<PyTime> = VerdictParts::from(outcome.verdict).to,
        /// The meaning of the distance, if there is a distance.
        meaning: Option<Py<Meaning>>,
        novel: bool,
        priority: f64,
        also: bool,
        copies: Tuple<ExactCopy>,
        near: Tuple<NearDuplicate>,
        original: Option<Py<Original>>,
        /// The first visit of any page with exactly this content, as revisit records of archives
        /// name it; `None` for the first such visit, without a digest, and unless the store was
        /// opened with `refers_to=True`.
        refers_to: Option<Py<Capture>>,
        complete: bool,
        /// The outcome as text for people.
        text: String = outcome.to_string(),
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

/// The parts of a verdict in Python.
pub(crate) struct VerdictParts {
    pub(crate) verdict: Verdict,
    pub(crate) by: Option<SameBy>,
    pub(crate) distance: Option<u32>,
    pub(crate) distance_epoch: Option<u32>,
    pub(crate) to: Option<PyTime>,
}

impl From<simkeep::Verdict> for VerdictParts {
    fn from(of: simkeep::Verdict) -> VerdictParts {
        let (mut by, mut to) = (None, None);
        let verdict = match of {
            simkeep::Verdict::New => Verdict::New,
            simkeep::Verdict::Same(same) => {
                by = Some(same.into());
                Verdict::Same
            }
            simkeep::Verdict::Unseen => Verdict::Unseen,
            simkeep::Verdict::Changed { .. } => Verdict::Changed,
            simkeep::Verdict::Reverted { to: time, .. } => {
                to = Some(PyTime(time));
                Verdict::Reverted
            }
            simkeep::Verdict::Gone => Verdict::Gone,
            simkeep::Verdict::Failed => Verdict::Failed,
            simkeep::Verdict::OutOfOrder => Verdict::OutOfOrder,
            simkeep::Verdict::Known => Verdict::Known,
            _ => Verdict::Other,
        };
        let distance = of.distance();
        VerdictParts {
            verdict,
            by,
            distance: distance.map(|distance| distance.bits),
            distance_epoch: distance.map(|distance| distance.epoch.number()),
            to,
        }
    }
}
