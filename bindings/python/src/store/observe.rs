//! Observations of pages, and properties without a visit.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{Error, Operation, OperationResult};

use super::Store;
use crate::convert::arg::{self, Arg, each};
use crate::convert::error;
use crate::convert::value::FromRust;
use crate::convert::word::{PropertyOutcome, RestateOutcome};
use crate::observe::row::{CheckedVisit, PreparedVisit, given};
use crate::observe::table::VisitColumnNames;
use crate::observe::visit_result::VisitResult;
use crate::observe::{load, update};
use crate::pages::history;
use crate::pages::outcome::Outcome;
use crate::search::answers::Outcomes;

/// The result of a request in a batch, as of a single call.
#[derive(IntoPyObject)]
enum RequestResult {
    Observed(Outcome),
    Restated(RestateOutcome),
    PropertySet(PropertyOutcome),
}

impl RequestResult {
    fn of(py: Python<'_>, answer: OperationResult) -> PyResult<RequestResult> {
        Ok(match answer {
            OperationResult::Observed(outcome) => {
                RequestResult::Observed(Outcome::from_rust(py, outcome)?)
            }
            OperationResult::Restated(outcome) => RequestResult::Restated(outcome.into()),
            OperationResult::PropertySet(outcome) => RequestResult::PropertySet(outcome.into()),
        })
    }
}

impl Store {
    /// Observes one visit.
    fn observe_row(&self, py: Python<'_>, row: CheckedVisit) -> PyResult<Outcome> {
        let makers = &self.open.makers;
        let outcome = self.call(py, |store| {
            let ready = makers.of(&store.snapshot())?.ready(row)?;
            store.observe(ready.observation())
        })?;
        Outcome::from_rust(py, outcome)
    }
}

#[pymethods]
impl Store {
    /// Reports a visit that saw content, and returns the state of the page, and the similar pages.
    ///
    /// The content is a `text`; or `html`, as `str` or as `bytes`; or an external `fingerprint` of
    /// an `epoch` (by default the epoch of verdicts), optionally with the fingerprint of another
    /// epoch as `also=(fingerprint, epoch)`. The `encoding` of `bytes` is the encoding from the
    /// server, or the Content-Type as received, several values joined by commas. A text of fewer
    /// than eight words gets no fingerprint. See `text_epochs` for stores that accept no text.
    ///
    /// `digest` is any 16 bytes that identify the exact content. A text without a digest gets the
    /// digest that the tool gives to texts: the first half of the SHA-1 of its bytes in UTF-8. HTML
    /// without a digest gets none; the tool's digest of a page is `sha1(body).digest()[:16]` for the
    /// body as the server sent it. `status` is the HTTP status;
    /// `modified` is the server's time of the last modification; `weight` and `class_` apply until
    /// new values are set. With a digest alone, searches no longer find the page: for unchanged
    /// content, pass its earlier fingerprint.
    ///
    /// `etag` is the value of the header `ETag`, with its quotes, to send as `If-None-Match` later;
    /// a value of more than 128 bytes is not kept. `canonical` is the canonical URL that the content
    /// declares; it may be relative to the page, and is kept if it is the `http` or `https` URL of
    /// another page. By default, it is the first valid `<link rel=canonical>` in the head of `html`.
    /// `bytes` is the number of bytes of the content as transferred. `conditional` is
    /// whether the request had `If-None-Match` or `If-Modified-Since`.
    ///
    /// The visit is durable when the call returns, unless the store was opened with another
    /// durability. Costs some microseconds, and a share of a commit: two or three syncs for all
    /// concurrent calls.
    #[pyo3(signature = (
        url: "str", at: "Time", *, text: "str | None" = None, html: "_types.Html | None" = None,
        encoding: "str | None" = None, fingerprint: "SupportsIndex | None" = None,
        epoch: "int | None" = None, also: "tuple[SupportsIndex | None, int] | None" = None,
        digest: "bytes | bytearray | None" = None, status: "int | None" = None,
        modified: "Time | None" = None, etag: "bytes | bytearray | None" = None,
        canonical: "str | None" = None, bytes: "int | None" = None, conditional=false,
        weight: "float | None" = None, class_: "int | None" = None
    ))]
    fn observe<'py>(
        &self,
        py: Python<'py>,
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
    ) -> PyResult<Outcome> {
        let given = given! {
            url, at, text, html, encoding, fingerprint, epoch, also, digest, status, modified, etag, canonical, bytes,
            conditional, weight, class_
        };
        self.observe_row(py, CheckedVisit::new(&given, Arg::new("url"))?)
    }

    /// Reports a visit with unmodified content, by the server's report.
    ///
    /// Keywords: the keywords of `gone`, `digest`, `modified` and `etag`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.NotModified]"))]
    fn not_modified<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, CheckedVisit::of_keywords((url, at), known, VisitResult::NotModified)?)
    }

    /// Reports a visit that found a redirect to a target, which may be relative to the page.
    ///
    /// A redirect ends the page's content. The page is unchanged until the target changes. A
    /// redirect has no copies and no near-duplicates.
    ///
    /// Keywords: the keywords of `gone`.
    #[pyo3(signature = (url: "str", at: "Time", to: "str", **known: "Unpack[_types.WithoutContent]"))]
    fn redirect<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(
            py,
            CheckedVisit::of_keywords((url, at), known, VisitResult::redirect(to)?)?,
        )
    }

    /// Reports a visit that found the page gone.
    ///
    /// Keywords: `status`, `conditional`, `weight`, `class_`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.WithoutContent]"))]
    fn gone<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, CheckedVisit::of_keywords((url, at), known, VisitResult::Gone)?)
    }

    /// Reports a visit that failed. The current content stays current.
    ///
    /// Keywords: the keywords of `gone`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.WithoutContent]"))]
    fn failed<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, CheckedVisit::of_keywords((url, at), known, VisitResult::Failed)?)
    }

    /// Reports many visits. Each verdict takes the earlier visits into account.
    ///
    /// The visits are `Observation`s, or dictionaries with the arguments of `observe` as keys, and
    /// optionally `seen`; or a table with `__arrow_c_stream__`, with the same names as columns.
    /// `url`, `text`, `html` and `at` name the columns of a table, as in `load`. Other columns are
    /// ignored; a null fingerprint means content without a fingerprint. The visits become durable
    /// together, and cost much less than single calls. If one visit is invalid, no visit is stored.
    #[pyo3(signature = (
        observations: "_types.Rows", *, url: "str | None" = None, text: "str | None" = None,
        html: "str | None" = None, at: "Time | str | None" = None
    ))]
    fn observe_batch<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        url: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Outcomes> {
        drop(self.open.store(py)?); // A closed store is reported before an invalid row.
        let columns = VisitColumnNames::new(url, text, html, at)?;
        let makers = self.call(py, |store| self.open.makers.of(&store.snapshot()))?;
        let ready = load::ready(py, &makers, observations, columns)?;
        let (several, mut at_fault) = (ready.len() > 1, None);
        let outcomes = self.call(py, |store| {
            // The rows are dropped when this closure ends, and not while the interpreter waits.
            let ready = ready;
            if !Arc::ptr_eq(&makers, &self.open.makers.of(&store.snapshot())?) {
                return Err(Error::InvalidArgument(
                    "an epoch began or ended during this call; nothing was stored, so call again"
                        .to_owned(),
                ));
            }
            let observations: Vec<_> = ready.iter().map(PreparedVisit::observation).collect();
            store.observe_batch(&observations).inspect_err(|_| {
                let view = store.snapshot();
                let mut requests = observations.iter().map(|seen| Operation::from(*seen));
                at_fault = requests.position(|request| request.check(&view).is_err());
            })
        });
        outcomes.map(Outcomes).map_err(|e| match at_fault {
            Some(row) if several => error::in_row(py, e, row),
            _ => e,
        })
    }

    /// Observes, restates and sets properties in one call. The argument has pairs of a URL and an
    /// entry, as returned by `observations`.
    ///
    /// Each verdict takes the earlier entries into account. All entries become durable together, in
    /// one commit or a few. If one entry is invalid, no entry is stored. Returns an `Outcome` for
    /// each visit. For each other entry, returns whether the entry was stored.
    #[pyo3(signature = (entries: "Iterable[tuple[str, Visit | Restated | PropertyEntry | VisitEntry]]"))]
    fn write_batch<'py>(
        &self,
        py: Python<'py>,
        entries: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<RequestResult>> {
        drop(self.open.store(py)?); // A closed store is reported before an invalid row.
        let expected = "an iterable of pairs of a URL and a Visit, Restated or PropertyEntry";
        let entries = each(Arg::new("entries"), entries, expected, |arg, given| {
            let (url, entry) = arg::pair(arg, given, "a pair of a URL and an entry")?;
            let url = arg::url(arg, &url)?;
            Ok((url.to_owned(), history::read_entry(arg, url, &entry)?))
        })?;
        let (several, mut at_fault) = (entries.len() > 1, None);
        let answers = self.call(py, |store| {
            let requests = entries.iter().map(|(url, entry)| Operation::of(url, entry.clone()));
            let requests: Vec<Operation<'_>> = requests.collect();
            store.write_batch(&requests).inspect_err(|_| {
                let view = store.snapshot();
                at_fault = requests.iter().position(|request| request.check(&view).is_err());
            })
        });
        let answers = answers.map_err(|e| match at_fault {
            Some(row) if several => error::in_row(py, e, row),
            _ => e,
        })?;
        answers.into_iter().map(|of| RequestResult::of(py, of)).collect()
    }

    /// Stores a fingerprint in another epoch for the content that a page had at a time.
    ///
    /// A restatement is neither a visit nor a change of the page.
    ///
    /// Returns `"stored"`, `"known"`, or `"missing"` if the page had no content at that time.
    #[pyo3(signature = (
        url: "str", at: "Time", fingerprint: "SupportsIndex | None", epoch: "int", *,
        digest: "bytes | bytearray | None" = None
    ))]
    fn restate<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        fingerprint: &Bound<'py, PyAny>,
        epoch: &Bound<'py, PyAny>,
        digest: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<RestateOutcome> {
        let restatement = update::restatement((url, at), (fingerprint, epoch), digest)?;
        self.call(py, |store| store.restate(restatement)).map(RestateOutcome::from)
    }

    /// Sets the weight or the class of a page from a time on, without a visit.
    ///
    /// Returns `"stored"`, `"known"`, or `"missing"` for an unknown page.
    #[pyo3(signature = (
        url: "str", at: "Time", *, weight: "float | None" = None, class_: "int | None" = None
    ))]
    fn set_property<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        weight: Option<&Bound<'py, PyAny>>,
        class_: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PropertyOutcome> {
        let update = update::property_update((url, at), weight, class_)?;
        self.call(py, |store| store.set_property(update)).map(PropertyOutcome::from)
    }
}
