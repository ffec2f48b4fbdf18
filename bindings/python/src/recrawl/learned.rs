//! How the pages of a store change, in summary.

use pyo3::prelude::*;
use simkeep::due;

use crate::convert::typed::Tuple;
use crate::convert::value::{no_pickle, value};

value! {
    Survey from survey: simkeep::due::Survey {
        pages: f64,
        compared: f64,
        changed: f64,
        deciles: Option<Tuple<f64>>,
    }
}

impl Survey {
    pub(crate) fn of(py: Python<'_>, of: due::Survey) -> PyResult<Survey> {
        let due::Survey { pages, compared, changed, deciles, .. } = of;
        let deciles = deciles.map(|deciles| Tuple::new(py, deciles)).transpose()?;
        Ok(Survey { pages, compared, changed, deciles })
    }
}

/// Priors for how often pages change, from all pages of a store: for the keyword `learned` of
/// `due`.
///
/// If you query often, you can reuse priors for an hour. It is valid for the store that it was
/// learned from.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Learned(pub(crate) due::Learned);

#[pymethods]
impl Learned {
    /// The number of pages with comparisons that it was learned from: all of them, or those in a
    /// sample of a million pages.
    #[getter]
    fn pages(&self) -> usize {
        self.0.pages()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Learned>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Learned of {} pages>", self.0.pages())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Learned", "learn anew"))
    }
}
