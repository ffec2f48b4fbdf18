//! The results of searches, and pairs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use simkeep::query;

use crate::convert::typed::{GetItemResult, Iter, Tuple, Typed, output_type};
use crate::convert::value::{FromRust, value};
use crate::streams::columns::{BatchFunction, Bits, Int32, Utf8, columns};
use crate::streams::stream::StreamItem;

value! {
    NearMatch from near: simkeep::NearMatch {
        url: String,
        distance: u32,
        fingerprint: u64,
    }
}

value! {
    /// The result of a search: a collection of near pages.
    Matches from of: simkeep::Matches {
        /// The pages, nearest first, then in SURT order.
        near: NearTuple,
        /// Whether the result has all near pages. If not, the limit, the budget, or a dense region
        /// of fingerprints cut the search short.
        complete: bool,
        /// The distance up to which no page is missing; `None` if even pages with the same
        /// fingerprint may be missing.
        within: Option<u32>,
    }
    also {
        fn __len__(&self, py: Python<'_>) -> usize {
            self.near.len(py)
        }

        fn __iter__(&self, py: Python<'_>) -> PyResult<Iter<NearMatch>> {
            Iter::over(self.near.tuple(py)?.bind(py))
        }

        fn __getitem__<'py>(
            &self,
            py: Python<'py>,
            index: &Bound<'py, PyAny>,
        ) -> PyResult<Typed<GetItemResult<NearMatch, Tuple<NearMatch>>>> {
            self.near.tuple(py)?.bind(py).as_any().get_item(index).map(Typed::from)
        }
    }
}

value! {
    /// Two different fingerprints of pages that are near each other.
    NearPair from pair: simkeep::query::NearPair {
        left: u64,
        right: u64,
        distance: u32,
    }
}

value! {
    PairedPage from page: simkeep::query::PairedPage {
        url: String,
        fingerprint: u64,
    }
}

value! {
    /// Two pages with fingerprints that are equal or near each other.
    PagePair from pair: simkeep::query::PagePair {
        left: Py<PairedPage>,
        right: Py<PairedPage>,
        distance: u32,
    }
}

/// The pages of a search result: a tuple of `NearMatch`, created on access. Callers often only test
/// whether a result is empty.
pub(crate) struct NearTuple {
    found: Vec<simkeep::NearMatch>,
    made: PyOnceLock<Tuple<NearMatch>>,
}

impl NearTuple {
    fn len(&self, py: Python<'_>) -> usize {
        self.made.get(py).map_or(self.found.len(), |made| made.bind(py).len())
    }

    fn tuple(&self, py: Python<'_>) -> PyResult<&Tuple<NearMatch>> {
        self.made.get_or_try_init(py, || {
            Tuple::of(py, &self.found, |near| NearMatch::from_rust(py, near.clone()))
        })
    }
}

impl FromRust<Vec<simkeep::NearMatch>> for NearTuple {
    fn from_rust(_: Python<'_>, found: Vec<simkeep::NearMatch>) -> PyResult<NearTuple> {
        Ok(NearTuple { found, made: PyOnceLock::new() })
    }
}

impl<'a, 'py> IntoPyObject<'py> for &'a NearTuple {
    type Target = PyTuple;
    type Output = Borrowed<'a, 'py, PyTuple>;
    type Error = PyErr;
    output_type!(<Tuple<NearMatch> as IntoPyObject<'py>>::OUTPUT_TYPE);

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Borrowed<'a, 'py, PyTuple>> {
        let Ok(tuple) = self.tuple(py)?.into_pyobject(py);
        Ok(tuple)
    }
}

impl<'py> FromPyObject<'_, 'py> for NearTuple {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<NearTuple> {
        let made = PyOnceLock::new();
        // The cell is new, so it is empty.
        let _ = made.set(given.py(), given.extract()?);
        Ok(NearTuple { found: Vec::new(), made })
    }
}

impl StreamItem for query::NearPair {
    type Object = NearPair;
    const TABLE: Option<BatchFunction<Self>> = Some(|pairs, signed| {
        columns! {
            for pair in pairs, signed;
            left: Bits = pair.left,
            right: Bits = pair.right,
            distance: Int32 = pair.distance,
        }
    });
}

impl StreamItem for query::PagePair {
    type Object = PagePair;
    const TABLE: Option<BatchFunction<Self>> = Some(|pairs, signed| {
        columns! {
            for pair in pairs, signed;
            left_url: Utf8 = &pair.left.url,
            left: Bits = pair.left.fingerprint,
            right_url: Utf8 = &pair.right.url,
            right: Bits = pair.right.fingerprint,
            distance: Int32 = pair.distance,
        }
    });
}
