//! How the pages of a store change, on the whole.

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

/// What the pages of a store tell of how often pages change: for the keyword `learned` of `due`.
///
/// Whoever asks often may go by what the store told an hour ago. It is of use with the store that
/// it was learned from.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Learned(pub(crate) due::Learned);

#[pymethods]
impl Learned {
    /// How many pages it was learned from: those that were compared, of all, or of a sample of a
    /// million.
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
