//! Reads tables of another library in place.
//!
//! The producer of a table guarantees that its buffers have the declared lengths. This module
//! checks everything else: types, lengths, offsets, and that no required pointer is NULL.

use std::ffi::{CStr, c_char};
use std::slice;

use super::{ArrowArray, ArrowSchema};
use crate::abi::handle;
use crate::failure::{Failure, Result};

/// A table owned by another library.
#[derive(Debug)]
pub(crate) struct BorrowedTable<'a> {
    columns: Vec<(&'a str, BorrowedColumn<'a>)>,
    rows: usize,
}

/// A column of a borrowed table.
#[derive(Debug)]
pub(crate) struct BorrowedColumn<'a> {
    array: &'a ArrowArray,
    kind: BorrowedLayout<'a>,
    /// The index of the first row in the buffers.
    start: usize,
}

/// The layout of a column.
#[derive(Debug)]
enum BorrowedLayout<'a> {
    Integer {
        bytes: usize,
        signed: bool,
    },
    Float32,
    Float64,
    /// Booleans of one bit.
    Bits,
    /// Times, as a fraction of milliseconds.
    Time {
        times: i64,
        over: i64,
    },
    /// Bytes or texts addressed by offsets of 4 or 8 bytes.
    Offsets {
        bytes: usize,
    },
    /// Bytes or texts addressed by views.
    Views,
    /// Bytes of the same fixed length in each row.
    Fixed {
        bytes: usize,
    },
    /// Indexes into a dictionary of values.
    Dictionary {
        bytes: usize,
        signed: bool,
        of: Box<BorrowedColumn<'a>>,
    },
    /// Nulls only.
    Null,
}

impl<'a> BorrowedTable<'a> {
    /// Validates a table of the caller.
    pub(crate) fn borrow(
        schema: *const ArrowSchema,
        array: *const ArrowArray,
    ) -> Result<BorrowedTable<'a>> {
        let (schema, array) = (handle(schema, "schema")?, handle(array, "array")?);
        if schema.release.is_none() || array.release.is_none() {
            return Err(Failure::argument("array", "it was released already, or was never filled"));
        }
        if text(schema.format, "schema")? != "+s" {
            return Err(Failure::argument("schema", "it must be a table: a struct of columns"));
        }
        let (rows, start) = (size(array.length)?, size(array.offset)?);
        let types = pointers(schema.children, schema.n_children)?;
        let arrays = pointers(array.children, array.n_children)?;
        if types.len() != arrays.len() {
            return Err(Failure::argument(
                "array",
                "the number of its columns differs from the schema",
            ));
        }
        let whole = BorrowedColumn { array, kind: BorrowedLayout::Null, start };
        if whole.may_be_absent() && (0..rows).any(|row| whole.is_marked_absent(row)) {
            return Err(Failure::argument("array", "a whole row is null"));
        }
        let column = |(schema, array): (&&'a ArrowSchema, &&'a ArrowArray)| {
            let name = text(schema.name, "schema")?;
            let column = BorrowedColumn::new(schema, array, start, rows);
            let named = |failure: Failure| failure.within(&format!("column {name:?}"));
            Ok((name, column.map_err(named)?))
        };
        let columns = types.iter().zip(&arrays).map(column).collect::<Result<Vec<_>>>()?;
        Ok(BorrowedTable { columns, rows })
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the column with this name out of the table; `None` if there is no such column.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<BorrowedColumn<'a>>> {
        let Some(at) = self.columns.iter().position(|(of, _)| *of == name) else { return Ok(None) };
        let (_, column) = self.columns.swap_remove(at);
        if self.columns.iter().any(|(of, _)| *of == name) {
            return Err(Failure::argument("schema", format!("the column {name:?} occurs twice")));
        }
        Ok(Some(column))
    }

    /// Checks that all columns were taken out.
    pub(crate) fn finish(self, known: &str) -> Result<()> {
        let Some((name, _)) = self.columns.first() else { return Ok(()) };
        let what = format!("unknown column {name:?}; the table may have the columns {known}");
        Err(Failure::argument("schema", what))
    }
}

impl<'a> BorrowedColumn<'a> {
    fn new(
        schema: &'a ArrowSchema,
        array: &'a ArrowArray,
        start: usize,
        rows: usize,
    ) -> Result<BorrowedColumn<'a>> {
        let kind = match BorrowedLayout::parse(text(schema.format, "schema")?)? {
            BorrowedLayout::Integer { bytes, signed } if !schema.dictionary.is_null() => {
                let values = handle(array.dictionary.cast_const(), "dictionary")?;
                let of = handle(schema.dictionary.cast_const(), "dictionary")?;
                if !of.dictionary.is_null() {
                    return Err(Failure::argument(
                        "schema",
                        "nested dictionaries are not supported",
                    ));
                }
                let of = BorrowedColumn::new(of, values, 0, size(values.length)?)?;
                BorrowedLayout::Dictionary { bytes, signed, of: Box::new(of) }
            }
            kind => kind,
        };
        if start.checked_add(rows).is_none_or(|end| end > size(array.length).unwrap_or(0)) {
            return Err(Failure::argument("array", "the column is shorter than the table"));
        }
        let start = start.checked_add(size(array.offset)?);
        let start = start.ok_or_else(|| Failure::argument("array", "its offset is too large"))?;
        let needed = match &kind {
            BorrowedLayout::Null => 0,
            BorrowedLayout::Offsets { .. } | BorrowedLayout::Views => 3,
            _ => 2,
        };
        if array.n_buffers < needed || (needed > 0 && array.buffers.is_null()) {
            return Err(Failure::argument("array", "it has too few buffers"));
        }
        Ok(BorrowedColumn { array, kind, start })
    }

    /// Whether a row has a value.
    pub(crate) fn is_valid(&self, row: usize) -> Result<bool> {
        if matches!(self.kind, BorrowedLayout::Null) || self.is_marked_absent(row) {
            return Ok(false);
        }
        match &self.kind {
            BorrowedLayout::Dictionary { of, .. } => of.is_valid(self.index(row)?),
            _ => Ok(true),
        }
    }

    /// Whether rows of the column may be null.
    fn may_be_absent(&self) -> bool {
        self.array.n_buffers > 0 && !self.buffer(0).is_null()
    }

    fn is_marked_absent(&self, row: usize) -> bool {
        let at = self.start + row;
        let bits = if self.may_be_absent() { self.buffer(0) } else { std::ptr::null() };
        // SAFETY: if the validity buffer exists, its producer guarantees a bit for each row.
        !bits.is_null() && unsafe { bits.add(at / 8).read() } >> (at % 8) & 1 == 0
    }

    /// Returns a buffer of the column, which may be NULL.
    fn buffer(&self, nth: usize) -> *const u8 {
        if self.array.buffers.is_null() {
            return std::ptr::null();
        }
        // SAFETY: the number of buffers was checked.
        unsafe { self.array.buffers.add(nth).read() }.cast()
    }

    /// Returns the bytes of a value of fixed length.
    fn fixed(&self, nth: usize, row: usize, bytes: usize) -> Result<&'a [u8]> {
        let buffer = self.buffer(nth);
        if buffer.is_null() {
            return Err(Failure::argument("array", "a buffer is NULL"));
        }
        let at = (self.start + row).checked_mul(bytes);
        let at = at.ok_or_else(|| Failure::argument("array", "the column is too long"))?;
        // SAFETY: the producer of the array guarantees this many values.
        Ok(unsafe { slice::from_raw_parts(buffer.add(at), bytes) })
    }

    /// Returns the index of a row in a dictionary.
    fn index(&self, row: usize) -> Result<usize> {
        let BorrowedLayout::Dictionary { bytes, signed, of } = &self.kind else {
            return Err(self.wrong("a dictionary"));
        };
        let index = usize::try_from(integer(self.fixed(1, row, *bytes)?, *signed)).ok();
        let values = size(of.array.length)?;
        let wrong = || Failure::argument("array", "an index is outside the dictionary");
        index.filter(|index| *index < values).ok_or_else(wrong)
    }

    /// Returns the bytes or the text of a row.
    pub(crate) fn bytes(&self, row: usize) -> Result<&'a [u8]> {
        match &self.kind {
            BorrowedLayout::Offsets { bytes } => {
                let place = |row| {
                    let place = integer(self.fixed(1, row, *bytes)?, true);
                    usize::try_from(place)
                        .map_err(|_| Failure::argument("array", "an offset is negative"))
                };
                let (from, to) = (place(row)?, place(row + 1)?);
                let len = to.checked_sub(from);
                let len = len.ok_or_else(|| {
                    Failure::argument("array", "an offset is smaller than the offset before it")
                })?;
                self.part(2, from, len)
            }
            BorrowedLayout::Views => self.viewed(self.fixed(1, row, 16)?),
            BorrowedLayout::Fixed { bytes } => self.fixed(1, row, *bytes),
            BorrowedLayout::Dictionary { of, .. } => of.bytes(self.index(row)?),
            _ => Err(self.wrong("bytes or text")),
        }
    }

    /// Returns the bytes of a view. Few bytes are inline; more bytes are in a buffer.
    fn viewed(&self, view: &'a [u8]) -> Result<&'a [u8]> {
        let number = |at: usize| {
            let four = view.get(at..at + 4).map_or(-1, |four| integer(four, true));
            usize::try_from(four)
                .map_err(|_| Failure::argument("array", "a string view is invalid"))
        };
        let len = number(0)?;
        if let Some(within) = view.get(4..).and_then(|within| within.get(..len)) {
            return Ok(within);
        }
        let (buffer, from) = (number(8)?, number(12)?);
        // After the data buffers there is a buffer with their sizes.
        if length(buffer) + 3 >= self.array.n_buffers {
            return Err(Failure::argument(
                "array",
                "a string view refers to a buffer that does not exist",
            ));
        }
        self.part(2 + buffer, from, len)
    }

    /// Returns a part of a buffer.
    fn part(&self, nth: usize, from: usize, len: usize) -> Result<&'a [u8]> {
        if len == 0 {
            return Ok(&[]);
        }
        let buffer = self.buffer(nth);
        if buffer.is_null() {
            return Err(Failure::argument("array", "a buffer is NULL"));
        }
        // SAFETY: the producer of the array guarantees that its offsets and views are valid.
        Ok(unsafe { slice::from_raw_parts(buffer.add(from), len) })
    }

    /// Returns the integer of a row.
    pub(crate) fn integer(&self, row: usize) -> Result<i128> {
        match &self.kind {
            BorrowedLayout::Integer { bytes, signed } => {
                Ok(integer(self.fixed(1, row, *bytes)?, *signed))
            }
            BorrowedLayout::Dictionary { of, .. } => of.integer(self.index(row)?),
            _ => Err(self.wrong("integers")),
        }
    }

    /// Returns the time of a row in milliseconds, from an integer or a timestamp.
    pub(crate) fn time(&self, row: usize) -> Result<i64> {
        let time = match &self.kind {
            BorrowedLayout::Time { times, over } => {
                let time = integer(self.fixed(1, row, 8)?, true);
                (time * i128::from(*times)).div_euclid(i128::from(*over))
            }
            BorrowedLayout::Dictionary { of, .. } => return of.time(self.index(row)?),
            _ => self.integer(row)?,
        };
        i64::try_from(time).map_err(|_| Failure::argument("time", "it is out of range"))
    }

    /// Returns the number of a row.
    pub(crate) fn number(&self, row: usize) -> Result<f64> {
        let wrong = || self.wrong("numbers");
        match &self.kind {
            BorrowedLayout::Float32 => {
                let bits = u32::try_from(integer(self.fixed(1, row, 4)?, false));
                Ok(f64::from(f32::from_bits(bits.map_err(|_| wrong())?)))
            }
            BorrowedLayout::Float64 => {
                let bits = u64::try_from(integer(self.fixed(1, row, 8)?, false));
                Ok(f64::from_bits(bits.map_err(|_| wrong())?))
            }
            BorrowedLayout::Dictionary { of, .. } => of.number(self.index(row)?),
            _ => Ok(self.integer(row)? as f64),
        }
    }

    /// Returns the boolean of a row.
    pub(crate) fn flag(&self, row: usize) -> Result<bool> {
        match &self.kind {
            BorrowedLayout::Bits => {
                let at = self.start + row;
                let byte = self.part(1, at / 8, 1)?;
                Ok(byte.iter().any(|byte| byte >> (at % 8) & 1 == 1))
            }
            BorrowedLayout::Dictionary { of, .. } => of.flag(self.index(row)?),
            _ => Err(self.wrong("booleans")),
        }
    }

    fn wrong(&self, wanted: &str) -> Failure {
        Failure::argument("schema", format!("the column must contain {wanted}"))
    }
}

impl BorrowedLayout<'_> {
    fn parse(format: &str) -> Result<Self> {
        let integer = |bytes, signed| Ok(BorrowedLayout::Integer { bytes, signed });
        match format {
            "c" => integer(1, true),
            "C" => integer(1, false),
            "s" => integer(2, true),
            "S" => integer(2, false),
            "i" => integer(4, true),
            "I" => integer(4, false),
            "l" => integer(8, true),
            "L" => integer(8, false),
            "b" => Ok(BorrowedLayout::Bits),
            "f" => Ok(BorrowedLayout::Float32),
            "g" => Ok(BorrowedLayout::Float64),
            "u" | "z" => Ok(BorrowedLayout::Offsets { bytes: 4 }),
            "U" | "Z" => Ok(BorrowedLayout::Offsets { bytes: 8 }),
            "vu" | "vz" => Ok(BorrowedLayout::Views),
            "n" => Ok(BorrowedLayout::Null),
            _ => Self::parse_longer(format),
        }
    }

    fn parse_longer(format: &str) -> Result<Self> {
        let time = |times, over| Ok(BorrowedLayout::Time { times, over });
        let is_time = |unit| format.starts_with(unit);
        if is_time("tss:") {
            return time(1000, 1);
        } else if is_time("tsm:") {
            return time(1, 1);
        } else if is_time("tsu:") {
            return time(1, 1000);
        } else if is_time("tsn:") {
            return time(1, 1_000_000);
        }
        let bytes = format.strip_prefix("w:").and_then(|bytes| bytes.parse().ok());
        let bytes = bytes.map(|bytes: u16| usize::from(bytes));
        let what = || format!("its Arrow format {format:?} is not supported");
        bytes
            .map(|bytes| BorrowedLayout::Fixed { bytes })
            .ok_or_else(|| Failure::argument("schema", what()))
    }
}

/// Converts bytes to an integer.
#[expect(clippy::host_endian_bytes, reason = "Arrow's memory is in the order of the machine")]
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let number = match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    };
    if !signed {
        return i128::from(number);
    }
    let unused = 64 - 8 * bytes.len().min(8);
    i128::from((number << unused).cast_signed() >> unused)
}

/// Converts a length in a structure, which must not be negative.
fn size(number: i64) -> Result<usize> {
    usize::try_from(number)
        .map_err(|_| Failure::argument("array", "a length or an offset is negative"))
}

fn length(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a text in a structure. The text ends with a NUL.
fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(Failure::argument(name, "the name or the format of a column is missing"));
    }
    // SAFETY: the interface guarantees that a NUL ends the text, and that the text lives as long as
    // the structure.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map_err(|_| Failure::argument(name, "the name or the format of a column is not UTF-8"))
}

/// Returns the structures of columns.
fn pointers<'a, T>(pointer: *const *mut T, count: i64) -> Result<Vec<&'a T>> {
    let count = size(count)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let of = handle(pointer, "children").map(std::ptr::from_ref)?;
    let child = |nth: usize| {
        // SAFETY: the interface guarantees this many pointers.
        handle(unsafe { of.add(nth).read() }.cast_const(), "children")
    };
    (0..count).map(child).collect()
}
