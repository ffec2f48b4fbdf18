//! How the pages of two stores differ, or those of one store at two times.

use pyo3::prelude::*;
use simkeep::{EpochInfo as CrateEpochInfo, Result, query};

use crate::arg::{self, Arg, optional};
use crate::columns::Kind;
use crate::epoch::EpochInfo;
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::history::Entry;
use crate::outcome::Told;
use crate::page::Content;
use crate::stream::{Item, Iterated, Source, Stream};
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::Verdict;

value! {
    /// A page whose version in force differs.
    Difference from of: simkeep::query::Difference {
        url: String,
        verdict: Verdict = Told::from(of.verdict).verdict,
        /// In how many bits the fingerprints differ; `None` where that is not known.
        distance: Option<u32> = Told::from(of.verdict).distance,
        /// The epoch of the fingerprints that were compared.
        distance_epoch: Option<u32> = Told::from(of.verdict).distance_epoch,
        /// When the version that the page went back to was last seen before, if it was reverted.
        to: Option<Time> = Told::from(of.verdict).to,
        priority: f64,
        before: Option<Py<Content>>,
        after: Option<Py<Content>>,
        seen: Option<Time>,
    }
}

value! {
    /// Entries of a page that only one side has.
    ExactDifference from of: simkeep::query::ExactDifference {
        url: String,
        before: Tuple<Entry>,
        after: Tuple<Entry>,
    }
}

/// How pages differ: a stream in SURT order, read lazily.
#[pyclass(frozen, extends = Stream, generic, module = "simkeep")]
pub(crate) struct Differences {
    epochs: Vec<CrateEpochInfo>,
}

#[pymethods]
impl Differences {
    /// The epochs of the contents and distances.
    ///
    /// Those of the side before come under the numbers that they have there, then those that only
    /// the side after has.
    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<EpochInfo>> {
        self.epochs.iter().map(|info| EpochInfo::from_rust(py, info.clone())).collect()
    }
}

impl Differences {
    fn of(
        py: Python<'_>,
        source: impl Source + 'static,
        kind: Option<Kind>,
        epochs: Vec<CrateEpochInfo>,
        birth: Option<Birth>,
    ) -> PyResult<Py<Differences>> {
        let stream = Stream::new(source, kind, birth);
        Py::new(py, PyClassInitializer::from(stream).add_subclass(Differences { epochs }))
    }

    /// Pages whose version in force differs.
    fn inexact(
        py: Python<'_>,
        diff: Result<query::Diff>,
        birth: Option<Birth>,
    ) -> PyResult<Py<Differences>> {
        let diff = diff.or_raise(py)?;
        let epochs = diff.epochs().to_vec();
        let items = Iterated::new(diff, |of| Item::Difference(Box::new(of)));
        Differences::of(py, items, Some(Kind::Differences), epochs, birth)
    }
}

#[pymethods]
impl View {
    /// How this store differs from what it was `before`, or from any other store.
    ///
    /// Tells the pages under a prefix, or all, whose version in force is not the same, in SURT
    /// order. A page is judged as if what is in force here were observed there next. So a page that
    /// changed and went back does not differ; one that only this has is new, and one that only the
    /// other has is gone. Epochs are the same if their names are. Reads both once, lazily, with one
    /// page of each in memory.
    #[pyo3(signature = (before, under: "str | None" = None) -> "Differences[Difference]")]
    fn diff<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, View>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Differences>> {
        let (now, birth) = (self.now(py)?, self.birth_with(before.get()));
        let before = before.get().now(py)?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff = py.detach(|| now.diff(&before, under.as_ref()));
        Differences::inexact(py, diff, birth)
    }

    /// How the pages under a prefix, or all, changed from one time to another, both included.
    ///
    /// As in `diff`, by what was seen until then. Reads all pages once, lazily.
    #[pyo3(signature = (
        since: "Time", until: "Time", under: "str | None" = None
    ) -> "Differences[Difference]")]
    fn diff_since<'py>(
        &self,
        py: Python<'py>,
        since: &Bound<'py, PyAny>,
        until: &Bound<'py, PyAny>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Differences>> {
        let now = self.now(py)?;
        let since = arg::time(Arg::new("since"), since)?;
        let until = arg::time(Arg::new("until"), until)?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff = py.detach(|| query::Diff::between(&now, since, until, under.as_ref()));
        Differences::inexact(py, Ok(diff), self.birth())
    }

    /// Which entries of the pages under a prefix, or all, only one of two stores has.
    ///
    /// Reads both once, lazily.
    #[pyo3(signature = (before, under: "str | None" = None) -> "Differences[ExactDifference]")]
    fn diff_exact<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, View>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Differences>> {
        let (now, birth) = (self.now(py)?, self.birth_with(before.get()));
        let before = before.get().now(py)?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let diff =
            py.detach(|| query::ExactDiff::of(&before, &now, under.as_ref())).or_raise(py)?;
        let epochs = diff.epochs().to_vec();
        let items = Iterated::new(diff, |of| Item::ExactDifference(Box::new(of)));
        Differences::of(py, items, None, epochs, birth)
    }
}
