//! Clusters as a table.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

use super::write::{ColumnValues, ParquetWriter, RowGroup};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY leader (STRING);
    OPTIONAL INT64 fingerprint (INTEGER(64, false));
    REQUIRED INT64 first_seen (TIMESTAMP(MILLIS, true));
    REQUIRED INT64 size (INTEGER(64, false));
    REQUIRED INT32 max_distance (INTEGER(8, false));
}";

/// A cluster.
///
/// ```
/// use simkeep_parquet::{CellValue, ClusterRow, ClusterWriter, DocumentRows};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.parquet");
/// let mut writer = ClusterWriter::new(std::fs::File::create(&path)?)?;
/// let (leader, fingerprint) = ("https://example.com/terms", Some(7));
/// writer.row(&ClusterRow { leader, fingerprint, first_seen: 1_500, size: 2, max_distance: 1 })?;
/// writer.end()?;
///
/// let columns = ["leader", "size", "max_distance"];
/// let rows = DocumentRows::open(std::fs::File::open(&path)?, columns)?.next().unwrap()?;
/// assert_eq!(rows[0], [CellValue::Text(leader.into()), CellValue::Whole(2), CellValue::Whole(1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterRow<'a> {
    /// The URL of the leader of the cluster.
    pub leader: &'a str,
    /// The fingerprint of the leader; `None` if its content has no fingerprint.
    pub fingerprint: Option<u64>,
    /// The time when the leader's current content was first seen, in milliseconds since 1970.
    pub first_seen: i64,
    /// The number of pages in the cluster.
    pub size: u64,
    /// The largest distance of a page in the cluster from the leader, in bits.
    pub max_distance: u32,
}

/// A table of clusters that is being written.
///
/// ```
/// use simkeep_parquet::{ClusterRow, ClusterWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = ClusterWriter::new(&mut bytes)?;
/// writer.row(&ClusterRow { leader: "https://example.com/", size: 1, ..ClusterRow::default() })?;
/// writer.end()?;
/// assert!(bytes.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub type ClusterWriter<W> = ParquetWriter<W, ClusterColumns>;

/// The rows of a group.
#[derive(Default)]
pub struct ClusterColumns {
    leaders: ColumnValues<ByteArray>,
    fingerprints: ColumnValues<i64>,
    first_seen: ColumnValues<i64>,
    sizes: ColumnValues<i64>,
    max_distance: ColumnValues<i32>,
}

impl RowGroup for ClusterColumns {
    type Row<'a> = ClusterRow<'a>;
    const SCHEMA: &str = SCHEMA;

    fn push(&mut self, row: &ClusterRow<'_>) -> usize {
        let ClusterRow { leader, fingerprint, first_seen, size, max_distance } = *row;
        self.leaders.push(Some(ByteArray::from(leader)));
        self.fingerprints.push(fingerprint.map(u64::cast_signed));
        self.first_seen.push(Some(first_seen));
        self.sizes.push(Some(size.cast_signed()));
        self.max_distance.push(Some(max_distance.cast_signed()));
        leader.len()
    }

    fn write<W: Write + Send>(
        &self,
        to: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.leaders.write::<ByteArrayType, W>(to)?;
        self.fingerprints.write::<Int64Type, W>(to)?;
        self.first_seen.write::<Int64Type, W>(to)?;
        self.sizes.write::<Int64Type, W>(to)?;
        self.max_distance.write::<Int32Type, W>(to)
    }
}
