//! The formats of an export.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use simkeep::{Digest, ETag, EpochInfo, HistoryEntry, Property, Time, Weight};
use simkeep_formats::escape::escape_untruncated;

use super::cdxj::CdxjWriter;
use super::csv::CsvWriter;
#[cfg(feature = "parquet")]
use super::parquet::ParquetExport;
use crate::exit::VerbError;
use crate::output::file_format::{extension, packed_parquet, refuse_others};
use crate::output::row_file::not_built;
use crate::output::visit::{self, ResponseProperties};
use crate::output::words;

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum ExportFormat {
    /// JSON lines of the whole store, which `simkeep load` reads
    Jsonl,
    /// A table of comma-separated values, with a header line
    Csv,
    /// An index of visits by SURT and time, as for web archives
    Cdxj,
    /// A Parquet file
    Parquet,
}

/// A writer of one of the formats that are tables.
pub(super) trait RowWriter {
    /// Writes an entry. Returns false if the format does not contain such entries.
    fn row(&mut self, row: &ExportRow<'_>) -> Result<bool, VerbError>;
    /// Writes buffered rows and completes the output.
    fn end(self: Box<Self>) -> Result<(), VerbError>;
}

impl ExportFormat {
    /// The format that the extension of a file names; JSON lines if it names none.
    pub(super) fn of_file(file: &Path) -> Result<ExportFormat, VerbError> {
        Ok(match extension(file).0.as_str() {
            "csv" => ExportFormat::Csv,
            "cdxj" => ExportFormat::Cdxj,
            "parquet" => ExportFormat::Parquet,
            _ => {
                refuse_others(file, "JSON lines (.jsonl), .csv, .cdxj and .parquet")?;
                ExportFormat::Jsonl
            }
        })
    }

    /// Checks that the format can be written to this file or terminal.
    pub(super) fn check(self, file: Option<&Path>, is_terminal: bool) -> Result<(), VerbError> {
        if self != ExportFormat::Parquet {
            return Ok(());
        }
        if cfg!(not(feature = "parquet")) {
            return Err(not_built());
        }
        match file {
            None if is_terminal => Err(VerbError::Usage(
                "a terminal cannot show a Parquet file; name a file with -o".to_owned(),
            )),
            Some(file) if extension(file).1 => {
                Err(packed_parquet(&escape_untruncated(&file.to_string_lossy())))
            }
            _ => Ok(()),
        }
    }

    /// Begins a table, with or without a header line; `None` for JSON lines. `shown` is whether a
    /// terminal shows the output.
    pub(super) fn rows<'w>(
        self,
        to: &'w mut (impl Write + Send),
        (has_header, shown): (bool, bool),
    ) -> Result<Option<Box<dyn RowWriter + 'w>>, VerbError> {
        Ok(match self {
            ExportFormat::Jsonl => None,
            ExportFormat::Csv => Some(Box::new(CsvWriter::begin(to, (has_header, shown)))),
            ExportFormat::Cdxj => Some(Box::new(CdxjWriter::begin(to))),
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => Some(Box::new(ParquetExport::begin(to)?)),
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet => return Err(not_built()),
        })
    }
}

/// An entry of a page, as a table row.
pub(super) struct ExportRow<'a> {
    pub(super) url: &'a str,
    pub(super) time: Time,
    pub(super) epoch: Option<&'a str>,
    pub(super) fingerprint: Option<u64>,
    pub(super) digest: Option<Digest>,
    pub(super) status: Option<u16>,
    /// The verdict of a visit, or the kind of another entry.
    pub(super) verdict: &'static str,
    pub(super) distance: Option<u32>,
    pub(super) weight: Option<Weight>,
    pub(super) class: Option<u32>,
    pub(super) modified: Option<Time>,
    pub(super) bytes: Option<u64>,
    /// Whether the request was conditional; `None` for an entry that is not a visit.
    pub(super) conditional: Option<bool>,
    /// The entity tag and the target of an entry that sets one.
    pub(super) etag: Option<String>,
    pub(super) target: Option<String>,
    /// The properties of the response to a visit, which also have rows of their own.
    pub(super) response: ResponseProperties<'a>,
}

impl<'a> ExportRow<'a> {
    pub(super) fn new(
        url: &'a str,
        of: &HistoryEntry,
        (history, epochs): (&'a [HistoryEntry], &'a [EpochInfo]),
    ) -> simkeep::Result<ExportRow<'a>> {
        let entry = of.entry();
        let seen = entry.visit();
        let content = entry.content();
        let verdict = of.visit().map(|(_, verdict)| verdict);
        let epoch = entry.epoch().map(|epoch| visit::epoch(epochs, epoch)).transpose()?;
        Ok(ExportRow {
            url,
            time: entry.time(),
            epoch,
            fingerprint: content.and_then(|content| content.fingerprint),
            digest: entry.digest(),
            status: seen.and_then(|visit| visit.status),
            verdict: match (verdict, of) {
                (Some(verdict), _) => words::verdict_key(verdict),
                (None, HistoryEntry::Property(given)) => match given.property {
                    Property::Weight(_) => "weight",
                    Property::Class(_) => "class",
                    Property::ETag(_) => "etag",
                    Property::Target(_) => "target",
                },
                (None, _) => "restated",
            },
            distance: verdict.and_then(|verdict| verdict.distance()).map(|distance| distance.bits),
            weight: entry.weight(),
            class: entry.class(),
            modified: seen.and_then(|visit| visit.modified),
            bytes: seen.and_then(|visit| visit.bytes),
            conditional: seen.map(|visit| visit.conditional),
            etag: entry.etag().map(ETag::to_latin1),
            target: entry.target().and_then(|target| target.resolve(url)),
            response: ResponseProperties::of(of, history),
        })
    }
}
