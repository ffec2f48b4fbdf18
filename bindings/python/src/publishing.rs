//! States of a store as files that never change.

use std::path::PathBuf;

use pyo3::prelude::*;
use simkeep::publishing::{self, PublishOptions};

use crate::arg::{self, Arg, optional};
use crate::epoch::EpochInfo;
use crate::error::OrRaise;
use crate::integrity::FileCount;
use crate::long::long;
use crate::progress::{self, Progress};
use crate::scope::Scope;
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::{FromRust, value};

value! {
    /// What was published.
    Publication {
        /// The number of the generation.
        generation: u64,
        /// Whether it is new. If not, the newest that was there already is this state of the store.
        is_new: bool,
        /// The last operation that it has.
        sequence: u64,
        /// How many operations were acknowledged since, and are in no segment yet: none is published.
        unsealed: u64,
        /// Files that are links: of one file with the store.
        linked: Py<FileCount>,
        /// Files that are copies.
        copied: Py<FileCount>,
        /// Files that were there already.
        kept: Py<FileCount>,
        /// Files that were read and checked: all that are linked or copied, and some that are kept.
        checked: Py<FileCount>,
        /// Files that are kept and were not read: they were found sound in the last 30 days.
        unchecked: Py<FileCount>,
        /// Files among the copies that took the place of damaged ones.
        replaced: Py<FileCount>,
        /// Older generations that were removed, by number.
        removed: Tuple<u64>,
        /// Files that were removed because no generation names them any more.
        removed_files: u64,
        /// Older generations that are there still. They have what was forgotten since.
        older: Tuple<u64>,
        /// Whether anything was forgotten since the oldest of them; `None` if that cannot be told.
        forgotten: Option<bool>,
        /// Why files were copied that were to be linked.
        not_linked: Option<String>,
    }
}

value! {
    /// A state of a store that is published.
    GenerationInfo {
        /// Its number: each has a larger one than those before.
        number: u64,
        /// The number of the store.
        store: u64,
        /// When it was published, by the clock of whoever did that.
        written: Time,
        /// The last operation that it has.
        sequence: u64,
        /// The segments and tables that it names.
        files: Py<FileCount>,
        /// The store's epochs, by number.
        epochs: Tuple<EpochInfo>,
        /// The number of the epoch that near-duplicates are sought by.
        near_epoch: u32,
    }
}

value! {
    /// A generation that is newer than the one that is read, and not whole yet.
    Incomplete {
        /// Its number.
        generation: u64,
        /// What is missing of it: the file, and how much of that.
        why: String,
    }
}

value! {
    /// A file that a generation names.
    PublishedFile {
        /// Its path within the directory. A name is for ever of the same bytes.
        name: String,
        /// How many bytes it has.
        bytes: u64,
    }
}

impl Publication {
    pub(crate) fn of(py: Python<'_>, made: publishing::Publication) -> PyResult<Publication> {
        Ok(Publication {
            generation: made.generation,
            is_new: made.is_new,
            sequence: made.sequence,
            unsealed: made.unsealed,
            linked: FileCount::of(py, made.linked)?,
            copied: FileCount::of(py, made.copied)?,
            kept: FileCount::of(py, made.kept)?,
            checked: FileCount::of(py, made.checked)?,
            unchecked: FileCount::of(py, made.unchecked)?,
            replaced: FileCount::of(py, made.replaced)?,
            removed: Tuple::new(py, made.removed)?,
            removed_files: made.removed_files,
            older: Tuple::new(py, made.older)?,
            forgotten: made.forgotten,
            not_linked: made.not_linked,
        })
    }
}

/// The settings of publishing.
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

/// Publishes what is sealed of the store in a directory: makes it a generation in another
/// directory.
///
/// `Reader.published` opens it. Works also beside a process that writes the store. Segments and
/// tables are linked or copied (`copy=True` links none), if no earlier generation has brought them,
/// and never change. The newest `keep` generations stay (3), and others for a `grace` after they
/// were the newest (a day). Costs a read of the segments that are new, and of a small part of the
/// others: each is read once in 30 days, and all of them with `check_kept=True`. A damaged one
/// gives way to that of the store. Ctrl-C ends it.
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
    let progress = progress::given(progress);
    let options = publish_options(keep, grace, (copy, check_kept), &progress)?;
    Publication::of(py, long(py, &progress, || publishing::publish(path, to, options))?)
}

/// Whether a store is published in a directory, or is being carried there.
///
/// `Reader` reads such a directory like a store, and nothing but `publish` writes to it. Costs
/// listing what is there.
#[pyfunction]
pub(crate) fn is_published(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    py.detach(|| publishing::is_published(path)).or_raise(py)
}

/// The generations that are published in a directory, in order. Costs a small read for each.
#[pyfunction]
pub(crate) fn generations(py: Python<'_>, path: PathBuf) -> PyResult<Tuple<GenerationInfo>> {
    let all = py.detach(|| publishing::generations(path)).or_raise(py)?;
    Tuple::of(py, all, |of| {
        Ok(GenerationInfo {
            number: of.number,
            store: of.store,
            written: Time(of.written.into()),
            sequence: of.sequence,
            files: FileCount::of(py, of.files)?,
            epochs: FromRust::from_rust(py, of.epochs)?,
            near_epoch: of.near_epoch.number(),
        })
    })
}

/// The files that a generation names: segments, then tables of document frequencies.
///
/// Needs the generation alone, none of these files. Costs a small read.
#[pyfunction]
#[pyo3(signature = (path, generation: "int"))]
pub(crate) fn generation_files(
    py: Python<'_>,
    path: PathBuf,
    generation: &Bound<'_, PyAny>,
) -> PyResult<Tuple<PublishedFile>> {
    let generation = arg::count(Arg::new("generation"), generation)?;
    let all = py.detach(|| publishing::files(path, generation)).or_raise(py)?;
    Tuple::of(py, all, |of| Ok(PublishedFile { name: of.name, bytes: of.bytes }))
}

/// How many distinct fingerprints of an epoch a generation has; one counts once for each segment
/// that has it.
///
/// Reads the beginning of each segment, and some bytes for each MiB at its end: what is between
/// need not have arrived, if only the files have their lengths.
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
    py.detach(|| publishing::fingerprints(path, generation, epoch)).or_raise(py)
}

/// Reads all files that a generation names, or the one of this name.
///
/// Raises `CorruptError` for the first that is damaged, `IoError` for one that is not there. Ctrl-C
/// ends it.
#[pyfunction]
#[pyo3(signature = (path, generation: "int", *, file=None, progress=None))]
pub(crate) fn check_generation<'py>(
    py: Python<'py>,
    path: PathBuf,
    generation: &Bound<'py, PyAny>,
    file: Option<&str>,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<()> {
    let progress = progress::given(progress);
    let generation = arg::count(Arg::new("generation"), generation)?;
    long(py, &progress, || match file {
        Some(name) => publishing::check_file(path, generation, name, &progress),
        None => publishing::check(path, generation, &progress),
    })
}

/// Which generations in a directory still hold bytes of a page, or of pages under a `prefix`.
///
/// By number: of what was purged from the store meanwhile, say. Costs a search in each segment that
/// is named.
#[pyfunction]
#[pyo3(signature = (path, url: "str | None" = None, *, prefix: "str | None" = None))]
pub(crate) fn holding<'py>(
    py: Python<'py>,
    path: PathBuf,
    url: Option<&Bound<'py, PyAny>>,
    prefix: Option<&Bound<'py, PyAny>>,
) -> PyResult<Tuple<u64>> {
    let scope = Scope::new("holding", url, prefix)?;
    let all = py.detach(|| publishing::holding(path, &scope.of())).or_raise(py)?;
    Tuple::new(py, all)
}
