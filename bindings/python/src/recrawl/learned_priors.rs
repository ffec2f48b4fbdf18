//! Priors for the change rates of pages.

use pyo3::prelude::*;
use simkeep::due;

use crate::convert::value::no_pickle;

/// Priors for the change rates of pages, learned from all pages of a store. For the keyword
/// `learned` of `due`.
///
/// If you query often, you can reuse priors for an hour. Priors are valid only for the store from
/// which they were learned.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct LearnedPriors(pub(crate) due::LearnedPriors);

#[pymethods]
impl LearnedPriors {
    /// The number of pages with comparisons from which the priors were learned: all such pages, or
    /// the pages in a sample of a million.
    #[getter]
    fn pages(&self) -> usize {
        self.0.pages()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<LearnedPriors>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.LearnedPriors of {} pages>", self.0.pages())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("LearnedPriors", "learn from the store again"))
    }
}
