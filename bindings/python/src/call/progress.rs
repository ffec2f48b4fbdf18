//! The progress of a long call, and a way to cancel it.

use pyo3::prelude::*;

use crate::convert::word::Stage;

/// The progress of a long call, which other threads can read and cancel.
///
/// Use a progress for one call at a time. A cancelled call raises `CancelledError`, usually within
/// some milliseconds.
#[pyclass(frozen, module = "simkeep")]
#[derive(Default)]
pub(crate) struct Progress(pub(crate) simkeep::Progress);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Progress {
        Progress::default()
    }

    /// Cancels the call soon.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether the call was cancelled.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// The stage of the call.
    #[getter]
    fn stage(&self) -> Stage {
        self.0.stage().into()
    }

    /// The amount of work of this stage that is done.
    #[getter]
    fn done(&self) -> u64 {
        self.0.done()
    }

    /// The approximate total of this stage; `None` if unknown.
    #[getter]
    fn total(&self) -> Option<u64> {
        self.0.total()
    }

    /// The fraction of this stage that is done, from 0 to 1; `None` if unknown.
    #[getter]
    fn fraction(&self) -> Option<f64> {
        self.0.fraction()
    }

    /// The number of results so far: flaws of a check, pairs of a join.
    #[getter]
    fn found(&self) -> u64 {
        self.0.found()
    }

    fn __repr__(&self) -> String {
        let total = self.0.total().map_or("?".to_owned(), |total| total.to_string());
        format!(
            "<simkeep.Progress {}: {} of {total}>",
            Stage::from(self.0.stage()).value(),
            self.0.done()
        )
    }
}

/// Returns the progress of the caller, or an unobserved progress.
pub(crate) fn or_default(progress: Option<&Bound<'_, Progress>>) -> simkeep::Progress {
    progress.map_or_else(simkeep::Progress::default, |progress| progress.get().0.clone())
}
