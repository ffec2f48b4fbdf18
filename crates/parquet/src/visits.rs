//! Visits as a table.

use std::collections::HashMap;
use std::io::Write;

use parquet::basic::Encoding;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnPath;

use super::write::{ColumnValues, ParquetWriter, RowGroup};

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
    OPTIONAL INT64 modified (TIMESTAMP(MILLIS, true));
    OPTIONAL INT64 bytes (INTEGER(64, false));
    OPTIONAL BOOLEAN conditional;
    OPTIONAL BYTE_ARRAY etag (STRING);
    OPTIONAL BYTE_ARRAY target (STRING);
}";

/// An entry of a page's history.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, VisitRow, VisitWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let row = VisitRow {
///     url: "https://example.com/",
///     time: 86_400_000,
///     fingerprint: Some(7),
///     verdict: "changed",
///     distance: Some(4),
///     ..VisitRow::default()
/// };
/// let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
/// writer.row(&row)?;
/// writer.end()?;
///
/// let columns = ["time", "distance", "status"];
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, columns)?.next().unwrap()?;
/// let [time, distance, status] = &rows[0];
/// assert_eq!((time, distance), (&CellValue::Milliseconds(86_400_000), &CellValue::Whole(4)));
/// assert_eq!(*status, CellValue::Null);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct VisitRow<'a> {
    /// The URL of the page.
    pub url: &'a str,
    /// The time of the entry, in milliseconds since 1970.
    pub time: i64,
    /// The name of the fingerprint's epoch.
    pub epoch: Option<&'a str>,
    /// The fingerprint.
    pub fingerprint: Option<u64>,
    /// The digest of the content.
    pub digest: Option<[u8; 16]>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The verdict on the visit.
    pub verdict: &'a str,
    /// The distance from the previous version, in bits.
    pub distance: Option<u32>,
    /// The weight of the page from the time of the entry on.
    pub weight: Option<f64>,
    /// The class of the page from the time of the entry on.
    pub class: Option<u32>,
    /// The time when the page was last modified, in milliseconds since 1970, as the server reported
    /// it.
    pub modified: Option<i64>,
    /// The number of bytes of the content as transferred.
    pub bytes: Option<u64>,
    /// Whether the request of the visit was conditional.
    pub conditional: Option<bool>,
    /// The entity tag of the content from the time of the entry on. Each byte is a character.
    pub etag: Option<&'a str>,
    /// The URL to which the content points from the time of the entry on.
    pub target: Option<&'a str>,
}

/// A table of visits that is being written.
///
/// ```
/// use simkeep_parquet::{VisitRow, VisitWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = VisitWriter::new(&mut bytes)?;
/// writer.row(&VisitRow { url: "https://example.com/", verdict: "new", ..VisitRow::default() })?;
/// writer.end()?;
/// assert!(bytes.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub type VisitWriter<W> = ParquetWriter<W, VisitColumns>;

/// The rows of a group.
#[derive(Default)]
pub struct VisitColumns {
    /// The URL of the last row.
    url: String,
    /// The values of columns with few distinct texts.
    names: HashMap<String, ByteArray>,
    urls: ColumnValues<ByteArray>,
    times: ColumnValues<i64>,
    epochs: ColumnValues<ByteArray>,
    fingerprints: ColumnValues<i64>,
    digests: ColumnValues<FixedLenByteArray>,
    statuses: ColumnValues<i32>,
    verdicts: ColumnValues<ByteArray>,
    distances: ColumnValues<i32>,
    weights: ColumnValues<f64>,
    classes: ColumnValues<i32>,
    modified: ColumnValues<i64>,
    bytes: ColumnValues<i64>,
    conditional: ColumnValues<bool>,
    etags: ColumnValues<ByteArray>,
    targets: ColumnValues<ByteArray>,
}

impl RowGroup for VisitColumns {
    type Row<'a> = VisitRow<'a>;
    const SCHEMA: &str = SCHEMA;

    fn properties(builder: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        let column = |name: &str| ColumnPath::from(name);
        builder
            .set_column_dictionary_enabled(column("time"), false)
            .set_column_encoding(column("time"), Encoding::DELTA_BINARY_PACKED)
            .set_column_dictionary_enabled(column("digest"), false)
            .set_column_dictionary_enabled(column("etag"), false)
    }

    fn push(&mut self, row: &VisitRow<'_>) -> usize {
        let VisitRow { url, time, epoch, fingerprint, digest, .. } = *row;
        let VisitRow { status, verdict, distance, weight, class, .. } = *row;
        let VisitRow { modified, bytes, conditional, etag, target, .. } = *row;
        let (url, url_bytes) = match self.urls.values.last() {
            Some(last) if self.url == url => (last.clone(), 0),
            _ => {
                url.clone_into(&mut self.url);
                (ByteArray::from(url), url.len())
            }
        };
        let mut name = |name: &str| match self.names.get(name) {
            Some(known) => known.clone(),
            None => self.names.entry(name.to_owned()).or_insert(ByteArray::from(name)).clone(),
        };
        let (epoch, verdict) = (epoch.map(&mut name), name(verdict));
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
        self.modified.push(modified);
        self.bytes.push(bytes.map(u64::cast_signed));
        self.conditional.push(conditional);
        self.etags.push(etag.map(ByteArray::from));
        self.targets.push(target.map(ByteArray::from));
        url_bytes + target.map_or(0, str::len)
    }

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
        self.classes.write::<Int32Type, W>(to)?;
        self.modified.write::<Int64Type, W>(to)?;
        self.bytes.write::<Int64Type, W>(to)?;
        self.conditional.write::<BoolType, W>(to)?;
        self.etags.write::<ByteArrayType, W>(to)?;
        self.targets.write::<ByteArrayType, W>(to)
    }
}
