//! What an export is written as.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use simkeep::{Digest, EpochInfo, HistoryEntry, Property, Time, Weight};
use simkeep_formats::escape::whole;

use super::cdxj::Cdxj;
use super::csv::Csv;
#[cfg(feature = "parquet")]
use super::parquet::Parquet;
use crate::exit::Failure;
use crate::output::file_format::{extension, packed_parquet, refuse_others};
use crate::output::row_file::not_built;
use crate::output::{visit, words};

/// What an export is written as.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// Lines of JSON, the whole store, which `simkeep load` reads
    Jsonl,
    /// A table of comma-separated values, with a header line
    Csv,
    /// An index of visits by SURT and time, as web archives have
    Cdxj,
    /// A Parquet file
    Parquet,
}

/// What writes entries in one of the formats that are tables.
pub(super) trait Rows {
    /// Writes an entry; false if the format has no place for it.
    fn row(&mut self, row: &Row<'_>) -> Result<bool, Failure>;
    /// Writes what is left.
    fn end(self: Box<Self>) -> Result<(), Failure>;
}

impl Format {
    /// The format that the extension of a file names; JSON lines if it names none.
    pub(super) fn of_file(file: &Path) -> Result<Format, Failure> {
        Ok(match extension(file).0.as_str() {
            "csv" => Format::Csv,
            "cdxj" => Format::Cdxj,
            "parquet" => Format::Parquet,
            _ => {
                refuse_others(file, "JSON lines (.jsonl), .csv, .cdxj and .parquet")?;
                Format::Jsonl
            }
        })
    }

    /// Whether it can be written there.
    pub(super) fn check(self, file: Option<&Path>, is_terminal: bool) -> Result<(), Failure> {
        if self != Format::Parquet {
            return Ok(());
        }
        if cfg!(not(feature = "parquet")) {
            return Err(not_built());
        }
        match file {
            None if is_terminal => Err(Failure::Usage(
                "a Parquet file is nothing for a terminal: name a file with -o".to_owned(),
            )),
            Some(file) if extension(file).1 => Err(packed_parquet(&whole(&file.to_string_lossy()))),
            _ => Ok(()),
        }
    }

    /// Begins a table, with or without a header line. `shown` says that it goes to a terminal.
    pub(super) fn rows<'w>(
        self,
        to: &'w mut (impl Write + Send),
        (has_header, shown): (bool, bool),
    ) -> Result<Option<Box<dyn Rows + 'w>>, Failure> {
        Ok(match self {
            Format::Jsonl => None,
            Format::Csv => Some(Box::new(Csv::begin(to, (has_header, shown)))),
            Format::Cdxj => Some(Box::new(Cdxj::begin(to))),
            #[cfg(feature = "parquet")]
            Format::Parquet => Some(Box::new(Parquet::begin(to)?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(not_built()),
        })
    }
}

/// An entry of a page, as tables have it.
pub(super) struct Row<'a> {
    pub(super) url: &'a str,
    pub(super) time: Time,
    pub(super) epoch: Option<&'a str>,
    pub(super) fingerprint: Option<u64>,
    pub(super) digest: Option<Digest>,
    pub(super) status: Option<u16>,
    /// What a visit meant, or what else it is.
    pub(super) verdict: &'static str,
    pub(super) distance: Option<u32>,
    pub(super) weight: Option<Weight>,
    pub(super) class: Option<u32>,
    pub(super) is_visit: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(
        url: &'a str,
        of: &HistoryEntry,
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<Row<'a>> {
        let entry = of.entry();
        let content = entry.content();
        let verdict = of.visit().map(|(_, verdict)| verdict);
        let epoch = entry.epoch().map(|epoch| visit::epoch(epochs, epoch)).transpose()?;
        Ok(Row {
            url,
            time: entry.time(),
            epoch,
            fingerprint: content.and_then(|content| content.fingerprint),
            digest: entry.digest(),
            status: entry.visit().and_then(|visit| visit.status),
            verdict: match (verdict, of) {
                (Some(verdict), _) => words::verdict_key(verdict),
                (None, HistoryEntry::Property(given)) => match given.property {
                    Property::Weight(_) => "weight",
                    Property::Class(_) => "class",
                },
                (None, _) => "restated",
            },
            distance: verdict.and_then(|verdict| verdict.distance()).map(|distance| distance.bits),
            weight: entry.weight(),
            class: entry.class(),
            is_visit: verdict.is_some(),
        })
    }
}
