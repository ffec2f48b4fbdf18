//! Visits of a page, and other entries of its history.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use simkeep::{Digest, ETag, Epoch, Property, Target};

use crate::convert::arg::Arg;
use crate::convert::time::PyTime;
use crate::convert::value::{FromRust, value};
use crate::convert::word::{SameBy, Seen, Verdict};
use crate::pages::outcome::{Meaning, VerdictParts};
use crate::streams::columns::{
    self, BatchFunction, Binary, Bits, Boolean, Float64, Int32, Int64, Timestamp, Utf8, Word,
    columns,
};
use crate::streams::stream::StreamItem;

value! {
    /// A visit to a page: the result and the time.
    Visit from visit: simkeep::Visit {
        time: PyTime,
        seen: Seen = &visit.seen,
        /// The fingerprint of the content; `None` if the content has no fingerprint, or if there
        /// was no content.
        fingerprint: Option<u64> = visit.seen.content().and_then(|of| of.fingerprint),
        /// The digest of the content, 16 bytes. A visit that reported unmodified content also has a
        /// digest.
        digest: Option<[u8; 16]> = visit.seen.digest(),
        /// The epoch of the fingerprint; `None` if there was no content.
        epoch: Option<u32> = visit.seen.content().map(|of| of.epoch),
        status: Option<u16>,
        modified: Option<PyTime>,
        bytes: Option<u64>,
        conditional: bool,
    }
}

value! {
    /// A visit in a history, with its verdict, which takes the earlier visits into account.
    VisitEntry {
        /// The visit.
        visit: Py<Visit>,
        /// The verdict about the page.
        verdict: Verdict,
        /// The reason why the page is known to have been the same, if the verdict is `same`.
        by: Option<SameBy>,
        /// The distance of the fingerprint from the fingerprint of the previous version, in bits.
        distance: Option<u32>,
        /// The epoch of the compared fingerprints.
        distance_epoch: Option<u32>,
        /// The time when the version that the page reverted to was last seen.
        to: Option<PyTime>,
        /// The meaning of the distance, if there is a distance.
        meaning: Option<Py<Meaning>>,
    }
    also {
        /// The time of the visit.
        #[getter]
        fn time(&self) -> PyTime {
            self.visit.get().time
        }
    }
}

value! {
    /// A fingerprint in another epoch for content that an earlier visit saw.
    Restated from restated: simkeep::Restated {
        time: PyTime,
        /// The fingerprint of the content; `None` if the content has no fingerprint.
        fingerprint: Option<u64>,
        /// The digest of the content.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint.
        epoch: u32,
    }
}

value! {
    /// A property of a page: a weight, a class, an entity tag or a target.
    PropertyEntry {
        /// The time when the property was set.
        time: PyTime,
        /// The weight, if the property is a weight.
        weight: Option<f64>,
        /// The class, if the property is a class.
        class_: Option<u32>,
        /// The entity tag of the content, if the property is an entity tag.
        etag: Option<Py<PyBytes>>,
        /// The URL to which the content points, if the property is a target: the target of a
        /// redirect, or the canonical URL.
        target: Option<String>,
    }
}

/// A property of the page with this URL.
impl FromRust<(&str, simkeep::PropertyEntry)> for PropertyEntry {
    fn from_rust(
        py: Python<'_>,
        (url, given): (&str, simkeep::PropertyEntry),
    ) -> PyResult<PropertyEntry> {
        let time = PyTime(given.time);
        let (mut weight, mut class_, mut etag, mut target) = (None, None, None, None);
        match given.property {
            Property::Weight(of) => weight = Some(of.to_f64()),
            Property::Class(of) => class_ = Some(of),
            Property::ETag(of) => etag = Some(PyBytes::new(py, of.as_bytes()).unbind()),
            Property::Target(of) => target = of.resolve(url),
        }
        Ok(PropertyEntry { time, weight, class_, etag, target })
    }
}

/// An entry without its verdict.
#[derive(IntoPyObject)]
pub(crate) enum PyEntry {
    Visit(Visit),
    Restated(Restated),
    Property(PropertyEntry),
}

/// An entry of the page with this URL.
impl FromRust<(&str, simkeep::Entry)> for PyEntry {
    fn from_rust(py: Python<'_>, (url, entry): (&str, simkeep::Entry)) -> PyResult<PyEntry> {
        Ok(match entry {
            simkeep::Entry::Visit(visit) => PyEntry::Visit(Visit::from_rust(py, visit)?),
            simkeep::Entry::Restated(of) => PyEntry::Restated(Restated::from_rust(py, of)?),
            simkeep::Entry::Property(given) => {
                PyEntry::Property(PropertyEntry::from_rust(py, (url, given))?)
            }
        })
    }
}

/// An entry with its verdict.
#[derive(IntoPyObject)]
pub(crate) enum PyHistoryEntry {
    Visit(VisitEntry),
    Restated(Restated),
    Property(PropertyEntry),
}

/// An entry of the page with this URL.
impl FromRust<(&str, simkeep::HistoryEntry)> for PyHistoryEntry {
    fn from_rust(
        py: Python<'_>,
        (url, entry): (&str, simkeep::HistoryEntry),
    ) -> PyResult<PyHistoryEntry> {
        Ok(match entry {
            simkeep::HistoryEntry::Visit { visit, verdict, meaning } => {
                let VerdictParts { verdict, by, distance, distance_epoch, to } = verdict.into();
                let visit = FromRust::from_rust(py, visit)?;
                let meaning = FromRust::from_rust(py, meaning)?;
                let entry =
                    VisitEntry { visit, verdict, by, distance, distance_epoch, to, meaning };
                PyHistoryEntry::Visit(entry)
            }
            simkeep::HistoryEntry::Restated(of) => {
                PyHistoryEntry::Restated(Restated::from_rust(py, of)?)
            }
            simkeep::HistoryEntry::Property(of) => {
                PyHistoryEntry::Property(PropertyEntry::from_rust(py, (url, of))?)
            }
        })
    }
}

/// Pairs each entry with the URL of its page.
pub(crate) fn of_page<T>(
    url: &str,
    entries: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = (&str, T)> {
    entries.into_iter().map(move |entry| (url, entry))
}

impl FromRust<(Arc<str>, simkeep::Entry)> for (Py<PyString>, PyEntry) {
    fn from_rust(py: Python<'_>, (url, entry): (Arc<str>, simkeep::Entry)) -> PyResult<Self> {
        let entry = PyEntry::from_rust(py, (&*url, entry))?;
        Ok((FromRust::from_rust(py, url)?, entry))
    }
}

impl FromRust<(String, simkeep::History)> for (String, Vec<PyHistoryEntry>) {
    fn from_rust(py: Python<'_>, (url, history): (String, simkeep::History)) -> PyResult<Self> {
        let entries = of_page(&url, history).map(|of| FromRust::from_rust(py, of));
        let entries = entries.collect::<PyResult<_>>()?;
        Ok((url, entries))
    }
}

/// An entry of the page with this URL.
impl StreamItem for (Arc<str>, simkeep::Entry) {
    type Object = (Py<PyString>, PyEntry);
    const TABLE: Option<BatchFunction<Self>> = Some(|entries, signed| {
        columns! {
            for (url, entry) in entries, signed;
            url: Utf8 = url,
            at: Timestamp = entry.time(),
            seen: Word = match entry {
                simkeep::Entry::Visit(visit) => Seen::from(&visit.seen).value(),
                simkeep::Entry::Restated(_) => "restated",
                simkeep::Entry::Property(_) => "property",
            },
            fingerprint: Option<Bits> = entry.content().and_then(|content| content.fingerprint),
            epoch: Option<Int64> = entry.content().map(|content| content.epoch.number()),
            digest: Option<columns::Digest> = entry.digest(),
            status: Option<Int32> = entry.visit().and_then(|visit| visit.status),
            modified: Option<Timestamp> = entry.visit().and_then(|visit| visit.modified),
            bytes: Option<Int64> = entry.visit().and_then(|visit| visit.bytes),
            conditional: Option<Boolean> = entry.visit().map(|visit| visit.conditional),
            weight: Option<Float64> = entry.weight().map(|weight| weight.to_f64()),
            class_: Option<Int64> = entry.class(),
            etag: Option<Binary> = entry.etag().map(ETag::as_bytes),
            target: Option<Utf8> = entry.target().and_then(|target| target.resolve(url)),
        }
    });
}

/// The history of the page with this URL.
impl StreamItem for (String, simkeep::History) {
    type Object = (String, Vec<PyHistoryEntry>);
}

/// Converts an entry of the page with this URL to the crate's type, without the meaning of its
/// verdict's distance.
pub(crate) fn read_history_entry(
    arg: Arg,
    url: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<simkeep::HistoryEntry> {
    if let Ok(entry) = given.cast::<VisitEntry>() {
        let entry = entry.get();
        let visit = entry.visit.get().to_rust(arg)?;
        let verdict = entry.verdict(arg)?;
        return Ok(simkeep::HistoryEntry::Visit { visit, verdict, meaning: None });
    }
    if let Ok(restated) = given.cast::<Restated>() {
        let Restated { time, fingerprint, digest, epoch } = restated.get();
        return Ok(simkeep::HistoryEntry::Restated(simkeep::Restated {
            time: time.0,
            fingerprint: *fingerprint,
            digest: digest.map(Digest),
            epoch: Epoch::from_number(*epoch),
        }));
    }
    if let Ok(given) = given.cast::<PropertyEntry>() {
        return Ok(simkeep::HistoryEntry::Property(given.get().to_rust(arg, url, given.py())?));
    }
    Err(arg.type_error("VisitEntry, Restated or PropertyEntry", given))
}

/// Converts an entry of the page with this URL to the crate's type, with or without its verdict.
pub(crate) fn read_entry(
    arg: Arg,
    url: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<simkeep::Entry> {
    if let Ok(visit) = given.cast::<Visit>() {
        return Ok(simkeep::Entry::Visit(visit.get().to_rust(arg)?));
    }
    Ok(read_history_entry(arg, url, given)?.entry())
}

impl PropertyEntry {
    /// Converts the property of the page with this URL to the crate's type.
    fn to_rust(&self, arg: Arg, url: &str, py: Python<'_>) -> PyResult<simkeep::PropertyEntry> {
        let PropertyEntry { time, weight, class_, etag, target } = self;
        let property = match (weight, class_, etag, target) {
            (Some(weight), None, None, None) => Property::Weight(simkeep::Weight::from(*weight)),
            (None, Some(class), None, None) => Property::Class(*class),
            (None, None, Some(etag), None) => {
                let most = ETag::BYTES_MAX;
                Property::ETag(ETag::new(etag.as_bytes(py)).ok_or_else(|| {
                    arg.wrong(format!(
                        "has an entity tag that is not 1 to {most} bytes, or has a line end or a NUL"
                    ))
                })?)
            }
            (None, None, None, Some(target)) => {
                Property::Target(Target::new(url, target).ok_or_else(|| {
                    arg.wrong("has a target that is not the http or https URL of another page")
                })?)
            }
            _ => return Err(arg.wrong("must have one of a weight, a class, an etag and a target")),
        };
        Ok(simkeep::PropertyEntry { time: time.0, property })
    }
}

impl Visit {
    /// Converts the visit to the crate's type.
    fn to_rust(&self, arg: Arg) -> PyResult<simkeep::Visit> {
        let digest = self.digest.map(Digest);
        let seen = match (self.seen, self.epoch) {
            (Seen::Content, Some(epoch)) => simkeep::Seen::Content(simkeep::Content {
                fingerprint: self.fingerprint,
                digest,
                epoch: Epoch::from_number(epoch),
            }),
            (Seen::Redirect, _) => {
                let digest = digest.filter(Digest::is_redirect);
                let digest = digest
                    .ok_or_else(|| arg.wrong("is a redirect without the digest of its target"))?;
                simkeep::Seen::Content(simkeep::Content::redirect(digest))
            }
            (Seen::Content, None) => return Err(arg.wrong("has content without an epoch")),
            (Seen::NotModified, _) => simkeep::Seen::NotModified { digest },
            (Seen::Gone, _) => simkeep::Seen::Gone,
            (Seen::Failed, _) => simkeep::Seen::Failed,
        };
        let modified = self.modified.map(|time| time.0);
        Ok(simkeep::Visit {
            time: self.time.0,
            seen,
            status: self.status,
            modified,
            bytes: self.bytes,
            conditional: self.conditional,
        })
    }
}

impl VisitEntry {
    /// Converts the verdict to the crate's type.
    fn verdict(&self, arg: Arg) -> PyResult<simkeep::Verdict> {
        let distance = self.distance.zip(self.distance_epoch);
        let distance = distance
            .map(|(bits, epoch)| simkeep::Distance { bits, epoch: Epoch::from_number(epoch) });
        Ok(match (self.verdict, self.by, self.to) {
            (Verdict::New, ..) => simkeep::Verdict::New,
            (Verdict::Same, Some(SameBy::Digest), _) => {
                simkeep::Verdict::Same(simkeep::SameBy::Digest)
            }
            (Verdict::Same, Some(SameBy::Fingerprint), _) => {
                simkeep::Verdict::Same(simkeep::SameBy::Fingerprint)
            }
            (Verdict::Same, Some(SameBy::NotModified), _) => {
                simkeep::Verdict::Same(simkeep::SameBy::NotModified)
            }
            (Verdict::Unseen, ..) => simkeep::Verdict::Unseen,
            (Verdict::Changed, ..) => simkeep::Verdict::Changed { distance },
            (Verdict::Reverted, _, Some(to)) => simkeep::Verdict::Reverted { to: to.0, distance },
            (Verdict::Gone, ..) => simkeep::Verdict::Gone,
            (Verdict::Failed, ..) => simkeep::Verdict::Failed,
            (Verdict::OutOfOrder, ..) => simkeep::Verdict::OutOfOrder,
            (Verdict::Known, ..) => simkeep::Verdict::Known,
            _ => {
                return Err(
                    arg.wrong("has a verdict, but not the other fields that this verdict needs")
                );
            }
        })
    }
}
