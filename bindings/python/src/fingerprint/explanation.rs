//! Explains a fingerprint by its features.

use pyo3::prelude::*;
use simkeep::fingerprint::Document;

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::fingerprint::fingerprinter::Fingerprinter;

value! {
    FingerprintExplanation from explained: simkeep::fingerprint::FingerprintExplanation {
        fingerprint: u64,
        features: usize,
        voting: usize,
        heaviest: Tuple<Feature>,
        balance: Tuple<f64>,
    }
}

value! {
    Feature from feature: simkeep::fingerprint::Feature {
        text: String,
        short: bool,
        field: Option<String>,
        hash: u64,
        count: u64,
        frequency: Option<u64>,
        share: f64,
    }
}

#[pymethods]
impl Fingerprinter {
    /// Fingerprints a text, and explains the result.
    ///
    /// The result has the heaviest features, at most `limit`, and how near each bit is to flipping.
    /// Reads the text three times, and takes some 50 bytes for each distinct feature.
    #[pyo3(signature = (text: "str", *, limit: "int | None" = 20))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = limit)] limit: usize,
    ) -> PyResult<FingerprintExplanation> {
        let text = arg::content(Arg::new("text"), text)?;
        let explained = py
            .detach(|| self.made(|maker| maker.explain(&Document::new(&*text), limit)))
            .or_raise(py)?;
        FingerprintExplanation::from_rust(py, explained)
    }
}

/// Converts the maximum number of features in the result.
fn limit(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    arg::limit(Arg::new("limit"), given)
}
