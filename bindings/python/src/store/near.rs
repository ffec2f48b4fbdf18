//! Searches for pages near fingerprints.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{Content, DISTANCE_MAX, Query, Result};

use super::subject::SearchSubject;
use super::view::View;
use crate::convert::arg::{self, Arg, each};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::fingerprint::fingerprint_input;
use crate::pages::outcome::Copies;
use crate::search::answers::Answers;
use crate::search::explain::Explanation;
use crate::search::matches::Matches;
use crate::search::query::{self, Keyword, SearchKeywords};

/// The default number of nearest pages.
const COUNT: usize = 16;
/// The number of fingerprints in the first part of a batch, and the minimum number in any part.
/// Signals are checked after each part.
const BATCH_FIRST: usize = 64;
/// The maximum number of fingerprints between two checks for signals.
const BATCH_MAX: usize = 1 << 18;
/// The target time of a part of a batch, in seconds.
const BATCH_SECONDS: f64 = 0.05;

#[pymethods]
impl View {
    /// Finds pages near a fingerprint, a text or a page: nearest first, then in SURT order.
    ///
    /// Exact for every k. Pass a fingerprint, a `text`, a page as `html`, or the `url` of a page of
    /// the store. The page with this URL is excluded from the result. Texts and HTML get a
    /// fingerprint by the recipe of the searched epoch. The result for a text of fewer than eight
    /// words is empty. Raises `InvalidArgumentError` for a text if the fingerprints of the epoch
    /// are external.
    ///
    /// `k` is the largest distance in bits, 0 to 64; the default is the store's distance of
    /// near-duplicates. A search usually takes some microseconds.
    ///
    /// Keywords: `limit`, the maximum number of pages to return (16; `None` for all); `under`, a
    /// prefix; `exclude`, a URL to leave out; `classes`; `epoch`; at most one of `at` (versions
    /// current at a time), `seen` (versions seen between two times) and `ever=True` (every
    /// version); `budget`, the maximum duration of the search; `fingerprints`, the maximum number
    /// of fingerprints compared in a dense region.
    // Named keywords need no dictionary, and this method is called often.
    #[pyo3(signature = (
        fingerprint: "SupportsIndex | None" = None, k: "int | None" = None, *,
        text: "str | None" = None, html: "_types.Html | None" = None, url: "str | None" = None,
        limit: "int | None" = Keyword::default(), under: "str | None" = Keyword::default(),
        exclude: "str | None" = Keyword::default(),
        classes: "Iterable[int | None] | None" = Keyword::default(),
        epoch: "int | None" = Keyword::default(), at: "Time | None" = Keyword::default(),
        seen: "tuple[Time, Time] | None" = Keyword::default(), ever: "bool" = Keyword::default(),
        budget: "_types.Seconds | None" = Keyword::default(), fingerprints: "int" = Keyword::default()
    ))]
    fn near<'py>(
        &self,
        py: Python<'py>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        k: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        url: Option<&Bound<'py, PyAny>>,
        limit: Keyword<'py>,
        under: Keyword<'py>,
        exclude: Keyword<'py>,
        classes: Keyword<'py>,
        epoch: Keyword<'py>,
        at: Keyword<'py>,
        seen: Keyword<'py>,
        ever: Keyword<'py>,
        budget: Keyword<'py>,
        fingerprints: Keyword<'py>,
    ) -> PyResult<Matches> {
        let snapshot = self.now(py)?;
        let subject = SearchSubject::new(fingerprint, text, html, url)?;
        let k = query::distance(k, &snapshot)?;
        let query = Query::new(0, k);
        let threads = Keyword::default();
        #[rustfmt::skip]
        let keywords = SearchKeywords {
            limit, under, exclude, classes, epoch, at, seen, ever, budget, fingerprints, threads,
        };
        let query = keywords.of(query)?;
        let found = match subject.ask(py, &snapshot, query)? {
            Some(query) => py.detach(|| snapshot.search(&query)).or_raise(py)?,
            None => nothing(k),
        };
        Matches::from_rust(py, found)
    }

    /// Finds the pages nearest to a fingerprint, a text or a page, at any distance.
    ///
    /// `count` is the number of pages (16). Costs up to three times as much as a search within the
    /// distance of the farthest page.
    ///
    /// Takes `text`, `html`, `url` and the keywords of `near` except `limit`.
    #[pyo3(signature = (
        fingerprint: "SupportsIndex | None" = None, count: "int | None" = None, *, text: "str | None" = None,
        html: "_types.Html | None" = None, url: "str | None" = None, **like: "Unpack[_types.Query]"
    ))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        count: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        url: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Matches> {
        let snapshot = self.now(py)?;
        let subject = SearchSubject::new(fingerprint, text, html, url)?;
        let count = arg::optional(count, |count| arg::size(Arg::new("count"), count))?;
        let count = count.unwrap_or(COUNT);
        let query = query::with(Query::nearest(0, count), like)?.limit(count);
        let found = match subject.ask(py, &snapshot, query)? {
            Some(query) => py.detach(|| snapshot.search(&query)).or_raise(py)?,
            None => nothing(DISTANCE_MAX),
        };
        Matches::from_rust(py, found)
    }

    /// Explains the plan and the cost of a search. Costs about three searches.
    ///
    /// Takes the arguments of `near`. Raises `ValueError` for a text or page without a fingerprint.
    #[pyo3(signature = (
        fingerprint: "SupportsIndex | None" = None, k: "int | None" = None, *,
        text: "str | None" = None, html: "_types.Html | None" = None, url: "str | None" = None,
        **like: "Unpack[_types.Query]"
    ))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        k: Option<&Bound<'py, PyAny>>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        url: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Explanation> {
        let snapshot = self.now(py)?;
        let subject = SearchSubject::new(fingerprint, text, html, url)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let query = subject.ask(py, &snapshot, query)?.ok_or_else(|| {
            PyValueError::new_err("there is no fingerprint to search for: the text is too short")
        })?;
        let explained =
            py.detach(|| simkeep::query::Explanation::of(&snapshot, &query)).or_raise(py)?;
        Explanation::from_rust(py, explained)
    }

    /// Finds the pages whose current version is exactly a content, the first seen first.
    ///
    /// Content without a fingerprint is found by its digest alone: a PDF, an image, a text that is
    /// too short. Other content is found through its fingerprint, so pass the `fingerprint`, too.
    /// `epoch` is the epoch of the fingerprint, by default the epoch that detects changes. Redirects
    /// are not found. `limit` is the maximum number of pages (16; `None` for all).
    ///
    /// Costs about a microsecond, and less than a microsecond more for each page. Raises
    /// `EpochError` for a fingerprint of an ended or unknown epoch.
    #[pyo3(signature = (
        digest: "bytes", fingerprint: "SupportsIndex | None" = None, *, epoch: "int | None" = None,
        limit: "int | None" = Keyword::default()
    ))]
    fn by_digest<'py>(
        &self,
        py: Python<'py>,
        digest: &Bound<'py, PyAny>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        epoch: Option<&Bound<'py, PyAny>>,
        limit: Keyword<'py>,
    ) -> PyResult<Copies> {
        let snapshot = self.now(py)?;
        let digest = Some(arg::digest(Arg::new("digest"), digest)?);
        let fingerprint =
            arg::optional(fingerprint, |v| arg::fingerprint(Arg::new("fingerprint"), v))?;
        let epoch = arg::optional(epoch, |v| arg::epoch(Arg::new("epoch"), v))?;
        let epoch = epoch.unwrap_or_else(|| snapshot.change_epoch());
        let limit = limit.0.as_ref().map(|v| arg::limit(Arg::new("limit"), v)).transpose()?;
        let content = Content { fingerprint, digest, epoch };
        let found = py.detach(|| snapshot.by_digest(&content, limit.unwrap_or(COUNT)));
        Copies::from_rust(py, found.or_raise(py)?)
    }

    /// Finds pages near each of many fingerprints, in order.
    ///
    /// The fingerprints may be a buffer of `uint64` or `int64`, for example an array of numpy, a
    /// column of Arrow with one of these types, or the result of `fingerprint_batch`. The
    /// fingerprints are copied. The result for a null or `None` is empty. Searches run concurrently
    /// on all cores, so each costs a half to a quarter of a single search. Ctrl-C ends the call.
    ///
    /// Raises `EpochError` if `fingerprint_batch` made the fingerprints by another recipe than the
    /// recipe of the epoch. `fingerprint_batch(texts, recipe=store.origin(store.near_epoch))` uses
    /// the recipe of the store.
    ///
    /// Takes the keywords of `near`.
    #[pyo3(signature = (
        fingerprints: "_types.Fingerprints", /, k: "int | None" = None,
        **like: "Unpack[_types.BatchQuery]"
    ))]
    fn near_batch<'py>(
        &self,
        py: Python<'py>,
        fingerprints: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Answers> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let fingerprints = fingerprint_input::fingerprints(Arg::new("fingerprints"), fingerprints)?;
        fingerprints.check_recipe(py, &snapshot, query.epoch)?;
        let found = search(py, &fingerprints.bits, |part| query.run_batch(&snapshot, part))?;
        if found.len() == fingerprints.given {
            return Ok(Answers(found));
        }
        let mut answers = vec![nothing(query.k); fingerprints.given];
        for (index, matches) in found.into_iter().enumerate() {
            if let Some(answer) = answers.get_mut(fingerprints.position(index)) {
                *answer = matches;
            }
        }
        Ok(Answers(answers))
    }

    /// Finds the pages near each of many pages with known fingerprints.
    ///
    /// The argument has pairs of a fingerprint and a URL. Each page is left out of its own result.
    /// Results are in the order of the pages. Costs as much as `near_batch`; no page is looked up.
    /// Ctrl-C ends the call.
    ///
    /// Takes the keywords of `near`.
    #[pyo3(signature = (
        pages: "Iterable[tuple[SupportsIndex, str]]", /, k: "int | None" = None,
        **like: "Unpack[_types.BatchQuery]"
    ))]
    fn near_batch_of_pages<'py>(
        &self,
        py: Python<'py>,
        pages: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Answers> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let expected = "an iterable of pairs of a fingerprint and a URL";
        let pages = each(Arg::new("pages"), pages, expected, |arg, page| {
            let (fingerprint, url) = arg::pair(arg, page, "a pair of a fingerprint and a URL")?;
            Ok((arg::fingerprint(arg, &fingerprint)?, arg::url(arg, &url)?.to_owned()))
        })?;
        let pages: Vec<_> = pages.iter().map(|(print, url)| (*print, url.as_str())).collect();
        search(py, &pages, |part| query.run_batch_of_pages(&snapshot, part)).map(Answers)
    }
}

/// The empty result for a subject without a fingerprint.
fn nothing(k: u32) -> simkeep::Matches {
    let mut matches = simkeep::Matches::default();
    (matches.complete, matches.within) = (true, Some(k));
    matches
}

/// Searches part by part, so that a signal can end the batch.
fn search<T: Sync>(
    py: Python<'_>,
    all: &[T],
    search: impl Fn(&[T]) -> Result<Vec<simkeep::Matches>> + Sync,
) -> PyResult<Vec<simkeep::Matches>> {
    let mut answers = Vec::with_capacity(all.len());
    let (mut rest, mut part) = (all, BATCH_FIRST);
    while !rest.is_empty() {
        let (now, then) = rest.split_at(part.min(rest.len()));
        let since = std::time::Instant::now();
        let matches = py.detach(|| search(now)).or_raise(py)?;
        let each = since.elapsed().as_secs_f64() / now.len() as f64;
        #[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
        let fitting = (BATCH_SECONDS / each.max(1e-9)) as usize;
        part = fitting.clamp(BATCH_FIRST, BATCH_MAX);
        answers.extend(matches);
        py.check_signals()?;
        rest = then;
    }
    Ok(answers)
}
