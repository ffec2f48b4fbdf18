//! Sites: mirrors, and URL aliases.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::view::View;
use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::convert::value::FromRust;
use crate::sites::aliases::{self, AliasSites};
use crate::sites::mirrors::{self, Mirrors};

#[pymethods]
impl View {
    /// Finds differences between URLs that do not matter, site by site.
    ///
    /// Examples are `http` and `https`, with and without `www.`, or a session number. A site is a
    /// host with and without `www.`; the result has the sites with a rule to report. Of all pages
    /// that a rule maps to one URL, each but the first forms a pair with the first. A pair is near
    /// if its two fingerprints are within k bits of each other. A rule holds if it has at least
    /// `pairs` pairs, and at least a `share` of the pairs is near. `normalised` applies the rules
    /// of a site.
    ///
    /// Costs a scan of all pages, and up to some microseconds for each page, in a thread that waits
    /// for the reader and ends when the stream is closed. Takes `memory_bytes` for one site at a
    /// time.
    ///
    /// Reading raises `InvalidOptionError` for an invalid share, and `EpochError` for an ended or
    /// unknown epoch.
    ///
    /// Keywords: `share` (0.9); `pairs` (10); `all=True` also reports rules that do not hold;
    /// `examples`, the maximum number of examples for each rule (3); `epoch`; `under`, a prefix;
    /// `memory_bytes` for the pages of one site (512 MiB).
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.AliasQuery]"
    ))]
    fn aliases<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<AliasSites>> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (aliases::asked(k, like)?, progress::or_default(progress));
        AliasSites::find(py, snapshot, asked, progress)
    }

    /// Finds the sites that mirror each other: hosts, or folders of hosts, with the same paths.
    ///
    /// A site mirrors another site if at least `paths` paths lead to pages within k bits of each
    /// other on both, and these paths are at least a `share` of the combined paths of both sites. A
    /// path is the part of a URL after the site, for any scheme. Reported pairs were compared path
    /// by path. A sample selects the pairs to compare, so a pair may be missed: `Mirrors.recall` is
    /// the probability of finding a pair.
    ///
    /// Costs a scan of all pages, and for each compared pair some 100 microseconds and a read of
    /// the pages of both sites. Takes `memory_bytes`, and scratch files for data that does not fit.
    /// Other threads run meanwhile. Ctrl-C ends the call.
    ///
    /// Raises `InvalidArgumentError` for inconsistent arguments, `EpochError` for an ended or
    /// unknown epoch, `IoError` if there is no space for scratch files.
    ///
    /// Keywords: `paths`, the minimum number of common paths (10); `share`, the minimum share of
    /// the combined paths (0.8); `depth`, the maximum depth of folders in a site (2, at most 16);
    /// `limit`, the maximum number of pairs (1,000; `None` for all); `at`, `under`, `epoch`,
    /// `classes`; `memory_bytes` (128 MiB); `scratch`, a directory for scratch files.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.MirrorQuery]"
    ))]
    fn mirrors<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Mirrors> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (mirrors::asked(k, like)?, progress::or_default(progress));
        Mirrors::from_rust(py, long(py, &progress, || asked.run(&snapshot, &progress))?)
    }
}
