//! Why a fingerprint is what it is.

use pyo3::prelude::*;
use simkeep::fingerprint::{self, Document};

use crate::arg::{self, Arg};
use crate::error::OrRaise;
use crate::fingerprinter::Fingerprinter;
use crate::typed::Tuple;
use crate::value::value;

value! {
    /// How a fingerprint came about.
    Explained {
        /// The fingerprint.
        fingerprint: u64,
        /// How many distinct features the text has.
        features: usize,
        /// How many of them vote; by a minwise recipe, how many give a bit.
        voting: usize,
        /// The heaviest features, the heaviest first; by a minwise recipe those that give most bits.
        heaviest: Tuple<Feature>,
        /// For each of the 64 bits, the lowest first, the margin of its vote as a share of the weight of
        /// all features: between -1 and 1, positive for a bit that is 1. The nearer to 0, the smaller a
        /// change of the text flips it.
        balance: Tuple<f64>,
    }
}

value! {
    /// A feature of a text, such as two words.
    Feature {
        /// Its words or characters, in lower case.
        text: String,
        /// Whether it has fewer words or characters than the features of the recipe, since the text is
        /// too short.
        short: bool,
        /// The name of the field that it is, if it is one.
        field: Option<String>,
        /// Its hash.
        hash: u64,
        /// How often it occurs.
        count: u64,
        /// How many documents have it, if the recipe uses document frequencies.
        frequency: Option<u64>,
        /// Its share of the weight of all features, from 0 to 1; by a minwise recipe, of the bits.
        share: f64,
    }
}

impl Explained {
    fn of(py: Python<'_>, of: fingerprint::Explained) -> PyResult<Explained> {
        let fingerprint::Explained { fingerprint, features, voting, heaviest, balance, .. } = of;
        let heaviest = Tuple::of(py, heaviest, |feature| {
            let fingerprint::Feature { text, short, field, hash, count, frequency, share, .. } =
                feature;
            Ok(Feature { text, short, field, hash, count, frequency, share })
        })?;
        let balance = Tuple::new(py, balance)?;
        Ok(Explained { fingerprint, features, voting, heaviest, balance })
    }
}

#[pymethods]
impl Fingerprinter {
    /// Makes the fingerprint of a text, and explains it.
    ///
    /// By its heaviest features, at most `limit`, and by how near each bit is to flipping. Reads
    /// the text three times, and takes some 50 bytes for each distinct feature.
    #[pyo3(signature = (text: "str", *, limit: "int | None" = 20))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = limit)] limit: usize,
    ) -> PyResult<Explained> {
        let text = arg::content(Arg::new("text"), text)?;
        let explained = py
            .detach(|| self.made(|maker| maker.explain(&Document::new(&*text), limit)))
            .or_raise(py)?;
        Explained::of(py, explained)
    }
}

/// The most features that are told of.
fn limit(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    arg::limit(Arg::new("limit"), given)
}
