//! A table of dropped documents, each with the document that is kept in its place.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

use super::write::{Column, Group, Table};

const SCHEMA: &str = "
message simkeep {
    REQUIRED BYTE_ARRAY url (STRING);
    REQUIRED BYTE_ARRAY kept (STRING);
    REQUIRED INT32 distance (INTEGER(8, false));
    OPTIONAL DOUBLE resemblance;
    REQUIRED BYTE_ARRAY reason (STRING);
    REQUIRED INT64 size (INTEGER(64, false));
    REQUIRED INT64 fingerprint (INTEGER(64, false));
}";

/// A dropped document.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanRow<'a> {
    /// The document.
    pub url: &'a str,
    /// The document that is kept in its place.
    pub kept: &'a str,
    /// The number of bits in which the two fingerprints differ.
    pub distance: u32,
    /// The resemblance of the two texts, from 0 to 1, if they were compared.
    pub resemblance: Option<f64>,
    /// The evidence that the two are alike.
    pub reason: &'a str,
    /// The number of documents in the cluster.
    pub size: u64,
    /// The fingerprint of the document.
    pub fingerprint: u64,
}

/// A plan that is being written.
pub type PlanWriter<W> = Table<W, Plan>;

/// The rows of a row group.
#[derive(Default)]
pub struct Plan {
    urls: Column<ByteArray>,
    kept: Column<ByteArray>,
    distances: Column<i32>,
    resemblances: Column<f64>,
    reasons: Column<ByteArray>,
    sizes: Column<i64>,
    fingerprints: Column<i64>,
}

impl Group for Plan {
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
        self.fingerprints.push(Some(fingerprint.cast_signed()));
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
