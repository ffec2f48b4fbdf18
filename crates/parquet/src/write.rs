//! Tables, written a row group at a time.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// The rows of a group.
const GROUP_ROWS: usize = 128 << 10;
/// A group ends early when its URLs have this many bytes: a stranger may have made each of 8 KiB.
const GROUP_URL_BYTES: usize = 64 << 20;

/// What wrote a file.
pub(super) const CREATED_BY: &str = concat!("simkeep ", env!("CARGO_PKG_VERSION"));

/// The rows of a group, of one kind of table.
pub(super) trait Group: Default {
    /// The columns.
    const SCHEMA: &str;
    /// How they are written.
    fn properties(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder;
    /// How many rows there are.
    fn rows(&self) -> usize;
    /// How many bytes their URLs have.
    fn url_bytes(&self) -> usize;
    /// Writes the columns, in the order of the schema.
    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError>;
}

/// A table that is being written.
pub(super) struct Table<W: Write + Send, G> {
    file: SerializedFileWriter<W>,
    /// The rows that are written next.
    pub(super) group: G,
}

/// The values of a column, and at which rows there are some.
pub(super) struct Column<T> {
    pub(super) values: Vec<T>,
    levels: Vec<i16>,
}

impl<W: Write + Send, G: Group> Table<W, G> {
    pub(super) fn new(to: W) -> io::Result<Table<W, G>> {
        let schema = Arc::new(parse_message_type(G::SCHEMA).map_err(io_error)?);
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()));
        let properties = Arc::new(G::properties(properties).build());
        let file = SerializedFileWriter::new(to, schema, properties).map_err(io_error)?;
        Ok(Table { file, group: G::default() })
    }

    /// A row came to the group, which is written if that was its last one.
    pub(super) fn pushed(&mut self) -> io::Result<()> {
        if self.group.rows() >= GROUP_ROWS || self.group.url_bytes() >= GROUP_URL_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left, and what says where all is.
    pub(super) fn end(mut self) -> io::Result<()> {
        if self.group.rows() > 0 {
            self.write_group()?;
        }
        self.file.close().map(drop).map_err(io_error)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let group = std::mem::take(&mut self.group);
        let mut to = self.file.next_row_group().map_err(io_error)?;
        let written = group.write(&mut to).and_then(|()| to.close());
        written.map(drop).map_err(io_error)
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Column<T> {
    pub(super) fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    /// Writes it as the next column, whose type this is.
    pub(super) fn write<D: DataType<T = T>, W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let next = group.next_column()?;
        let mut next = next.ok_or_else(|| ParquetError::General("no such column".to_owned()))?;
        // The levels of a column that always has a value are not looked at.
        next.typed::<D>().write_batch(&self.values, Some(&self.levels), None)?;
        next.close()
    }
}

/// The error of the writer below, if it is one.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
