//! Tables, written a row group at a time.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

/// The number of rows in a group.
const GROUP_ROWS: usize = 128 << 10;
/// The number of bytes of URLs at which a group ends early, since an attacker may use URLs of 8 KiB
/// each.
const GROUP_URL_BYTES: usize = 64 << 20;

/// The name and version of the program, for the metadata of a file.
pub(super) const CREATED_BY: &str = concat!("simkeep ", env!("CARGO_PKG_VERSION"));

/// The buffered rows of a row group, for one kind of table.
pub trait RowGroup: Default {
    /// The type of a row.
    type Row<'a>;
    /// The schema of the columns.
    const SCHEMA: &str;
    /// Sets writer properties for the columns that only this kind of table has.
    fn properties(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        builder
    }
    /// Adds a row. Returns the number of bytes of the row's URLs.
    fn push(&mut self, row: &Self::Row<'_>) -> usize;
    /// Writes the columns, in the order of the schema.
    ///
    /// # Errors
    ///
    /// Returns the errors of the underlying writer.
    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError>;
}

/// A table that is being written. A table takes the memory of a row group: 131,072 rows, or fewer
/// rows with 64 MiB of URLs.
///
/// ```
/// use simkeep_parquet::{DocumentRows, VisitRow, VisitWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
/// for n in 0..1_000 {
///     let url = format!("https://example.com/{n}");
///     writer.row(&VisitRow { url: &url, verdict: "new", ..VisitRow::default() })?;
/// }
/// writer.end()?; // without this call the file cannot be read
///
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, ["url", "verdict", "time"])?;
/// assert_eq!(rows.collect::<Result<Vec<_>, _>>()?.concat().len(), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParquetWriter<W: Write + Send, G: RowGroup> {
    file: SerializedFileWriter<W>,
    /// The rows of the next group, their number, and the number of bytes of their URLs.
    group: G,
    rows: usize,
    url_bytes: usize,
}

/// The values of a column, and a level for each row: 1 if the row has a value, otherwise 0.
pub(super) struct ColumnValues<T> {
    pub(super) values: Vec<T>,
    levels: Vec<i16>,
}

impl<W: Write + Send, G: RowGroup> ParquetWriter<W, G> {
    /// Begins a table.
    ///
    /// # Errors
    ///
    /// Returns the errors of `to`.
    pub fn new(to: W) -> io::Result<ParquetWriter<W, G>> {
        let schema = Arc::new(parse_message_type(G::SCHEMA).map_err(io_error)?);
        let column = |name: &str| ColumnPath::from(name);
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Most tables are in order of URLs, so each URL shares a prefix with the previous URL.
            .set_column_dictionary_enabled(column("url"), false)
            .set_column_encoding(column("url"), Encoding::DELTA_BYTE_ARRAY)
            .set_column_dictionary_enabled(column("fingerprint"), false);
        let properties = Arc::new(G::properties(properties).build());
        let file = SerializedFileWriter::new(to, schema, properties).map_err(io_error)?;
        Ok(ParquetWriter { file, group: G::default(), rows: 0, url_bytes: 0 })
    }

    /// Adds a row; writes the group if the row completes it.
    ///
    /// ```
    /// use simkeep_parquet::{VisitRow, VisitWriter};
    ///
    /// let mut bytes = Vec::new();
    /// let mut writer = VisitWriter::new(&mut bytes)?;
    /// let url = "https://example.com/";
    /// writer.row(&VisitRow { url, time: 1_000, verdict: "new", ..VisitRow::default() })?;
    /// writer.row(&VisitRow { url, time: 2_000, verdict: "gone", status: Some(404), ..VisitRow::default() })?;
    /// writer.end()?;
    /// # assert!(bytes.ends_with(b"PAR1"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the underlying writer.
    pub fn row(&mut self, row: &G::Row<'_>) -> io::Result<()> {
        self.rows += 1;
        self.url_bytes += self.group.push(row);
        if self.rows >= GROUP_ROWS || self.url_bytes >= GROUP_URL_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the remaining rows, and the metadata at the end of the file.
    ///
    /// # Errors
    ///
    /// Returns the errors of the underlying writer.
    pub fn end(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.close().map(drop).map_err(io_error)
    }

    fn write_group(&mut self) -> io::Result<()> {
        (self.rows, self.url_bytes) = (0, 0);
        let group = std::mem::take(&mut self.group);
        let mut to = self.file.next_row_group().map_err(io_error)?;
        let written = group.write(&mut to).and_then(|()| to.close());
        written.map(drop).map_err(io_error)
    }
}

impl<T> Default for ColumnValues<T> {
    fn default() -> Self {
        ColumnValues { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> ColumnValues<T> {
    pub(super) fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    /// Writes this column as the next column of the group. `D` is its type.
    pub(super) fn write<D: DataType<T = T>, W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let next = group.next_column()?;
        let mut next = next.ok_or_else(|| ParquetError::General("no such column".to_owned()))?;
        // The writer ignores the levels of a column that always has a value.
        next.typed::<D>().write_batch(&self.values, Some(&self.levels), None)?;
        next.close()
    }
}

/// Returns the I/O error of the underlying writer, or wraps another error.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
