//! How the pages of a store change, on the whole.

use pyo3::prelude::*;
use simkeep::due;

use crate::arg::{self, Arg, optional};
use crate::long::alone;
use crate::typed::Tuple;
use crate::value::{FromRust, no_pickle, value};
use crate::view::View;

value! {
    Survey from survey: simkeep::due::Survey {
        pages: f64,
        compared: f64,
        changed: f64,
        deciles: Option<Tuple<f64>>,
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

#[pymethods]
impl View {
    /// What all pages tell of how pages change: what each is believed to change like by its host.
    ///
    /// Reads 28 bytes for each page, or for a million of them where there are more; takes some 50
    /// ms and 30 MB for a million. On one snapshot, once.
    fn learn(&self, py: Python<'_>) -> PyResult<Learned> {
        let snapshot = self.now(py)?;
        alone(py, move || simkeep::due::Learned::of(&snapshot)).map(Learned)
    }

    /// How the pages change, on the whole: how many were found changed, and how often, by tenths of
    /// them.
    ///
    /// Reads what `learn` reads once more, and no page. Takes up to a second, and 20 MB for a
    /// million pages.
    fn survey(&self, py: Python<'_>) -> PyResult<Survey> {
        let snapshot = self.now(py)?;
        Survey::from_rust(py, alone(py, move || simkeep::due::Survey::of(&snapshot))?)
    }

    /// Returns how many visits a day there were of late: what a `plan` may go by.
    ///
    /// Counts the visits of the 28 days up to the latest visit, over 28, or over the days since the
    /// first visit of all if these are fewer, but one at least. Visits after `now` count as if they
    /// were then. Exact up to 65,536 pages; of more, a sample is read.
    #[pyo3(signature = (now: "Time", *, under: "str | None" = None))]
    fn pace<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<f64> {
        let snapshot = self.now(py)?;
        let mut asked = due::Due::new(arg::time(Arg::new("now"), now)?, 0);
        if let Some(under) = optional(under, |v| arg::prefix(Arg::new("under"), v))? {
            asked = asked.under(under);
        }
        alone(py, move || asked.pace(&snapshot))
    }
}
