//! Pages in their clusters, as a table.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

use super::write::{ColumnValues, ParquetWriter, RowGroup};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    OPTIONAL INT64 fingerprint (INTEGER(64, false));
    OPTIONAL INT32 class (INTEGER(32, false));
    REQUIRED INT32 distance (INTEGER(8, false));
    REQUIRED BYTE_ARRAY leader (STRING);
    REQUIRED INT64 size (INTEGER(64, false));
}";

/// A page in its cluster.
///
/// ```
/// use simkeep_parquet::{CellValue, DocumentRows, MemberRow, MemberWriter};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let (url, leader) = ("https://example.com/terms?print=1", "https://example.com/terms");
/// let row = MemberRow { url, fingerprint: Some(7), class: None, distance: 1, leader, size: 2 };
/// let mut writer = MemberWriter::new(std::fs::File::create(&path)?)?;
/// writer.row(&row)?;
/// writer.end()?;
///
/// let columns = ["url", "leader", "distance"];
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, columns)?.next().unwrap()?;
/// assert_eq!(rows[0][1..], [CellValue::Text(leader.into()), CellValue::Whole(1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberRow<'a> {
    /// The page.
    pub url: &'a str,
    /// The fingerprint of the page; `None` if its content has no fingerprint.
    pub fingerprint: Option<u64>,
    /// The class of the page.
    pub class: Option<u32>,
    /// The distance of the page from its leader, in bits.
    pub distance: u32,
    /// The URL of the leader of the cluster, which may be the page itself.
    pub leader: &'a str,
    /// The number of pages in the cluster.
    pub size: u64,
}

/// A table of pages in clusters that is being written.
///
/// ```
/// use simkeep_parquet::{MemberRow, MemberWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = MemberWriter::new(&mut bytes)?;
/// let url = "https://example.com/";
/// writer.row(&MemberRow { url, leader: url, size: 1, ..MemberRow::default() })?;
/// writer.end()?;
/// assert!(bytes.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub type MemberWriter<W> = ParquetWriter<W, MemberColumns>;

/// The rows of a group.
#[derive(Default)]
pub struct MemberColumns {
    urls: ColumnValues<ByteArray>,
    fingerprints: ColumnValues<i64>,
    classes: ColumnValues<i32>,
    distances: ColumnValues<i32>,
    leaders: ColumnValues<ByteArray>,
    sizes: ColumnValues<i64>,
}

impl RowGroup for MemberColumns {
    type Row<'a> = MemberRow<'a>;
    const SCHEMA: &str = SCHEMA;

    fn push(&mut self, row: &MemberRow<'_>) -> usize {
        let MemberRow { url, fingerprint, class, distance, leader, size } = *row;
        self.urls.push(Some(ByteArray::from(url)));
        self.fingerprints.push(fingerprint.map(u64::cast_signed));
        self.classes.push(class.map(u32::cast_signed));
        self.distances.push(Some(distance.cast_signed()));
        self.leaders.push(Some(ByteArray::from(leader)));
        self.sizes.push(Some(size.cast_signed()));
        url.len() + leader.len()
    }

    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.urls.write::<ByteArrayType, W>(to)?;
        self.fingerprints.write::<Int64Type, W>(to)?;
        self.classes.write::<Int32Type, W>(to)?;
        self.distances.write::<Int32Type, W>(to)?;
        self.leaders.write::<ByteArrayType, W>(to)?;
        self.sizes.write::<Int64Type, W>(to)
    }
}
