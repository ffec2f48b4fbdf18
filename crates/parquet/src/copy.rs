//! Copies a file in an external format without some of its rows, or with two more columns.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};

use super::caught::caught;
use super::read::open;
use super::write::{CREATED_BY, ColumnValues, io_error};

/// The number of rows copied at a time.
const BATCH_ROWS: usize = 256;

/// The names of the columns for marks.
pub const MARKS: [&str; 2] = ["duplicate_of", "distance"];

const MARKS_SCHEMA: &str = "
message marks {
    OPTIONAL BYTE_ARRAY duplicate_of (STRING);
    OPTIONAL INT32 distance (INTEGER(8, false));
}";

/// The metadata key of the Arrow schema, which states the number of columns.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// A copy of a Parquet file, made one row group at a time. The copy has all columns, of any type,
/// with equal values, and the metadata of the file. The compression of columns is kept; the
/// encoding of values is chosen anew.
///
/// Takes the memory of an uncompressed page of one column, and of a dictionary.
///
/// ```
/// use simkeep_parquet::{GroupEdit, FilteringCopy, DocumentRows, VisitRow, CellValue, VisitWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("visits.parquet");
/// let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
/// for url in ["a", "b", "c"] {
///     writer.row(&VisitRow { url, verdict: "new", ..VisitRow::default() })?;
/// }
/// writer.end()?;
///
/// let to = dir.path().join("fewer.parquet");
/// let (from, file) = (std::fs::File::open(&path)?, std::fs::File::create(&to)?);
/// let mut copying = FilteringCopy::begin(from, file, false)?;
/// while let Some(rows) = copying.rows()? {
///     assert_eq!(rows, 3);
///     copying.group(GroupEdit::Keep(&[true, false, true]))?;
/// }
/// copying.end()?;
///
/// let documents = DocumentRows::open(std::fs::File::open(&to)?, ["url", "verdict", "time"])?;
/// let rows = documents.collect::<Result<Vec<_>, _>>()?.concat();
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows[1][0], CellValue::Text("c".into()));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct FilteringCopy<W: Write + Send> {
    reader: SerializedFileReader<File>,
    writer: SerializedFileWriter<W>,
    next_group: usize,
    has_marks: bool,
}

/// The action for each row of a row group.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, DuplicateMark, FilteringCopy, GroupEdit};
/// # use simkeep_parquet::{ClusterRow, ClusterWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// # let mut writer = ClusterWriter::new(std::fs::File::create(&path)?)?;
/// # writer.row(&ClusterRow { leader: "a", ..ClusterRow::default() })?;
/// # writer.row(&ClusterRow { leader: "b", ..ClusterRow::default() })?;
/// # writer.end()?;
/// # let to = dir.path().join("marked.parquet");
/// // The file has two rows, and the second duplicates the first.
/// let (from, file) = (std::fs::File::open(&path)?, std::fs::File::create(&to)?);
/// let mut copy = FilteringCopy::begin(from, file, true)?;
/// let mark = DuplicateMark { duplicate_of: "a".into(), distance: 3 };
/// copy.group(GroupEdit::Mark(&[None, Some(mark)]))?;
/// copy.end()?;
///
/// let columns = ["leader", "duplicate_of", "distance"];
/// let rows = DocumentRows::open(std::fs::File::open(&to)?, columns)?.next().unwrap()?;
/// assert_eq!(rows[0][1..], [CellValue::Null, CellValue::Null]);
/// assert_eq!(rows[1][1..], [CellValue::Text("a".into()), CellValue::Whole(3)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum GroupEdit<'a> {
    /// Keeps the rows for which the element is `true`.
    Keep(&'a [bool]),
    /// Keeps all rows, and marks rows with `Some`. For a copy with columns for marks.
    Mark(&'a [Option<DuplicateMark>]),
}

/// The values of a row in the columns [`MARKS`].
///
/// ```
/// use simkeep_parquet::{DuplicateMark, GroupEdit, MARKS};
///
/// // For a group of two rows whose second row duplicates the first.
/// let mark = DuplicateMark { duplicate_of: "https://example.com/".into(), distance: 3 };
/// let marks = [None, Some(mark)];
/// let edit = GroupEdit::Mark(&marks);
/// assert_eq!(MARKS, ["duplicate_of", "distance"]); // the columns of the copy
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateMark {
    /// The name of the document that the row duplicates.
    pub duplicate_of: String,
    /// The distance between the two documents, in bits.
    pub distance: u32,
}

/// The reason why a copy failed.
///
/// ```
/// use simkeep_parquet::{CopyError, FilteringCopy};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// std::fs::write(&path, "These are notes, and no Parquet file.")?;
/// match FilteringCopy::begin(std::fs::File::open(&path)?, Vec::new(), false) {
///     Err(CopyError::Read(why)) => eprintln!("cannot read the file: {why}"),
///     Err(CopyError::Write(error)) => eprintln!("cannot write the copy: {error}"),
///     Ok(_) => panic!("it is no Parquet file"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum CopyError {
    /// The file to copy is damaged, or has an unsupported type.
    Read(String),
    /// The copy cannot be written.
    Write(io::Error),
}

impl<W: Write + Send> FilteringCopy<W> {
    /// Begins a copy of `from`, with columns for marks if `has_marks` is true. Reads the metadata
    /// of `from`.
    ///
    /// ```
    /// use simkeep_parquet::{FilteringCopy, VisitWriter};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("pages.parquet");
    /// VisitWriter::new(std::fs::File::create(&path)?)?.end()?;
    /// let mut bytes = Vec::new();
    /// let copy = FilteringCopy::begin(std::fs::File::open(&path)?, &mut bytes, false)?;
    /// assert_eq!(copy.rows()?, None); // the file has no rows
    /// copy.end()?;
    /// assert!(bytes.starts_with(b"PAR1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if `from` cannot be read, or if the copy cannot be written. With
    /// `has_marks`, returns an error if `from` has a column with a name in [`MARKS`].
    pub fn begin(from: File, to: W, has_marks: bool) -> Result<FilteringCopy<W>, CopyError> {
        let reader = open(from)?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let schema = if has_marks { with_marks(&schema)? } else { schema };
        let properties = Arc::new(properties(reader.metadata(), has_marks));
        let writer = SerializedFileWriter::new(to, schema, properties).map_err(cannot_write)?;
        Ok(FilteringCopy { reader, writer, next_group: 0, has_marks })
    }

    /// Returns the number of rows of the next row group; `None` if all groups were copied.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of rows is invalid.
    pub fn rows(&self) -> Result<Option<usize>, CopyError> {
        let metadata = self.reader.metadata();
        let Some(group) = metadata.row_groups().get(self.next_group) else { return Ok(None) };
        let rows = group.num_rows();
        let read = usize::try_from(rows);
        read.map(Some).map_err(|_| {
            CopyError::Read(format!("the file is damaged: a row group has {rows} rows"))
        })
    }

    /// Copies the next row group. `choice` has an element for each of its rows.
    ///
    /// # Errors
    ///
    /// Returns an error if the group cannot be read or written, if the number of rows differs from
    /// the number of elements in `choice`, or if `choice` has marks and the copy has no columns for
    /// marks, or the reverse.
    pub fn group(&mut self, choice: GroupEdit<'_>) -> Result<(), CopyError> {
        let misfit = || CopyError::Read("the number of rows in a row group is wrong".to_owned());
        let (count, is_marked) = match choice {
            GroupEdit::Keep(kept) => (kept.len(), false),
            GroupEdit::Mark(marks) => (marks.len(), true),
        };
        if self.rows()? != Some(count) || is_marked != self.has_marks {
            return Err(misfit());
        }
        let all;
        let kept = match choice {
            GroupEdit::Keep(kept) => kept,
            GroupEdit::Mark(marks) => {
                all = vec![true; marks.len()];
                &all[..]
            }
        };
        caught(|| self.columns(kept, choice))?;
        self.next_group += 1;
        Ok(())
    }

    fn columns(&mut self, kept: &[bool], choice: GroupEdit<'_>) -> Result<(), CopyError> {
        if !kept.contains(&true) {
            return Ok(());
        }
        let group = self.reader.get_row_group(self.next_group).map_err(cannot_read)?;
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut to = self.writer.next_row_group().map_err(cannot_write)?;
        for column in 0..schema.num_columns() {
            let reader = group.get_column_reader(column).map_err(cannot_read)?;
            copy(reader, &schema.column(column), kept, &mut to)?;
        }
        if let GroupEdit::Mark(marks) = choice {
            write_marks(marks, &mut to).map_err(cannot_write)?;
        }
        to.close().map(drop).map_err(cannot_write)
    }

    /// Writes the metadata at the end of the copy.
    ///
    /// # Errors
    ///
    /// Returns an error if a row group was not copied, or if the metadata cannot be written.
    pub fn end(self) -> Result<(), CopyError> {
        if self.rows()?.is_some() {
            return Err(CopyError::Read("not all row groups were copied".to_owned()));
        }
        self.writer.close().map(drop).map_err(cannot_write)
    }
}

/// Returns the schema with the columns for marks appended.
fn with_marks(schema: &TypePtr) -> Result<TypePtr, CopyError> {
    let is_there = |name: &&&str| schema.get_fields().iter().any(|field| field.name() == **name);
    if let Some(name) = MARKS.iter().find(is_there) {
        return Err(CopyError::Read(format!("the file already has a column {name}")));
    }
    let marks = parse_message_type(MARKS_SCHEMA).map_err(cannot_read)?;
    let fields = schema.get_fields().iter().chain(marks.get_fields()).cloned().collect();
    let root = Type::group_type_builder(schema.name()).with_fields(fields).build();
    root.map(Arc::new).map_err(cannot_read)
}

/// Returns writer properties that match the file `of`.
fn properties(of: &ParquetMetaData, has_marks: bool) -> WriterProperties {
    let said = of.file_metadata().key_value_metadata().cloned().map(|mut said| {
        said.retain(|pair| !has_marks || pair.key != ARROW_SCHEMA);
        said
    });
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_key_value_metadata(said);
    for column in of.row_groups().first().into_iter().flat_map(|group| group.columns()) {
        let path = column.column_path();
        let has_dictionary = column.dictionary_page_offset().is_some();
        properties = properties
            .set_column_compression(path.clone(), column.compression())
            .set_column_dictionary_enabled(path.clone(), has_dictionary);
    }
    properties.build()
}

/// Copies a column to the next column of the copy.
fn copy<W: Write + Send>(
    reader: ColumnReader,
    of: &ColumnDescriptor,
    kept: &[bool],
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), CopyError> {
    use ColumnReader as R;
    match reader {
        R::BoolColumnReader(reader) => typed::<BoolType, W>(reader, of, kept, to),
        R::Int32ColumnReader(reader) => typed::<Int32Type, W>(reader, of, kept, to),
        R::Int64ColumnReader(reader) => typed::<Int64Type, W>(reader, of, kept, to),
        R::Int96ColumnReader(reader) => typed::<Int96Type, W>(reader, of, kept, to),
        R::FloatColumnReader(reader) => typed::<FloatType, W>(reader, of, kept, to),
        R::DoubleColumnReader(reader) => typed::<DoubleType, W>(reader, of, kept, to),
        R::ByteArrayColumnReader(reader) => typed::<ByteArrayType, W>(reader, of, kept, to),
        R::FixedLenByteArrayColumnReader(reader) => {
            typed::<FixedLenByteArrayType, W>(reader, of, kept, to)
        }
    }
}

fn typed<D: DataType, W: Write + Send>(
    mut reader: ColumnReaderImpl<D>,
    of: &ColumnDescriptor,
    kept: &[bool],
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), CopyError> {
    let next = to.next_column().map_err(cannot_write)?;
    let mut next =
        next.ok_or_else(|| CopyError::Read("a row group has too many columns".to_owned()))?;
    let writer = next.typed::<D>();
    let (has_defined, has_repeated) = (of.max_def_level() > 0, of.max_rep_level() > 0);
    for kept in kept.chunks(BATCH_ROWS) {
        let mut batch =
            LeveledValues::<D> { values: Vec::new(), defined: Vec::new(), repeated: Vec::new() };
        let LeveledValues { values, defined, repeated } = &mut batch;
        let read = reader.read_records(kept.len(), Some(defined), Some(repeated), values);
        let (rows, ..) = read.map_err(cannot_read)?;
        if rows != kept.len() {
            let why = "the file is damaged: a column has fewer rows than its row group";
            return Err(CopyError::Read(why.to_owned()));
        }
        if kept.contains(&false) {
            batch = batch.of(kept, of)?;
        }
        let LeveledValues { values, defined, repeated } = &batch;
        let defined = has_defined.then_some(&defined[..]);
        let repeated = has_repeated.then_some(&repeated[..]);
        writer.write_batch(values, defined, repeated).map_err(cannot_write)?;
    }
    next.close().map_err(cannot_write)
}

/// The values of some rows without nulls, and the levels of all values.
struct LeveledValues<D: DataType> {
    values: Vec<D::T>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
}

impl<D: DataType> LeveledValues<D> {
    /// Returns the values and levels of the kept rows.
    fn of(self, kept: &[bool], of: &ColumnDescriptor) -> Result<LeveledValues<D>, CopyError> {
        let misfit = || {
            CopyError::Read(
                "the file is damaged: the values and levels of a column do not match".to_owned(),
            )
        };
        let (deepest, has_repeated) = (of.max_def_level(), of.max_rep_level() > 0);
        let LeveledValues { values, defined, repeated } = self;
        let levels = if deepest > 0 { defined.len() } else { values.len() };
        let mut values = values.into_iter();
        let mut rows = kept.iter();
        let mut is_kept = false;
        let mut batch =
            LeveledValues { values: Vec::new(), defined: Vec::new(), repeated: Vec::new() };
        for at in 0..levels {
            let level = if has_repeated { *repeated.get(at).ok_or_else(misfit)? } else { 0 };
            if level == 0 {
                is_kept = *rows.next().ok_or_else(misfit)?;
            }
            let depth = if deepest > 0 { *defined.get(at).ok_or_else(misfit)? } else { 0 };
            let value = match depth == deepest {
                true => Some(values.next().ok_or_else(misfit)?),
                false => None,
            };
            if is_kept {
                batch.values.extend(value);
                batch.defined.push(depth);
                batch.repeated.push(level);
            }
        }
        if rows.next().is_some() || values.next().is_some() {
            return Err(misfit());
        }
        Ok(batch)
    }
}

fn write_marks<W: Write + Send>(
    marks: &[Option<DuplicateMark>],
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), ParquetError> {
    let (mut of, mut distances) = (ColumnValues::default(), ColumnValues::default());
    for mark in marks {
        of.push(mark.as_ref().map(|mark| ByteArray::from(mark.duplicate_of.as_str())));
        distances.push(mark.as_ref().map(|mark| mark.distance.cast_signed()));
    }
    of.write::<ByteArrayType, W>(to)?;
    distances.write::<Int32Type, W>(to)
}

fn cannot_read(error: ParquetError) -> CopyError {
    CopyError::Read(error.to_string())
}

fn cannot_write(error: ParquetError) -> CopyError {
    CopyError::Write(io_error(error))
}

impl From<String> for CopyError {
    fn from(why: String) -> CopyError {
        CopyError::Read(why)
    }
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::Read(why) => f.write_str(why),
            CopyError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CopyError {}
