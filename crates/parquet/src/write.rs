//! Visits as a table, written.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

/// The rows of a group.
const GROUP_ROWS: usize = 128 << 10;
/// A group ends early when its URLs have this many bytes: a stranger may have made each of 8 KiB.
const GROUP_URL_BYTES: usize = 64 << 20;

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED INT64 time (TIMESTAMP(MILLIS, true));
    OPTIONAL BYTE_ARRAY epoch (STRING);
    OPTIONAL INT64 fingerprint (INTEGER(64, false));
    OPTIONAL FIXED_LEN_BYTE_ARRAY (16) digest;
    OPTIONAL INT32 status (INTEGER(16, false));
    REQUIRED BYTE_ARRAY verdict (STRING);
    OPTIONAL INT32 distance (INTEGER(8, false));
    OPTIONAL DOUBLE weight;
    OPTIONAL INT32 class (INTEGER(32, false));
}";

/// An entry of a page's history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    /// The page.
    pub url: &'a str,
    /// When it was, in milliseconds since 1970.
    pub time: i64,
    /// The name of the fingerprint's epoch.
    pub epoch: Option<&'a str>,
    /// The fingerprint.
    pub fingerprint: Option<u64>,
    /// The digest of the content.
    pub digest: Option<[u8; 16]>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// What the visit meant.
    pub verdict: &'a str,
    /// How many bits differ from the version before.
    pub distance: Option<u32>,
    /// How important the page is from then on.
    pub weight: Option<f64>,
    /// The class that the page is of from then on.
    pub class: Option<u32>,
}

/// A table that is being written. It takes the memory of a row group: 131,072 rows, or fewer whose
/// URLs have 64 MiB.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: Group,
}

/// The values of a column, and at which rows there are some.
struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

/// The rows of a group.
#[derive(Default)]
struct Group {
    rows: usize,
    url_bytes: usize,
    /// The URL of the last row.
    url: String,
    /// Texts that come again and again.
    names: HashMap<String, ByteArray>,
    urls: Column<ByteArray>,
    times: Column<i64>,
    epochs: Column<ByteArray>,
    fingerprints: Column<i64>,
    digests: Column<FixedLenByteArray>,
    statuses: Column<i32>,
    verdicts: Column<ByteArray>,
    distances: Column<i32>,
    weights: Column<f64>,
    classes: Column<i32>,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a table.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn new(to: W) -> io::Result<Writer<W>> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(io_error)?);
        let column = |name: &str| ColumnPath::from(name);
        let properties = WriterProperties::builder()
            .set_created_by(concat!("simkeep ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // URLs are in order, so each begins like the one before it.
            .set_column_dictionary_enabled(column("url"), false)
            .set_column_encoding(column("url"), Encoding::DELTA_BYTE_ARRAY)
            .set_column_dictionary_enabled(column("time"), false)
            .set_column_encoding(column("time"), Encoding::DELTA_BINARY_PACKED)
            .set_column_dictionary_enabled(column("fingerprint"), false)
            .set_column_dictionary_enabled(column("digest"), false)
            .build();
        let file = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(io_error)?;
        Ok(Writer { file, group: Group::default() })
    }

    /// Adds a row; writes the group if that is its last one.
    ///
    /// # Errors
    ///
    /// Those of the writer below.
    pub fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.group.push(row);
        if self.group.rows >= GROUP_ROWS || self.group.url_bytes >= GROUP_URL_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left, and what says where all is.
    ///
    /// # Errors
    ///
    /// Those of the writer below.
    pub fn end(mut self) -> io::Result<()> {
        if self.group.rows > 0 {
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
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    /// Writes it as the next column, whose type this is.
    fn write<D: DataType<T = T>, W: Write + Send>(
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

impl Group {
    fn push(&mut self, row: &Row<'_>) {
        let Row { url, time, epoch, fingerprint, digest, .. } = *row;
        let Row { status, verdict, distance, weight, class, .. } = *row;
        let url = match self.urls.values.last() {
            Some(last) if self.url == url => last.clone(),
            _ => {
                url.clone_into(&mut self.url);
                self.url_bytes += url.len();
                ByteArray::from(url)
            }
        };
        let mut name = |name: &str| match self.names.get(name) {
            Some(known) => known.clone(),
            None => self.names.entry(name.to_owned()).or_insert(ByteArray::from(name)).clone(),
        };
        let (epoch, verdict) = (epoch.map(&mut name), name(verdict));
        self.rows += 1;
        self.urls.push(Some(url));
        self.times.push(Some(time));
        self.epochs.push(epoch);
        self.fingerprints.push(fingerprint.map(u64::cast_signed));
        self.digests.push(digest.map(|digest| FixedLenByteArray::from(digest.to_vec())));
        self.statuses.push(status.map(i32::from));
        self.verdicts.push(Some(verdict));
        self.distances.push(distance.map(u32::cast_signed));
        self.weights.push(weight);
        self.classes.push(class.map(u32::cast_signed));
    }

    /// Writes the columns, in the order of the schema.
    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.urls.write::<ByteArrayType, W>(to)?;
        self.times.write::<Int64Type, W>(to)?;
        self.epochs.write::<ByteArrayType, W>(to)?;
        self.fingerprints.write::<Int64Type, W>(to)?;
        self.digests.write::<FixedLenByteArrayType, W>(to)?;
        self.statuses.write::<Int32Type, W>(to)?;
        self.verdicts.write::<ByteArrayType, W>(to)?;
        self.distances.write::<Int32Type, W>(to)?;
        self.weights.write::<DoubleType, W>(to)?;
        self.classes.write::<Int32Type, W>(to)
    }
}

/// The error of the writer below, if it is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
