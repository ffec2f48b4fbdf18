//! Searches for many fingerprints at once.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{Query, Result};

use crate::answers::Answers;
use crate::arg::{self, Arg};
use crate::comparison::each;
use crate::error::OrRaise;
use crate::view::View;
use crate::{prints, query};

/// How many fingerprints are searched at first, and at least, before signals are looked for.
const BATCH_FIRST: usize = 64;
/// The most that are searched between two looks for signals.
const BATCH_MAX: usize = 1 << 18;
/// About how long a part of a batch is to take, in seconds.
const BATCH_SECONDS: f64 = 0.05;

/// Searches for many, part by part, so that a signal ends it.
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

#[pymethods]
impl View {
    /// Finds pages near each of many fingerprints, in their order.
    ///
    /// They may come in a buffer of `uint64` or `int64`, such as an array of numpy, or in such a
    /// column of Arrow; they are copied. Searches run on all cores, side by side, so each costs a
    /// half to a quarter of a single one. Ctrl-C ends it.
    ///
    /// Takes the keywords of `near`.
    #[pyo3(signature = (
        fingerprints: "Iterable[SupportsIndex] | _types.ArrowStream | _types.ArrowArray", /,
        k: "int | None" = None, **like: "Unpack[_types.NearMany]"
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
        let fingerprints = prints::fingerprints(Arg::new("fingerprints"), fingerprints)?;
        search(py, &fingerprints, |part| query.run_batch(&snapshot, part)).map(Answers)
    }

    /// Finds the pages near each of many pages, which are named with a fingerprint of theirs.
    ///
    /// They are pairs of the two, and each is left out of its own answer. Answers come in their
    /// order. Costs what `near_batch` does; no page is looked up. Ctrl-C ends it.
    ///
    /// Takes the keywords of `near`.
    #[pyo3(signature = (
        pages: "Iterable[tuple[SupportsIndex, str]]", /, k: "int | None" = None,
        **like: "Unpack[_types.NearMany]"
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
