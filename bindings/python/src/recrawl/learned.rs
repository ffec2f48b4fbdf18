//! A summary of the changes of a store's pages.

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

/// Priors for the change rates of pages, learned from all pages of a store. For the keyword
/// `learned` of `due`.
///
/// If you query often, you can reuse priors for an hour. Priors are valid only for the store from
/// which they were learned.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Learned(pub(crate) due::LearnedPriors);

#[pymethods]
impl Learned {
    /// The number of pages with comparisons from which the priors were learned: all such pages, or
    /// the pages in a sample of a million.
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
