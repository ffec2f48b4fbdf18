//! Values: what is told of a store, frozen, comparable, hashable, and shown as it can be written.
//!
//! All that they have in common goes by the names of their fields, so it is here once for all.

use std::fmt::Write as _;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple, PyType};

/// Declares a class of values by its fields, which are its constructor's arguments, too. What stands
/// behind `also` are more methods; the module is `simkeep`, unless another one is named before all.
macro_rules! value {
    (in $module:tt; $($class:tt)*) => { $crate::value::value! { @class $module; $($class)* } };
    (
        @class $module:tt;
        $(#[$of:meta])*
        $Name:ident { $($(#[$about:meta])* $field:ident: $Type:ty,)* }
        $(also { $($also:tt)* })?
    ) => {
        $(#[$of])*
        #[pyo3::pyclass(frozen, get_all, new = "from_fields", module = $module)]
        pub(crate) struct $Name {
            $($(#[$about])* pub(crate) $field: $Type,)*
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
                $crate::value::repr(slf.as_any(), class, $Name::FIELDS)
            }

            fn __eq__<'py>(
                slf: &pyo3::Bound<'py, Self>,
                other: &pyo3::Bound<'py, pyo3::PyAny>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                $crate::value::eq(slf.as_any(), other, $Name::FIELDS)
            }

            fn __hash__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<isize> {
                $crate::value::fields(slf.as_any(), $Name::FIELDS)?.hash()
            }

            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(
                pyo3::Bound<'py, pyo3::types::PyType>,
                pyo3::Bound<'py, pyo3::types::PyTuple>,
            )> {
                $crate::value::reduce(slf.as_any(), $Name::FIELDS)
            }

            $($($also)*)?
        }

        impl $Name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
    ($($class:tt)*) => { $crate::value::value! { @class "simkeep"; $($class)* } };
}

pub(crate) use value;

/// The fields of a value.
pub(crate) fn fields<'py>(
    value: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<Bound<'py, PyTuple>> {
    let fields: Vec<_> = names.iter().map(|name| value.getattr(*name)).collect::<PyResult<_>>()?;
    PyTuple::new(value.py(), fields)
}

/// A value as it can be written.
pub(crate) fn repr(value: &Bound<'_, PyAny>, class: &str, names: &[&str]) -> PyResult<String> {
    let mut repr = format!("{class}(");
    let mut comma = "";
    for name in names {
        let field = value.getattr(*name)?;
        // Bits are read as digits of 16.
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

/// Whether two values of a class are equal; values of other classes are for Python to compare.
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

/// How a value is pickled and copied.
pub(crate) fn reduce<'py>(
    value: &Bound<'py, PyAny>,
    names: &[&str],
) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
    Ok((value.get_type(), fields(value, names)?))
}

/// Why something that is open cannot be pickled.
pub(crate) fn no_pickle(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("a {what} cannot be pickled; {instead}"))
}
