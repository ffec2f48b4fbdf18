//! A visit in the form of the caller's arguments, and in the form of the crate.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::load::AsOperation;
use simkeep::{Digest, Epoch, Observation, Operation, Seen, Time, Visit, Weight};

use crate::convert::arg::{self, Arg};
use crate::convert::keywords::unknown;
use crate::observe::visit_result::{ResultArguments, VisitResult};

/// A visit, validated except for rules that need the store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckedVisit {
    pub(crate) url: String,
    pub(crate) time: Time,
    pub(crate) what: VisitResult,
    pub(crate) digest: Option<Digest>,
    pub(crate) status: Option<u16>,
    pub(crate) modified: Option<Time>,
    pub(crate) weight: Option<Weight>,
    pub(crate) class: Option<u32>,
}

/// The caller's arguments of a visit, unchecked.
#[derive(Default)]
pub(crate) struct VisitArguments<'a, 'py> {
    pub(crate) url: Option<&'a Bound<'py, PyAny>>,
    pub(crate) at: Option<&'a Bound<'py, PyAny>>,
    pub(crate) seen: Option<&'a Bound<'py, PyAny>>,
    pub(crate) to: Option<&'a Bound<'py, PyAny>>,
    pub(crate) text: Option<&'a Bound<'py, PyAny>>,
    pub(crate) html: Option<&'a Bound<'py, PyAny>>,
    pub(crate) encoding: Option<&'a Bound<'py, PyAny>>,
    pub(crate) fingerprint: Option<&'a Bound<'py, PyAny>>,
    pub(crate) epoch: Option<&'a Bound<'py, PyAny>>,
    pub(crate) also: Option<&'a Bound<'py, PyAny>>,
    pub(crate) digest: Option<&'a Bound<'py, PyAny>>,
    pub(crate) status: Option<&'a Bound<'py, PyAny>>,
    pub(crate) modified: Option<&'a Bound<'py, PyAny>>,
    pub(crate) weight: Option<&'a Bound<'py, PyAny>>,
    pub(crate) class_: Option<&'a Bound<'py, PyAny>>,
}

/// The caller's arguments of a visit with content, by name.
macro_rules! given {
    ($url:ident, $at:ident, $($part:ident),* $(,)?) => {
        $crate::observe::row::VisitArguments { url: Some($url), at: Some($at), $($part,)* ..Default::default() }
    };
}

pub(crate) use given;

impl CheckedVisit {
    /// Validates the arguments. `place` locates the arguments in errors.
    pub(crate) fn new(given: &VisitArguments<'_, '_>, place: Arg) -> PyResult<CheckedVisit> {
        CheckedVisit::of_word(given, place, ResultArguments::of(given, place)?.what(place)?)
    }

    /// Validates the arguments of a visit with a known result.
    fn of_word(
        given: &VisitArguments<'_, '_>,
        place: Arg,
        what: VisitResult,
    ) -> PyResult<CheckedVisit> {
        let missing = |name| PyTypeError::new_err(format!("{} is missing", place.and(name)));
        let url = given.url.ok_or_else(|| missing("url"))?;
        let at = given.at.ok_or_else(|| missing("at"))?;
        let time = |name, value: &Bound<'_, PyAny>| arg::time(place.and(name), value);
        Ok(CheckedVisit {
            url: arg::url(place.and("url"), url)?.to_owned(),
            time: time("at", at)?,
            what,
            digest: arg::optional(given.digest, |v| arg::digest(place.and("digest"), v))?,
            status: arg::optional(given.status, |v| arg::u16(place.and("status"), v))?,
            modified: arg::optional(given.modified, |v| time("modified", v))?,
            weight: arg::optional(given.weight, |v| arg::weight(place.and("weight"), v))?,
            class: arg::optional(given.class_, |v| arg::u32(place.and("class_"), v))?,
        })
    }

    /// Converts a visit without content, with further properties as keywords.
    pub(crate) fn of_keywords(
        (url, at): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        keywords: Option<&Bound<'_, PyDict>>,
        what: VisitResult,
    ) -> PyResult<CheckedVisit> {
        let mut given =
            VisitArguments { url: Some(url), at: Some(at), ..VisitArguments::default() };
        let pairs: Vec<_> = keywords.iter().flat_map(|keywords| keywords.iter()).collect();
        for (key, value) in &pairs {
            let part = match arg::text(Arg::new("a keyword"), key)? {
                "digest" if matches!(what, VisitResult::NotModified) => &mut given.digest,
                "modified" if matches!(what, VisitResult::NotModified) => &mut given.modified,
                "status" => &mut given.status,
                "weight" => &mut given.weight,
                "class_" => &mut given.class_,
                other => return Err(unknown(other)),
            };
            *part = Some(value);
        }
        CheckedVisit::of_word(&given, Arg::new("url"), what)
    }

    /// Converts a row that is a dictionary, with the keywords of `observe` as keys.
    pub(crate) fn of_dict(row: &Bound<'_, PyDict>, number: u64) -> PyResult<CheckedVisit> {
        let place = Arg::row("a key", number);
        let pairs: Vec<_> = row.iter().collect();
        let mut given = VisitArguments::default();
        for (key, value) in &pairs {
            let part = match arg::text(place, key)? {
                "url" => &mut given.url,
                "at" => &mut given.at,
                "seen" => &mut given.seen,
                "to" => &mut given.to,
                "text" => &mut given.text,
                "html" => &mut given.html,
                "encoding" => &mut given.encoding,
                "fingerprint" => &mut given.fingerprint,
                "epoch" => &mut given.epoch,
                "also" => &mut given.also,
                "digest" => &mut given.digest,
                "status" => &mut given.status,
                "modified" => &mut given.modified,
                "weight" => &mut given.weight,
                "class_" | "class" => &mut given.class_,
                _ => return Err(place.wrong(format!("is unknown: {}", arg::shown(key)))),
            };
            *part = Some(value);
        }
        CheckedVisit::new(&given, place)
    }
}

/// A visit in the form that the crate takes, with its URL.
#[derive(Clone, Debug)]
pub(crate) struct PreparedVisit {
    url: String,
    visit: Visit,
    also: Option<(Option<u64>, Epoch)>,
    weight: Option<Weight>,
    class: Option<u32>,
}

impl PreparedVisit {
    /// Creates a visit from a row and its content.
    pub(crate) fn new(
        row: CheckedVisit,
        seen: Seen,
        also: Option<(Option<u64>, Epoch)>,
    ) -> PreparedVisit {
        let CheckedVisit { url, time, status, modified, weight, class, .. } = row;
        let visit = Visit { time, seen, status, modified: None, bytes: None, conditional: false };
        let mut ready = PreparedVisit { url, visit, also, weight, class };
        // The crate drops this time if the visit found no content that could have been modified.
        if let Some(modified) = modified {
            ready.visit.modified = ready.observation().modified(modified).visit.modified;
        }
        ready
    }

    /// Returns the observation.
    pub(crate) fn observation(&self) -> Observation<'_> {
        let mut observation = Observation::of(&self.url, self.visit);
        observation.also = self.also;
        observation.weight = self.weight;
        observation.class = self.class;
        observation
    }
}

impl AsOperation for PreparedVisit {
    fn operation(&self) -> Operation<'_> {
        Operation::Observe(self.observation())
    }
}
