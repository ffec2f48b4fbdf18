//! A table of dropped documents, each with the document that is kept for it.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

use super::write::{ColumnValues, ParquetWriter, RowGroup};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED BYTE_ARRAY kept (STRING);
    REQUIRED INT32 distance (INTEGER(8, false));
    OPTIONAL DOUBLE resemblance;
    REQUIRED BYTE_ARRAY reason (STRING);
    REQUIRED INT64 size (INTEGER(64, false));
    OPTIONAL INT64 fingerprint (INTEGER(64, false));
}";

/// A document that is dropped.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, PlanRow, PlanWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let (url, kept) = ("https://example.com/terms?print=1", "https://example.com/terms");
/// let row = PlanRow { url, kept, distance: 1, reason: "near", size: 2, ..PlanRow::default() };
/// let mut writer = PlanWriter::new(std::fs::File::create(&path)?)?;
/// writer.row(&row)?;
/// writer.end()?;
///
/// let columns = ["url", "kept", "resemblance"];
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, columns)?.next().unwrap()?;
/// assert_eq!(rows[0][1..], [CellValue::Text(kept.into()), CellValue::Null]); // not compared
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanRow<'a> {
    /// The URL of the document.
    pub url: &'a str,
    /// The URL of the document that is kept instead.
    pub kept: &'a str,
    /// The distance between both documents, in bits.
    pub distance: u32,
    /// The resemblance of the texts of both documents, if the texts were compared.
    pub resemblance: Option<f64>,
    /// The reason why the documents are duplicates.
    pub reason: &'a str,
    /// The number of documents in the cluster.
    pub size: u64,
    /// The fingerprint of the document; `None` if its content has no fingerprint.
    pub fingerprint: Option<u64>,
}

/// A plan that is being written.
///
/// ```
/// use simkeep_parquet::{PlanRow, PlanWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = PlanWriter::new(&mut bytes)?;
/// let (url, kept) = ("https://example.org/copy", "https://example.com/");
/// writer.row(&PlanRow { url, kept, reason: "digest", size: 2, ..PlanRow::default() })?;
/// writer.end()?;
/// assert!(bytes.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub type PlanWriter<W> = ParquetWriter<W, PlanColumns>;

/// The rows of a group.
#[derive(Default)]
pub struct PlanColumns {
    urls: ColumnValues<ByteArray>,
    kept: ColumnValues<ByteArray>,
    distances: ColumnValues<i32>,
    resemblances: ColumnValues<f64>,
    reasons: ColumnValues<ByteArray>,
    sizes: ColumnValues<i64>,
    fingerprints: ColumnValues<i64>,
}

impl RowGroup for PlanColumns {
    type Row<'a> = PlanRow<'a>;
    const SCHEMA: &str = SCHEMA;

    fn push(&mut self, row: &PlanRow<'_>) -> usize {
        let PlanRow { url, kept, distance, resemblance, reason, size, fingerprint } = *row;
        self.urls.push(Some(ByteArray::from(url)));
        self.kept.push(Some(ByteArray::from(kept)));
        self.distances.push(Some(distance.cast_signed()));
        self.resemblances.push(resemblance);
        self.reasons.push(Some(ByteArray::from(reason)));
        self.sizes.push(Some(size.cast_signed()));
        self.fingerprints.push(fingerprint.map(u64::cast_signed));
        url.len() + kept.len()
    }

    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.urls.write::<ByteArrayType, W>(to)?;
        self.kept.write::<ByteArrayType, W>(to)?;
        self.distances.write::<Int32Type, W>(to)?;
        self.resemblances.write::<DoubleType, W>(to)?;
        self.reasons.write::<ByteArrayType, W>(to)?;
        self.sizes.write::<Int64Type, W>(to)?;
        self.fingerprints.write::<Int64Type, W>(to)
    }
}
