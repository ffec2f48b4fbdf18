//! Maintenance of a store: forget, merge, check, back up and publish.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::Store;
use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::convert::value::FromRust;
use crate::maintain::integrity::{self, BackedUp, Verified};
use crate::maintain::publishing::{Publication, publish_options};
use crate::maintain::scope::ForgetScope;
use crate::maintain::stats::{Compacted, Forgotten, Merged, Stats};

#[pymethods]
impl Store {
    /// Forgets all observations so far of a page, or of all pages `under` a prefix. A prefix with a
    /// host or a path also covers pages that match it except for the user in their URL.
    ///
    /// The forgotten data is hidden from every result at once. Its bytes leave the files when
    /// merges rewrite them.
    #[pyo3(signature = (url: "str | None" = None, *, under: "str | None" = None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        url: Option<&Bound<'py, PyAny>>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Forgotten> {
        let scope = ForgetScope::new("forget", url, under)?;
        Forgotten::from_rust(py, self.call(py, |store| store.forget(scope.of()))?)
    }

    /// Forgets, and rewrites every file with bytes of forgotten pages.
    ///
    /// Costs a rewrite of each segment with such pages. Ctrl-C ends the call. The pages may then be
    /// forgotten, with some of their bytes left in files; purge again.
    #[pyo3(signature = (url: "str | None" = None, *, under: "str | None" = None, progress=None))]
    fn purge<'py>(
        &self,
        py: Python<'py>,
        url: Option<&Bound<'py, PyAny>>,
        under: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Forgotten> {
        let (store, scope) = (self.open.store(py)?, ForgetScope::new("purge", url, under)?);
        let progress = progress::or_default(progress);
        Forgotten::from_rust(py, long(py, &progress, || store.purge(scope.of(), &progress))?)
    }

    /// Makes all acknowledged operations durable. Needed only with `durability="flush"`.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::flush)
    }

    /// Writes the memtable as a segment. Sealing also happens automatically.
    fn seal(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::seal)
    }

    /// Merges all segments into a single segment. Merges also happen automatically.
    ///
    /// Costs reading and writing the store. Ctrl-C ends the call, and leaves the store unchanged.
    #[pyo3(signature = (*, progress=None))]
    fn merge(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Merged> {
        let (store, progress) = (self.open.store(py)?, progress::or_default(progress));
        let merged: simkeep::Merged = long(py, &progress, || store.merge(&progress))?;
        Merged::from_rust(py, merged)
    }

    /// Makes the store as small as possible.
    ///
    /// Costs reading and writing the store, and its size in free space meanwhile. Ctrl-C ends the
    /// call.
    #[pyo3(signature = (*, progress=None))]
    fn compact(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Compacted> {
        let (store, progress) = (self.open.store(py)?, progress::or_default(progress));
        Compacted::from_rust(py, long(py, &progress, || store.compact(&progress))?)
    }

    /// Waits until the background work is done.
    fn wait_idle(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::wait_idle)
    }

    /// Sizes of the store. Reads no table.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        let stats = self.call(py, simkeep::Store::stats)?;
        Stats::from_rust(py, stats)
    }

    /// Checks the store while it is in use: reads the whole store, and lists every flaw.
    ///
    /// `rate` is the maximum number of bytes to read per second. Damage is part of the result, and
    /// raises no exception. Ctrl-C ends the call.
    #[pyo3(signature = (
        *, rate: "int | None" = None, flaws_max: "int | None" = None, progress=None
    ))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        rate: Option<&Bound<'py, PyAny>>,
        flaws_max: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Verified> {
        let store = self.open.store(py)?;
        let options = integrity::verify_options(rate, flaws_max, progress)?;
        let progress = options.progress.clone();
        Verified::from_rust(py, long(py, &progress, || store.verify(options))?)
    }

    /// Makes a backup of the store in another directory, or updates it. Ctrl-C ends the call.
    #[pyo3(signature = (to, *, copy=false, progress=None))]
    fn backup(
        &self,
        py: Python<'_>,
        to: PathBuf,
        copy: bool,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<BackedUp> {
        let (store, progress) = (self.open.store(py)?, progress::or_default(progress));
        let options = simkeep::backup::BackupOptions::default().copy(copy);
        let options = options.progress(progress.clone());
        BackedUp::from_rust(py, long(py, &progress, || store.backup(to, options))?)
    }

    /// Seals the memtable, and publishes the store in a directory as a generation, which a `Reader`
    /// opens.
    ///
    /// Takes the keywords of `publish`, and costs as much as `publish`. Ctrl-C ends the call.
    #[pyo3(signature = (
        to, *, keep: "int | None" = None, grace: "_types.Seconds | None" = None, copy=false,
        check_kept=false, progress=None
    ))]
    fn publish<'py>(
        &self,
        py: Python<'py>,
        to: PathBuf,
        keep: Option<&Bound<'py, PyAny>>,
        grace: Option<&Bound<'py, PyAny>>,
        copy: bool,
        check_kept: bool,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Publication> {
        let (store, progress) = (self.open.store(py)?, progress::or_default(progress));
        let options = publish_options(keep, grace, (copy, check_kept), &progress)?;
        Publication::from_rust(py, long(py, &progress, || store.publish(to, options))?)
    }
}
