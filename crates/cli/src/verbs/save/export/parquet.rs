//! Writes an export as a Parquet file.

use std::io::Write;

use simkeep_parquet::Writer;

use super::format::{Row, Rows};
use crate::exit::Failure;

/// A table that is being written.
pub(super) struct Parquet<'w> {
    writer: Writer<&'w mut (dyn Write + Send)>,
}

impl<'w> Parquet<'w> {
    pub(super) fn begin(to: &'w mut (impl Write + Send)) -> Result<Parquet<'w>, Failure> {
        Ok(Parquet { writer: Writer::new(to as _)? })
    }
}

impl Rows for Parquet<'_> {
    fn row(&mut self, row: &Row<'_>) -> Result<bool, Failure> {
        self.writer.row(&simkeep_parquet::Row {
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
        })?;
        Ok(true)
    }

    fn end(self: Box<Self>) -> Result<(), Failure> {
        Ok(self.writer.end()?)
    }
}
