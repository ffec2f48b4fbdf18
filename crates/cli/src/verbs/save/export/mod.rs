//! `export`: a whole store as lines, for `load` or for other programs.

mod cdxj;
mod csv;
mod format;
mod gathered;
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
use simkeep_formats::escape::whole;
use simkeep_formats::export::{Encoder, Extent};

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::output::json::Saw;
use crate::output::packed::PackedFile;
use crate::output::progress::counted;
use crate::output::words::{bytes, figure};
use crate::{Common, time};
use format::{Format, Row};
use gathered::GATHERED_BYTES;

pub(crate) use lines::Line;

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
them. --since leaves out earlier weights and classes. --in-force keeps the visits that
saw the current content last, and the last weight and class.

All keys and columns: docs/export.md"#)]
pub(crate) struct Export {
    /// Format to write [default: by the extension of --output, else jsonl]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Format>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only entries of this time or later
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, conflicts_with = "in_force")]
    since: Option<Time>,
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
pub(crate) struct Answer<'a> {
    file: &'a str,
    /// How many lines it has; null of a table for other programs.
    lines: Option<u64>,
    pages: u64,
    entries: u64,
    /// The size of the file.
    file_bytes: u64,
    saw: Saw,
}

/// What was written.
#[derive(Default)]
struct Written {
    /// If it is of lines that say how many they are.
    lines: Option<u64>,
    pages: u64,
    entries: u64,
}

impl Export {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let reader = common.read()?;
        let (snapshot, pages) = (reader.snapshot(), reader.stats()?.pages);
        let format = self.format()?;
        format.check(self.output.as_deref(), output.is_terminal())?;
        let has_header = !common.no_header;
        let Some(path) = &self.output else {
            // Drawn between the lines, it would be in the way.
            if output.is_terminal() {
                self.write(&snapshot, output.writer(), (has_header, true), &AtomicU64::new(0))?;
            } else {
                let form = (has_header, false);
                let write = |done: &_| self.write(&snapshot, output.writer(), form, done);
                counted("pages", pages, write)?;
            }
            return Ok(Exit::Done);
        };
        let shown = whole(&path.to_string_lossy());
        let cannot = |e| Failure::Other(format!("cannot write {shown}: {e}"));
        let mut file = PackedFile::create(path).map_err(cannot)?;
        let form = (has_header, false);
        let written = counted("pages", pages, |done| self.write(&snapshot, &mut file, form, done));
        let written = written.map_err(|failure| match failure {
            Failure::Output(e) => cannot(e),
            other => other,
        })?;
        let len = file.put().map_err(cannot)?;
        let Written { lines, pages, entries } = written;
        if common.json {
            let file = &*path.to_string_lossy();
            let saw = Saw::of(&reader);
            output.object(&Answer { file, lines, pages, entries, file_bytes: len, saw })?;
        } else {
            output.line(&figure("pages", pages, ""))?;
            output.line(&figure("entries", entries, ""))?;
            output.line(&format!("{:<25}{:>13}  {shown}", "written", bytes(len)))?;
        }
        Ok(Exit::Done)
    }

    /// The format that is asked for, or that the name of the file says.
    fn format(&self) -> Result<Format, Failure> {
        let named = self.output.as_deref().map_or(Ok(Format::Jsonl), Format::of_file);
        self.format.map_or(named, Ok)
    }

    /// Writes all that is asked for, with or without a header line, perhaps to a terminal; `done` counts
    /// pages.
    fn write(
        &self,
        snapshot: &Snapshot,
        to: &mut (impl Write + Send),
        form: (bool, bool),
        done: &AtomicU64,
    ) -> Result<Written, Failure> {
        let Some(mut rows) = self.format()?.rows(to, form)? else {
            return self.write_lines(snapshot, to, done);
        };
        let histories = Histories::of(snapshot, self.under.as_ref());
        let histories = if self.in_force { histories.in_force() } else { histories };
        let mut written = Written::default();
        for page in histories {
            let (url, history) = page?;
            let mut entries = 0;
            for entry in &history {
                if self.since.is_none_or(|since| entry.entry().time() >= since) {
                    let row = Row::new(&url, entry, snapshot.epochs())?;
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

    /// Writes all lines; `done` counts pages.
    fn write_lines(
        &self,
        snapshot: &Snapshot,
        to: &mut impl Write,
        done: &AtomicU64,
    ) -> Result<Written, Failure> {
        let Export { under, since, in_force, .. } = self;
        let (prefix, in_force) = (under.as_ref(), *in_force);
        let under = prefix.map(ToString::to_string);
        let mut encoder = Encoder::new(&Extent { under, since: since.map(Time::as_ms), in_force });
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
        let mut written = Written::default();
        let mut page = std::sync::Arc::from("");
        for observation in observations {
            let (url, entry) = observation?;
            if since.is_some_and(|since| entry.time() < since) {
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

/// What makes the fingerprints of an epoch, unless its table is not there, or not needed any more.
fn origin(snapshot: &Snapshot, info: &EpochInfo) -> simkeep::Result<Option<Origin>> {
    match Origin::of(snapshot, info.epoch) {
        Err(Error::EndedEpoch(_) | Error::NoTable { .. }) => Ok(None),
        other => other,
    }
}

fn table_id(origin: &Origin) -> Option<u64> {
    origin.frequencies().map(|table| table.id())
}
