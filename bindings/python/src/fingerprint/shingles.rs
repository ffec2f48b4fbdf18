//! The exact resemblance of two texts.

use pyo3::prelude::*;
use simkeep::fingerprint;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::value::no_pickle;

/// The default number of words of a shingle, which equals the length of a sketch's runs.
const WORDS: u32 = fingerprint::BitSketcher::WORDS;

/// The set of a text's runs of `words` words, 1 to 8 (5), to compute the resemblance of two texts.
///
/// A text with fewer words is one run. `len` is the number of runs. Takes 8 bytes for each run, and
/// sorts the runs.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Shingles(fingerprint::Shingles);

#[pymethods]
impl Shingles {
    #[new]
    #[pyo3(signature = (text: "str", words: "int | None" = None))]
    fn new(
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        words: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Shingles> {
        let text = arg::content(Arg::new("text"), text)?;
        let words = optional(words, |given| {
            let arg = Arg::new("words");
            let words = arg::u32(arg, given)?;
            if !(1..=8).contains(&words) {
                return Err(arg.value_error("an int from 1 to 8", given));
            }
            Ok(words)
        })?;
        let words = words.unwrap_or(WORDS);
        Ok(Shingles(py.detach(|| fingerprint::Shingles::of_text(&text, words))))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The number of common runs. Linear in the size of both sets.
    fn common(&self, other: &Bound<'_, Shingles>) -> usize {
        self.0.common(&other.get().0)
    }

    /// The resemblance: common runs as a share of the union, from 0 to 1. Linear in the size of
    /// both sets.
    fn resemblance(&self, other: &Bound<'_, Shingles>) -> f64 {
        self.0.resemblance(&other.get().0)
    }

    /// The share of this text's runs that are also in the other set, from 0 to 1. Linear in the
    /// size of both sets.
    fn containment(&self, other: &Bound<'_, Shingles>) -> f64 {
        self.0.containment(&other.get().0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Shingles>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Shingles: {}>", self.0.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Shingles", "make them from the text again"))
    }
}
