//! What an observation is answered with.

use pyo3::prelude::*;

use crate::time::Time;
use crate::typed::Tuple;
use crate::value::value;
use crate::word::{Band, OriginalBy, SameBy, Verdict};

value! {
    /// Another page with the same digest: an exact copy.
    Copy {
        /// The page.
        url: String,
        /// When that page was first seen with this digest.
        first: Time,
    }
}

value! {
    /// A near-duplicate of what a visit saw.
    NearDuplicate {
        /// The page.
        url: String,
        /// In how many bits its fingerprint differs.
        distance: u32,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
        /// When the page was first seen with what it has in force.
        first: Time,
    }
}

value! {
    /// The page that comes first of several with nearly the same content.
    Original {
        /// The page.
        url: String,
        /// In how many bits its fingerprint differs.
        distance: u32,
        /// How it is known to be nearly the same.
        by: OriginalBy,
    }
}

value! {
    /// What a distance between two versions of a page means. As a text: "moderately, some 0.5 to 6 % of
    /// its words".
    Meaning {
        /// The distance, in bits.
        distance: u32,
        /// How much of a change that is.
        band: Band,
        /// The least and the greatest share of its words that changed, from 0 to 1, in 8 of 10 cases.
        changed: (f32, f32),
        /// For people.
        text: String,
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

impl From<simkeep::fingerprint::Meaning> for Meaning {
    fn from(meaning: simkeep::fingerprint::Meaning) -> Meaning {
        let changed = meaning.changed();
        Meaning {
            distance: meaning.distance,
            band: meaning.band.into(),
            changed: (changed.start, changed.end),
            text: meaning.to_string(),
        }
    }
}

value! {
    /// The answer to an observation. As a text: "changed by 4 bits: moderately, some 0.5 to 6 % of its
    /// words; near another page".
    Outcome {
        /// What the page is now.
        verdict: Verdict,
        /// How it is known to be the same, if that is the verdict.
        by: Option<SameBy>,
        /// In how many bits its fingerprint differs from that of the version before; `None` where
        /// that is not known, or nothing changed.
        distance: Option<u32>,
        /// The epoch of the fingerprints that were compared.
        distance_epoch: Option<u32>,
        /// When the version that the page went back to was last seen, if it was reverted.
        to: Option<Time>,
        /// What the distance means, if there is one.
        meaning: Option<Py<Meaning>>,
        /// Whether the content is far from all of the page's last versions.
        novel: bool,
        /// How much it is worth being processed further: from 0 to the page's weight.
        priority: f64,
        /// Whether the fingerprint in another epoch was stored.
        also: bool,
        /// Other pages with the same digest, ordered by when they were first seen with it.
        copies: Tuple<Copy>,
        /// Near-duplicates, nearest first, without the copies.
        near: Tuple<NearDuplicate>,
        /// The page that ranks before this one and all others of `copies` and `near`; `None` if this one
        /// comes first.
        original: Option<Py<Original>>,
        /// Whether `copies` and `near` name everything.
        complete: bool,
        /// For people.
        text: String,
    }
    also {
        fn __str__(&self) -> String {
            self.text.clone()
        }
    }
}

/// What a verdict says, part by part.
pub(crate) struct Told {
    pub(crate) verdict: Verdict,
    pub(crate) by: Option<SameBy>,
    pub(crate) distance: Option<u32>,
    pub(crate) distance_epoch: Option<u32>,
    pub(crate) to: Option<Time>,
}

impl From<simkeep::Verdict> for Told {
    fn from(of: simkeep::Verdict) -> Told {
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
                to = Some(Time(time));
                Verdict::Reverted
            }
            simkeep::Verdict::Gone => Verdict::Gone,
            simkeep::Verdict::Failed => Verdict::Failed,
            simkeep::Verdict::OutOfOrder => Verdict::OutOfOrder,
            simkeep::Verdict::Known => Verdict::Known,
            _ => Verdict::Other,
        };
        let distance = of.distance();
        Told {
            verdict,
            by,
            distance: distance.map(|distance| distance.bits),
            distance_epoch: distance.map(|distance| distance.epoch.number()),
            to,
        }
    }
}

/// A value of the class, if there is one.
pub(crate) fn meaning(
    py: Python<'_>,
    meaning: Option<simkeep::fingerprint::Meaning>,
) -> PyResult<Option<Py<Meaning>>> {
    meaning.map(|meaning| Py::new(py, Meaning::from(meaning))).transpose()
}

impl Outcome {
    pub(crate) fn of(py: Python<'_>, outcome: simkeep::Outcome) -> PyResult<Outcome> {
        let Told { verdict, by, distance, distance_epoch, to } = outcome.verdict.into();
        let text = outcome.to_string();
        let original = outcome.original.map(|original| {
            let simkeep::Original { url, distance, by, .. } = original;
            Py::new(py, Original { url, distance, by: by.into() })
        });
        Ok(Outcome {
            verdict,
            by,
            distance,
            distance_epoch,
            to,
            meaning: meaning(py, outcome.meaning)?,
            novel: outcome.novel,
            priority: outcome.priority,
            also: outcome.also,
            copies: Tuple::of(py, outcome.copies, |copy| {
                Ok(Copy { url: copy.url, first: Time(copy.first) })
            })?,
            near: Tuple::of(py, outcome.near, |near| {
                let simkeep::NearDuplicate { url, distance, fingerprint, first, .. } = near;
                Ok(NearDuplicate { url, distance, fingerprint, first: Time(first) })
            })?,
            original: original.transpose()?,
            complete: outcome.complete,
            text,
        })
    }
}
