//! Checks, backs up and repairs stores.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};

value! {
    Corruption from flaw: simkeep::Corruption {
        file: String,
        offset: u64,
        what: String,
    }
    also {
        fn __str__(&self) -> String {
            format!("{} is damaged at byte {}: {}", self.file, self.offset, self.what)
        }
    }
}

value! {
    Verified from verified: simkeep::verify::Verified {
        /// Whether no flaw was found.
        is_sound: bool = verified.is_sound(),
        files: usize,
        bytes: u64,
        pages: u64,
        visits: u64,
        catalog: bool,
        flaws: Tuple<Corruption>,
        more_flaws: u64,
    }
}

value! {
    Loss from loss: simkeep::repair::Loss {
        file: String,
        bytes: Option<(u64, u64)>,
        operations: Option<(u64, Option<u64>)>,
        pages: Option<u64>,
        after_url: Option<String>,
        before_url: Option<String>,
        why: String,
    }
}

value! {
    Repaired from repaired: simkeep::repair::Repaired {
        /// Whether all data was saved, and no forgotten page was restored.
        is_whole: bool = repaired.is_whole(),
        pages: u64,
        visits: u64,
        lost: Tuple<Loss>,
        lost_pages: u64,
        lost_visits: u64,
        damaged_frames: u64,
        withheld_pages: u64,
        ambiguities: Tuple<String>,
        unnamed_epochs: Tuple<String>,
        flaws: Tuple<Corruption>,
        more_flaws: u64,
    }
}

value! {
    FileCount from count: simkeep::backup::FileCount {
        files: u64,
        bytes: u64,
    }
}

value! {
    BackedUp from made: simkeep::backup::BackedUp {
        sequence: u64,
        pages: u64,
        visits: u64,
        earlier: Option<u64>,
        linked: Py<FileCount>,
        copied: Py<FileCount>,
        kept: Py<FileCount>,
        removed: u64,
        catalog_bytes: u64,
        not_linked: Option<String>,
    }
}

/// Converts the options of a check.
pub(crate) fn verify_options(
    rate: Option<&Bound<'_, PyAny>>,
    flaws_max: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<simkeep::verify::VerifyOptions> {
    let rate = optional(rate, |v| arg::count(Arg::new("rate"), v))?;
    let flaws_max = optional(flaws_max, |v| arg::size(Arg::new("flaws_max"), v))?;
    let mut options = simkeep::verify::VerifyOptions::default().rate(rate);
    if let Some(flaws_max) = flaws_max {
        options.flaws_max = flaws_max;
    }
    Ok(options.progress(progress::or_default(progress)))
}

/// Checks the store in a directory: reads the whole store, and lists every flaw.
///
/// `rate` is the maximum number of bytes to read per second. Damage is part of the result, and
/// raises no exception. Ctrl-C ends the call.
#[pyfunction]
#[pyo3(signature = (
    path, *, rate: "int | None" = None, flaws_max: "int | None" = None, progress=None
))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: PathBuf,
    rate: Option<&Bound<'py, PyAny>>,
    flaws_max: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<Verified> {
    let options = verify_options(rate, flaws_max, progress)?;
    let progress = options.progress.clone();
    Verified::from_rust(py, long(py, &progress, || simkeep::verify::verify(path, options))?)
}

/// Makes a new store from the sound parts of another store, and reports the losses.
///
/// The old store is unchanged. Costs two reads of all files, and a load of the saved data. Raises
/// `AmbiguousRepairError` if lost operations may have forgotten pages and it is unknown which
/// pages, unless `keep_forgotten` is true. Ctrl-C ends the call, and leaves no new store.
#[pyfunction]
#[pyo3(signature = (
    path, to, *, keep_forgotten=false, memory_bytes: "int | None" = None, progress=None
))]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    path: PathBuf,
    to: PathBuf,
    keep_forgotten: bool,
    memory_bytes: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<Repaired> {
    let progress = progress::or_default(progress);
    let mut options = simkeep::repair::RepairOptions::default().keep_forgotten(keep_forgotten);
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        options.memory_bytes = bytes;
    }
    let options = options.progress(progress.clone());
    Repaired::from_rust(py, long(py, &progress, || simkeep::repair::repair(path, to, options))?)
}

/// Makes a backup of the store in a directory, which may be open for writing.
///
/// Updates an earlier backup incrementally. `copy=True` copies files instead of linking them.
/// Ctrl-C ends the call.
#[pyfunction]
#[pyo3(signature = (path, to, *, copy=false, progress=None))]
pub(crate) fn backup(
    py: Python<'_>,
    path: PathBuf,
    to: PathBuf,
    copy: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<BackedUp> {
    let progress = progress::or_default(progress);
    let options = simkeep::backup::BackupOptions::default().copy(copy).progress(progress.clone());
    BackedUp::from_rust(py, long(py, &progress, || simkeep::backup::backup(path, to, options))?)
}
