//! Checking, saving and repairing stores.

use std::path::PathBuf;

use pyo3::prelude::*;
use simkeep::integrity;

use crate::arg::{self, Arg, optional};
use crate::long::long;
use crate::progress::{self, Progress};
use crate::typed::Tuple;
use crate::value::value;

value! {
    /// Damage: a byte of a file is not what it must be.
    Flaw {
        /// The file, by its path within the store's directory.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What is wrong, with expected and found.
        what: String,
    }
    also {
        fn __str__(&self) -> String {
            format!("{} is damaged at byte {}: {}", self.file, self.offset, self.what)
        }
    }
}

value! {
    /// What a check read and found.
    Verified {
        /// Whether nothing was found.
        sound: bool,
        /// Files.
        files: usize,
        /// Bytes of these files.
        bytes: u64,
        /// Pages; not counted if there are flaws.
        pages: u64,
        /// Visits; not counted if there are flaws.
        visits: u64,
        /// Whether the catalog was read. It is not if a writer in another process has it open.
        catalog: bool,
        /// The first flaws, file by file and block by block.
        flaws: Tuple<Flaw>,
        /// How many more flaws there are.
        more_flaws: u64,
    }
}

value! {
    /// Something that a repair could not save.
    Loss {
        /// The file that had it.
        file: String,
        /// Where in the file: from and to, if that is known.
        bytes: Option<(u64, u64)>,
        /// The first and the last of the operations that it was among, as far as that is known.
        operations: Option<(u64, Option<u64>)>,
        /// How many page records are lost; `None` if a whole file or operations are lost.
        pages: Option<u64>,
        /// The lost pages come after this one in SURT order, if there is one,
        after: Option<String>,
        /// and before this one.
        before: Option<String>,
        /// Why it is lost, in words.
        why: String,
    }
}

value! {
    /// What a repair saved and lost.
    Repaired {
        /// Whether everything was saved, and nothing that was forgotten.
        whole: bool,
        /// Pages of the new store.
        pages: u64,
        /// Visits of the new store.
        visits: u64,
        /// What is lost, file by file.
        lost: Tuple<Loss>,
        /// Lost page records, as far as they could be counted.
        lost_pages: u64,
        /// Lost visits, as far as they could be counted.
        lost_visits: u64,
        /// Frames of the journal that do not have their checksums: what they had is lost.
        damaged_frames: u64,
        /// Pages of which something was left out, because a lost operation may have forgotten it.
        withheld_pages: u64,
        /// Why there may be pages that were forgotten.
        doubts: Tuple<String>,
        /// Epochs whose names could not be read, by the names that they have now.
        unnamed_epochs: Tuple<String>,
        /// The first flaws, whether or not they lost anything.
        flaws: Tuple<Flaw>,
        /// How many more flaws there are.
        more_flaws: u64,
    }
}

value! {
    /// Some segments and tables of document frequencies.
    FileCount {
        /// How many.
        files: u64,
        /// Bytes of them together.
        bytes: u64,
    }
}

value! {
    /// What a backup did.
    BackedUp {
        /// The last operation that the backup has.
        sequence: u64,
        /// Pages in it, all of which were checked.
        pages: u64,
        /// Visits in it.
        visits: u64,
        /// The last operation that the earlier backup had in whose place this one is.
        earlier: Option<u64>,
        /// Files that are links: of one file with the store.
        linked: Py<FileCount>,
        /// Files that are copies.
        copied: Py<FileCount>,
        /// Files that the earlier backup had already.
        kept: Py<FileCount>,
        /// Files of the earlier backup that were removed.
        removed: u64,
        /// Bytes of the catalog, which is always written anew.
        catalog_bytes: u64,
        /// Why files were copied that were to be linked.
        not_linked: Option<String>,
    }
}

fn flaws(py: Python<'_>, flaws: Vec<simkeep::Corruption>) -> PyResult<Tuple<Flaw>> {
    Tuple::of(py, flaws, |flaw| Ok(Flaw::from(flaw)))
}

impl From<simkeep::Corruption> for Flaw {
    fn from(flaw: simkeep::Corruption) -> Flaw {
        let simkeep::Corruption { file, offset, what } = flaw;
        Flaw { file, offset, what }
    }
}

fn texts(py: Python<'_>, texts: Vec<String>) -> PyResult<Tuple<String>> {
    Tuple::new(py, texts)
}

impl Verified {
    pub(crate) fn of(py: Python<'_>, verified: integrity::Verified) -> PyResult<Verified> {
        Ok(Verified {
            sound: verified.is_sound(),
            files: verified.files,
            bytes: verified.bytes,
            pages: verified.pages,
            visits: verified.visits,
            catalog: verified.catalog,
            flaws: flaws(py, verified.flaws)?,
            more_flaws: verified.more_flaws,
        })
    }
}

impl Repaired {
    fn of(py: Python<'_>, repaired: integrity::Repaired) -> PyResult<Repaired> {
        let whole = repaired.is_whole();
        let lost = Tuple::of(py, repaired.lost, |loss| {
            let integrity::Loss { file, bytes, operations, pages, after, before, why, .. } = loss;
            let bytes = bytes.map(|bytes| (bytes.start, bytes.end));
            Ok(Loss { file, bytes, operations, pages, after, before, why })
        })?;
        Ok(Repaired {
            whole,
            pages: repaired.pages,
            visits: repaired.visits,
            lost,
            lost_pages: repaired.lost_pages,
            lost_visits: repaired.lost_visits,
            damaged_frames: repaired.damaged_frames,
            withheld_pages: repaired.withheld_pages,
            doubts: texts(py, repaired.doubts)?,
            unnamed_epochs: texts(py, repaired.unnamed_epochs)?,
            flaws: flaws(py, repaired.flaws)?,
            more_flaws: repaired.more_flaws,
        })
    }
}

impl FileCount {
    pub(crate) fn of(py: Python<'_>, count: integrity::FileCount) -> PyResult<Py<FileCount>> {
        Py::new(py, FileCount { files: count.files, bytes: count.bytes })
    }
}

impl BackedUp {
    pub(crate) fn of(py: Python<'_>, made: integrity::BackedUp) -> PyResult<BackedUp> {
        let files = |files| FileCount::of(py, files);
        Ok(BackedUp {
            sequence: made.sequence,
            pages: made.pages,
            visits: made.visits,
            earlier: made.earlier,
            linked: files(made.linked)?,
            copied: files(made.copied)?,
            kept: files(made.kept)?,
            removed: made.removed,
            catalog_bytes: made.catalog_bytes,
            not_linked: made.not_linked,
        })
    }
}

/// The settings of a check.
pub(crate) fn verify_options(
    rate: Option<&Bound<'_, PyAny>>,
    flaws_max: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<integrity::VerifyOptions> {
    let rate = optional(rate, |v| arg::count(Arg::new("rate"), v))?;
    let flaws_max = optional(flaws_max, |v| arg::size(Arg::new("flaws_max"), v))?;
    let mut options = integrity::VerifyOptions::default().rate(rate);
    if let Some(flaws_max) = flaws_max {
        options.flaws_max = flaws_max;
    }
    Ok(options.progress(progress::given(progress)))
}

/// Checks the store in a directory: reads all of it, and names every flaw.
///
/// `rate` is the most bytes to read per second. Damage is part of the answer, and raises nothing.
/// Ctrl-C ends it.
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
    Verified::of(py, long(py, &progress, || integrity::verify(path, options))?)
}

/// Makes a new store of everything in another that is sound, and says what is lost.
///
/// The old one stays as it is. Costs two reads of all files, and a load of what is saved. Raises
/// `DoubtfulError` if it cannot be told what was forgotten, unless `keep_forgotten`. Ctrl-C ends
/// it, and leaves no new store.
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
    let progress = progress::given(progress);
    let mut options = integrity::RepairOptions::default().keep_forgotten(keep_forgotten);
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        options.memory_bytes = bytes;
    }
    let options = options.progress(progress.clone());
    Repaired::of(py, long(py, &progress, || integrity::repair(path, to, options))?)
}

/// Makes a backup of the store in a directory, also of one that is being written.
///
/// To an earlier backup it adds what is new. With `copy=True` files are copied that could be
/// linked. Ctrl-C ends it.
#[pyfunction]
#[pyo3(signature = (path, to, *, copy=false, progress=None))]
pub(crate) fn backup(
    py: Python<'_>,
    path: PathBuf,
    to: PathBuf,
    copy: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<BackedUp> {
    let progress = progress::given(progress);
    let options = integrity::BackupOptions::default().copy(copy).progress(progress.clone());
    BackedUp::of(py, long(py, &progress, || integrity::backup(path, to, options))?)
}
