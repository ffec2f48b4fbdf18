//! Reads a column of a row group, a few values at a time.

use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::TEXT_BYTES_MAX;

const MS_PER_DAY: i64 = 86_400_000;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A missing value.
    Null,
    /// A text.
    Text(String),
    /// An integer.
    Whole(i64),
    /// A floating-point number.
    Decimal(f64),
    /// A time, in milliseconds since 1970.
    Milliseconds(i64),
    /// A text of more than [`TEXT_BYTES_MAX`] bytes.
    TooLong,
    /// Another type, such as bytes that are not UTF-8.
    Other,
}

/// The meaning of an integer.
#[derive(Clone, Copy)]
enum Unit {
    Number,
    Unsigned,
    Days,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// A unit that is not supported.
    Other,
}

impl Unit {
    fn of(column: &ColumnDescriptor) -> Unit {
        use parquet::basic::ConvertedType as Old;
        match column.logical_type_ref() {
            Some(LogicalType::Date) => Unit::Days,
            Some(LogicalType::Timestamp(time)) => match time.unit {
                TimeUnit::MILLIS => Unit::Milliseconds,
                TimeUnit::MICROS => Unit::Microseconds,
                TimeUnit::NANOS => Unit::Nanoseconds,
            },
            Some(LogicalType::Integer(int)) if int.is_signed => Unit::Number,
            Some(LogicalType::Integer(_)) => Unit::Unsigned,
            Some(_) => Unit::Other,
            None => match column.converted_type() {
                Old::DATE => Unit::Days,
                Old::TIMESTAMP_MILLIS => Unit::Milliseconds,
                Old::TIMESTAMP_MICROS => Unit::Microseconds,
                Old::DECIMAL | Old::TIME_MILLIS | Old::TIME_MICROS => Unit::Other,
                Old::UINT_8 | Old::UINT_16 | Old::UINT_32 | Old::UINT_64 => Unit::Unsigned,
                _ => Unit::Number,
            },
        }
    }

    fn value(self, number: i64) -> Value {
        match self {
            Unit::Number => Value::Whole(number),
            Unit::Unsigned if number < 0 => Value::Text(number.cast_unsigned().to_string()),
            Unit::Unsigned => Value::Whole(number),
            Unit::Days => number.checked_mul(MS_PER_DAY).map_or(Value::Other, Value::Milliseconds),
            Unit::Milliseconds => Value::Milliseconds(number),
            Unit::Microseconds => Value::Milliseconds(number.div_euclid(1_000)),
            Unit::Nanoseconds => Value::Milliseconds(number.div_euclid(1_000_000)),
            Unit::Other => Value::Other,
        }
    }

    /// Converts a 32-bit value. For an unsigned unit, it contains the low 32 bits.
    fn short(self, number: i32) -> Value {
        match self {
            Unit::Unsigned => Value::Whole(number.cast_unsigned().into()),
            _ => self.value(number.into()),
        }
    }
}

/// Whether a column of this type can contain texts, numbers or times.
pub(super) fn is_of_use(physical: Physical) -> bool {
    !matches!(physical, Physical::BOOLEAN | Physical::FIXED_LEN_BYTE_ARRAY)
}

/// A column that is being read.
pub(super) struct Column {
    reader: ColumnReader,
    unit: Unit,
    /// The definition level of a present value.
    deepest: i16,
}

impl Column {
    pub(super) fn new(reader: ColumnReader, of: &ColumnDescriptor) -> Column {
        Column { reader, unit: Unit::of(of), deepest: of.max_def_level() }
    }

    /// Reads the next `count` values, or fewer at the end.
    pub(super) fn read(&mut self, count: usize) -> Result<Vec<Value>> {
        read(&mut self.reader, self.unit, (self.deepest, count))
    }
}

fn read(reader: &mut ColumnReader, unit: Unit, count: (i16, usize)) -> Result<Vec<Value>> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => values(reader, count, text),
        ColumnReader::Int32ColumnReader(reader) => values(reader, count, |n| unit.short(n)),
        ColumnReader::Int64ColumnReader(reader) => values(reader, count, |n| unit.value(n)),
        ColumnReader::Int96ColumnReader(reader) => {
            values(reader, count, |time| Value::Milliseconds(time.to_millis()))
        }
        ColumnReader::FloatColumnReader(reader) => {
            values(reader, count, |n: f32| Value::Decimal(n.into()))
        }
        ColumnReader::DoubleColumnReader(reader) => values(reader, count, Value::Decimal),
        ColumnReader::BoolColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Err(ParquetError::General("a column of another type".to_owned()))
        }
    }
}

fn text(bytes: ByteArray) -> Value {
    match std::str::from_utf8(bytes.data()) {
        Ok(text) if text.len() > TEXT_BYTES_MAX => Value::TooLong,
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Other,
    }
}

/// Reads the next values, and inserts nulls for missing ones.
fn values<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    (deepest, count): (i16, usize),
    value: impl Fn(D::T) -> Value,
) -> Result<Vec<Value>> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    let (rows, _, _) = reader.read_records(count, Some(&mut levels), None, &mut found)?;
    let mut found = found.into_iter().map(value);
    let all: Option<Vec<Value>> = if deepest == 0 {
        Some(found.collect())
    } else {
        let of = |level: &i16| if *level == deepest { found.next() } else { Some(Value::Null) };
        levels.iter().map(of).collect()
    };
    let all = all.filter(|all| all.len() == rows);
    all.ok_or_else(|| ParquetError::General("values and levels do not agree".to_owned()))
}
