//! The origins of fingerprints: recipes, extractors and tables.

use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::fingerprint::Recipe;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::fingerprint::df::FrequencyTable;
use crate::fingerprint::epoch::Bands;

value! {
    Preset from preset: simkeep::fingerprint::Preset {
        name: String,
        /// The full name of the recipe.
        recipe: String = preset.recipe.name(),
        description: String,
        near: Option<u32>,
        bands: Py<Bands>,
    }
}

/// The recipes with a short name.
#[pyfunction]
pub(crate) fn recipes(py: Python<'_>) -> PyResult<Tuple<Preset>> {
    FromRust::from_rust(py, Recipe::PRESETS.iter().copied())
}

/// Converts a recipe, by its name or short name.
pub(crate) fn recipe(arg: Arg, given: Option<&Bound<'_, PyAny>>) -> PyResult<Recipe> {
    let recipe = optional(given, |given| {
        let recipe = arg::text(arg, given)?.parse();
        recipe.map_err(|e| arg.wrong(format!("is not a recipe: {e}")))
    })?;
    Ok(recipe.unwrap_or(Recipe::DEFAULT))
}

/// Converts an origin, or the name of its recipe.
pub(crate) fn origin(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<simkeep::Origin> {
    if let Ok(origin) = given.cast::<Origin>() {
        return Ok(origin.get().0.clone());
    }
    if !given.is_instance_of::<PyString>() {
        return Err(arg.type_error("an Origin or the name of a recipe", given));
    }
    Ok(simkeep::Origin::new(recipe(arg, Some(given))?))
}

/// The origin of an epoch's fingerprints: an extractor, a recipe and a table of document
/// frequencies.
///
/// `recipe` is the name of a recipe, long or short. `extractor` is the name and version of the
/// software that extracts texts; the default is `simkeep.EXTRACTOR`, simkeep's own extractor.
/// `table` is for recipes that weigh words by rarity.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Origin(pub(crate) simkeep::Origin);

#[pymethods]
impl Origin {
    #[new]
    #[pyo3(signature = (
        recipe: "str | None" = None, *, extractor: "str | None" = None, table=None
    ))]
    fn new<'py>(
        py: Python<'py>,
        recipe: Option<&Bound<'py, PyAny>>,
        extractor: Option<&Bound<'py, PyAny>>,
        table: Option<&Bound<'py, FrequencyTable>>,
    ) -> PyResult<Origin> {
        let mut origin = simkeep::Origin::new(self::recipe(Arg::new("recipe"), recipe)?);
        let extractor = extractor.filter(|extractor| !extractor.is_none());
        if let Some(extractor) = extractor {
            let name = arg::text(Arg::new("extractor"), extractor)?;
            origin = origin.extractor(name).or_raise(py)?;
        }
        if let Some(table) = table {
            origin = origin.table(table.get().table()).or_raise(py)?;
        }
        Ok(Origin(origin))
    }

    /// The name of the epoch: the extractor, the recipe, and the checksum of the table.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// The name of the recipe.
    #[getter]
    fn recipe(&self) -> String {
        self.0.recipe().name()
    }

    /// The name of the extractor; `None` without an extractor.
    #[getter]
    fn extractor(&self) -> Option<&str> {
        self.0.extracted_by()
    }

    /// Whether an epoch with this name uses a recipe of simkeep.
    #[staticmethod]
    #[pyo3(signature = (name: "str"))]
    fn is_name(name: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(simkeep::Origin::is_name(arg::text(Arg::new("name"), name)?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        // The name includes the checksum of the table.
        other.cast::<Origin>().is_ok_and(|other| self.0.name() == other.get().0.name())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.0.name().into_pyobject(py)?.hash()
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Origin {}>", self.0.name())
    }
}
