//! What is dropped in whose favour, as a table.

use std::io::{self, Write};

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnPath;

use super::write::{Column, Group, Table};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED BYTE_ARRAY kept (STRING);
    REQUIRED INT32 distance (INTEGER(8, false));
    REQUIRED BYTE_ARRAY reason (STRING);
    REQUIRED INT64 size (INTEGER(64, false));
    REQUIRED INT64 fingerprint (INTEGER(64, false));
}";

/// A document that is dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanRow<'a> {
    /// The document.
    pub url: &'a str,
    /// The one that is kept for it.
    pub kept: &'a str,
    /// In how many bits the two differ.
    pub distance: u32,
    /// How they are known to be alike.
    pub reason: &'a str,
    /// How many documents the cluster has.
    pub size: u64,
    /// The fingerprint of the document.
    pub fingerprint: u64,
}

/// A plan that is being written. It takes the memory of a row group: 131,072 rows, or fewer whose URLs
/// have 64 MiB.
pub struct PlanWriter<W: Write + Send>(Table<W, Plan>);

/// The rows of a group.
#[derive(Default)]
struct Plan {
    rows: usize,
    url_bytes: usize,
    urls: Column<ByteArray>,
    kept: Column<ByteArray>,
    distances: Column<i32>,
    reasons: Column<ByteArray>,
    sizes: Column<i64>,
    fingerprints: Column<i64>,
}

impl<W: Write + Send> PlanWriter<W> {
    /// Begins a table.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn new(to: W) -> io::Result<PlanWriter<W>> {
        Ok(PlanWriter(Table::new(to)?))
    }

    /// Adds a row; writes the group if that is its last one.
    ///
    /// # Errors
    ///
    /// Those of the writer below.
    pub fn row(&mut self, row: &PlanRow<'_>) -> io::Result<()> {
        self.0.group.push(row);
        self.0.pushed()
    }

    /// Writes what is left, and what says where all is.
    ///
    /// # Errors
    ///
    /// Those of the writer below.
    pub fn end(self) -> io::Result<()> {
        self.0.end()
    }
}

impl Plan {
    fn push(&mut self, row: &PlanRow<'_>) {
        let PlanRow { url, kept, distance, reason, size, fingerprint } = *row;
        self.rows += 1;
        self.url_bytes += url.len() + kept.len();
        self.urls.push(Some(ByteArray::from(url)));
        self.kept.push(Some(ByteArray::from(kept)));
        self.distances.push(Some(distance.cast_signed()));
        self.reasons.push(Some(ByteArray::from(reason)));
        self.sizes.push(Some(size.cast_signed()));
        self.fingerprints.push(Some(fingerprint.cast_signed()));
    }
}

impl Group for Plan {
    const SCHEMA: &str = SCHEMA;

    fn properties(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        let column = |name: &str| ColumnPath::from(name);
        // URLs are in order, so each begins like the one before it.
        builder
            .set_column_dictionary_enabled(column("url"), false)
            .set_column_encoding(column("url"), Encoding::DELTA_BYTE_ARRAY)
            .set_column_dictionary_enabled(column("fingerprint"), false)
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn url_bytes(&self) -> usize {
        self.url_bytes
    }

    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.urls.write::<ByteArrayType, W>(to)?;
        self.kept.write::<ByteArrayType, W>(to)?;
        self.distances.write::<Int32Type, W>(to)?;
        self.reasons.write::<ByteArrayType, W>(to)?;
        self.sizes.write::<Int64Type, W>(to)?;
        self.fingerprints.write::<Int64Type, W>(to)
    }
}
