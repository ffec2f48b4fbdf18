//! The data of a page: the places where the data is stored, the state of the page, and its
//! versions.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use simkeep::inspect;

use crate::convert::arg::{self, Arg};
use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::convert::word::{SameBy, Verdict, VersionKind};
use crate::pages::history::{self, PyHistoryEntry, Visit};
use crate::pages::outcome::VerdictParts;
use crate::pages::page::{Content, Page};

value! {
    Trace from trace: simkeep::inspect::Trace {
        page: Py<Page>,
        surt: String,
        hash: u64,
        records: Tuple<PageRecord>,
        history: Tuple<PyHistoryEntry> = history::of_page(&trace.page.url, trace.history),
    }
}

value! {
    /// A record of a page, in a segment or in the journal.
    PageRecord from record: simkeep::inspect::PageRecord {
        segment: Option<u64>,
        number: u32,
        bytes: Option<u64>,
        entries: usize,
        is_first: bool,
    }
}

value! {
    Version from version: simkeep::inspect::Version {
        kind: VersionKind,
        /// The number of the version among the versions with content, counted from 1; `None`
        /// without content.
        number: Option<u32> = match version.kind {
            inspect::VersionKind::Content(number) => Some(number),
            _ => None,
        },
        visit: Py<Visit>,
        contents: Tuple<Content>,
        last: PyTime,
        visits: u64,
        verdict: Verdict = VerdictParts::from(version.verdict).verdict,
        /// The reason why the page is known to have been the same, if the verdict is `same`.
        by: Option<SameBy> = VerdictParts::from(version.verdict).by,
        /// The distance in bits of the version's fingerprint from the fingerprint of the previous
        /// version, by the verdict.
        distance: Option<u32> = VerdictParts::from(version.verdict).distance,
        /// The epoch of the compared fingerprints.
        distance_epoch: Option<u32> = VerdictParts::from(version.verdict).distance_epoch,
        /// The time when the version that the page reverted to was last seen.
        to: Option<PyTime> = VerdictParts::from(version.verdict).to,
        back_to: Option<u32>,
        differing: Option<u64>,
    }
}

/// The versions of a page, from its history, as returned by `View.history` or `View.histories`.
///
/// Visits that saw the same content, reported it unmodified, or saw it again after failures are one
/// version. Content that returns later is another version. Consecutive failures with the same
/// status are one version, and so are visits that find the page gone. Properties are ignored.
/// Linear in the history.
#[pyfunction]
#[pyo3(signature = (history: "Iterable[VisitEntry | Restated | PropertyEntry]"))]
pub(crate) fn versions(py: Python<'_>, history: &Bound<'_, PyAny>) -> PyResult<Vec<Version>> {
    let arg = Arg::new("history");
    let expected = "an iterable of VisitEntry, Restated and PropertyEntry";
    if history.is_instance_of::<PyString>() {
        return Err(arg.type_error(expected, history));
    }
    let all = history.try_iter().map_err(|_| arg.type_error(expected, history))?;
    let entries =
        (0..).zip(all).map(|(row, entry)| history::read_history_entry(arg.at(row), "", &entry?));
    let entries = entries.collect::<PyResult<Vec<_>>>()?;
    FromRust::from_rust(py, inspect::versions(&entries))
}

/// The sort key of a page, its SURT, in the notation of the Internet Archive.
///
/// For example "com,example)/terms". Linear in the length of the URL.
#[pyfunction]
#[pyo3(signature = (url: "str"))]
pub(crate) fn surt(url: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(inspect::surt(arg::url(Arg::new("url"), url)?))
}

/// Bytes that compare in the order of pages, also across stores. `surt` is derived from these
/// bytes.
///
/// URLs with equal bytes are in the order of the URLs themselves.
#[pyfunction]
#[pyo3(signature = (url: "str"))]
pub(crate) fn surt_key<'py>(
    py: Python<'py>,
    url: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &inspect::surt_key(arg::url(Arg::new("url"), url)?)))
}
