//! The differences between two stores, or between two states of a store.

use pyo3::prelude::*;
use simkeep::query;

use super::view::View;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::inspect::diff::Diff;
use crate::streams::source::Iterated;

#[pymethods]
impl View {
    /// The differences between this store and an earlier state `before`, or any other store.
    ///
    /// Returns the pages under a prefix, or all pages, whose current version differs, in SURT
    /// order. The verdict about a page is as if its version in this store were the next observation
    /// in `before`. So a page that changed and reverted does not differ. A page that only this
    /// store has is new, and a page that only `before` has is gone. Epochs with the same name are
    /// the same. Reads both stores once, lazily, with one page of each in memory.
    #[pyo3(signature = (before, under: "str | None" = None) -> "Diff[Difference]")]
    fn diff<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, View>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Diff>> {
        let (now, birth) = (self.now(py)?, self.birth_with(before.get()));
        let before = before.get().now(py)?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff = py.detach(|| now.diff(&before, under.as_ref()));
        Diff::inexact(py, diff, birth)
    }

    /// The changes of the pages under a prefix, or of all pages, from one time to another,
    /// inclusive. Without `until`, the later time is the last visit.
    ///
    /// Compares like `diff`, by the visits up to each time. Reads all pages once, lazily.
    #[pyo3(signature = (
        since: "Time", until: "Time | None" = None, under: "str | None" = None
    ) -> "Diff[Difference]")]
    fn diff_since<'py>(
        &self,
        py: Python<'py>,
        since: &Bound<'py, PyAny>,
        until: Option<&Bound<'py, PyAny>>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Diff>> {
        let now = self.now(py)?;
        let since = arg::time(Arg::new("since"), since)?;
        let until = optional(until, |until| arg::time(Arg::new("until"), until))?;
        let until = until.unwrap_or(simkeep::Time::MAX);
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff = py.detach(|| query::Diff::between(&now, since, until, under.as_ref()));
        Diff::inexact(py, Ok(diff), self.birth())
    }

    /// The entries that only one of two stores has, of the pages under a prefix, or of all pages.
    ///
    /// Reads both stores once, lazily.
    #[pyo3(signature = (before, under: "str | None" = None) -> "Diff[ExactDifference]")]
    fn diff_exact<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, View>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Diff>> {
        let (now, birth) = (self.now(py)?, self.birth_with(before.get()));
        let before = before.get().now(py)?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff =
            py.detach(|| query::ExactDiff::of(&before, &now, under.as_ref())).or_raise(py)?;
        let epochs = diff.epochs().to_vec();
        Diff::of(py, Iterated::new(diff), epochs, birth)
    }
}
