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

/// Print a whole store as lines of JSON, or as a table for other programs
///
/// All that was observed, all epochs, and the tables of document frequencies. `simkeep load` makes the
/// same store of it. Pages are in the order of the reversed host name (SURT), entries in order of time.
/// With --format the entries alone are written, each with what it meant, as other programs read them.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep export -o crawl.jsonl.zst --store crawl.simkeep
  simkeep load crawl.jsonl.zst --store copy.simkeep
  simkeep export --under example.com --since '3d ago' | grep -v '^{\"simkeep\"'
  simkeep export --format csv -o crawl.csv.gz --store crawl.simkeep
  simkeep export --format cdxj --store crawl.simkeep | LC_ALL=C sort > crawl.cdxj

As JSON lines (the default), the first line is {\"simkeep\": \"export\", \"version\": 1}, with \"under\", \"since\" and \"in_force_only\" if it is
not of all. The last is {\"simkeep\": \"end\", \"lines\"}, the number of all lines. An export without its
last line, or with another number of lines, is not loaded.

Behind the first line stand the epochs, the oldest first:
  epoch        its name
  role         \"change\" or \"near\", if not both
  minor, moderate
               the largest distances that are such changes, in bits
  begun_at_visit
               how many visits the store knew when it began
  reserved     how many leading bits are not compared, if any
  ended        true if it has ended
  table        the checksum of its table, if it has one

Then their tables: \"table\", \"offset\" and \"table_bytes\", \"base64\".

Then the entries. Keys, in this order, absent where there is nothing to say:
  url
  t            RFC 3339 in UTC, with milliseconds if they are not zero
  fingerprint  16 hexadecimal digits; null for content that has none
  digest       32 hexadecimal digits: of what came (see `simkeep ingest --help`), or as it was given
  epoch        the name of what made the fingerprint
  status       the HTTP status
  modified     when the page was last modified, as the server said (Last-Modified)
  weight       how important the page is from this time on, 1 if that was never said; a line with
               this alone is no visit
  class        the class that the page is of from this time on, a whole number up to 4294967295; a
               line with this alone is no visit
  seen         \"not-modified\", \"gone\" or \"failed\"; without it, content was; \"restated\": the content
               of this time and digest has this fingerprint, or none, in another epoch

--since leaves out weights and classes that were given before. --in-force keeps of each page the
visits that saw its content last, what was restated of it, the last weight and the last class.

Formats for other programs have no epochs or tables of their own, and are not loaded again:
  csv      a line for each entry, below the header url,time,epoch,fingerprint,digest,status,verdict,
           distance,weight,class. The verdict is that of `simkeep history --json`, \"restated\",
           \"weight\" or \"class\"; the distance is in bits. A text that a spreadsheet would take for
           a formula has a ' in front: take one ' off where a cell begins with it
  cdxj     a line for each visit: SURT, time in 14 digits, and JSON with url, digest, status,
           fingerprint, verdict and distance. All else is left out
  parquet  the columns of csv, for DuckDB, pandas or Spark: time in milliseconds UTC, fingerprint as
           uint64, digest in 16 bytes, epoch with a dictionary

docs/export.md tells more of them.")]
pub(crate) struct Export {
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
    /// Only pages under this: a domain, a host, a path, a SURT prefix
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only entries of this time or later
    #[arg(long, value_name = "TIME", value_parser = time::parse, conflicts_with = "in_force")]
    since: Option<Time>,
    /// Only what is in force
    #[arg(long)]
    in_force: bool,
    /// Leave out the tables of document frequencies
    #[arg(long)]
    no_tables: bool,
    /// Write to this file, which is there when all is done or stays as it was; packed if its name ends
    /// with .zst or .gz
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
        self.format.check(self.output.as_deref(), output.is_terminal())?;
        let Some(path) = &self.output else {
            // Drawn between the lines, it would be in the way.
            if output.is_terminal() {
                self.write(&snapshot, output.writer(), true, &AtomicU64::new(0))?;
            } else {
                let write = |done: &_| self.write(&snapshot, output.writer(), false, done);
                counted("pages", pages, write)?;
            }
            return Ok(Exit::Done);
        };
        let shown = whole(&path.to_string_lossy());
        let cannot = |e| Failure::Other(format!("cannot write {shown}: {e}"));
        let mut file = PackedFile::create(path).map_err(cannot)?;
        let written = counted("pages", pages, |done| self.write(&snapshot, &mut file, false, done));
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

    /// Writes all that is asked for, perhaps to a terminal; `done` counts pages.
    fn write(
        &self,
        snapshot: &Snapshot,
        to: &mut (impl Write + Send),
        shown: bool,
        done: &AtomicU64,
    ) -> Result<Written, Failure> {
        let Some(mut rows) = self.format.rows(to, shown)? else {
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
