//! Why a fingerprint is what it is.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simkeep::fingerprint::{self, Document};

use crate::arg::{self, Arg};
use crate::error::OrRaise;
use crate::fingerprinter::Fingerprinter;
use crate::value::{tuple, value};

/// How many features are told of, unless it is said.
const FEATURES: usize = 20;

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
        heaviest: Py<PyTuple>,
        /// For each of the 64 bits, the lowest first, the margin of its vote as a share of the weight of
        /// all features: between -1 and 1, positive for a bit that is 1. The nearer to 0, the smaller a
        /// change of the text flips it.
        balance: Py<PyTuple>,
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
        let heaviest = tuple(py, heaviest, |py, feature| {
            let fingerprint::Feature { text, short, field, hash, count, frequency, share, .. } =
                feature;
            let feature = Feature { text, short, field, hash, count, frequency, share };
            Ok(Bound::new(py, feature)?.into_any())
        })?;
        let balance = PyTuple::new(py, balance)?.unbind();
        Ok(Explained { fingerprint, features, voting, heaviest, balance })
    }
}

#[pymethods]
impl Fingerprinter {
    /// Makes the fingerprint of a text, and explains it.
    ///
    /// By its heaviest features, at most `limit`, and by how near each bit is to flipping. Reads
    /// the text three times, and takes some 50 bytes for each distinct feature.
    #[pyo3(signature = (text, *, limit=Limit(FEATURES)), text_signature = "($self, text, *, limit=20)")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        limit: Limit,
    ) -> PyResult<Explained> {
        let text = arg::content(Arg::new("text"), text)?;
        let explained = py
            .detach(|| self.made(|maker| maker.explain(&Document::new(&*text), limit.0)))
            .or_raise(py)?;
        Explained::of(py, explained)
    }
}

/// The most features that are told of.
struct Limit(usize);

impl<'py> FromPyObject<'_, 'py> for Limit {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Limit> {
        arg::limit(Arg::new("limit"), &given).map(Limit)
    }
}
