//! Pages of a store and their histories.

use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::Prefix;
use simkeep::query::{Histories, PageRange, StalePages};

use super::view::View;
use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::pages::history::{PyEntry, PyHistoryEntry, Visit, of_page};
use crate::pages::page::{Page, StalePage};
use crate::streams::source::Iterated;
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// All visits of a page in order, each with its verdict, which takes the earlier visits into
    /// account.
    ///
    /// The result includes restatements and properties. Empty for an unknown page.
    #[pyo3(signature = (url: "str"))]
    fn history<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<PyHistoryEntry>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let history = py.detach(|| snapshot.history(url)).or_raise(py)?;
        of_page(url, history).map(|entry| FromRust::from_rust(py, entry)).collect()
    }

    /// The visit whose content was current at a time; `None` if the page was unknown then, or gone.
    #[pyo3(signature = (url: "str", at: "Time"))]
    fn as_of<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Visit>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let at = arg::time(Arg::new("at"), at)?;
        let visit = py.detach(|| snapshot.as_of(url, at)).or_raise(py)?;
        FromRust::from_rust(py, visit)
    }

    /// The current state of a page; `None` for an unknown page.
    #[pyo3(signature = (url: "str"))]
    fn latest<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Option<Page>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let page = py.detach(|| snapshot.latest(url)).or_raise(py)?;
        FromRust::from_rust(py, page)
    }

    /// All pages, or the pages under a prefix, in SURT order. In SURT order all pages of a host are
    /// adjacent.
    ///
    /// `start` and `end` restrict the result to pages from the URL `start` on, and before the URL
    /// `end`. Reads lazily, some microseconds a page.
    #[pyo3(signature = (
        under: "str | None" = None, *, start: "str | None" = None, end: "str | None" = None
    ))]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        start: Option<&Bound<'py, PyAny>>,
        end: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<StreamOf<Page>> {
        let snapshot = self.now(py)?;
        let (under, [start, end]) = range(under, [start, end])?;
        let scan = py.detach(|| {
            snapshot.scan(PageRange::all().under(under.as_ref()).start_at(start).end_before(end))
        });
        Ok(StreamOf::new(Iterated::new(scan), self.birth()))
    }

    /// Every observation of all pages, or of the pages under a prefix, in SURT order, with its URL.
    ///
    /// `start` and `end` restrict the result to pages from the URL `start` on, and before the URL
    /// `end`. With `in_force=True`, the result has only the current observations. Reads lazily.
    #[pyo3(signature = (
        under: "str | None" = None, *, start: "str | None" = None, end: "str | None" = None,
        in_force=false
    ))]
    fn observations<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        start: Option<&Bound<'py, PyAny>>,
        end: Option<&Bound<'py, PyAny>>,
        in_force: bool,
    ) -> PyResult<StreamOf<(Py<PyString>, PyEntry)>> {
        let snapshot = self.now(py)?;
        let (under, [start, end]) = range(under, [start, end])?;
        let all = py.detach(|| {
            snapshot.observations(
                PageRange::all().under(under.as_ref()).start_at(start).end_before(end),
            )
        });
        let all = if in_force { all.in_force() } else { all };
        Ok(StreamOf::new(Iterated::new(all), self.birth()))
    }

    /// Splits all pages, or the pages under a prefix, into ranges of about equally many pages, for
    /// several readers.
    ///
    /// There are at most `ranges` ranges. Returns the URLs at which all ranges but the first begin,
    /// for `scan` and `observations`. Reads some 32 pages a range.
    #[pyo3(signature = (ranges: "int", *, under: "str | None" = None))]
    fn split<'py>(
        &self,
        py: Python<'py>,
        ranges: &Bound<'py, PyAny>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let snapshot = self.now(py)?;
        let ranges = arg::size(Arg::new("ranges"), ranges)?;
        let (under, _) = range(under, [None; 2])?;
        py.detach(|| PageRange::all().under(under.as_ref()).split(&snapshot, ranges)).or_raise(py)
    }

    /// The history of every page, or of the pages under a prefix, in SURT order, with its URL.
    /// Reads lazily.
    #[pyo3(signature = (
        under: "str | None" = None
    ))]
    fn histories<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<StreamOf<(String, Vec<PyHistoryEntry>)>> {
        let snapshot = self.now(py)?;
        let under = arg::optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let all = py.detach(|| Histories::of(&snapshot, under.as_ref()));
        Ok(StreamOf::new(Iterated::new(all), self.birth()))
    }

    /// Pages whose current version has a fingerprint, but no fingerprint of this epoch, and should
    /// be restated.
    ///
    /// `after` restricts the result to pages after this URL in SURT order.
    #[pyo3(signature = (epoch: "int", *, after: "str | None" = None))]
    fn stale<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        after: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<StreamOf<StalePage>> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let after = after.filter(|after| !after.is_none());
        let after = after.map(|after| arg::url(Arg::new("after"), after)).transpose()?;
        let stale = py.detach(|| StalePages::of(&snapshot, epoch, after));
        Ok(StreamOf::new(Iterated::new(stale), self.birth()))
    }
}

/// The range of pages to read: the pages under a prefix, from a URL on, and before another URL.
/// Each restriction is optional.
fn range<'a>(
    under: Option<&Bound<'_, PyAny>>,
    ends: [Option<&'a Bound<'_, PyAny>>; 2],
) -> PyResult<(Option<Prefix>, [Option<&'a str>; 2])> {
    let under = arg::optional(under, |under| arg::prefix(Arg::new("under"), under))?;
    let url = |name, end: Option<&'a Bound<'_, PyAny>>| {
        let end = end.filter(|end| !end.is_none());
        end.map(|end| arg::url(Arg::new(name), end)).transpose()
    };
    let [start, end] = ends;
    Ok((under, [url("start", start)?, url("end", end)?]))
}
