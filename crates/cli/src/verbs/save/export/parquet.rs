//! Writes an export as a Parquet file.

use std::io::Write;

use simkeep_parquet::VisitWriter;

use super::format::{ExportRow, RowWriter};
use crate::exit::VerbError;

/// A table that is being written.
pub(super) struct ParquetExport<'w> {
    writer: VisitWriter<&'w mut (dyn Write + Send)>,
}

impl<'w> ParquetExport<'w> {
    pub(super) fn begin(to: &'w mut (impl Write + Send)) -> Result<ParquetExport<'w>, VerbError> {
        Ok(ParquetExport { writer: VisitWriter::new(to as _)? })
    }
}

impl RowWriter for ParquetExport<'_> {
    fn row(&mut self, row: &ExportRow<'_>) -> Result<bool, VerbError> {
        self.writer.row(&simkeep_parquet::VisitRow {
            url: row.url,
            time: row.time.as_ms(),
            epoch: row.epoch,
            fingerprint: row.fingerprint,
            digest: row.digest.map(|digest| digest.0),
            status: row.status,
            verdict: row.verdict,
            distance: row.distance,
            weight: row.weight.map(simkeep::Weight::to_f64),
            class: row.class,
            modified: row.modified.map(simkeep::Time::as_ms),
            bytes: row.bytes,
            conditional: row.conditional,
            etag: row.etag.as_deref(),
            target: row.target.as_deref(),
        })?;
        Ok(true)
    }

    fn end(self: Box<Self>) -> Result<(), VerbError> {
        Ok(self.writer.end()?)
    }
}
