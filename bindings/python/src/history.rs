//! Visits of a page, and what else its history has.

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::outcome::{Meaning, Told, meaning};
use crate::time::Time;
use crate::value::value;
use crate::word::{SameBy, Seen, Verdict};

value! {
    /// One visit to a page: what was seen, and when.
    Visit {
        /// When it was.
        time: Time,
        /// What was seen.
        seen: Seen,
        /// The fingerprint of the content; `None` if it has none, or there was no content.
        fingerprint: Option<u64>,
        /// The digest of the content, 16 bytes; also one that came with the word that it is not
        /// modified.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint; `None` if there was no content.
        epoch: Option<u32>,
        /// The HTTP status, if it was told.
        status: Option<u16>,
        /// When the page was last modified, as the server said.
        modified: Option<Time>,
    }
}

value! {
    /// A visit in a history, with what it meant after those before it.
    Judged {
        /// The visit.
        visit: Py<Visit>,
        /// What the page was then.
        verdict: Verdict,
        /// How it is known to have been the same, if that is the verdict.
        by: Option<SameBy>,
        /// In how many bits the fingerprint differs from that of the version before.
        distance: Option<u32>,
        /// The epoch of the fingerprints that were compared.
        distance_epoch: Option<u32>,
        /// When the version that the page went back to was last seen.
        to: Option<Time>,
        /// What the distance means, if there is one.
        meaning: Option<Py<Meaning>>,
    }
    also {
        /// When the visit was.
        #[getter]
        fn time(&self) -> Time {
            self.visit.get().time
        }
    }
}

value! {
    /// What another epoch makes of content that an earlier visit saw.
    Restated {
        /// When the content was seen.
        time: Time,
        /// Its fingerprint; `None` if it has none.
        fingerprint: Option<u64>,
        /// The digest of the content.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint.
        epoch: u32,
    }
}

value! {
    /// A property that a page was given: a weight or a class.
    Given {
        /// When it was given.
        time: Time,
        /// The weight, if it is one.
        weight: Option<f64>,
        /// The class, if it is one.
        class_: Option<u32>,
    }
}

impl From<simkeep::Visit> for Visit {
    fn from(visit: simkeep::Visit) -> Visit {
        let content = visit.seen.content();
        Visit {
            time: Time(visit.time),
            seen: (&visit.seen).into(),
            fingerprint: content.and_then(|content| content.fingerprint),
            digest: visit.seen.digest().map(|digest| digest.0),
            epoch: content.map(|content| content.epoch.number()),
            status: visit.status,
            modified: visit.modified.map(Time),
        }
    }
}

impl From<simkeep::Restated> for Restated {
    fn from(restated: simkeep::Restated) -> Restated {
        Restated {
            time: Time(restated.time),
            fingerprint: restated.fingerprint,
            digest: restated.digest.map(|digest| digest.0),
            epoch: restated.epoch.number(),
        }
    }
}

impl From<simkeep::Given> for Given {
    fn from(given: simkeep::Given) -> Given {
        let (weight, class_) = match given.property {
            simkeep::Property::Weight(weight) => (Some(weight.to_f64()), None),
            simkeep::Property::Class(class) => (None, Some(class)),
        };
        Given { time: Time(given.time), weight, class_ }
    }
}

/// An entry without what it meant, as one of these classes.
pub(crate) fn entry(py: Python<'_>, entry: simkeep::Entry) -> PyResult<Bound<'_, PyAny>> {
    Ok(match entry {
        simkeep::Entry::Visit(visit) => Bound::new(py, Visit::from(visit))?.into_any(),
        simkeep::Entry::Restated(restated) => Bound::new(py, Restated::from(restated))?.into_any(),
        simkeep::Entry::Given(given) => Bound::new(py, Given::from(given))?.into_any(),
    })
}

/// A history as a list of these classes.
pub(crate) fn history(py: Python<'_>, history: simkeep::History) -> PyResult<Bound<'_, PyList>> {
    let told = |told: simkeep::HistoryEntry| match told {
        simkeep::HistoryEntry::Visit { visit, verdict, meaning: means } => {
            let Told { verdict, by, distance, distance_epoch, to } = verdict.into();
            let visit = Py::new(py, Visit::from(visit))?;
            let meaning = meaning(py, means)?;
            let judged = Judged { visit, verdict, by, distance, distance_epoch, to, meaning };
            Ok(Bound::new(py, judged)?.into_any())
        }
        other => entry(py, other.entry()),
    };
    PyList::new(py, history.into_iter().map(told).collect::<PyResult<Vec<_>>>()?)
}
