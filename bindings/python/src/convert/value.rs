//! Value classes: frozen, comparable and hashable, with a `repr` that evaluates to an equal value.
//!
//! The common methods of values use the names of their fields, so the methods are implemented once,
//! in this module.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple, PyType};
use pyo3::{IntoPyObjectExt, PyClass, PyClassInitializer};
use simkeep::{Digest, Epoch, Weight};

use crate::convert::typed::{Tuple, Typed};

/// Declares a class of values by its fields, which are also its constructor's arguments. Further
/// methods follow `also`; the module is `simkeep`, unless another module comes first.
///
/// `Page from page: simkeep::Page { ... }` copies a type of the crate: each field gets the value
/// after `=`, or the field of the same name in the crate, converted by [`FromRust`]. Values after
/// `=` are computed before fields are moved out. Missing descriptions of a class or field are taken
/// from the crate.
macro_rules! value {
    (in $module:literal; $($class:tt)*) => { $crate::convert::value::class! { @head $module; $($class)* } };
    ($($class:tt)*) => { $crate::convert::value::class! { @head "simkeep"; $($class)* } };
}

/// The steps of [`value!`]. `@fields` takes one field after another, and adds missing parts: the
/// description, or `()` for the value of the crate's field with the same name.
macro_rules! class {
    (
        @head $module:literal;
        $(#[$of:meta])*
        $Name:ident $(from $from:ident: $($path:ident)::+)? { $($fields:tt)* }
        $(also { $($also:tt)* })?
    ) => {
        $crate::convert::value::class! {
            @fields { $module $Name [$(#[$of])*] [$($from: $($path)::+)?] [$($($also)*)?] } []
            $($fields)*
        }
    };
    (
        @fields $head:tt [$($field:tt)*]
        $(#[$about:meta])+ $name:ident: $Type:ty = $value:expr, $($rest:tt)*
    ) => {
        $crate::convert::value::class! {
            @fields $head [$($field)* { [$(#[$about])+] $name: $Type, ($value) }] $($rest)*
        }
    };
    (
        @fields $head:tt [$($field:tt)*]
        $(#[$about:meta])+ $name:ident: $Type:ty, $($rest:tt)*
    ) => {
        $crate::convert::value::class! {
            @fields $head [$($field)* { [$(#[$about])+] $name: $Type, () }] $($rest)*
        }
    };
    (
        @fields { $module:tt $Name:tt $about:tt [$from:ident: $($path:ident)::+] $also:tt } $fields:tt
        $name:ident: $($rest:tt)*
    ) => {
        $crate::convert::value::class! {
            @fields { $module $Name $about [$from: $($path)::+] $also } $fields
            #[doc = prose!($($path)::+; $name)] $name: $($rest)*
        }
    };
    (@fields { $module:tt $Name:tt [] [$from:ident: $($path:ident)::+] $also:tt } $fields:tt) => {
        $crate::convert::value::class! {
            @fields
            { $module $Name [#[doc = prose!($($path)::+;)]] [$from: $($path)::+] $also } $fields
        }
    };
    (
        @fields { $module:tt $Name:ident [$(#[$of:meta])+] $from:tt [$($also:tt)*] }
        [$({ [$(#[$about:meta])+] $field:ident: $Type:ty, $value:tt })*]
    ) => {
        $(#[$of])+
        #[pyo3::pyclass(frozen, get_all, new = "from_fields", module = $module)]
        pub(crate) struct $Name {
            $($(#[$about])+ pub(crate) $field: $Type,)*
        }

        #[pyo3::pymethods]
        impl $Name {
            #[classattr]
            fn __match_args__<'py>(
                py: pyo3::Python<'py>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyTuple>> {
                pyo3::types::PyTuple::new(py, $Name::FIELDS)
            }

            fn __repr__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<String> {
                let class = concat!($module, ".", stringify!($Name));
                $crate::convert::value::repr(slf.as_any(), class, $Name::FIELDS)
            }

            fn __eq__<'py>(
                slf: &pyo3::Bound<'py, Self>,
                other: &pyo3::Bound<'py, pyo3::PyAny>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                $crate::convert::value::eq(slf.as_any(), other, $Name::FIELDS)
            }

            fn __hash__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<isize> {
                $crate::convert::value::hash(slf.as_any(), $Name::FIELDS)
            }

            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(
                pyo3::Bound<'py, pyo3::types::PyType>,
                pyo3::Bound<'py, pyo3::types::PyTuple>,
            )> {
                $crate::convert::value::reduce(slf.as_any(), $Name::FIELDS)
            }

            $($also)*
        }

        impl $Name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        $crate::convert::value::class! { @from $Name $from $({ $field $value })* }
    };
    (@from $Name:ident [] $($fields:tt)*) => {};
    (@from $Name:ident [$from:ident: $From:ty] $({ $field:ident $value:tt })*) => {
        impl $crate::convert::value::FromRust<$From> for $Name {
            fn from_rust(py: pyo3::Python<'_>, $from: $From) -> pyo3::PyResult<$Name> {
                $($crate::convert::value::class! { @make py $field $value })*
                Ok($Name { $($field: $crate::convert::value::class!(@take py $from $field $value),)* })
            }
        }
    };
    (@make $py:ident $field:ident ()) => {};
    (@make $py:ident $field:ident ($value:expr)) => {
        let $field = $crate::convert::value::FromRust::from_rust($py, $value)?;
    };
    (@take $py:ident $from:ident $field:ident ()) => {
        $crate::convert::value::FromRust::from_rust($py, $from.$field)?
    };
    (@take $py:ident $from:ident $field:ident $value:tt) => { $field };
}

pub(crate) use {class, value};

/// Converts a value of the crate for Python.
pub(crate) trait FromRust<T>: Sized {
    fn from_rust(py: Python<'_>, of: T) -> PyResult<Self>;
}

macro_rules! as_they_are {
    ($($Type:ty),*) => {
        $(impl FromRust<$Type> for $Type {
            fn from_rust(_: Python<'_>, of: $Type) -> PyResult<$Type> {
                Ok(of)
            }
        })*
    };
}

as_they_are! { bool, u16, u32, u64, usize, i64, f32, f64, String, Duration }

impl FromRust<Epoch> for u32 {
    fn from_rust(_: Python<'_>, epoch: Epoch) -> PyResult<u32> {
        Ok(epoch.number())
    }
}

impl FromRust<Weight> for f64 {
    fn from_rust(_: Python<'_>, weight: Weight) -> PyResult<f64> {
        Ok(weight.to_f64())
    }
}

impl FromRust<Arc<str>> for String {
    fn from_rust(_: Python<'_>, text: Arc<str>) -> PyResult<String> {
        Ok(text.to_string())
    }
}

impl FromRust<Arc<str>> for Py<PyString> {
    fn from_rust(py: Python<'_>, text: Arc<str>) -> PyResult<Py<PyString>> {
        Ok(PyString::new(py, &text).unbind())
    }
}

impl FromRust<Vec<u8>> for Py<PyBytes> {
    fn from_rust(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Py<PyBytes>> {
        Ok(PyBytes::new(py, &bytes).unbind())
    }
}

impl FromRust<Digest> for [u8; 16] {
    fn from_rust(_: Python<'_>, digest: Digest) -> PyResult<[u8; 16]> {
        Ok(digest.0)
    }
}

impl FromRust<&str> for String {
    fn from_rust(_: Python<'_>, text: &str) -> PyResult<String> {
        Ok(text.to_owned())
    }
}

impl<A, B, T: FromRust<A>, U: FromRust<B>> FromRust<(A, B)> for (T, U) {
    fn from_rust(py: Python<'_>, (first, second): (A, B)) -> PyResult<(T, U)> {
        Ok((T::from_rust(py, first)?, U::from_rust(py, second)?))
    }
}

impl<A, T: FromRust<A>> FromRust<Range<A>> for (T, T) {
    fn from_rust(py: Python<'_>, range: Range<A>) -> PyResult<(T, T)> {
        Ok((T::from_rust(py, range.start)?, T::from_rust(py, range.end)?))
    }
}

impl<T, U: FromRust<T>> FromRust<Option<T>> for Option<U> {
    fn from_rust(py: Python<'_>, of: Option<T>) -> PyResult<Option<U>> {
        of.map(|of| U::from_rust(py, of)).transpose()
    }
}

impl<T, U: FromRust<T>> FromRust<Vec<T>> for Vec<U> {
    fn from_rust(py: Python<'_>, of: Vec<T>) -> PyResult<Vec<U>> {
        of.into_iter().map(|of| U::from_rust(py, of)).collect()
    }
}

impl<I: IntoIterator, U: FromRust<I::Item> + for<'py> IntoPyObject<'py>> FromRust<I> for Tuple<U> {
    fn from_rust(py: Python<'_>, of: I) -> PyResult<Tuple<U>> {
        Tuple::of(py, of, |of| U::from_rust(py, of))
    }
}

impl<T, U: FromRust<T> + PyClass + Into<PyClassInitializer<U>>> FromRust<T> for Py<U> {
    fn from_rust(py: Python<'_>, of: T) -> PyResult<Py<U>> {
        Py::new(py, U::from_rust(py, of)?)
    }
}

impl<T, U: FromRust<T> + for<'py> IntoPyObject<'py>> FromRust<T> for Typed<U> {
    fn from_rust(py: Python<'_>, of: T) -> PyResult<Typed<U>> {
        Ok(U::from_rust(py, of)?.into_bound_py_any(py)?.into())
    }
}

/// The fields of a value.
pub(crate) fn fields<'py>(
    value: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<Bound<'py, PyTuple>> {
    let fields: Vec<_> = names.iter().map(|name| value.getattr(*name)).collect::<PyResult<_>>()?;
    PyTuple::new(value.py(), fields)
}

/// Returns a hash that equal values share.
pub(crate) fn hash(value: &Bound<'_, PyAny>, names: &[&str]) -> PyResult<isize> {
    fields(value, names)?.hash()
}

/// Returns the `repr` of a value, which evaluates to an equal value.
pub(crate) fn repr(value: &Bound<'_, PyAny>, class: &str, names: &[&str]) -> PyResult<String> {
    let mut repr = format!("{class}(");
    let mut comma = "";
    for name in names {
        let field = value.getattr(*name)?;
        // Fingerprints are shown in hexadecimal digits.
        let is_bits = *name == "fingerprint" && field.is_instance_of::<PyInt>();
        let field = if is_bits {
            format!("0x{:016x}", field.extract::<u64>()?)
        } else {
            field.repr()?.to_string_lossy().into_owned()
        };
        let _ = write!(repr, "{comma}{name}={field}");
        comma = ", ";
    }
    repr.push(')');
    Ok(repr)
}

/// Whether two values of a class are equal; values of other classes are compared by Python.
pub(crate) fn eq<'py>(
    value: &Bound<'py, PyAny>,
    other: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if !value.get_type().is(other.get_type()) {
        return Ok(py.NotImplemented().into_bound(py));
    }
    fields(value, names)?.rich_compare(fields(other, names)?, pyo3::basic::CompareOp::Eq)
}

/// Returns the data to pickle and copy a value.
pub(crate) fn reduce<'py>(
    value: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
    Ok((value.get_type(), fields(value, names)?))
}

/// The error for pickling an open object.
pub(crate) fn no_pickle(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("a {what} cannot be pickled; {instead}"))
}
