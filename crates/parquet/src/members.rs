//! A table of pages in clusters.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

use super::write::{Column, Group, Table};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED INT64 fingerprint (INTEGER(64, false));
    OPTIONAL INT32 class (INTEGER(32, false));
    REQUIRED INT32 distance (INTEGER(8, false));
    REQUIRED BYTE_ARRAY leader (STRING);
    REQUIRED INT64 size (INTEGER(64, false));
}";

/// A page in a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberRow<'a> {
    /// The page.
    pub url: &'a str,
    /// Its fingerprint.
    pub fingerprint: u64,
    /// The class of the page, if it has one.
    pub class: Option<u32>,
    /// The number of bits in which it differs from its leader.
    pub distance: u32,
    /// The page that leads its cluster, perhaps itself.
    pub leader: &'a str,
    /// The number of pages in the cluster.
    pub size: u64,
}

/// A table of pages in clusters that is being written.
pub type MemberWriter<W> = Table<W, Members>;

/// The rows of a row group.
#[derive(Default)]
pub struct Members {
    urls: Column<ByteArray>,
    fingerprints: Column<i64>,
    classes: Column<i32>,
    distances: Column<i32>,
    leaders: Column<ByteArray>,
    sizes: Column<i64>,
}

impl Group for Members {
    type Row<'a> = MemberRow<'a>;
    const SCHEMA: &str = SCHEMA;

    fn push(&mut self, row: &MemberRow<'_>) -> usize {
        let MemberRow { url, fingerprint, class, distance, leader, size } = *row;
        self.urls.push(Some(ByteArray::from(url)));
        self.fingerprints.push(Some(fingerprint.cast_signed()));
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
