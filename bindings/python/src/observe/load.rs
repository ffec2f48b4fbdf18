//! Loads of observations into an existing or a new store.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::load::LoadOptions;
use simkeep::{Options, Result, Role};

use crate::call::item_feed::feed_items;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::{OrRaise, in_row};
use crate::observe::fingerprinters::ContentFingerprinters;
use crate::observe::row::{CheckedVisit, PreparedVisit};
use crate::observe::table::VisitColumnNames;
use crate::observe::{observation, table};
use crate::streams::arrow;

/// The name of the thread of a load.
pub(crate) const NAME: &str = "simkeep-load";

/// The accepted types of observations.
const EXPECTED: &str = "an iterable of Observations or dicts, or a table";

/// The number of rows that are prepared at a time.
const PART: usize = 1024;

/// Converts the options of a load.
pub(crate) fn options(
    memory_bytes: Option<&Bound<'_, PyAny>>,
    segment_pages: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<LoadOptions> {
    let mut options = LoadOptions::default().progress(progress::or_default(progress));
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        options.memory_bytes = bytes;
    }
    if let Some(pages) = optional(segment_pages, |v| arg::count(Arg::new("segment_pages"), v))? {
        options.segment_pages = pages;
    }
    Ok(options)
}

/// Iterates over observations; for a table, over the rows of the named columns.
pub(crate) fn each<'py>(
    given: &Bound<'py, PyAny>,
    columns: VisitColumnNames,
) -> PyResult<Box<dyn Iterator<Item = PyResult<CheckedVisit>> + 'py>> {
    let arg = Arg::new("observations");
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return Ok(Box::new(table::rows(chunks, columns)));
    }
    let to_pass = table_to_pass(given)?;
    if !columns.are_usual() {
        let message = "url=, text=, html= and at= name columns of a table, but the observations are not a table";
        let to_pass = to_pass.unwrap_or("pass a table, for example a polars.DataFrame");
        return Err(PyTypeError::new_err(format!("{message}: {to_pass}")));
    }
    let error = || match to_pass {
        Some(to_pass) => arg.type_error(&format!("{EXPECTED} ({to_pass})"), given),
        None => arg.type_error(EXPECTED, given),
    };
    if to_pass.is_some() || given.is_instance_of::<PyDict>() {
        return Err(error());
    }
    let all = given.try_iter().map_err(|_| error())?;
    Ok(Box::new((0..).zip(all).map(|(number, one)| observation::row(&one?, number))))
}

/// Returns advice for objects from which other libraries read a table.
fn table_to_pass(given: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let py = given.py();
    if given.is_instance_of::<PyString>() || given.hasattr(intern!(py, "__fspath__"))? {
        return Ok(Some("for a file, pass its table: polars.read_parquet(path)"));
    }
    let is_lazy = given.hasattr(intern!(py, "collect"))?;
    Ok(is_lazy.then_some("for a lazy frame, pass frame.collect()"))
}

/// Prepares all observations. If there are several observations, an error has the row. Works in
/// parts without the interpreter's lock, so that few observations are in memory twice.
pub(crate) fn ready(
    py: Python<'_>,
    makers: &ContentFingerprinters,
    given: &Bound<'_, PyAny>,
    columns: VisitColumnNames,
) -> PyResult<Vec<PreparedVisit>> {
    let mut rows = each(given, columns)?;
    let (mut part, mut all) = (Vec::with_capacity(PART), Vec::new());
    loop {
        for row in rows.by_ref().take(PART) {
            part.push(row?);
        }
        if part.is_empty() {
            return Ok(all);
        }
        let several = part.len() > 1 || !all.is_empty();
        let made = py.detach(|| {
            part.drain(..).try_for_each(|row| {
                all.push(makers.ready(row)?);
                Ok::<_, simkeep::Error>(())
            })
        });
        made.or_raise(py).map_err(|e| if several { in_row(py, e, all.len()) } else { e })?;
        py.check_signals()?;
    }
}

/// Loads observations.
pub(crate) fn load(
    py: Python<'_>,
    store: &simkeep::Store,
    makers: &ContentFingerprinters,
    given: &Bound<'_, PyAny>,
    columns: VisitColumnNames,
    options: LoadOptions,
) -> PyResult<simkeep::load::Loaded> {
    let (rows, progress) = (each(given, columns)?, options.progress.clone());
    feed_items(py, NAME, rows, &progress, |rows| {
        store.load(rows.map(|row| makers.ready(row?)), options)
    })
}

/// Returns the makers of fingerprints for the first epoch of a new store, and the number of this
/// epoch in a load.
pub(crate) fn makers(
    new: &mut Options,
    origin: Option<&simkeep::Origin>,
    epochs: &simkeep::load::LoadEpochs,
) -> Result<ContentFingerprinters> {
    let usual = simkeep::Origin::default();
    let origin = match origin {
        Some(origin) => {
            new.epoch = origin.name();
            Some(origin)
        }
        // Epochs with other names are treated as external.
        None => Some(&usual).filter(|usual| usual.name() == new.epoch),
    };
    let change = match origin {
        Some(origin) => epochs.origin(origin, Role::Both)?,
        None => epochs.named(&new.epoch, Role::Both)?,
    };
    Ok(ContentFingerprinters::of_new(&new.epoch, change, origin.cloned()))
}
