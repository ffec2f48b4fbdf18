//! Determines the result of a visit from its arguments, and rejects arguments that exclude each
//! other.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::Epoch;

use crate::convert::arg::{self, Arg};
use crate::convert::word;
use crate::observe::row::Given;

/// The result of a visit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Text(String),
    /// HTML, with the encoding or the Content-Type from the server.
    Html(Html, Option<String>),
    /// An existing fingerprint. Without an epoch, it belongs to the epoch of verdicts.
    Content {
        fingerprint: Option<u64>,
        epoch: Option<Epoch>,
        also: Option<Also>,
    },
    /// A redirect to this target, which may be relative to the page.
    Redirect(String),
    NotModified,
    Gone,
    Failed,
}

/// HTML, decoded or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Html {
    Text(String),
    Bytes(Vec<u8>),
}

/// A fingerprint in another epoch, with that epoch.
pub(crate) type Also = (Option<u64>, Epoch);

/// The arguments that determine the result. Each argument is validated separately.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    pub(crate) seen: Option<word::Seen>,
    pub(crate) to: Option<&'a str>,
    pub(crate) text: Option<Cow<'a, str>>,
    pub(crate) html: Option<Html>,
    pub(crate) encoding: Option<&'a str>,
    pub(crate) fingerprint: Option<u64>,
    pub(crate) epoch: Option<Epoch>,
    pub(crate) also: Option<Also>,
    /// Whether the visit has a digest.
    pub(crate) digest: bool,
}

impl<'a> Parts<'a> {
    /// Validates the arguments, or the row of a dictionary.
    pub(crate) fn of(given: &Given<'a, '_>, place: Arg) -> PyResult<Parts<'a>> {
        let seen = arg::optional(given.seen, |v| word::Seen::take(place.and("seen"), v))?;
        let text = given.text.filter(|text| !text.is_none());
        let text = text.map(|text| arg::content(place.and("text"), text)).transpose()?;
        let encoding = given.encoding.filter(|encoding| !encoding.is_none());
        let encoding = encoding.map(|v| arg::text(place.and("encoding"), v)).transpose()?;
        let to = given.to.filter(|to| !to.is_none());
        let to = to.map(|to| arg::text(place.and("to"), to)).transpose()?;
        Ok(Parts {
            seen,
            to,
            text,
            html: arg::optional(given.html, |html| Html::of(html, place))?,
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
            Parts {
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
    pub(crate) fn what(self, place: Arg) -> PyResult<What> {
        let wrong =
            |name, what: &str| Err(PyTypeError::new_err(format!("{} {what}", place.and(name))));
        let texts = [self.text.is_some(), self.html.is_some()];
        let content = [texts[0], texts[1], self.fingerprint.is_some()];
        let of_epoch = self.epoch.is_some() || self.also.is_some();
        if self.to.is_some() && self.seen != Some(word::Seen::Redirect) {
            return wrong("to", "is for redirects");
        }
        let no_content = match self.seen {
            None | Some(word::Seen::Content) => None,
            Some(word::Seen::Redirect) => match self.to.filter(|to| !to.trim_ascii().is_empty()) {
                Some(to) => Some(What::Redirect(to.to_owned())),
                None => return wrong("to", "is missing: where the page leads"),
            },
            Some(word::Seen::NotModified) => Some(What::NotModified),
            Some(word::Seen::Gone) => Some(What::Gone),
            Some(word::Seen::Failed) => Some(What::Failed),
        };
        if let Some(what) = no_content {
            if content.contains(&true) || of_epoch {
                let none = "means that there is no content: omit text, html, fingerprint and epoch";
                return wrong("seen", none);
            }
            return Ok(what);
        }
        if content.into_iter().filter(|some| *some).count() > 1 {
            return wrong("text", "excludes html and fingerprint, and these exclude each other");
        }
        if self.encoding.is_some() && !matches!(self.html, Some(Html::Bytes(_))) {
            return wrong("encoding", "is for html as bytes");
        }
        // Fingerprints of texts belong to the current epochs.
        if of_epoch && texts.contains(&true) {
            let name = if self.epoch.is_some() { "epoch" } else { "also" };
            return wrong(name, "is for fingerprints, not for text or html");
        }
        if !content.contains(&true) && self.epoch.is_none() && !self.digest {
            let missing = "is missing: give text, html, or a fingerprint; for content without one, its \
                 epoch or digest";
            return wrong("text", missing);
        }
        Ok(match (self.text, self.html) {
            (Some(text), _) => What::Text(text.into_owned()),
            (None, Some(html)) => What::Html(html, self.encoding.map(str::to_owned)),
            (None, None) => {
                let Parts { fingerprint, epoch, also, .. } = self;
                What::Content { fingerprint, epoch, also }
            }
        })
    }
}

impl What {
    /// Converts a redirect to a target.
    pub(crate) fn redirect(to: &Bound<'_, PyAny>) -> PyResult<What> {
        let (place, to) = (Arg::new("to"), arg::text(Arg::new("to"), to)?);
        if to.trim_ascii().is_empty() {
            return Err(place.wrong("is empty; it is where the page leads"));
        }
        Ok(What::Redirect(to.to_owned()))
    }
}

impl Html {
    pub(crate) fn of(given: &Bound<'_, PyAny>, place: Arg) -> PyResult<Html> {
        let place = place.and("html");
        if given.is_instance_of::<PyString>() {
            return Ok(Html::Text(arg::content(place, given)?.into_owned()));
        }
        Ok(Html::Bytes(arg::bytes(place, given, "bytes or str")?))
    }
}

/// Converts a pair of a fingerprint and its epoch.
fn also(place: Arg, given: &Bound<'_, PyAny>) -> PyResult<Also> {
    let (fingerprint, epoch) = arg::pair(place, given, "a pair of a fingerprint and its epoch")?;
    let fingerprint = arg::optional(Some(&fingerprint), |v| arg::fingerprint(place, v))?;
    Ok((fingerprint, arg::epoch(place, &epoch)?))
}
