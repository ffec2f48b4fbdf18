//! Sites: those that mirror each other, and differences between URLs that make none.

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
    /// Finds differences between URLs that make none, site by site.
    ///
    /// Such as with `http` and `https`, with and without `www.`, with a number for each visitor. A
    /// site is a host with and without `www.`; those come that have a rule to be told of. Of all
    /// pages that a rule makes one URL, each but the first is a pair with that, which is near if
    /// their fingerprints are within k bits of each other. A rule holds if it has so many `pairs`,
    /// and such a `share` of them is near. `normalised` applies the rules of a site.
    ///
    /// Costs a scan of all pages and up to some microseconds for each, in a thread that waits for
    /// whoever reads and ends when the stream is closed; `memory_bytes` for one site at a time.
    ///
    /// Raises, when it is read, `InvalidOptionError` for a share that is none, and `EpochError` for an
    /// epoch that has ended or is not known.
    ///
    /// Keywords: `share` (0.9); `pairs` (10); `all=True` also tells of rules that do not hold;
    /// `examples`, the most of each rule (3); `epoch`; `under`, a prefix; `memory_bytes` for the
    /// pages of one site (512 MiB).
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
        let (asked, progress) = (aliases::asked(k, like)?, progress::given(progress));
        AliasSites::find(py, snapshot, asked, progress)
    }

    /// Finds the sites that mirror each other: hosts, and folders of them, with the same paths.
    ///
    /// A site mirrors another if so many `paths` lead to pages within k bits of each other, and
    /// they have such a `share` of all that either has. A path is what follows the site in a URL,
    /// whatever the scheme. What is found was compared path by path; which pairs are compared, a
    /// sample decides, so one may be missed: `Mirrors.recall` says how likely it is found.
    ///
    /// Costs a scan of all pages, and for each pair that is compared some 100 microseconds and the
    /// pages of both; `memory_bytes`, and scratch files for what does not fit. Other threads run
    /// meanwhile. Ctrl-C ends it.
    ///
    /// Raises `InvalidArgumentError` if what is asked makes no sense, `EpochError` for an epoch that has
    /// ended or is not known, `IoError` if there is no room for scratch files.
    ///
    /// Keywords: `paths`, of how many at least (10); `share`, what share they must be of all that
    /// either has (0.8); `depth`, how many folders deep a site may lie (2, at most 16); `limit`,
    /// the most pairs (1,000; `None` for all); `at`, `under`, `epoch`, `classes`; `memory_bytes`
    /// (128 MiB); `scratch`, a directory for what does not fit.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Mirroring]"
    ))]
    fn mirrors<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Mirrors> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (mirrors::asked(k, like)?, progress::given(progress));
        Mirrors::from_rust(py, long(py, &progress, || asked.run(&snapshot, &progress))?)
    }
}
