//! What a search answers, and pairs.

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

use crate::value::{tuple, value};

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
        near: Py<PyTuple>,
        /// Whether these are all pages. If not, the limit, the budget, or a crowd of fingerprints
        /// cut the answer short.
        complete: bool,
        /// The distance up to which everything was searched.
        within: u32,
    }
    also {
        fn __len__(&self, py: Python<'_>) -> usize {
            self.near.bind(py).len()
        }

        fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
            self.near.bind(py).try_iter()
        }

        fn __getitem__<'py>(
            &self,
            py: Python<'py>,
            index: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyAny>> {
            self.near.bind(py).as_any().get_item(index)
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

impl Matches {
    pub(crate) fn of(py: Python<'_>, matches: simkeep::Matches) -> PyResult<Matches> {
        let near = tuple(py, matches.near, |py, near| {
            let simkeep::Near { url, distance, fingerprint, .. } = near;
            Ok(Bound::new(py, Near { url, distance, fingerprint })?.into_any())
        })?;
        Ok(Matches { near, complete: matches.complete, within: matches.within })
    }
}

impl From<simkeep::NearPair> for Pair {
    fn from(pair: simkeep::NearPair) -> Pair {
        Pair { left: pair.left, right: pair.right, distance: pair.distance }
    }
}

impl PagePair {
    pub(crate) fn of(py: Python<'_>, pair: &simkeep::PagePair) -> PyResult<PagePair> {
        let page = |page: &simkeep::PairedPage| {
            let url = page.url.to_string();
            Py::new(py, PairedPage { url, fingerprint: page.fingerprint })
        };
        let (left, right) = (page(&pair.left)?, page(&pair.right)?);
        Ok(PagePair { left, right, distance: pair.distance })
    }
}
