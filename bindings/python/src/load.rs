//! Loads: of observations into a store, and into one that is made of them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::load::LoadOptions;
use simkeep::{Options, Result, Role};

use crate::arg::{self, Arg, optional};
use crate::arrow;
use crate::error::{OrRaise, in_row};
use crate::load_epochs::LoadEpochs;
use crate::long::long;
use crate::lots::hand_on;
use crate::makers::Makers;
use crate::observation;
use crate::options;
use crate::origin::Origin;
use crate::progress::{self, Progress};
use crate::row::{Ready, Row};
use crate::stats::Loaded;
use crate::store::Store;
use crate::table;
use crate::value::FromRust;
use crate::view::View;

/// What the thread of a load is called.
const NAME: &str = "simkeep-load";

/// How many rows are made ready at a time.
const PART: usize = 1024;

/// The settings of a load.
pub(crate) fn options(
    memory_bytes: Option<&Bound<'_, PyAny>>,
    segment_pages: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<LoadOptions> {
    let mut options = LoadOptions::default().progress(progress::given(progress));
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        options.memory_bytes = bytes;
    }
    if let Some(pages) = optional(segment_pages, |v| arg::count(Arg::new("segment_pages"), v))? {
        options.segment_pages = pages;
    }
    Ok(options)
}

/// What gives observations.
fn each<'py>(given: &Bound<'py, PyAny>) -> PyResult<Box<dyn Iterator<Item = PyResult<Row>> + 'py>> {
    let arg = Arg::new("observations");
    let expected = "an iterable of Observations or dicts, or a table";
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return Ok(Box::new(table::rows(chunks)));
    }
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Err(arg.type_error(expected, given));
    }
    let all = given.try_iter().map_err(|_| arg.type_error(expected, given))?;
    Ok(Box::new((0..).zip(all).map(|(number, one)| observation::row(&one?, number))))
}

/// All of them as they are observed; an error names the row, if there are several. They are made so in
/// parts, with the interpreter's lock let go, so that few are in memory twice.
pub(crate) fn ready(
    py: Python<'_>,
    makers: &Makers,
    given: &Bound<'_, PyAny>,
) -> PyResult<Vec<Ready>> {
    let mut rows = each(given)?;
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
    makers: &Makers,
    given: &Bound<'_, PyAny>,
    options: LoadOptions,
) -> PyResult<simkeep::load::Loaded> {
    let (rows, progress) = (each(given)?, options.progress.clone());
    hand_on(py, NAME, rows, &progress, |rows| {
        store.load(rows.map(|row| makers.ready(row?)), options)
    })
}

/// What makes the fingerprints of the first epoch of a new store, and of that the number in a load.
fn makers(
    new: &mut Options,
    origin: Option<&simkeep::Origin>,
    epochs: &simkeep::load::LoadEpochs,
) -> Result<Makers> {
    let usual = simkeep::Origin::default();
    let origin = match origin {
        Some(origin) => {
            new.epoch = origin.name();
            Some(origin)
        }
        // Those of other names are made elsewhere, as far as is known here.
        None => Some(&usual).filter(|usual| usual.name() == new.epoch),
    };
    let change = match origin {
        Some(origin) => epochs.origin(origin, Role::Both)?,
        None => epochs.named(&new.epoch, Role::Both)?,
    };
    Ok(Makers::of_new(&new.epoch, change, origin.cloned()))
}

#[pymethods]
impl Store {
    /// Loads an existing corpus: any number of observations in any order, as `observe_batch` takes
    /// them.
    ///
    /// There are no searches, and memory is bounded. All of them are stored, or none. Some four
    /// times as fast as `observe_batch` where fingerprints are ready. Readers go on meanwhile.
    /// `epochs` are those that come with the observations. Ctrl-C ends it.
    ///
    /// Raises `LoadError` with the number of the first observation that the store refuses, counted
    /// from 1. What the iterable raises, this raises.
    #[pyo3(signature = (
        observations: "_types.Rows", *, epochs=None, memory_bytes: "int | None" = None,
        segment_pages: "int | None" = None, progress=None
    ))]
    fn load<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
        epochs: Option<&Bound<'py, LoadEpochs>>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Loaded> {
        let store = self.open.store(py)?;
        let mut options = options(memory_bytes, segment_pages, progress)?;
        if let Some(epochs) = epochs {
            options = options.epochs(epochs.get().open(py)?.clone());
        }
        let makers = py.detach(|| self.open.makers.of(&store.snapshot())).or_raise(py)?;
        let _giving = self.open.give(py)?;
        Loaded::from_rust(py, load(py, &store, &makers, observations, options)?)
    }

    /// Loads everything of another store, with its epochs and their tables. Ctrl-C ends it.
    #[pyo3(signature = (
        other, *, memory_bytes: "int | None" = None, segment_pages: "int | None" = None,
        progress=None
    ))]
    fn copy_from<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, View>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Loaded> {
        let (store, other) = (self.open.store(py)?, other.get().now(py)?);
        self.open.not_giving(py)?;
        let options = options(memory_bytes, segment_pages, progress)?;
        let progress = options.progress.clone();
        Loaded::from_rust(py, long(py, &progress, || store.copy_from(&other, options))?)
    }

    /// Creates a store from a load, and opens it: it exists with everything loaded, or not at all.
    ///
    /// Takes the arguments of `load`, and those of `create`. `origin` is what makes the
    /// fingerprints of the texts among the observations, instead of the default recipe; the store
    /// begins with its epoch. Nothing is created before the first observation arrives. Ctrl-C ends
    /// it, and leaves nothing but perhaps empty directories.
    ///
    /// Raises `ExistsError` if there is a store already, and what `load` raises.
    #[staticmethod]
    #[pyo3(signature = (
        path, observations: "_types.Rows", *, origin=None, epochs=None,
        memory_bytes: "int | None" = None, segment_pages: "int | None" = None, progress=None,
        **options: "Unpack[_types.Options]"
    ))]
    fn create_from<'py>(
        py: Python<'py>,
        path: PathBuf,
        observations: &Bound<'py, PyAny>,
        origin: Option<&Bound<'py, Origin>>,
        epochs: Option<&Bound<'py, LoadEpochs>>,
        memory_bytes: Option<&Bound<'py, PyAny>>,
        segment_pages: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Py<Store>, Loaded)> {
        let mut new = options::options(options)?;
        let named = match options {
            Some(options) => options.get_item("epoch")?.is_some_and(|epoch| !epoch.is_none()),
            None => false,
        };
        if origin.is_some() && named {
            let what = "origin and epoch exclude each other: an origin names its epoch";
            return Err(pyo3::exceptions::PyTypeError::new_err(what));
        }
        let epochs = match epochs {
            Some(epochs) => epochs.get().open(py)?.clone(),
            None => simkeep::load::LoadEpochs::default(),
        };
        let origin = origin.map(|origin| &origin.get().0);
        let makers = makers(&mut new, origin, &epochs).or_raise(py)?;
        let load = self::options(memory_bytes, segment_pages, progress)?.epochs(epochs);
        let (rows, progress, at) = (each(observations)?, load.progress.clone(), path.clone());
        let (store, loaded) = hand_on(py, NAME, rows, &progress, |rows| {
            simkeep::Store::create_from(at, new, rows.map(|row| makers.ready(row?)), load)
        })?;
        Ok((Store::of(py, store, path)?, Loaded::from_rust(py, loaded)?))
    }
}
