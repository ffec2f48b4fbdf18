//! Published states of a store, as immutable files.

use std::path::PathBuf;

use pyo3::prelude::*;
use simkeep::publish::PublishOptions;

use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::fingerprint::epoch::EpochInfo;
use crate::maintain::integrity::FileCount;
use crate::maintain::scope::ForgetScope;

value! {
    Publication from made: simkeep::publish::Publication {
        generation: u64,
        is_new: bool,
        sequence: u64,
        unsealed: u64,
        linked: Py<FileCount>,
        copied: Py<FileCount>,
        kept: Py<FileCount>,
        checked: Py<FileCount>,
        unchecked: Py<FileCount>,
        replaced: Py<FileCount>,
        removed: Tuple<u64>,
        removed_files: u64,
        older: Tuple<u64>,
        forgotten: Option<bool>,
        not_linked: Option<String>,
    }
}

value! {
    GenerationInfo from generation: simkeep::publish::GenerationInfo {
        number: u64,
        store: u64,
        written: PyTime = simkeep::Time::from(generation.written),
        sequence: u64,
        files: Py<FileCount>,
        epochs: Tuple<EpochInfo>,
        near_epoch: u32,
    }
}

value! {
    IncompleteGeneration from newer: simkeep::publish::IncompleteGeneration {
        generation: u64,
        why: String,
    }
}

value! {
    PublishedFile from file: simkeep::publish::PublishedFile {
        name: String,
        bytes: u64,
    }
}

/// Converts the options of publishing.
pub(crate) fn publish_options(
    keep: Option<&Bound<'_, PyAny>>,
    grace: Option<&Bound<'_, PyAny>>,
    (copy, check_kept): (bool, bool),
    progress: &simkeep::Progress,
) -> PyResult<PublishOptions> {
    let options = PublishOptions::default().copy(copy).check_kept(check_kept);
    let mut options = options.progress(progress.clone());
    if let Some(keep) = optional(keep, |v| arg::size(Arg::new("keep"), v))? {
        options.keep = keep;
    }
    if let Some(grace) = optional(grace, |v| arg::duration(Arg::new("grace"), v))? {
        options.grace = grace;
    }
    Ok(options)
}

/// Publishes the sealed part of the store in a directory as a generation in another directory.
///
/// `Reader.published` opens the generation. A process may have the store open for writing. Segments
/// and tables are linked or copied (`copy=True` links none), unless an earlier generation already
/// has them. Linked and copied files never change. The newest `keep` generations are kept (3).
/// Older generations are kept for a `grace` period after they were superseded (a day). Costs a read
/// of the new segments, and of a small part of the old segments: each old segment is read once in
/// 30 days, or in every call with `check_kept=True`. A damaged segment is replaced by the segment
/// of the store. Ctrl-C ends the call.
#[pyfunction]
#[pyo3(signature = (
    path, to, *, keep: "int | None" = None, grace: "_types.Seconds | None" = None, copy=false,
    check_kept=false, progress=None
))]
pub(crate) fn publish<'py>(
    py: Python<'py>,
    path: PathBuf,
    to: PathBuf,
    keep: Option<&Bound<'py, PyAny>>,
    grace: Option<&Bound<'py, PyAny>>,
    copy: bool,
    check_kept: bool,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<Publication> {
    let progress = progress::or_default(progress);
    let options = publish_options(keep, grace, (copy, check_kept), &progress)?;
    Publication::from_rust(
        py,
        long(py, &progress, || simkeep::publish::publish(path, to, options))?,
    )
}

/// Whether a directory has a published store, or is receiving a published store.
///
/// `Reader` reads a published directory like a store, and only `publish` writes to it. Costs
/// listing the directory.
#[pyfunction]
pub(crate) fn is_published(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    py.detach(|| simkeep::publish::is_published(path)).or_raise(py)
}

/// The published generations in a directory, in order. Costs a small read for each.
#[pyfunction]
pub(crate) fn generations(py: Python<'_>, path: PathBuf) -> PyResult<Tuple<GenerationInfo>> {
    FromRust::from_rust(py, py.detach(|| simkeep::publish::generations(path)).or_raise(py)?)
}

/// The files of a generation: segments, then tables of document frequencies.
///
/// Needs only the generation's own file, not the listed files. Costs a small read.
#[pyfunction]
#[pyo3(signature = (path, generation: "int"))]
pub(crate) fn generation_files(
    py: Python<'_>,
    path: PathBuf,
    generation: &Bound<'_, PyAny>,
) -> PyResult<Tuple<PublishedFile>> {
    let generation = arg::count(Arg::new("generation"), generation)?;
    FromRust::from_rust(py, py.detach(|| simkeep::publish::files(path, generation)).or_raise(py)?)
}

/// The number of distinct fingerprints of an epoch in a generation. A fingerprint counts once for
/// each segment that has it.
///
/// Reads the beginning of each segment, and some bytes for each MiB at its end. The bytes in
/// between may still be missing, as long as the files have their final lengths.
#[pyfunction]
#[pyo3(signature = (path, generation: "int", epoch: "int"))]
pub(crate) fn generation_fingerprints(
    py: Python<'_>,
    path: PathBuf,
    generation: &Bound<'_, PyAny>,
    epoch: &Bound<'_, PyAny>,
) -> PyResult<u64> {
    let generation = arg::count(Arg::new("generation"), generation)?;
    let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
    py.detach(|| simkeep::publish::fingerprints(path, generation, epoch)).or_raise(py)
}

/// Reads and checks all files of a generation, or only the file with this name.
///
/// Raises `CorruptError` for the first damaged file, and `IoError` for a missing file. Ctrl-C ends
/// the call.
#[pyfunction]
#[pyo3(signature = (path, generation: "int", *, file=None, progress=None))]
pub(crate) fn check_generation<'py>(
    py: Python<'py>,
    path: PathBuf,
    generation: &Bound<'py, PyAny>,
    file: Option<&str>,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<()> {
    let progress = progress::or_default(progress);
    let generation = arg::count(Arg::new("generation"), generation)?;
    long(py, &progress, || match file {
        Some(name) => simkeep::publish::check_file(path, generation, name, &progress),
        None => simkeep::publish::check(path, generation, &progress),
    })
}

/// The generations in a directory that still contain bytes of a page, or of pages `under` a prefix.
///
/// Returns the numbers of the generations. Call this function, for example, after a purge of the
/// store. Costs a search in each segment of each generation.
#[pyfunction]
#[pyo3(signature = (path, url: "str | None" = None, *, under: "str | None" = None))]
pub(crate) fn generations_with<'py>(
    py: Python<'py>,
    path: PathBuf,
    url: Option<&Bound<'py, PyAny>>,
    under: Option<&Bound<'py, PyAny>>,
) -> PyResult<Tuple<u64>> {
    let scope = ForgetScope::new("generations_with", url, under)?;
    let all = py.detach(|| simkeep::publish::generations_with(path, &scope.of())).or_raise(py)?;
    Tuple::new(py, all)
}
