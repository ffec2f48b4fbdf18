//! What a search answers, and pairs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::typed::{Iter, Picked, Tuple, Typed, output_type};
use crate::value::value;

value! {
    /// A page near a fingerprint.
    Near {
        /// The page.
        url: String,
        /// In how many bits its fingerprint differs.
        distance: u32,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
    }
}

value! {
    /// The answer of a search: a collection of the pages that are near.
    Matches {
        /// The pages, nearest first, then in SURT order.
        near: Nears,
        /// Whether these are all pages. If not, the limit, the budget, or a crowd of fingerprints
        /// cut the answer short.
        complete: bool,
        /// The distance up to which no page is missing; `None` if pages with the very fingerprint may be
        /// missing, too.
        within: Option<u32>,
    }
    also {
        fn __len__(&self, py: Python<'_>) -> usize {
            self.near.len(py)
        }

        fn __iter__(&self, py: Python<'_>) -> PyResult<Iter<Near>> {
            Iter::over(self.near.tuple(py)?.bind(py))
        }

        fn __getitem__<'py>(
            &self,
            py: Python<'py>,
            index: &Bound<'py, PyAny>,
        ) -> PyResult<Typed<Picked<Near, Tuple<Near>>>> {
            self.near.tuple(py)?.bind(py).as_any().get_item(index).map(Typed::from)
        }
    }
}

value! {
    /// Two different fingerprints of pages that are near each other.
    Pair {
        /// The smaller one.
        left: u64,
        /// The larger one.
        right: u64,
        /// In how many bits they differ.
        distance: u32,
    }
}

value! {
    /// One page of a pair.
    PairedPage {
        /// The page.
        url: String,
        /// Its fingerprint, with reserved bits set to 0.
        fingerprint: u64,
    }
}

value! {
    /// Two pages with fingerprints that are equal or near each other.
    PagePair {
        /// The page with the smaller fingerprint; of two with the same, the first in SURT order.
        left: Py<PairedPage>,
        /// The other one.
        right: Py<PairedPage>,
        /// In how many bits their fingerprints differ.
        distance: u32,
    }
}

/// The pages that a search found: a tuple of `Near`, made when it is looked at. Many searches are only
/// asked whether they found any.
pub(crate) struct Nears {
    found: Vec<simkeep::Near>,
    made: PyOnceLock<Tuple<Near>>,
}

impl Nears {
    fn len(&self, py: Python<'_>) -> usize {
        self.made.get(py).map_or(self.found.len(), |made| made.bind(py).len())
    }

    fn tuple(&self, py: Python<'_>) -> PyResult<&Tuple<Near>> {
        self.made.get_or_try_init(py, || {
            Tuple::of(py, &self.found, |near| {
                let simkeep::Near { url, distance, fingerprint, .. } = near;
                Ok(Near { url: url.clone(), distance: *distance, fingerprint: *fingerprint })
            })
        })
    }
}

impl<'a, 'py> IntoPyObject<'py> for &'a Nears {
    type Target = PyTuple;
    type Output = Borrowed<'a, 'py, PyTuple>;
    type Error = PyErr;
    output_type!(<Tuple<Near> as IntoPyObject<'py>>::OUTPUT_TYPE);

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Borrowed<'a, 'py, PyTuple>> {
        let Ok(tuple) = self.tuple(py)?.into_pyobject(py);
        Ok(tuple)
    }
}

impl<'py> FromPyObject<'_, 'py> for Nears {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Nears> {
        let made = PyOnceLock::new();
        // It is new, so nothing is in it.
        let _ = made.set(given.py(), given.extract()?);
        Ok(Nears { found: Vec::new(), made })
    }
}

impl From<simkeep::Matches> for Matches {
    fn from(of: simkeep::Matches) -> Matches {
        let near = Nears { found: of.near, made: PyOnceLock::new() };
        Matches { near, complete: of.complete, within: of.within }
    }
}

impl From<simkeep::query::NearPair> for Pair {
    fn from(pair: simkeep::query::NearPair) -> Pair {
        Pair { left: pair.left, right: pair.right, distance: pair.distance }
    }
}

impl PagePair {
    pub(crate) fn of(py: Python<'_>, pair: &simkeep::query::PagePair) -> PyResult<PagePair> {
        let page = |page: &simkeep::query::PairedPage| {
            let url = page.url.to_string();
            Py::new(py, PairedPage { url, fingerprint: page.fingerprint })
        };
        let (left, right) = (page(&pair.left)?, page(&pair.right)?);
        Ok(PagePair { left, right, distance: pair.distance })
    }
}
