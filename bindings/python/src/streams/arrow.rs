//! Imports and exports Arrow arrays and tables through the PyCapsule interface: the C data and C
//! stream interfaces, in capsules of Python. Only this file of the crate uses `unsafe`.
//!
//! `arrow-data` validates the input as far as the interface allows. The interface does not contain
//! the lengths of buffers, so a producer with wrong lengths cannot be detected.

#![expect(unsafe_code, reason = "the C interfaces are structures of pointers")]

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::convert::arg::Arg;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// External arrays, chunk by chunk: the arrays of a stream, or a single array.
pub(crate) struct ArrowChunks {
    arg: Arg,
    from: ArrowInput,
}

enum ArrowInput {
    One(Option<ArrayRef>),
    Stream(ArrayStreamReader),
}

/// The error for unreadable Arrow data.
fn refused(arg: Arg, e: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{arg} is not readable Arrow data: {e}"))
}

/// Returns the structure in a capsule, which the capsule still owns.
fn pointer<T>(arg: Arg, capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let capsule =
        capsule.cast::<PyCapsule>().map_err(|_| refused(arg, "it is not in a PyCapsule"))?;
    let pointer = capsule.pointer_checked(Some(name));
    Ok(pointer.map_err(|_| refused(arg, "the name of its PyCapsule is wrong"))?.cast())
}

/// Returns the Arrow arrays of an object; `None` if the object has no Arrow interface.
pub(crate) fn chunks(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Option<ArrowChunks>> {
    let py = given.py();
    if let Some(offer) = given.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
        let capsule = offer.call0()?;
        let pointer = pointer::<FFI_ArrowArrayStream>(arg, &capsule, STREAM)?;
        // SAFETY: a capsule with this name points to a C stream structure, which no other thread
        // reads while the current thread is attached. The structure is moved out, and the original
        // is marked as released.
        let stream = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) };
        let stream = stream.map_err(|e| refused(arg, e))?;
        return Ok(Some(ArrowChunks { arg, from: ArrowInput::Stream(stream) }));
    }
    let Some(offer) = given.getattr_opt(intern!(py, "__arrow_c_array__"))? else { return Ok(None) };
    let message = "__arrow_c_array__ must return a pair of capsules";
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        offer.call0()?.extract().map_err(|_| PyTypeError::new_err(message))?;
    let schema = pointer::<FFI_ArrowSchema>(arg, &schema, SCHEMA)?;
    let array = pointer::<FFI_ArrowArray>(arg, &array, ARRAY)?;
    // SAFETY: capsules with these names point to a C array and a C schema structure, which no other
    // thread reads while the current thread is attached. The array is moved out, and the schema is
    // only read. The producer guarantees that the array has the type of the schema.
    let data = unsafe {
        DataType::try_from(schema.as_ref())
            .and_then(|of| from_ffi_and_data_type(FFI_ArrowArray::from_raw(array.as_ptr()), of))
    };
    let array = make_array(data.map_err(|e| refused(arg, e))?);
    Ok(Some(ArrowChunks { arg, from: ArrowInput::One(Some(array)) }))
}

impl Iterator for ArrowChunks {
    type Item = PyResult<ArrayRef>;

    fn next(&mut self) -> Option<PyResult<ArrayRef>> {
        let next = match &mut self.from {
            ArrowInput::One(array) => array.take().map(Ok),
            ArrowInput::Stream(stream) => stream.next(),
        };
        let next = next.map(|array| array.and_then(checked));
        if !matches!(next, Some(Ok(_))) {
            self.from = ArrowInput::One(None);
        }
        next.map(|array| array.map_err(|e| refused(self.arg, e)))
    }
}

/// Validates all offsets, keys and texts of an array.
fn checked(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    array.to_data().validate_full()?;
    Ok(array)
}

/// Returns a capsule with a stream of Arrow data.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
