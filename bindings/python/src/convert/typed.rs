//! Python objects with precise types: tuples, iterators, results of `__getitem__`.
//!
//! With the feature `stub`, the extension contains the signatures of all classes and functions. The
//! type of a result is the `OUTPUT_TYPE` of its Rust type; the types of `PyTuple` and `PyAny` are
//! not precise enough.

use std::borrow::Borrow;
use std::convert::Infallible;
use std::marker::PhantomData;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
#[cfg(feature = "stub")]
use pyo3::type_hint_union;
use pyo3::types::{PyIterator, PyTuple};

/// Declares the type of results for the stub: a class by its module and name, or any expression.
macro_rules! output_type {
    ($module:literal, $name:expr) => {
        $crate::convert::typed::output_type!(pyo3::type_hint_identifier!($module, $name));
    };
    ($hint:expr) => {
        #[cfg(feature = "stub")]
        const OUTPUT_TYPE: pyo3::inspect::PyStaticExpr = $hint;
    };
}

pub(crate) use output_type;

/// Declares a wrapper of a Python object with a static item type.
macro_rules! typed {
    ($(#[$of:meta])* $Name:ident<$T:ident>($Object:ty): $hint:expr) => {
        $(#[$of])*
        pub(crate) struct $Name<$T>(Py<$Object>, PhantomData<fn() -> $T>);

        impl<'py, $T: IntoPyObject<'py>> IntoPyObject<'py> for $Name<$T> {
            type Target = $Object;
            type Output = Bound<'py, $Object>;
            type Error = Infallible;
            output_type!($hint);

            fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, $Object>, Infallible> {
                Ok(self.0.into_bound(py))
            }
        }

        impl<'a, 'py, $T: IntoPyObject<'py>> IntoPyObject<'py> for &'a $Name<$T> {
            type Target = $Object;
            type Output = Borrowed<'a, 'py, $Object>;
            type Error = Infallible;
            output_type!(<$Name<$T> as IntoPyObject<'py>>::OUTPUT_TYPE);

            fn into_pyobject(
                self,
                py: Python<'py>,
            ) -> Result<Borrowed<'a, 'py, $Object>, Infallible> {
                Ok(self.0.bind_borrowed(py))
            }
        }

        impl<'py, $T> FromPyObject<'_, 'py> for $Name<$T> {
            type Error = PyErr;

            fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<$Name<$T>> {
                Ok($Name(given.cast::<$Object>()?.to_owned().unbind(), PhantomData))
            }
        }
    };
}

typed! {
    /// A tuple of any length, whose items are `T`.
    Tuple<T>(PyTuple): pyo3::type_hint_subscript!(
        pyo3::type_hint_identifier!("builtins", "tuple"),
        T::OUTPUT_TYPE,
        pyo3::inspect::PyStaticExpr::Constant { value: pyo3::inspect::PyStaticConstant::Ellipsis }
    )
}

typed! {
    /// An iterator over `T`.
    Iter<T>(PyIterator): pyo3::type_hint_subscript!(
        pyo3::type_hint_identifier!("collections.abc", "Iterator"),
        T::OUTPUT_TYPE
    )
}

typed! {
    /// An object with the type of `T`.
    Typed<T>(PyAny): T::OUTPUT_TYPE
}

impl<T> Tuple<T> {
    /// Creates a tuple of items.
    pub(crate) fn new<'py, Item: IntoPyObject<'py> + Borrow<T>>(
        py: Python<'py>,
        items: impl IntoIterator<Item = Item, IntoIter: ExactSizeIterator>,
    ) -> PyResult<Tuple<T>> {
        Ok(Tuple(PyTuple::new(py, items)?.unbind(), PhantomData))
    }

    /// Converts each item, and creates a tuple of the results.
    pub(crate) fn of<'py, One>(
        py: Python<'py>,
        all: impl IntoIterator<Item = One>,
        make: impl FnMut(One) -> PyResult<T>,
    ) -> PyResult<Tuple<T>>
    where
        T: IntoPyObject<'py>,
    {
        Tuple::new(py, all.into_iter().map(make).collect::<PyResult<Vec<_>>>()?)
    }

    pub(crate) fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.0.bind(py)
    }
}

impl<T> Iter<T> {
    /// Iterates over an object.
    pub(crate) fn over(object: &Bound<'_, PyAny>) -> PyResult<Iter<T>> {
        Ok(Iter(object.try_iter()?.unbind(), PhantomData))
    }
}

impl<T> From<Bound<'_, PyAny>> for Typed<T> {
    fn from(object: Bound<'_, PyAny>) -> Typed<T> {
        Typed(object.unbind(), PhantomData)
    }
}

/// The result of `__getitem__`: an item for an index, several items for a slice. The stub has an
/// overload for each case.
pub(crate) enum GetItemResult<Item, Items> {
    Item(Item),
    Items(Items),
}

impl<'py, Item: IntoPyObject<'py>, Items: IntoPyObject<'py>> IntoPyObject<'py>
    for GetItemResult<Item, Items>
{
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    output_type!(type_hint_union!(Item::OUTPUT_TYPE, Items::OUTPUT_TYPE));

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            GetItemResult::Item(item) => item.into_bound_py_any(py),
            GetItemResult::Items(items) => items.into_bound_py_any(py),
        }
    }
}
