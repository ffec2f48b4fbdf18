//! Many fingerprints at once: from columns of Arrow, from buffers, such as arrays of numpy, and from
//! anything iterable.

use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::convert::arg::{self, Arg};
use crate::stream::arrow::{self, Chunks};
use crate::stream::column::Column;

/// What fingerprints may come in.
const EXPECTED: &str =
    "a one-dimensional buffer of uint64 or int64, such a column, or an iterable of ints";

/// The fingerprints, copied: memory that another thread may write is no slice.
pub(crate) fn fingerprints(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let is_text = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>();
    if is_text {
        return Err(arg.type_error(EXPECTED, given));
    }
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return of_chunks(arg, chunks);
    }
    if let Ok(buffer) = PyUntypedBuffer::get(given) {
        return of_buffer(arg, given, &buffer);
    }
    let all = given.try_iter().map_err(|_| arg.type_error(EXPECTED, given))?;
    let mut fingerprints = Vec::with_capacity(given.len().unwrap_or(0).min(1 << 20));
    for (number, one) in (0..).zip(all) {
        fingerprints.push(arg::fingerprint(arg.at(number), &one?)?);
    }
    Ok(fingerprints)
}

fn of_chunks(arg: Arg, chunks: Chunks) -> PyResult<Vec<u64>> {
    let mut fingerprints = Vec::new();
    for chunk in chunks {
        let before = fingerprints.len() as u64;
        let column = Column::new(chunk?, arg, before);
        fingerprints.reserve(column.len());
        for row in 0..column.len() {
            let null = || column.value_error(row, "is null");
            fingerprints.push(column.fingerprint(row)?.ok_or_else(null)?);
        }
    }
    Ok(fingerprints)
}

fn of_buffer(arg: Arg, given: &Bound<'_, PyAny>, buffer: &PyUntypedBuffer) -> PyResult<Vec<u64>> {
    let py = given.py();
    if buffer.dimensions() != 1 {
        let found = buffer.dimensions();
        let message = format!("{arg} must be {EXPECTED}, and this buffer has {found} dimensions");
        return Err(PyTypeError::new_err(message));
    }
    let format = buffer.format().to_bytes();
    let format = format.strip_prefix(b"@").or(format.strip_prefix(b"=")).unwrap_or(format);
    match (format, buffer.item_size()) {
        (b"Q" | b"L", 8) => PyBuffer::<u64>::get(given)?.to_vec(py),
        (b"q" | b"l", 8) => {
            let signed = PyBuffer::<i64>::get(given)?.to_vec(py)?;
            Ok(signed.into_iter().map(i64::cast_unsigned).collect())
        }
        // Whose order is named, as ctypes does. It takes both signs.
        (b"<Q" | b"<L" | b"<q" | b"<l", 8) => {
            let bytes = PyMemoryView::from(given)?.call_method1("cast", ("B",))?;
            let bytes = PyBuffer::<u8>::get(&bytes)?.to_vec(py)?;
            let (chunks, _) = bytes.as_chunks();
            Ok(chunks.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
        }
        _ => {
            let format = buffer.format().to_string_lossy();
            let what = "in the byte order of the machine; the format of this is";
            Err(PyTypeError::new_err(format!("{arg} must be {EXPECTED}, {what} {format}")))
        }
    }
}
