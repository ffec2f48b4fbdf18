//! Where a store has a page, what it knows of it, and which versions it had.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use simkeep::inspect;

use crate::arg::{self, Arg};
use crate::error::OrRaise;
use crate::history::{self, HistoryEntry, Visit};
use crate::outcome::Told;
use crate::page::{Content, Page};
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;
use crate::word::{SameBy, Verdict, VersionKind};

value! {
    /// All that is known of a page, and where that stands.
    Trace {
        /// The page as it is now.
        page: Py<Page>,
        /// What it is sorted by, its SURT: such as "com,example)/terms".
        surt: String,
        /// What it is found by: the hash of its URL, which each store seeds by itself.
        hash: u64,
        /// Where something of it stands, the newest first.
        places: Tuple<Place>,
        /// Its visits, and what each meant, as `history` tells them.
        history: Tuple<HistoryEntry>,
    }
}

value! {
    /// Where something of a page stands.
    Place {
        /// The number of the segment; `None` for what is in the journal, and in no segment yet.
        segment: Option<u64>,
        /// The number of the page there, in the order of the segment.
        number: u32,
        /// Bytes of its record; `None` in the journal.
        bytes: Option<u64>,
        /// How many entries stand there: visits, fingerprints in other epochs, weights and classes.
        entries: usize,
        /// Whether this is all of the page: older segments know nothing of it, or that was forgotten.
        is_first: bool,
    }
}

value! {
    /// Visits to a page that found one thing.
    Version {
        /// What that is.
        kind: VersionKind,
        /// Its number among the versions that have content, from 1 on; `None` without content.
        number: Option<u32>,
        /// The visit that found it first.
        visit: Py<Visit>,
        /// Its content, with the last fingerprint that it was given in each epoch, the first of all
        /// first; empty without content.
        contents: Tuple<Content>,
        /// When it was last seen before other content was.
        last: Time,
        /// How many visits saw it before other content was seen.
        visits: u64,
        /// What the first of them meant.
        verdict: Verdict,
        /// How it is known to have been the same, if that is the verdict.
        by: Option<SameBy>,
        /// In how many bits its fingerprint differs from that of the version before, by the verdict.
        distance: Option<u32>,
        /// The epoch of the fingerprints that were compared.
        distance_epoch: Option<u32>,
        /// When the version that the page went back to was last seen.
        to: Option<Time>,
        /// The number of that version.
        back_to: Option<u32>,
        /// The bits in which its fingerprint differs from that of the version before; `None` if there is
        /// none, or the two cannot be compared.
        differing: Option<u64>,
    }
}

impl Version {
    fn of(py: Python<'_>, of: inspect::Version) -> PyResult<Version> {
        let number = match of.kind {
            inspect::VersionKind::Content(number) => Some(number),
            _ => None,
        };
        let Told { verdict, by, distance, distance_epoch, to } = of.verdict.into();
        Ok(Version {
            kind: of.kind.into(),
            number,
            visit: FromRust::from_rust(py, of.visit)?,
            contents: FromRust::from_rust(py, of.contents)?,
            last: Time(of.last),
            visits: of.visits,
            verdict,
            by,
            distance,
            distance_epoch,
            to,
            back_to: of.back_to,
            differing: of.differing,
        })
    }
}

impl Trace {
    fn of(py: Python<'_>, of: inspect::Trace) -> PyResult<Trace> {
        Ok(Trace {
            page: FromRust::from_rust(py, of.page)?,
            surt: of.surt,
            hash: of.hash,
            places: Tuple::of(py, of.places, |place| {
                let inspect::Place { segment, number, bytes, entries, is_first, .. } = place;
                Ok(Place { segment, number, bytes, entries, is_first })
            })?,
            history: FromRust::from_rust(py, of.history)?,
        })
    }
}

/// The versions of a page, from its history, as `View.history` or `View.histories` tell it.
///
/// Visits that saw one content, were told that it was not modified, or saw it again after failures
/// are one version; a content that comes back later is another. Failures that follow each other
/// with one status are one, and so are visits that find the page gone. What the page was given is
/// left out. Linear in the history.
#[pyfunction]
#[pyo3(signature = (history: "Iterable[Judged | Restated | Given]"))]
pub(crate) fn versions(py: Python<'_>, history: &Bound<'_, PyAny>) -> PyResult<Vec<Version>> {
    let arg = Arg::new("history");
    let expected = "an iterable of Judged, Restated and Given";
    if history.is_instance_of::<PyString>() {
        return Err(arg.type_error(expected, history));
    }
    let all = history.try_iter().map_err(|_| arg.type_error(expected, history))?;
    let entries = (0..).zip(all).map(|(row, entry)| history::taken(arg.at(row), &entry?));
    let entries = entries.collect::<PyResult<Vec<_>>>()?;
    inspect::versions(&entries).into_iter().map(|version| Version::of(py, version)).collect()
}

/// What a page is sorted by, its SURT, as the Internet Archive writes it.
///
/// Such as "com,example)/terms". Linear in the length of the URL.
#[pyfunction]
#[pyo3(signature = (url: "str"))]
pub(crate) fn surt(url: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(inspect::surt(arg::url(Arg::new("url"), url)?))
}

/// Bytes that compare as pages are sorted, also those of several stores: what `surt` is made of.
///
/// Of two URLs with the same, the less comes first.
#[pyfunction]
#[pyo3(signature = (url: "str"))]
pub(crate) fn surt_key<'py>(
    py: Python<'py>,
    url: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &inspect::surt_key(arg::url(Arg::new("url"), url)?)))
}

#[pymethods]
impl View {
    /// All that is known of a page, and where that stands; `None` for an unknown page.
    ///
    /// Costs reading the page's record in each segment that has it. Raises `UrlError` for what no
    /// page can have.
    #[pyo3(signature = (url: "str"))]
    fn trace(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Option<Trace>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let trace = py.detach(|| simkeep::inspect::Trace::of(&snapshot, url)).or_raise(py)?;
        trace.map(|trace| Trace::of(py, trace)).transpose()
    }
}
