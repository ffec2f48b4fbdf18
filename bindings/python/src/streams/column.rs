//! A column of an Arrow table: its type, and the values of its rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use simkeep::Time;

use crate::convert::arg::Arg;

const MS_PER_DAY: i64 = 86_400_000;

/// An imported column. Dictionaries, views, large offsets and slices are resolved.
pub(crate) struct ImportedColumn {
    array: ArrayRef,
    arg: Arg,
    /// The number of earlier rows.
    before: u64,
}

/// Returns the column of a table with a single column, for example of the result of
/// `fingerprint_batch`. Returns any other array unchanged.
pub(crate) fn only_column(array: ArrayRef) -> ArrayRef {
    match array.as_struct_opt().map(StructArray::columns) {
        Some([column]) if array.null_count() == 0 => Arc::clone(column),
        _ => array,
    }
}

impl ImportedColumn {
    pub(crate) fn new(array: ArrayRef, arg: Arg, before: u64) -> ImportedColumn {
        ImportedColumn { array, arg, before }
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The error for a column with an unexpected type.
    fn type_error(&self, expected: &str) -> PyErr {
        let found = self.array.data_type();
        PyTypeError::new_err(format!("{} must be a column of {expected}, not {found}", self.arg))
    }

    /// The error for an invalid value.
    pub(crate) fn value_error(&self, row: usize, what: impl std::fmt::Display) -> PyErr {
        PyValueError::new_err(format!("{} {what}", self.arg.at(self.before + row as u64)))
    }

    /// Returns the location of a row's value: in the dictionary, if the column has a dictionary.
    /// `None` for a null.
    fn place(&self, row: usize) -> Option<(&dyn Array, usize)> {
        let array = &*self.array;
        if array.is_null(row) || *array.data_type() == DataType::Null {
            return None;
        }
        let DataType::Dictionary(key, _) = array.data_type() else { return Some((array, row)) };
        let (values, key) = match **key {
            DataType::Int8 => keyed::<Int8Type>(array, row),
            DataType::Int16 => keyed::<Int16Type>(array, row),
            DataType::Int32 => keyed::<Int32Type>(array, row),
            DataType::Int64 => keyed::<Int64Type>(array, row),
            DataType::UInt8 => keyed::<UInt8Type>(array, row),
            DataType::UInt16 => keyed::<UInt16Type>(array, row),
            DataType::UInt32 => keyed::<UInt32Type>(array, row),
            _ => keyed::<UInt64Type>(array, row),
        }?;
        values.is_valid(key).then_some((values, key))
    }

    /// Returns the text in a row.
    pub(crate) fn text(&self, row: usize) -> PyResult<Option<&str>> {
        let Some((array, row)) = self.place(row) else { return Ok(None) };
        Ok(Some(match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row),
            DataType::Utf8View => array.as_string_view().value(row),
            _ => return Err(self.type_error("strings")),
        }))
    }

    /// Returns the bytes in a row.
    pub(crate) fn bytes(&self, row: usize) -> PyResult<Option<&[u8]>> {
        let Some((array, row)) = self.place(row) else { return Ok(None) };
        Ok(Some(match array.data_type() {
            DataType::Binary => array.as_binary::<i32>().value(row),
            DataType::LargeBinary => array.as_binary::<i64>().value(row),
            DataType::BinaryView => array.as_binary_view().value(row),
            DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(row),
            _ => return Err(self.type_error("bytes")),
        }))
    }

    /// Whether the values are bytes.
    pub(crate) fn is_binary(&self) -> bool {
        use DataType::{Binary, BinaryView, Dictionary, FixedSizeBinary, LargeBinary};
        let of = match self.array.data_type() {
            Dictionary(_, of) => of,
            of => of,
        };
        matches!(of, Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
    }

    /// Returns the boolean in a row.
    pub(crate) fn flag(&self, row: usize) -> PyResult<Option<bool>> {
        let Some((array, at)) = self.place(row) else { return Ok(None) };
        match array.as_boolean_opt() {
            Some(flags) => Ok(Some(flags.value(at))),
            None => Err(self.type_error("booleans")),
        }
    }

    /// Returns the integer in a row, from 0 to `max`.
    pub(crate) fn whole(&self, row: usize, max: u64) -> PyResult<Option<u64>> {
        let Some((array, at)) = self.place(row) else { return Ok(None) };
        let signed = match array.data_type() {
            DataType::Int8 => i64::from(array.as_primitive::<Int8Type>().value(at)),
            DataType::Int16 => i64::from(array.as_primitive::<Int16Type>().value(at)),
            DataType::Int32 => i64::from(array.as_primitive::<Int32Type>().value(at)),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(at),
            DataType::UInt8 => i64::from(array.as_primitive::<UInt8Type>().value(at)),
            DataType::UInt16 => i64::from(array.as_primitive::<UInt16Type>().value(at)),
            DataType::UInt32 => i64::from(array.as_primitive::<UInt32Type>().value(at)),
            DataType::UInt64 => {
                let number = array.as_primitive::<UInt64Type>().value(at);
                return self.bounded(row, number, max);
            }
            _ => return Err(self.type_error("integers")),
        };
        match u64::try_from(signed) {
            Ok(number) => self.bounded(row, number, max),
            Err(_) => Err(self.value_error(row, format!("must be from 0 to {max}, not {signed}"))),
        }
    }

    fn bounded(&self, row: usize, number: u64, max: u64) -> PyResult<Option<u64>> {
        if number <= max {
            return Ok(Some(number));
        }
        Err(self.value_error(row, format!("must be from 0 to {max}, not {number}")))
    }

    /// Returns the fingerprint in a row: unsigned, or signed bit for bit.
    pub(crate) fn fingerprint(&self, row: usize) -> PyResult<Option<u64>> {
        let Some((array, at)) = self.place(row) else { return Ok(None) };
        match array.data_type() {
            DataType::UInt64 => Ok(Some(array.as_primitive::<UInt64Type>().value(at))),
            DataType::Int64 => {
                Ok(Some(array.as_primitive::<Int64Type>().value(at).cast_unsigned()))
            }
            _ => Err(self.type_error("uint64 or int64")),
        }
    }

    /// Returns the number in a row, with an optional fraction.
    pub(crate) fn float(&self, row: usize) -> PyResult<Option<f64>> {
        let Some((array, at)) = self.place(row) else { return Ok(None) };
        match array.data_type() {
            DataType::Float64 => Ok(Some(array.as_primitive::<Float64Type>().value(at))),
            DataType::Float32 => Ok(Some(f64::from(array.as_primitive::<Float32Type>().value(at)))),
            DataType::UInt64 => Err(self.type_error("floats")),
            _ => Ok(self.whole(row, u64::from(u32::MAX))?.map(|whole| whole as f64)),
        }
    }

    /// Returns the time in a row: a timestamp, a date, a text, or integer milliseconds since 1970.
    /// Values without a time zone are in UTC, as in the tool. A number that looks like seconds is
    /// rejected.
    pub(crate) fn time(&self, row: usize) -> PyResult<Option<Time>> {
        let expected = "timestamps, dates, texts with times, or int64 milliseconds since 1970";
        let Some((array, at)) = self.place(row) else { return Ok(None) };
        let (count, of_second) = match array.data_type() {
            DataType::Int64 => {
                let ms = array.as_primitive::<Int64Type>().value(at);
                return match Time::from_ms(ms) {
                    Err(simkeep::TimeError::LooksLikeSeconds(_)) => {
                        let what = "looks like seconds since 1970; give milliseconds";
                        Err(self.value_error(row, format!("is {ms}, which {what}")))
                    }
                    _ => Ok(Some(Time::from_ms_unchecked(ms))),
                };
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let text = self.text(row)?.unwrap_or_default();
                let time = simkeep_formats::time(text).map(Time::from_ms_unchecked);
                let what = || {
                    format!("is not a time such as 2024-05-01 or 2024-05-01T12:00:00Z: {text:?}")
                };
                return Ok(Some(time.ok_or_else(|| self.value_error(row, what()))?));
            }
            DataType::Date32 => {
                let days = i64::from(array.as_primitive::<Date32Type>().value(at));
                return Ok(Some(Time::from_ms_unchecked(days * MS_PER_DAY)));
            }
            DataType::Timestamp(unit, _) => match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(at), 1),
                TimeUnit::Millisecond => {
                    (array.as_primitive::<TimestampMillisecondType>().value(at), 1_000)
                }
                TimeUnit::Microsecond => {
                    (array.as_primitive::<TimestampMicrosecondType>().value(at), 1_000_000)
                }
                TimeUnit::Nanosecond => {
                    (array.as_primitive::<TimestampNanosecondType>().value(at), 1_000_000_000)
                }
            },
            _ => return Err(self.type_error(expected)),
        };
        let ms = i128::from(count) * 1_000;
        let ms = ms.div_euclid(of_second);
        let ms = i64::try_from(ms).map_err(|_| self.value_error(row, "is out of range"))?;
        Ok(Some(Time::from_ms_unchecked(ms)))
    }
}

/// Returns the values of a dictionary, and the index of a row's value.
fn keyed<K: ArrowDictionaryKeyType>(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_dictionary::<K>();
    Some((&**dictionary.values(), dictionary.key(row)?))
}
