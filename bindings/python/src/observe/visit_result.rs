//! Determines the result of a visit from its arguments, and rejects arguments that exclude each
//! other.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::Epoch;

use crate::convert::arg::{self, Arg};
use crate::convert::word;
use crate::observe::row::VisitArguments;

/// The result of a visit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VisitResult {
    Text(String),
    /// HTML, with the encoding or the Content-Type from the server.
    Html(HtmlSource, Option<String>),
    /// An existing fingerprint. Without an epoch, it belongs to the epoch of verdicts.
    Content {
        fingerprint: Option<u64>,
        epoch: Option<Epoch>,
        also: Option<AlsoFingerprint>,
    },
    /// A redirect to this target, which may be relative to the page.
    Redirect(String),
    NotModified,
    Gone,
    Failed,
}

/// HTML, decoded or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HtmlSource {
    Text(String),
    Bytes(Vec<u8>),
}

/// A fingerprint in another epoch, with that epoch.
pub(crate) type AlsoFingerprint = (Option<u64>, Epoch);

/// The arguments that determine the result. Each argument is validated separately.
#[derive(Default)]
pub(crate) struct ResultArguments<'a> {
    pub(crate) seen: Option<word::Seen>,
    pub(crate) to: Option<&'a str>,
    pub(crate) text: Option<Cow<'a, str>>,
    pub(crate) html: Option<HtmlSource>,
    pub(crate) encoding: Option<&'a str>,
    pub(crate) fingerprint: Option<u64>,
    pub(crate) epoch: Option<Epoch>,
    pub(crate) also: Option<AlsoFingerprint>,
    /// Whether the visit has a digest.
    pub(crate) digest: bool,
}

impl<'a> ResultArguments<'a> {
    /// Validates the arguments, or the row of a dictionary.
    pub(crate) fn of(given: &VisitArguments<'a, '_>, place: Arg) -> PyResult<ResultArguments<'a>> {
        let seen = arg::optional(given.seen, |v| word::Seen::take(place.and("seen"), v))?;
        let text = given.text.filter(|text| !text.is_none());
        let text = text.map(|text| arg::content(place.and("text"), text)).transpose()?;
        let encoding = given.encoding.filter(|encoding| !encoding.is_none());
        let encoding = encoding.map(|v| arg::text(place.and("encoding"), v)).transpose()?;
        let to = given.to.filter(|to| !to.is_none());
        let to = to.map(|to| arg::text(place.and("to"), to)).transpose()?;
        Ok(ResultArguments {
            seen,
            to,
            text,
            html: arg::optional(given.html, |html| HtmlSource::of(html, place))?,
            encoding,
            fingerprint: arg::optional(given.fingerprint, |v| {
                arg::fingerprint(place.and("fingerprint"), v)
            })?,
            epoch: arg::optional(given.epoch, |v| arg::epoch(place.and("epoch"), v))?,
            also: arg::optional(given.also, |v| also(place.and("also"), v))?,
            digest: given.digest.is_some_and(|digest| !digest.is_none()),
        })
    }

    /// Whether no argument determines the result.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(
            self,
            ResultArguments {
                seen: None,
                to: None,
                text: None,
                html: None,
                fingerprint: None,
                epoch: None,
                also: None,
                digest: false,
                encoding: _,
            }
        )
    }

    /// Returns the combined result. `place` locates the arguments in errors.
    pub(crate) fn what(self, place: Arg) -> PyResult<VisitResult> {
        let wrong =
            |name, what: &str| Err(PyTypeError::new_err(format!("{} {what}", place.and(name))));
        let texts = [self.text.is_some(), self.html.is_some()];
        let content = [texts[0], texts[1], self.fingerprint.is_some()];
        let of_epoch = self.epoch.is_some() || self.also.is_some();
        if self.to.is_some() && self.seen != Some(word::Seen::Redirect) {
            return wrong("to", "is only for redirects");
        }
        let no_content = match self.seen {
            None | Some(word::Seen::Content) => None,
            Some(word::Seen::Redirect) => match self.to.filter(|to| !to.trim_ascii().is_empty()) {
                Some(to) => Some(VisitResult::Redirect(to.to_owned())),
                None => return wrong("to", "is missing: give the URL to which the page redirects"),
            },
            Some(word::Seen::NotModified) => Some(VisitResult::NotModified),
            Some(word::Seen::Gone) => Some(VisitResult::Gone),
            Some(word::Seen::Failed) => Some(VisitResult::Failed),
        };
        if let Some(what) = no_content {
            if content.contains(&true) || of_epoch {
                let none = "means that there is no content: omit text, html, fingerprint and epoch";
                return wrong("seen", none);
            }
            return Ok(what);
        }
        if content.into_iter().filter(|some| *some).count() > 1 {
            return wrong("text", "excludes html and fingerprint: give only one of the three");
        }
        if self.encoding.is_some() && !matches!(self.html, Some(HtmlSource::Bytes(_))) {
            return wrong("encoding", "is only for html that is bytes");
        }
        // Fingerprints of texts belong to the current epochs.
        if of_epoch && texts.contains(&true) {
            let name = if self.epoch.is_some() { "epoch" } else { "also" };
            return wrong(name, "is for fingerprints, not for text or html");
        }
        if !content.contains(&true) && self.epoch.is_none() && !self.digest {
            let missing = "is missing: give text, html or fingerprint; for content without a \
                 fingerprint, give epoch or digest";
            return wrong("text", missing);
        }
        Ok(match (self.text, self.html) {
            (Some(text), _) => VisitResult::Text(text.into_owned()),
            (None, Some(html)) => VisitResult::Html(html, self.encoding.map(str::to_owned)),
            (None, None) => {
                let ResultArguments { fingerprint, epoch, also, .. } = self;
                VisitResult::Content { fingerprint, epoch, also }
            }
        })
    }
}

impl VisitResult {
    /// Converts a redirect to a target.
    pub(crate) fn redirect(to: &Bound<'_, PyAny>) -> PyResult<VisitResult> {
        let (place, to) = (Arg::new("to"), arg::text(Arg::new("to"), to)?);
        if to.trim_ascii().is_empty() {
            return Err(place.wrong("is empty; give the URL to which the page redirects"));
        }
        Ok(VisitResult::Redirect(to.to_owned()))
    }
}

impl HtmlSource {
    pub(crate) fn of(given: &Bound<'_, PyAny>, place: Arg) -> PyResult<HtmlSource> {
        let place = place.and("html");
        if given.is_instance_of::<PyString>() {
            return Ok(HtmlSource::Text(arg::content(place, given)?.into_owned()));
        }
        Ok(HtmlSource::Bytes(arg::bytes(place, given, "bytes or str")?))
    }
}

/// Converts a pair of a fingerprint and its epoch.
fn also(place: Arg, given: &Bound<'_, PyAny>) -> PyResult<AlsoFingerprint> {
    let (fingerprint, epoch) = arg::pair(place, given, "a pair of a fingerprint and its epoch")?;
    let fingerprint = arg::optional(Some(&fingerprint), |v| arg::fingerprint(place, v))?;
    Ok((fingerprint, arg::epoch(place, &epoch)?))
}
