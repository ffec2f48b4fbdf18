//! The results of batches: sequences of values created on access, and columns.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use simkeep::{Matches, Outcome};

use crate::convert::sequence;
use crate::convert::typed::{GetItemResult, Iter};
use crate::convert::value::FromRust;
use crate::pages::outcome::{self, VerdictParts};
use crate::search::matches;
use crate::streams::batches::Batches;
use crate::streams::columns::{
    Bits, Boolean, Float64, Int32, Int64, Result, Timestamp, Utf8, Word, columns,
};

/// The results of many searches: a sequence of `Matches`, in the order of the queries.
///
/// As Arrow data, the result is a table with a row for each page found: `query`, `url`, `distance`
/// and `fingerprint`.
#[pyclass(frozen, sequence, module = "simkeep")]
pub(crate) struct Answers(pub(crate) Vec<Matches>);

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Iter<matches::Matches>> {
        sequence::iter(slf.as_any())
    }

    fn __getitem__(
        &self,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<GetItemResult<matches::Matches, Vec<matches::Matches>>> {
        sequence::item(index, &self.0, |found| FromRust::from_rust(index.py(), found.clone()))
    }

    /// A row for each page found: `query`, counted from 0, `url`, `distance` and `fingerprint`.
    ///
    /// The fingerprint is `int64`, bit for bit, with `signed=True`.
    #[pyo3(signature = (*, signed=false))]
    fn batches(&self, py: Python<'_>, signed: bool) -> PyResult<Batches> {
        Batches::whole(py.detach(|| near(&self.0, signed)))
    }

    /// A row for each search: whether its result is `complete`, and the distance `within` which no
    /// page is missing.
    fn queries(&self, py: Python<'_>) -> PyResult<Batches> {
        Batches::whole(py.detach(|| queries(&self.0)))
    }

    /// The data of `batches`, as a stream of Arrow data in a capsule.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches = Bound::new(py, self.batches(py, false)?)?;
        batches.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Answers to {}>", self.0.len())
    }
}

/// The outcomes of many observations: a sequence of `Outcome`s, in the order of the observations.
///
/// As Arrow data, the result is a table with a row for each observation: `verdict`, `distance`,
/// `to`, `novel`, `priority` and `complete`.
#[pyclass(frozen, sequence, module = "simkeep")]
pub(crate) struct Outcomes(pub(crate) Vec<Outcome>);

#[pymethods]
impl Outcomes {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Iter<outcome::Outcome>> {
        sequence::iter(slf.as_any())
    }

    fn __getitem__(
        &self,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<GetItemResult<outcome::Outcome, Vec<outcome::Outcome>>> {
        sequence::item(index, &self.0, |found| FromRust::from_rust(index.py(), found.clone()))
    }

    /// A row for each observation: `verdict`, `distance`, `to`, `novel`, `priority`, `complete`, and
    /// `refers_to_url` and `refers_to_time` of the first capture.
    fn batches(&self, py: Python<'_>) -> PyResult<Batches> {
        Batches::whole(py.detach(|| verdicts(&self.0)))
    }

    /// A row for each copy: `observation`, counted from 0, `url` and `first`.
    fn copies(&self, py: Python<'_>) -> PyResult<Batches> {
        Batches::whole(py.detach(|| copies(&self.0)))
    }

    /// A row for each near-duplicate: `observation`, `url`, `distance`, `fingerprint` and `first`.
    ///
    /// The observation is counted from 0. The fingerprint is `int64`, bit for bit, with
    /// `signed=True`.
    #[pyo3(signature = (*, signed=false))]
    fn near(&self, py: Python<'_>, signed: bool) -> PyResult<Batches> {
        Batches::whole(py.detach(|| duplicates(&self.0, signed)))
    }

    /// The data of `batches`, as a stream of Arrow data in a capsule.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches = Bound::new(py, self.batches(py)?)?;
        batches.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Outcomes of {}>", self.0.len())
    }
}

/// Builds the near pages of many searches.
fn near(answers: &[Matches], signed: bool) -> Result<RecordBatch> {
    let urls = answers.iter().flat_map(|matches| &matches.near).map(|near| near.url.len());
    if urls.sum::<usize>() > i32::MAX as usize {
        let what = "the URLs take more than 2 GiB: ask in several batches, or with a lower limit";
        return Err(ArrowError::InvalidArgumentError(what.to_owned()));
    }
    columns! {
        for (query, near) in numbered(answers, |matches| &matches.near), signed;
        query: Int64 = query,
        url: Utf8 = &near.url,
        distance: Int32 = near.distance,
        fingerprint: Bits = near.fingerprint,
    }
}

/// Builds the summary of many searches.
fn queries(answers: &[Matches]) -> Result<RecordBatch> {
    columns! {
        for matches in answers, false;
        complete: Boolean = matches.complete,
        within: Option<Int32> = matches.within,
    }
}

/// Builds the verdicts of many observations.
fn verdicts(outcomes: &[Outcome]) -> Result<RecordBatch> {
    columns! {
        for (outcome, parts) in outcomes.iter().map(|of| (of, VerdictParts::from(of.verdict))), false;
        verdict: Word = parts.verdict.value(),
        distance: Option<Int32> = parts.distance,
        to: Option<Timestamp> = parts.to.map(|time| time.0),
        novel: Boolean = outcome.novel,
        priority: Float64 = outcome.priority,
        complete: Boolean = outcome.complete,
        refers_to_url: Option<Utf8> = outcome.refers_to.as_ref().map(|capture| &capture.url),
        refers_to_time: Option<Timestamp> = outcome.refers_to.as_ref().map(|capture| capture.time),
    }
}

/// Builds the copies of many observations.
fn copies(outcomes: &[Outcome]) -> Result<RecordBatch> {
    columns! {
        for (number, copy) in numbered(outcomes, |outcome| &outcome.copies), false;
        observation: Int64 = number,
        url: Utf8 = &copy.url,
        first: Timestamp = copy.first,
    }
}

/// Builds the near-duplicates of many observations.
fn duplicates(outcomes: &[Outcome], signed: bool) -> Result<RecordBatch> {
    columns! {
        for (number, near) in numbered(outcomes, |outcome| &outcome.near), signed;
        observation: Int64 = number,
        url: Utf8 = &near.url,
        distance: Int32 = near.distance,
        fingerprint: Bits = near.fingerprint,
        first: Timestamp = near.first,
    }
}

/// Returns each part of each result, with the index of the result.
fn numbered<'a, T, Part: 'a>(
    answers: &'a [T],
    parts: impl Fn(&T) -> &Vec<Part>,
) -> impl Iterator<Item = (i64, &'a Part)> {
    (0..).zip(answers).flat_map(move |(place, of)| parts(of).iter().map(move |part| (place, part)))
}
