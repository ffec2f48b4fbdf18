//! How far a long call has come, and a way to stop it.

use pyo3::prelude::*;

use crate::convert::word::Stage;

/// How far a call that takes long has come, for other threads to look at, and their way to stop it.
///
/// It is of one call at a time. What is stopped raises `CancelledError`, as a rule within some
/// milliseconds.
#[pyclass(frozen, module = "simkeep")]
#[derive(Default)]
pub(crate) struct Progress(pub(crate) simkeep::Progress);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Progress {
        Progress::default()
    }

    /// Has the call stop soon.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was told to stop.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// What the call is doing.
    #[getter]
    fn stage(&self) -> Stage {
        self.0.stage().into()
    }

    /// How much of this stage is done.
    #[getter]
    fn done(&self) -> u64 {
        self.0.done()
    }

    /// Of how much, about; `None` where nobody knows.
    #[getter]
    fn of(&self) -> Option<u64> {
        self.0.of()
    }

    /// The share of this stage that is done, from 0 to 1; `None` where nobody knows.
    #[getter]
    fn fraction(&self) -> Option<f64> {
        self.0.fraction()
    }

    /// What was found on the way: flaws of a check, pairs of a join.
    #[getter]
    fn found(&self) -> u64 {
        self.0.found()
    }

    fn __repr__(&self) -> String {
        let of = self.0.of().map_or("?".to_owned(), |of| of.to_string());
        format!(
            "<simkeep.Progress {}: {} of {of}>",
            Stage::from(self.0.stage()).value(),
            self.0.done()
        )
    }
}

/// The progress that was given, or one that nobody looks at.
pub(crate) fn given(progress: Option<&Bound<'_, Progress>>) -> simkeep::Progress {
    progress.map_or_else(simkeep::Progress::default, |progress| progress.get().0.clone())
}
