//! Parses the visit, or another record, in an object of a JSON line.

use std::borrow::Cow;

use simkeep::fingerprint::Document;
use simkeep::{Digest, ETag, FetchFailure, Response, ResponseMeaning, Target, Weight};

use super::epoch::epoch_name;
use super::object::{FieldValue, LineObject};
use super::{RecordPayload, ResponseFacts, VisitRecord, digest, escape, url};

/// The reason for a line without a time.
const WITHOUT_TIME: &str =
    "\"t\" is missing: add the time of the visit, or name its key with --time-key";

/// Parses the record in a line.
pub(super) fn record(object: LineObject<'_>) -> Result<VisitRecord, String> {
    let Some(FieldValue::Text(page)) = object.url else {
        return Err("\"url\" must be a string".into());
    };
    let named = |why: String| format!("{}: {why}", escape(&page));
    url::check(&page).map_err(named)?;
    let time = match object.t {
        None | Some(FieldValue::Null) => Err(WITHOUT_TIME.to_owned()),
        Some(time) => time.time("t"),
    };
    let time = time.map_err(named)?;
    let modified = object.modified.filter(|value| *value != FieldValue::Null);
    let modified = modified.map(|value| value.time("modified"));
    let modified = modified.transpose().map_err(named)?;
    let weight = weight(object.weight).map_err(named)?;
    let class = class(object.class).map_err(named)?;
    let status = status(object.status).map_err(named)?;
    let epoch = match object.epoch {
        Some(FieldValue::Text(name)) => Some(epoch_name(&name).map_err(named)?.into()),
        _ => None,
    };
    let mut facts = ResponseFacts {
        bytes: bytes(object.bytes).map_err(named)?,
        conditional: conditional(object.conditional).map_err(named)?,
        etag: etag(object.etag).map_err(named)?,
        target: None,
    };
    let references = PageReferences::of([object.target, object.canonical], object.to.as_ref());
    let references = references.map_err(named)?;
    let has_target = references.target.is_some() || references.canonical.is_some();
    let fields = LineFields {
        text: object.text.filter(|text| matches!(text, FieldValue::Text(_))),
        fingerprint: object.fingerprint,
        digest: object.digest,
        seen: object.seen,
        to: object.to,
        status,
        has_epoch: epoch.is_some(),
        is_given: weight.is_some() || class.is_some() || facts.etag.is_some() || has_target,
    };
    let (payload, digest) = fields.payload(&page).map_err(named)?;
    if let RecordPayload::Restated { .. } = payload {
        let all = [
            ("weight", weight.is_some()),
            ("class", class.is_some()),
            ("etag", facts.etag.is_some()),
            ("target", has_target),
        ];
        if let Some((key, _)) = all.into_iter().find(|(_, is_there)| *is_there) {
            let why = format!("a line with \"seen\": \"restated\" cannot have \"{key}\"");
            return Err(named(why));
        }
    }
    facts.target = references.of_content(&page, (&payload, digest)).map(Into::into);
    let (url, claim) = (page.into_owned(), None);
    Ok(VisitRecord {
        url,
        time,
        payload,
        digest,
        claim,
        status,
        modified,
        weight,
        class,
        epoch,
        facts,
    })
}

/// The fields of a line about the result of a visit.
struct LineFields<'a> {
    text: Option<FieldValue<'a>>,
    fingerprint: Option<FieldValue<'a>>,
    digest: Option<FieldValue<'a>>,
    seen: Option<FieldValue<'a>>,
    to: Option<FieldValue<'a>>,
    status: Option<u16>,
    has_epoch: bool,
    /// Whether the line sets a property of the page.
    is_given: bool,
}

type PayloadResult = Result<(RecordPayload, Option<Digest>), String>;

impl LineFields<'_> {
    /// Returns the result of the visit, and its digest. A fingerprint takes precedence over all
    /// other keys, since exports have fingerprints. `seen` comes next, then the status.
    fn payload(self, page: &str) -> PayloadResult {
        match &self.fingerprint {
            // A null fingerprint with an epoch means content without a fingerprint, for any status.
            Some(FieldValue::Null)
                if self.has_epoch && self.seen.is_none() && self.text.is_none() =>
            {
                return self.ready(None);
            }
            None | Some(FieldValue::Null) => {}
            Some(FieldValue::Text(digits)) => {
                let plain = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                let fingerprint = plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
                let fingerprint =
                    fingerprint.ok_or("\"fingerprint\" must be 16 hexadecimal digits")?;
                return self.ready(Some(fingerprint));
            }
            Some(_) => {
                return Err("\"fingerprint\" must be a string of 16 hexadecimal digits".into());
            }
        }
        let seen = match &self.seen {
            Some(FieldValue::Text(seen)) => Some(seen.clone()),
            None | Some(FieldValue::Null) => None,
            // No value of `seen`: the reason lists all of them.
            Some(_) => Some("".into()),
        };
        match seen {
            Some(seen) => self.payload_by_seen(&seen, page),
            None => self.by_status(page),
        }
    }

    fn payload_by_seen(self, seen: &str, page: &str) -> PayloadResult {
        match seen {
            "content" => self.content(),
            "redirect" => self.redirect(page),
            "not-modified" => Ok((RecordPayload::NotModified, self.digest()?)),
            "gone" => Ok((RecordPayload::Gone, None)),
            "failed" => Ok((RecordPayload::Failed(self.failure()), None)),
            "restated" if self.fingerprint.is_some() => self.ready(None),
            "restated" => Err("a line with \"seen\": \"restated\" needs \"fingerprint\"".into()),
            _ => Err("\"seen\" must be \"content\", \"redirect\", \"not-modified\", \"gone\", \"failed\" \
                 or \"restated\""
                .into()),
        }
    }

    fn by_status(self, page: &str) -> PayloadResult {
        match self.meaning() {
            Some(ResponseMeaning::NotModified) => Ok((RecordPayload::NotModified, self.digest()?)),
            Some(ResponseMeaning::Gone) => Ok((RecordPayload::Gone, None)),
            Some(ResponseMeaning::Redirect) => self.redirect(page),
            Some(ResponseMeaning::Failed(failure)) => Ok((RecordPayload::Failed(failure), None)),
            Some(ResponseMeaning::Interim) => {
                Err("\"status\" must not be 100 to 199: an interim response is not a visit".into())
            }
            _ => self.content(),
        }
    }

    fn meaning(&self) -> Option<ResponseMeaning> {
        let location = match &self.to {
            Some(FieldValue::Text(to)) => Some(&**to),
            _ => None,
        };
        let response = |status| Response { status, location, ..Response::default() };
        self.status.map(|status| response(status).meaning())
    }

    /// Returns the reason why a visit failed.
    fn failure(&self) -> FetchFailure {
        match self.meaning() {
            Some(ResponseMeaning::Failed(failure)) => failure,
            _ => FetchFailure::NoResponse,
        }
    }

    /// Returns the content of a line: a text, or content without a fingerprint.
    fn content(self) -> PayloadResult {
        if let Some(FieldValue::Text(text)) = self.text {
            let digest = digest::of(text.as_bytes());
            return Ok((RecordPayload::Text(Box::new(Document::new(text))), Some(digest)));
        }
        let digest = self.digest()?;
        // The line declares content without a fingerprint, which its digest identifies.
        let is_declared =
            self.fingerprint.is_some() || self.seen.is_some() || self.status.is_some();
        match digest {
            Some(_) if is_declared => Ok((RecordPayload::Binary, digest)),
            _ if self.is_given && self.seen.is_none() && self.status.is_none() => {
                Ok((RecordPayload::Properties, None))
            }
            _ => {
                Err("the line has neither \"text\" nor \"fingerprint\"; a visit without content needs \"seen\""
                    .into())
            }
        }
    }

    /// Returns content that was fingerprinted before, or content without a fingerprint.
    fn ready(self, fingerprint: Option<u64>) -> PayloadResult {
        let is_restated = self.seen == Some(FieldValue::Text(Cow::Borrowed("restated")));
        let payload = match (is_restated, self.has_epoch) {
            (false, _) => RecordPayload::Ready { fingerprint },
            (true, true) => RecordPayload::Restated { fingerprint },
            (true, false) => {
                return Err("a line with \"seen\": \"restated\" needs \"epoch\"".into());
            }
        };
        Ok((payload, self.digest()?))
    }

    /// Returns a redirect, from its target or from the digest that identifies the target.
    fn redirect(self, page: &str) -> PayloadResult {
        let digest = match &self.to {
            Some(FieldValue::Text(to)) if !to.trim_ascii().is_empty() => Digest::redirect(page, to),
            None | Some(FieldValue::Null | FieldValue::Text(_)) => {
                match self.digest()?.filter(Digest::is_redirect) {
                    Some(digest) => digest,
                    None => return Ok((RecordPayload::Failed(FetchFailure::NoTarget), None)),
                }
            }
            Some(_) => return Err("\"to\" must be a string".into()),
        };
        Ok((RecordPayload::Redirect, Some(digest)))
    }

    fn digest(&self) -> Result<Option<Digest>, String> {
        let digest = match &self.digest {
            None | Some(FieldValue::Null) => return Ok(None),
            Some(FieldValue::Text(text)) => digest::hexadecimal(text),
            Some(_) => None,
        };
        digest.map(Some).ok_or_else(|| "\"digest\" must be 32 hexadecimal digits".into())
    }
}

/// Parses a status.
fn status(value: Option<FieldValue<'_>>) -> Result<Option<u16>, String> {
    let status = match value {
        None | Some(FieldValue::Null) => return Ok(None),
        Some(FieldValue::Whole(status)) => u16::try_from(status).ok(),
        Some(_) => None,
    };
    status.map(Some).ok_or_else(|| "\"status\" must be an HTTP status code, such as 200".into())
}

/// Parses a weight.
fn weight(value: Option<FieldValue<'_>>) -> Result<Option<Weight>, String> {
    let weight = match value {
        None | Some(FieldValue::Null) => return Ok(None),
        Some(FieldValue::Whole(weight)) => weight as f64,
        Some(FieldValue::Large(weight)) => weight as f64,
        Some(FieldValue::Decimal(weight)) => weight,
        Some(_) => f64::NAN,
    };
    let weight = Some(Weight::from(weight)).filter(|weight| weight.is_sound());
    weight.map(Some).ok_or_else(|| "\"weight\" must be a finite number above 0".into())
}

/// Parses a class.
fn class(value: Option<FieldValue<'_>>) -> Result<Option<u32>, String> {
    let class = match value {
        None | Some(FieldValue::Null) => return Ok(None),
        Some(FieldValue::Whole(class)) => u32::try_from(class).ok(),
        Some(_) => None,
    };
    let why = || format!("\"class\" must be a whole number from 0 to {}", u32::MAX);
    class.map(Some).ok_or_else(why)
}

/// Parses a number of bytes.
fn bytes(value: Option<FieldValue<'_>>) -> Result<Option<u64>, String> {
    let bytes = match value {
        None | Some(FieldValue::Null) => return Ok(None),
        Some(FieldValue::Whole(bytes)) => u64::try_from(bytes).ok(),
        Some(FieldValue::Large(bytes)) => Some(bytes),
        Some(_) => None,
    };
    bytes.map(Some).ok_or_else(|| "\"bytes\" must be a whole number from 0 to 2^64 - 1".into())
}

/// Parses whether a request was conditional.
fn conditional(value: Option<FieldValue<'_>>) -> Result<bool, String> {
    match value {
        None | Some(FieldValue::Null) => Ok(false),
        Some(FieldValue::Bool(conditional)) => Ok(conditional),
        Some(_) => Err("\"conditional\" must be true or false".into()),
    }
}

/// Parses an entity tag. Each character is a byte, as HTTP libraries decode headers.
fn etag(value: Option<FieldValue<'_>>) -> Result<Option<Box<[u8]>>, String> {
    let etag = match value {
        None | Some(FieldValue::Null) => return Ok(None),
        Some(FieldValue::Text(etag)) => etag.chars().map(|c| u8::try_from(c).ok()).collect(),
        Some(_) => None,
    };
    let etag: Option<Box<[u8]>> = etag;
    if etag.as_ref().is_some_and(|etag| !ETag::is_sendable(etag)) {
        return Err("\"etag\" must not have a line end or a NUL".into());
    }
    etag.map(Some).ok_or_else(|| {
        "\"etag\" must be a string of characters up to U+00FF, one for each byte of the header"
            .into()
    })
}

/// Parses a reference to another URL.
fn reference<'a>(value: Option<FieldValue<'a>>, key: &str) -> Result<Option<Cow<'a, str>>, String> {
    match value {
        None | Some(FieldValue::Null) => Ok(None),
        Some(FieldValue::Text(reference)) => Ok(Some(reference)),
        Some(_) => Err(format!("\"{key}\" must be a string")),
    }
}

/// The references of a line to other URLs, by their keys.
struct PageReferences<'a> {
    /// The URL to which the content points, in an export.
    target: Option<Cow<'a, str>>,
    canonical: Option<Cow<'a, str>>,
    /// The target of a redirect.
    to: Option<Cow<'a, str>>,
}

impl<'a> PageReferences<'a> {
    /// Parses the references. A wrong `to` is an error only in a redirect.
    fn of(
        [target, canonical]: [Option<FieldValue<'a>>; 2],
        to: Option<&FieldValue<'a>>,
    ) -> Result<Self, String> {
        let (target, canonical) =
            (reference(target, "target")?, reference(canonical, "canonical")?);
        let to = match to {
            Some(FieldValue::Text(to)) => Some(to.clone()),
            _ => None,
        };
        Ok(PageReferences { target, canonical, to })
    }

    /// Returns the reference for the content of a line: the first valid one. `to` counts only for
    /// redirects, and `canonical` only for other content.
    fn of_content(
        self,
        page: &str,
        (payload, digest): (&RecordPayload, Option<Digest>),
    ) -> Option<Cow<'a, str>> {
        let is_redirect = match payload {
            RecordPayload::Restated { .. } => return None,
            RecordPayload::Redirect => true,
            _ => digest.is_some_and(|digest| digest.is_redirect()),
        };
        let [first, second] =
            if is_redirect { [self.to, self.target] } else { [self.target, self.canonical] };
        let is_valid = |of: &Cow<'_, str>| Target::first_url(page, None, [of]).is_some();
        // A single reference need not be parsed here.
        match second {
            Some(second) => first.filter(is_valid).or(Some(second)),
            None => first,
        }
    }
}
