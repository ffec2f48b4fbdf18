//! Visits as objects, to observe or load many at a time.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::convert::arg::Arg;
use crate::convert::time::PyTime;
use crate::observe::row::{CheckedVisit, given};
use crate::observe::visit_result::{HtmlSource, VisitResult};

/// The data to recreate an observation: a function, its arguments, and its keywords.
type ObservationReduce<'py> = (Bound<'py, PyAny>, (String, PyTime), Bound<'py, PyDict>);

/// A visit, for `observe_batch` and `load`. `Observation` takes the arguments of `Store.observe`.
///
/// An observation is validated when it is created, except for rules that need the store: valid URLs
/// and epochs.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Observation(pub(crate) CheckedVisit);

impl Observation {
    /// Returns the kind of the observation, and its fields other than URL and time as keywords.
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        let CheckedVisit { what, digest, status, modified, weight, class, .. } = &self.0;
        let CheckedVisit { etag, canonical, bytes, conditional, .. } = &self.0;
        let kind = match what {
            VisitResult::Text(text) => {
                keywords.set_item("text", text)?;
                ""
            }
            VisitResult::Html(HtmlSource::Text(html), _) => {
                keywords.set_item("html", html)?;
                ""
            }
            VisitResult::Html(HtmlSource::Bytes(html), encoding) => {
                keywords.set_item("html", PyBytes::new(py, html))?;
                if let Some(encoding) = encoding {
                    keywords.set_item("encoding", encoding)?;
                }
                ""
            }
            VisitResult::Content { fingerprint, epoch, also } => {
                keywords.set_item("fingerprint", *fingerprint)?;
                if let Some(epoch) = epoch {
                    keywords.set_item("epoch", epoch.number())?;
                }
                if let Some((fingerprint, epoch)) = also {
                    keywords.set_item("also", (*fingerprint, epoch.number()))?;
                }
                ""
            }
            VisitResult::Redirect(to) => {
                keywords.set_item("to", to)?;
                ".redirect"
            }
            VisitResult::NotModified => ".not_modified",
            VisitResult::Gone => ".gone",
            VisitResult::Failed => ".failed",
        };
        if let Some(digest) = digest {
            keywords.set_item("digest", PyBytes::new(py, &digest.0))?;
        }
        if let Some(status) = status {
            keywords.set_item("status", status)?;
        }
        if let Some(modified) = modified {
            keywords.set_item("modified", PyTime(*modified))?;
        }
        if let Some(etag) = etag {
            keywords.set_item("etag", PyBytes::new(py, etag))?;
        }
        if let Some(canonical) = canonical {
            keywords.set_item("canonical", canonical)?;
        }
        if let Some(bytes) = bytes {
            keywords.set_item("bytes", bytes)?;
        }
        if *conditional {
            keywords.set_item("conditional", true)?;
        }
        if let Some(weight) = weight {
            keywords.set_item("weight", weight.to_f64())?;
        }
        if let Some(class) = class {
            keywords.set_item("class_", class)?;
        }
        Ok((kind, keywords))
    }
}

#[pymethods]
impl Observation {
    #[new]
    #[pyo3(signature = (
        url: "str", at: "Time", *, text: "str | None" = None, html: "_types.Html | None" = None,
        encoding: "str | None" = None, fingerprint: "SupportsIndex | None" = None,
        epoch: "int | None" = None, also: "tuple[SupportsIndex | None, int] | None" = None,
        digest: "bytes | bytearray | None" = None, status: "int | None" = None,
        modified: "Time | None" = None, etag: "bytes | bytearray | None" = None,
        canonical: "str | None" = None, bytes: "int | None" = None, conditional=false,
        weight: "float | None" = None, class_: "int | None" = None
    ))]
    fn new<'py>(
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        encoding: Option<&Bound<'py, PyAny>>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        epoch: Option<&Bound<'py, PyAny>>,
        also: Option<&Bound<'py, PyAny>>,
        digest: Option<&Bound<'py, PyAny>>,
        status: Option<&Bound<'py, PyAny>>,
        modified: Option<&Bound<'py, PyAny>>,
        etag: Option<&Bound<'py, PyAny>>,
        canonical: Option<&Bound<'py, PyAny>>,
        bytes: Option<&Bound<'py, PyAny>>,
        conditional: bool,
        weight: Option<&Bound<'py, PyAny>>,
        class_: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Observation> {
        let given = given!(
            url,
            at,
            text,
            html,
            encoding,
            fingerprint,
            epoch,
            also,
            digest,
            status,
            modified,
            etag,
            canonical,
            bytes,
            conditional,
            weight,
            class_
        );
        CheckedVisit::new(&given, Arg::new("url")).map(Observation)
    }

    /// A visit with unmodified content, by the server's report.
    #[classmethod]
    #[pyo3(signature = (
        url: "str", at: "Time", **keywords: "Unpack[_types.NotModified]"
    ) -> "Self")]
    fn not_modified(
        _class: &Bound<'_, PyType>,
        url: &Bound<'_, PyAny>,
        at: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Observation> {
        CheckedVisit::of_keywords((url, at), keywords, VisitResult::NotModified).map(Observation)
    }

    /// A visit that found a redirect to a target, which may be relative to the page.
    #[classmethod]
    #[pyo3(signature = (
        url: "str", at: "Time", to: "str", **keywords: "Unpack[_types.WithoutContent]"
    ) -> "Self")]
    fn redirect(
        _class: &Bound<'_, PyType>,
        url: &Bound<'_, PyAny>,
        at: &Bound<'_, PyAny>,
        to: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Observation> {
        CheckedVisit::of_keywords((url, at), keywords, VisitResult::redirect(to)?).map(Observation)
    }

    /// A visit that found the page gone.
    #[classmethod]
    #[pyo3(signature = (url: "str", at: "Time", **keywords: "Unpack[_types.WithoutContent]") -> "Self")]
    fn gone(
        _class: &Bound<'_, PyType>,
        url: &Bound<'_, PyAny>,
        at: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Observation> {
        CheckedVisit::of_keywords((url, at), keywords, VisitResult::Gone).map(Observation)
    }

    /// A visit that failed.
    #[classmethod]
    #[pyo3(signature = (url: "str", at: "Time", **keywords: "Unpack[_types.WithoutContent]") -> "Self")]
    fn failed(
        _class: &Bound<'_, PyType>,
        url: &Bound<'_, PyAny>,
        at: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Observation> {
        CheckedVisit::of_keywords((url, at), keywords, VisitResult::Failed).map(Observation)
    }

    /// The URL of the page.
    #[getter]
    fn url(&self) -> &str {
        &self.0.url
    }

    /// The time of the visit.
    #[getter]
    fn at(&self) -> PyTime {
        PyTime(self.0.time)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (kind, keywords) = self.keywords(py)?;
        let url = self.0.url.as_str().into_pyobject(py)?.repr()?;
        let at = PyTime(self.0.time).into_pyobject(py)?.repr()?;
        let mut repr = format!("simkeep.Observation{kind}({url}, {at}");
        for (key, value) in keywords {
            let value = match key.to_string().as_str() {
                "fingerprint" if !value.is_none() => format!("0x{:016x}", value.extract::<u64>()?),
                _ => value.repr()?.to_string(),
            };
            repr += &format!(", {key}={value}");
        }
        Ok(repr + ")")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Observation>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let CheckedVisit { url, time, what, digest, .. } = &self.0;
        (url, time, what, digest).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, ObservationReduce<'py>)> {
        let py = slf.py();
        let row = &slf.get().0;
        let (kind, keywords) = slf.get().keywords(py)?;
        let make = match kind.strip_prefix('.') {
            Some(kind) => slf.get_type().getattr(kind)?,
            None => slf.get_type().into_any(),
        };
        let call = py.import("simkeep._words")?.getattr("_call")?;
        Ok((call, (make, (row.url.clone(), PyTime(row.time)), keywords)))
    }
}

/// Converts a row of a batch: an `Observation`, or a dictionary.
pub(crate) fn row(given: &Bound<'_, PyAny>, number: u64) -> PyResult<CheckedVisit> {
    if let Ok(dict) = given.cast::<PyDict>() {
        return CheckedVisit::of_dict(dict, number);
    }
    match given.cast::<Observation>() {
        Ok(observation) => Ok(observation.get().0.clone()),
        Err(_) => {
            Err(Arg::row("the observation", number).type_error("an Observation or a dict", given))
        }
    }
}
