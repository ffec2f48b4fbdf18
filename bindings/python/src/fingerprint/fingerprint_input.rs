//! Converts many fingerprints at once from columns of Arrow, from buffers, for example arrays of
//! numpy, and from iterables.

use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use simkeep::{Epoch, Snapshot};

use crate::convert::arg::{self, Arg};
use crate::convert::error::of_class;
use crate::fingerprint::batch::Fingerprints;
use crate::streams::arrow::{self, ArrowChunks};
use crate::streams::column::{ImportedColumn, only_column};

/// The accepted types of fingerprints.
const EXPECTED: &str =
    "a one-dimensional buffer or a column of uint64 or int64, or an iterable of ints and None";

/// The given fingerprints, without nulls.
pub(crate) struct FingerprintInput {
    pub(crate) bits: Vec<u64>,
    /// The position of each fingerprint among all inputs, if there were nulls.
    positions: Option<Vec<usize>>,
    /// The number of inputs, nulls included.
    pub(crate) given: usize,
    /// The end of the name of each epoch with these fingerprints, if their recipe is known.
    epoch_name_end: Option<String>,
}

impl From<Vec<u64>> for FingerprintInput {
    fn from(bits: Vec<u64>) -> FingerprintInput {
        FingerprintInput { given: bits.len(), bits, positions: None, epoch_name_end: None }
    }
}

impl FingerprintInput {
    fn with_capacity(capacity: usize) -> FingerprintInput {
        let bits = Vec::with_capacity(capacity);
        FingerprintInput { bits, positions: None, given: 0, epoch_name_end: None }
    }

    fn push(&mut self, fingerprint: Option<u64>) {
        match fingerprint {
            Some(fingerprint) => {
                self.bits.push(fingerprint);
                if let Some(positions) = &mut self.positions {
                    positions.push(self.given);
                }
            }
            None => {
                self.positions.get_or_insert_with(|| (0..self.given).collect());
            }
        }
        self.given += 1;
    }

    /// Returns the position, among all inputs, of the fingerprint with this index.
    pub(crate) fn position(&self, index: usize) -> usize {
        self.positions.as_ref().and_then(|all| all.get(index)).copied().unwrap_or(index)
    }

    /// Returns the number of fingerprints before a position.
    pub(crate) fn before(&self, position: usize) -> usize {
        let of = |all: &Vec<usize>| all.partition_point(|one| *one < position);
        self.positions.as_ref().map_or(position, of)
    }

    /// Checks that the fingerprints have the recipe of a searched epoch, as far as both are known.
    /// The default is the epoch of near-duplicates.
    pub(crate) fn check_recipe(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        epoch: Option<Epoch>,
    ) -> PyResult<()> {
        let epoch = epoch.unwrap_or_else(|| snapshot.near_epoch());
        let info = snapshot.epochs().iter().find(|info| info.epoch == epoch);
        let (Some(end), Some(info)) = (&self.epoch_name_end, info) else { return Ok(()) };
        // Names with another meaning belong to external fingerprints.
        let is_equal = |name: &str| match name.strip_suffix(&**end) {
            Some(start) => start.is_empty() || start.ends_with(' '),
            None => false,
        };
        if is_equal(&info.name) || !simkeep::Origin::is_name(&info.name) {
            return Ok(());
        }
        let (number, name) = (epoch.number(), &info.name);
        let message = format!(
            "the fingerprints were made by the recipe {end}, but epoch {number} of the store is {name}: \
             make the fingerprints with recipe=store.origin({number}), or pass the epoch= of their recipe"
        );
        Err(of_class(py, "EpochError", message))
    }
}

/// Copies fingerprints, because memory that another thread may write cannot be a slice.
pub(crate) fn fingerprints(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<FingerprintInput> {
    let is_text = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>();
    if is_text {
        return Err(arg.type_error(EXPECTED, given));
    }
    if let Ok(made) = given.cast::<Fingerprints>() {
        let made = made.get();
        let mut fingerprints = FingerprintInput::with_capacity(made.prints.len());
        made.prints.iter().for_each(|print| fingerprints.push(*print));
        fingerprints.epoch_name_end = Some(made.epoch_name_end.clone());
        return Ok(fingerprints);
    }
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return of_chunks(arg, chunks);
    }
    if let Ok(buffer) = PyUntypedBuffer::get(given) {
        return of_buffer(arg, given, &buffer).map(FingerprintInput::from);
    }
    let all = given.try_iter().map_err(|_| arg.type_error(EXPECTED, given))?;
    let mut fingerprints = FingerprintInput::with_capacity(given.len().unwrap_or(0).min(1 << 20));
    for (number, one) in (0..).zip(all) {
        let one = arg::optional(Some(&one?), |one| arg::fingerprint(arg.at(number), one))?;
        fingerprints.push(one);
    }
    Ok(fingerprints)
}

fn of_chunks(arg: Arg, chunks: ArrowChunks) -> PyResult<FingerprintInput> {
    let mut fingerprints = FingerprintInput::with_capacity(0);
    for chunk in chunks {
        let column = ImportedColumn::new(only_column(chunk?), arg, fingerprints.given as u64);
        fingerprints.bits.reserve(column.len());
        for row in 0..column.len() {
            fingerprints.push(column.fingerprint(row)?);
        }
    }
    Ok(fingerprints)
}

fn of_buffer(arg: Arg, given: &Bound<'_, PyAny>, buffer: &PyUntypedBuffer) -> PyResult<Vec<u64>> {
    let py = given.py();
    if buffer.dimensions() != 1 {
        let found = buffer.dimensions();
        let message = format!("{arg} must be {EXPECTED}, but this buffer has {found} dimensions");
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
        // Formats with an explicit byte order, as in ctypes, may be signed or unsigned.
        (b"<Q" | b"<L" | b"<q" | b"<l", 8) => {
            let bytes = PyMemoryView::from(given)?.call_method1("cast", ("B",))?;
            let bytes = PyBuffer::<u8>::get(&bytes)?.to_vec(py)?;
            let (chunks, _) = bytes.as_chunks();
            Ok(chunks.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
        }
        _ => {
            let format = buffer.format().to_string_lossy();
            let what = "in the byte order of the machine; the format of this buffer is";
            Err(PyTypeError::new_err(format!("{arg} must be {EXPECTED}, {what} {format}")))
        }
    }
}
