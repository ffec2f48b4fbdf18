//! `export`: writes a whole store in a format for `load` or for other programs.

mod buffered_output;
mod cdxj;
mod csv;
mod format;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::query::Histories;
use simkeep::{EpochInfo, Error, Origin, Prefix, Snapshot, Time};
use simkeep_formats::escape::escape_untruncated;
use simkeep_formats::export::{ExportEncoder, ExportScope};

use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::compressed_file::CompressedFile;
use crate::output::json::StoreState;
use crate::output::progress::counted;
use crate::output::words::{bytes, figure};
use crate::{CommonArgs, time};
use buffered_output::GATHERED_BYTES;
use format::{ExportFormat, ExportRow};

pub(crate) use lines::ExportOutput;

/// Export a store as JSON lines, CSV, CDXJ or Parquet
///
/// JSON lines have all observations, epochs and tables, and `simkeep load` makes the same store
/// from them. The other formats have one row per entry, with its verdict, for other programs. Pages
/// are in SURT order, entries in order of time.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep export crawl.simkeep -o crawl.jsonl.zst
  simkeep load copy.simkeep crawl.jsonl.zst
  simkeep export crawl.simkeep -o crawl.csv.gz
  simkeep export crawl.simkeep --format cdxj | LC_ALL=C sort > crawl.cdxj
  simkeep export crawl.simkeep --under example.com --since 3d | grep -v '^{"simkeep"'

The first and last lines of an export say that it is complete; `load` refuses one without
them. --since leaves out earlier weights and classes, too. --in-force keeps the visits that
saw the current content last, and the last weight, class, entity tag and target.

All keys and columns: docs/export.md"#)]
pub(crate) struct ExportArgs {
    /// Format to write [default: by the extension of --output, else jsonl]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<ExportFormat>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only entries of this time or later
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, conflicts_with = "in_force")]
    since: Option<Time>,
    /// Only entries of this time or earlier
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, conflicts_with = "in_force")]
    until: Option<Time>,
    /// Only the current content of each page
    #[arg(long)]
    in_force: bool,
    /// Leave out tables of document frequencies
    #[arg(long)]
    no_tables: bool,
    /// File to write; compressed if it ends with .zst or .gz
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The file that was written.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Written")]
pub(crate) struct ExportResult<'a> {
    file: &'a str,
    /// The number of lines, including the first and the last; null for formats other than JSON
    /// lines.
    lines: Option<u64>,
    pages: u64,
    entries: u64,
    /// The size of the file in bytes.
    file_bytes: u64,
    saw: StoreState,
}

/// Counts of the written lines, pages and entries.
#[derive(Default)]
struct ExportCounts {
    /// The number of lines; `None` for formats other than JSON lines.
    lines: Option<u64>,
    pages: u64,
    entries: u64,
}

impl ExportArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let (snapshot, pages) = (reader.snapshot(), reader.stats()?.pages);
        let format = self.format()?;
        format.check(self.output.as_deref(), output.is_terminal())?;
        let has_header = !common.no_header;
        let Some(path) = &self.output else {
            // On a terminal, a progress bar would garble the lines.
            if output.is_terminal() {
                self.write(&snapshot, output.writer(), (has_header, true), &AtomicU64::new(0))?;
            } else {
                let form = (has_header, false);
                let write = |done: &_| self.write(&snapshot, output.writer(), form, done);
                counted("pages", pages, write)?;
            }
            return Ok(Exit::Done);
        };
        let shown = escape_untruncated(&path.to_string_lossy());
        let cannot = |e| VerbError::Other(format!("cannot write {shown}: {e}"));
        let mut file = CompressedFile::create(path).map_err(cannot)?;
        let form = (has_header, false);
        let written = counted("pages", pages, |done| self.write(&snapshot, &mut file, form, done));
        let written = written.map_err(|failure| match failure {
            VerbError::Output(e) => cannot(e),
            other => other,
        })?;
        let len = file.put().map_err(cannot)?;
        let ExportCounts { lines, pages, entries } = written;
        if common.json {
            let file = &*path.to_string_lossy();
            let saw = StoreState::of(&reader);
            output.object(&ExportResult { file, lines, pages, entries, file_bytes: len, saw })?;
        } else {
            output.line(&figure("pages", pages, ""))?;
            output.line(&figure("entries", entries, ""))?;
            output.line(&format!("{:<25}{:>13}  {shown}", "written", bytes(len)))?;
        }
        Ok(Exit::Done)
    }

    /// Returns the requested format, or else the format that the name of the file implies.
    fn format(&self) -> Result<ExportFormat, VerbError> {
        let named = self.output.as_deref().map_or(Ok(ExportFormat::Jsonl), ExportFormat::of_file);
        self.format.map_or(named, Ok)
    }

    /// Whether an entry of this time is exported.
    fn includes(&self, time: Time) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time <= until)
    }

    /// Writes everything that the user asked for, with or without a header line. `shown` is whether
    /// a terminal shows it; `done` counts pages.
    fn write(
        &self,
        snapshot: &Snapshot,
        to: &mut (impl Write + Send),
        form: (bool, bool),
        done: &AtomicU64,
    ) -> Result<ExportCounts, VerbError> {
        let Some(mut rows) = self.format()?.rows(to, form)? else {
            return self.write_lines(snapshot, to, done);
        };
        let histories = Histories::of(snapshot, self.under.as_ref());
        let histories = if self.in_force { histories.in_force() } else { histories };
        let mut written = ExportCounts::default();
        for page in histories {
            let (url, history) = page?;
            let mut entries = 0;
            for entry in &history {
                if self.includes(entry.entry().time()) {
                    let row = ExportRow::new(&url, entry, (&history, snapshot.epochs()))?;
                    entries += u64::from(rows.row(&row)?);
                }
            }
            written.entries += entries;
            written.pages += u64::from(entries > 0);
            done.fetch_add(1, Ordering::Relaxed);
        }
        rows.end()?;
        Ok(written)
    }

    /// Writes the export as JSON lines; `done` counts pages.
    fn write_lines(
        &self,
        snapshot: &Snapshot,
        to: &mut impl Write,
        done: &AtomicU64,
    ) -> Result<ExportCounts, VerbError> {
        let (prefix, in_force) = (self.under.as_ref(), self.in_force);
        let mut encoder = ExportEncoder::new(&ExportScope {
            under: prefix.map(ToString::to_string),
            since: self.since.map(Time::as_ms),
            until: self.until.map(Time::as_ms),
            in_force,
        });
        let mut tables: Vec<Origin> = Vec::new();
        for info in snapshot.epochs() {
            let origin = if self.no_tables { None } else { origin(snapshot, info)? };
            let id = origin.as_ref().and_then(table_id);
            encoder.epoch(info, id);
            let is_known = tables.iter().any(|known| table_id(known) == id);
            tables.extend(origin.filter(|_| id.is_some() && !is_known));
        }
        for table in tables.iter().filter_map(Origin::frequencies) {
            encoder.table(table, to)?;
        }
        let observations = snapshot.observations(prefix);
        let observations = if in_force { observations.in_force() } else { observations };
        let mut written = ExportCounts::default();
        let mut page = std::sync::Arc::from("");
        for observation in observations {
            let (url, entry) = observation?;
            if !self.includes(entry.time()) {
                continue;
            }
            if page != url {
                page = url;
                written.pages += 1;
                done.fetch_add(1, Ordering::Relaxed);
            }
            encoder.entry(&page, &entry)?;
            written.entries += 1;
            if encoder.gathered() >= GATHERED_BYTES {
                encoder.pass(to)?;
            }
        }
        written.lines = Some(encoder.end());
        encoder.pass(to)?;
        Ok(written)
    }
}

/// The origin of an epoch's fingerprints; `None` if they are made elsewhere, if its table is missing, or
/// if the epoch has ended.
fn origin(snapshot: &Snapshot, info: &EpochInfo) -> simkeep::Result<Option<Origin>> {
    match Origin::of(snapshot, info.epoch) {
        Err(Error::EndedEpoch(_) | Error::NoTable { .. }) => Ok(None),
        other => other,
    }
}

fn table_id(origin: &Origin) -> Option<u64> {
    origin.frequencies().map(|table| table.id())
}
