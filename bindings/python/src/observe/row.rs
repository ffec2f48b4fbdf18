//! A visit in the form of the caller's arguments, and in the form of the crate.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::load::AsOperation;
use simkeep::{Digest, Epoch, Observation, Operation, Seen, Target, Time, Visit, Weight};

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
    pub(crate) etag: Option<Vec<u8>>,
    /// The canonical URL that the content declares, which may be relative to the page.
    pub(crate) canonical: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) conditional: bool,
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
    pub(crate) etag: Option<&'a Bound<'py, PyAny>>,
    pub(crate) canonical: Option<&'a Bound<'py, PyAny>>,
    pub(crate) bytes: Option<&'a Bound<'py, PyAny>>,
    pub(crate) conditional: bool,
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
            etag: arg::optional(given.etag, |v| arg::etag(place.and("etag"), v))?,
            canonical: arg::optional(given.canonical, |v| {
                Ok(arg::text(place.and("canonical"), v)?.to_owned())
            })?,
            bytes: arg::optional(given.bytes, |v| arg::count(place.and("bytes"), v))?,
            conditional: given.conditional,
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
                "etag" if matches!(what, VisitResult::NotModified) => &mut given.etag,
                "status" => &mut given.status,
                "conditional" => {
                    given.conditional = conditional(Arg::new("conditional"), value)?;
                    continue;
                }
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
                "etag" => &mut given.etag,
                "canonical" => &mut given.canonical,
                "bytes" => &mut given.bytes,
                "conditional" => {
                    given.conditional = conditional(place.and("conditional"), value)?;
                    continue;
                }
                "weight" => &mut given.weight,
                "class_" | "class" => &mut given.class_,
                _ => return Err(place.wrong(format!("is unknown: {}", arg::shown(key)))),
            };
            *part = Some(value);
        }
        CheckedVisit::new(&given, place)
    }
}

/// Converts whether a request was conditional; `None` means that it was not.
fn conditional(place: Arg, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(arg::optional(Some(given), |given| arg::flag(place, given))?.unwrap_or(false))
}

/// A visit in the form that the crate takes, with its URL.
#[derive(Clone, Debug)]
pub(crate) struct PreparedVisit {
    url: String,
    visit: Visit,
    also: Option<(Option<u64>, Epoch)>,
    etag: Option<Vec<u8>>,
    /// The target of a redirect.
    to: Option<String>,
    canonical: Option<String>,
    weight: Option<Weight>,
    class: Option<u32>,
}

impl PreparedVisit {
    /// Creates a visit from a row and its content. `declared` is the canonical URL of the HTML, which
    /// counts if the row has no valid canonical URL.
    pub(crate) fn new(
        row: CheckedVisit,
        (seen, also): (Seen, Option<(Option<u64>, Epoch)>),
        declared: Option<String>,
    ) -> PreparedVisit {
        let CheckedVisit { url, time, what, status, modified, bytes, conditional, .. } = row;
        let CheckedVisit { etag, canonical, weight, class, .. } = row;
        let canonical = Target::first_url(&url, None, canonical).or(declared);
        let to = match what {
            VisitResult::Redirect(to) => Some(to),
            _ => None,
        };
        let mut visit =
            Observation::of(&url, Visit { status, conditional, ..Visit::new(time, seen) });
        // The crate drops the time and the length if the visit found no content that they describe.
        if let Some(modified) = modified {
            visit = visit.modified(modified);
        }
        if let Some(bytes) = bytes {
            visit = visit.bytes(bytes);
        }
        let visit = visit.visit;
        PreparedVisit { url, visit, also, etag, to, canonical, weight, class }
    }

    /// Returns the observation.
    pub(crate) fn observation(&self) -> Observation<'_> {
        let mut observation = Observation::of(&self.url, self.visit);
        observation.also = self.also;
        observation.weight = self.weight;
        observation.class = self.class;
        observation.target = self.to.as_deref();
        // The crate drops an entity tag and a canonical URL without content that they describe.
        if let Some(etag) = &self.etag {
            observation = observation.etag(etag);
        }
        if let Some(canonical) = &self.canonical {
            observation = observation.canonical(canonical);
        }
        observation
    }
}

impl AsOperation for PreparedVisit {
    fn operation(&self) -> Operation<'_> {
        Operation::Observe(self.observation())
    }
}
