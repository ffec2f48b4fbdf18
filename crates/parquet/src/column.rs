//! A column of a row group, read a few values at a time.

use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::TEXT_BYTES_MAX;

const MS_PER_DAY: i64 = 86_400_000;

/// A value of a column.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, VisitRow, VisitWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
/// writer.row(&VisitRow { url: "https://example.com/", status: Some(404), ..VisitRow::default() })?;
/// writer.row(&VisitRow { url: "https://example.org/", weight: Some(2.5), ..VisitRow::default() })?;
/// writer.end()?;
///
/// let columns = ["url", "status", "weight"];
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, columns)?.next().unwrap()?;
/// assert_eq!(rows[0][0], CellValue::Text("https://example.com/".into()));
/// assert_eq!(rows[0][1..], [CellValue::Whole(404), CellValue::Null]);
/// assert_eq!(rows[1][1..], [CellValue::Null, CellValue::Decimal(2.5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue {
    /// No value.
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
    /// A value of another kind, for example bytes that are not UTF-8.
    Other,
}

/// The meaning of an integer column.
#[derive(Clone, Copy)]
enum ValueUnit {
    Number,
    Unsigned,
    Days,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// A meaning that is not supported.
    Other,
}

impl ValueUnit {
    fn of(column: &ColumnDescriptor) -> ValueUnit {
        use parquet::basic::ConvertedType as Old;
        match column.logical_type_ref() {
            Some(LogicalType::Date) => ValueUnit::Days,
            Some(LogicalType::Timestamp(time)) => match time.unit {
                TimeUnit::MILLIS => ValueUnit::Milliseconds,
                TimeUnit::MICROS => ValueUnit::Microseconds,
                TimeUnit::NANOS => ValueUnit::Nanoseconds,
            },
            Some(LogicalType::Integer(int)) if int.is_signed => ValueUnit::Number,
            Some(LogicalType::Integer(_)) => ValueUnit::Unsigned,
            Some(_) => ValueUnit::Other,
            None => match column.converted_type() {
                Old::DATE => ValueUnit::Days,
                Old::TIMESTAMP_MILLIS => ValueUnit::Milliseconds,
                Old::TIMESTAMP_MICROS => ValueUnit::Microseconds,
                Old::DECIMAL | Old::TIME_MILLIS | Old::TIME_MICROS => ValueUnit::Other,
                Old::UINT_8 | Old::UINT_16 | Old::UINT_32 | Old::UINT_64 => ValueUnit::Unsigned,
                _ => ValueUnit::Number,
            },
        }
    }

    fn value(self, number: i64) -> CellValue {
        match self {
            ValueUnit::Number => CellValue::Whole(number),
            ValueUnit::Unsigned if number < 0 => {
                CellValue::Text(number.cast_unsigned().to_string())
            }
            ValueUnit::Unsigned => CellValue::Whole(number),
            ValueUnit::Days => {
                number.checked_mul(MS_PER_DAY).map_or(CellValue::Other, CellValue::Milliseconds)
            }
            ValueUnit::Milliseconds => CellValue::Milliseconds(number),
            ValueUnit::Microseconds => CellValue::Milliseconds(number.div_euclid(1_000)),
            ValueUnit::Nanoseconds => CellValue::Milliseconds(number.div_euclid(1_000_000)),
            ValueUnit::Other => CellValue::Other,
        }
    }

    /// Converts a value of 32 bits. An unsigned value uses the low 32 bits.
    fn short(self, number: i32) -> CellValue {
        match self {
            ValueUnit::Unsigned => CellValue::Whole(number.cast_unsigned().into()),
            _ => self.value(number.into()),
        }
    }
}

/// Whether a column of this physical type can contain texts, numbers or times.
pub(super) fn is_supported_type(physical: Physical) -> bool {
    !matches!(physical, Physical::BOOLEAN | Physical::FIXED_LEN_BYTE_ARRAY)
}

/// A column that is being read.
pub(super) struct ColumnCursor {
    reader: ColumnReader,
    unit: ValueUnit,
    /// The definition level of a value that is not null.
    deepest: i16,
}

impl ColumnCursor {
    pub(super) fn new(reader: ColumnReader, of: &ColumnDescriptor) -> ColumnCursor {
        ColumnCursor { reader, unit: ValueUnit::of(of), deepest: of.max_def_level() }
    }

    /// Reads the next `count` values, or fewer at the end.
    pub(super) fn read(&mut self, count: usize) -> Result<Vec<CellValue>> {
        read(&mut self.reader, self.unit, (self.deepest, count))
    }
}

fn read(reader: &mut ColumnReader, unit: ValueUnit, count: (i16, usize)) -> Result<Vec<CellValue>> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => values(reader, count, text),
        ColumnReader::Int32ColumnReader(reader) => values(reader, count, |n| unit.short(n)),
        ColumnReader::Int64ColumnReader(reader) => values(reader, count, |n| unit.value(n)),
        ColumnReader::Int96ColumnReader(reader) => {
            values(reader, count, |time| CellValue::Milliseconds(time.to_millis()))
        }
        ColumnReader::FloatColumnReader(reader) => {
            values(reader, count, |n: f32| CellValue::Decimal(n.into()))
        }
        ColumnReader::DoubleColumnReader(reader) => values(reader, count, CellValue::Decimal),
        ColumnReader::BoolColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Err(ParquetError::General("a column has an unsupported type".to_owned()))
        }
    }
}

fn text(bytes: ByteArray) -> CellValue {
    match std::str::from_utf8(bytes.data()) {
        Ok(text) if text.len() > TEXT_BYTES_MAX => CellValue::TooLong,
        Ok(text) => CellValue::Text(text.to_owned()),
        Err(_) => CellValue::Other,
    }
}

/// Reads the next `count` values. A missing value is null.
fn values<D: DataType>(
    reader: &mut ColumnReaderImpl<D>,
    (deepest, count): (i16, usize),
    value: impl Fn(D::T) -> CellValue,
) -> Result<Vec<CellValue>> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    let (rows, _, _) = reader.read_records(count, Some(&mut levels), None, &mut found)?;
    let mut found = found.into_iter().map(value);
    let all: Option<Vec<CellValue>> = if deepest == 0 {
        Some(found.collect())
    } else {
        let of = |level: &i16| if *level == deepest { found.next() } else { Some(CellValue::Null) };
        levels.iter().map(of).collect()
    };
    let all = all.filter(|all| all.len() == rows);
    all.ok_or_else(|| {
        ParquetError::General(
            "the file is damaged: the values and levels of a column do not match".to_owned(),
        )
    })
}
