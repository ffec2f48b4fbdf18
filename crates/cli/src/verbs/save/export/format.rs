//! The formats of an export.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use simkeep::{Digest, EpochInfo, HistoryEntry, Property, Time, Weight};

use super::cdxj::Cdxj;
use super::csv::Csv;
#[cfg(feature = "parquet")]
use super::parquet::Parquet;
use crate::exit::Failure;
use crate::output::row_file::not_built;
use crate::output::{visit, words};

/// The format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// JSON lines of the whole store, which `simkeep load` reads
    #[default]
    Jsonl,
    /// A table of comma-separated values, with a header line
    Csv,
    /// An index of visits by SURT and time, as for web archives
    Cdxj,
    /// A Parquet file
    Parquet,
}

/// A writer of one of the formats that are tables.
pub(super) trait Rows {
    /// Writes an entry. Returns false if the format does not contain such entries.
    fn row(&mut self, row: &Row<'_>) -> Result<bool, Failure>;
    /// Writes buffered rows and completes the output.
    fn end(self: Box<Self>) -> Result<(), Failure>;
}

impl Format {
    /// Checks that the format can be written to this file or terminal.
    pub(super) fn check(self, file: Option<&Path>, is_terminal: bool) -> Result<(), Failure> {
        if self != Format::Parquet {
            return Ok(());
        }
        if cfg!(not(feature = "parquet")) {
            return Err(not_built());
        }
        let name = file.map(|file| file.to_string_lossy().to_ascii_lowercase());
        let usage = |why: &str| Err(Failure::Usage(why.to_owned()));
        match name {
            None if is_terminal => {
                usage("a Parquet file is nothing for a terminal: name a file with -o")
            }
            Some(name) if [".gz", ".zst"].iter().any(|end| name.ends_with(end)) => {
                usage("a Parquet file is packed within, and nobody reads one that is packed again")
            }
            _ => Ok(()),
        }
    }

    /// Begins a table; `None` for JSON lines. `shown` is whether a terminal shows the output.
    pub(super) fn rows<'w>(
        self,
        to: &'w mut (impl Write + Send),
        shown: bool,
    ) -> Result<Option<Box<dyn Rows + 'w>>, Failure> {
        Ok(match self {
            Format::Jsonl => None,
            Format::Csv => Some(Box::new(Csv::begin(to, shown))),
            Format::Cdxj => Some(Box::new(Cdxj::begin(to))),
            #[cfg(feature = "parquet")]
            Format::Parquet => Some(Box::new(Parquet::begin(to)?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(not_built()),
        })
    }
}

/// An entry of a page, as a table row.
pub(super) struct Row<'a> {
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
