//! Sequences whose items are created on access.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyRange, PySlice};

use crate::convert::typed::{GetItemResult, Iter};

/// Returns an item of a sequence, or the items of a slice.
pub(crate) fn item<T, Item>(
    index: &Bound<'_, PyAny>,
    all: &[T],
    make: impl Fn(&T) -> PyResult<Item>,
) -> PyResult<GetItemResult<Item, Vec<Item>>> {
    if let Ok(slice) = index.cast::<PySlice>() {
        let length = isize::try_from(all.len()).unwrap_or(isize::MAX);
        let range = slice.indices(length)?;
        let places = (0..range.slicelength).map(|n| {
            let place = range.start.saturating_add(range.step.saturating_mul(n.cast_signed()));
            place.cast_unsigned()
        });
        let some = places.filter_map(|place| all.get(place)).map(&make);
        return some.collect::<PyResult<Vec<_>>>().map(GetItemResult::Items);
    }
    let place: isize = index.extract()?;
    let place = if place < 0 { place.checked_add_unsigned(all.len()) } else { Some(place) };
    let place = place.and_then(|place| usize::try_from(place).ok());
    let found = place.and_then(|place| all.get(place));
    make(found.ok_or_else(|| PyIndexError::new_err("the index is out of range"))?)
        .map(GetItemResult::Item)
}

/// Returns an iterator over a sequence that creates each item on access.
pub(crate) fn iter<T>(sequence: &Bound<'_, PyAny>) -> PyResult<Iter<T>> {
    let py = sequence.py();
    let length = isize::try_from(sequence.len()?).unwrap_or(isize::MAX);
    let map = py.import("builtins")?.getattr("map")?;
    let get = sequence.getattr("__getitem__")?;
    Iter::over(&map.call1((get, PyRange::new(py, 0, length)?))?)
}
