//! `tail`: the operations of a crawl, in the order of acknowledgement.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{LoggedOperation, OperationKind, Operations};
use simkeep::{EpochInfo, HistoryEntry, Matches, Prefix, Query, Reader, Snapshot, Verdict};
use simkeep_formats::escape;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::Fingerprint;
use crate::output::table::{TextTable, left, right};
use crate::output::visit::target_url;
use crate::output::words;
use crate::time::TimeFormat;

/// The interval between two checks for new operations.
const PAUSE: Duration = Duration::from_millis(200);

/// The maximum number of near pages to name.
const NEAR_LIMIT: usize = 5;

/// Print the newest operations; with -f, follow them
///
/// One line per operation: its number, the time of the visit, the verdict, and the URL. Operations
/// come in the order of acknowledgement, not of visits. A fingerprint of another epoch, a weight, a
/// class, an entity tag or a target given with a visit is an operation of its own.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep tail crawl.simkeep
  simkeep tail crawl.simkeep -n 1000 --under example.com
  simkeep tail -f crawl.simkeep --near

Only operations in the journal can be shown: the last hundred thousand, or the last
minutes of a crawl. Older operations are in segments, without their order. If operations are
sealed before -f can show them, it prints only their numbers."#)]
pub(crate) struct TailArgs {
    /// Operations to print at first
    #[arg(short, value_name = "COUNT", default_value_t = 10)]
    n: usize,
    /// Keep printing new operations until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Name up to five pages within this distance [default: by recipe]
    #[arg(long, value_name = "BITS", num_args = 0..=1, require_equals = true, value_parser = clap::value_parser!(u32).range(..=64))]
    near: Option<Option<u32>>,
}

/// Prints operations, as a table or as JSON.
struct TailPrinter<'a> {
    args: &'a TailArgs,
    is_json: bool,
    clock: TimeFormat,
    table: TextTable,
    output: &'a mut Output,
}

impl TailArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let mut reader = common.read()?;
        let clock = common.clock();
        let columns = [right("operation"), left(clock.heading("time")), left("verdict")];
        let table = TextTable::new(columns.into_iter().chain([left("URL")]));
        let is_json = common.json;
        let mut lines = TailPrinter { args: &self, is_json, clock, table, output };
        lines.last(&reader)?;
        if !self.follow {
            return Ok(lines.table.end(output).map(|()| Exit::Done)?);
        }
        loop {
            lines.flush()?;
            let seen = reader.snapshot().sequence();
            thread::sleep(PAUSE);
            // `behind` is one small read. `refresh` would read the journal again even if nothing
            // was written.
            if reader.behind() > 0 && reader.refresh()? {
                lines.since(seen, &reader.snapshot())?;
            }
        }
    }

    /// Whether the user asked for an operation.
    fn selects(&self, kind: &OperationKind) -> bool {
        self.under.as_ref().is_none_or(|prefix| kind.is_under(prefix))
    }
}

impl TailPrinter<'_> {
    /// Prints the last operations in the journal.
    fn last(&mut self, reader: &Reader) -> Result<(), VerbError> {
        let snapshot = reader.snapshot();
        let from = match self.args.under {
            // Any operation in the journal may be among the last ones under the prefix.
            Some(_) => 0,
            None => snapshot.sequence().saturating_sub(self.args.n as u64),
        };
        let mut operations = Operations::after(&snapshot, from);
        let held = operations.available();
        let mut last = VecDeque::new();
        for operation in &mut operations {
            let operation = operation?;
            if self.args.selects(&operation.kind) {
                last.push_back(operation);
            }
            if last.len() > self.args.n {
                last.pop_front();
            }
        }
        let is_short = last.len() < self.args.n;
        for operation in &last {
            self.print(operation, &snapshot)?;
        }
        // If the journal begins with operation 1, no older operations are missing.
        let first = held.map_or(snapshot.sequence() + 1, |held| *held.start());
        if is_short && first > 1 {
            self.flush()?;
            let (first, before) = (words::count(first), words::count(first - 1));
            print_message(&format!(
                "the journal begins with operation {first}; {before} older operations are in segments, which keep no order"
            ));
        }
        Ok(())
    }

    /// Prints the operations after the operation number `seen`.
    fn since(&mut self, seen: u64, snapshot: &Snapshot) -> Result<(), VerbError> {
        let operations = Operations::after(snapshot, seen);
        let next = operations.available().map_or(snapshot.sequence() + 1, |held| *held.start());
        if next > seen + 1 {
            self.missed(seen + 1, next - 1)?;
        }
        for operation in operations {
            let operation = operation?;
            if self.args.selects(&operation.kind) {
                self.print(&operation, snapshot)?;
            }
        }
        Ok(())
    }

    /// Notes that operations were sealed before they could be printed.
    fn missed(&mut self, first: u64, last: u64) -> Result<(), VerbError> {
        if self.is_json {
            return Ok(self
                .output
                .object(&TailLine::Missed { first_operation: first, last_operation: last })?);
        }
        self.flush()?;
        let (first, last) = (words::count(first), words::count(last));
        print_message(&format!(
            "operations {first} to {last} were sealed before they could be shown"
        ));
        Ok(())
    }

    fn print(&mut self, operation: &LoggedOperation, snapshot: &Snapshot) -> Result<(), VerbError> {
        let near = self.near(&operation.kind, snapshot)?;
        if self.is_json {
            let line = line(operation, snapshot.epochs(), near.as_ref())?;
            return Ok(self.output.object(&line)?);
        }
        self.table.row(row(operation, &self.clock), self.output)?;
        for page in near.iter().flat_map(|matches| &matches.near) {
            let bits = words::many(page.distance.into(), "bit", "bits");
            let cells = [String::new(), String::new(), format!("  near: {bits}")];
            let [number, time, what] = cells;
            self.table
                .row([number, time, what, escape::escape_untruncated(&page.url)], self.output)?;
        }
        Ok(())
    }

    /// The pages near the content of a visit. `None` if the user did not ask for them, or the
    /// content has no fingerprint in the epoch for near-duplicates.
    fn near(
        &self,
        kind: &OperationKind,
        snapshot: &Snapshot,
    ) -> Result<Option<Matches>, VerbError> {
        let Some(k) = self.args.near else { return Ok(None) };
        let OperationKind::Entry { url, entry } = kind else { return Ok(None) };
        let epoch = snapshot.near_epoch();
        let content = entry.entry().content().filter(|content| content.epoch == epoch);
        let Some(fingerprint) = content.and_then(|content| content.fingerprint) else {
            return Ok(None);
        };
        let k = k.unwrap_or_else(|| snapshot.near_distance(epoch));
        let query = Query::new(fingerprint, k).epoch(epoch).limit(NEAR_LIMIT).exclude(url.clone());
        Ok(Some(snapshot.search(&query)?))
    }

    /// Prints the buffered rows.
    fn flush(&mut self) -> Result<(), VerbError> {
        self.table.show(self.output)?;
        Ok(self.output.finish()?)
    }
}

fn row(operation: &LoggedOperation, clock: &TimeFormat) -> [String; 4] {
    let number = words::count(operation.sequence);
    match &operation.kind {
        OperationKind::Entry { url, entry } => {
            let (text, shown) = (meaning_text(entry), escape::escape_untruncated(url));
            let entry = entry.entry();
            let (text, shown) = match entry.target() {
                Some(target) => {
                    ("target".into(), format!("{shown} to {}", target_url(url, target)))
                }
                None => (text, shown),
            };
            [number, clock.show(entry.time()), text, shown]
        }
        OperationKind::Forget { url, visits } => {
            let visits = words::many(*visits, "visit", "visits");
            [number, String::new(), format!("forgot {visits}"), escape::escape_untruncated(url)]
        }
        OperationKind::ForgetPrefix { prefix, pages, .. } => {
            let pages = words::many(*pages, "page", "pages");
            let prefix = escape::escape_untruncated(&prefix.to_string());
            [number, String::new(), format!("forgot {pages}"), prefix]
        }
    }
}

/// The meaning of an entry, in a few words.
fn meaning_text(entry: &HistoryEntry) -> String {
    let (visit, verdict) = match entry {
        HistoryEntry::Visit { visit, verdict, .. } => (visit, *verdict),
        HistoryEntry::Restated(_) => return "restated".to_owned(),
        HistoryEntry::Property(given) => return given.property.to_string(),
    };
    let key = words::verdict_key(verdict);
    match (verdict.distance(), verdict, visit.status) {
        (Some(distance), Verdict::Changed { .. }, _) => {
            format!("{key} {}", words::many(distance.bits.into(), "bit", "bits"))
        }
        (_, Verdict::Failed | Verdict::Gone, Some(status)) => format!("{key} {status}"),
        _ => key.to_owned(),
    }
}

/// An operation, or the numbers of operations that were sealed before they could be printed.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum TailLine<'a> {
    /// A page got an entry: a visit, a restatement, or a property such as a weight.
    Entry {
        /// The number of the operation.
        operation: u64,
        #[serde(flatten)]
        entry: Box<crate::verbs::ask::history::HistoryLine<'a>>,
        /// The pages near the content that the visit saw, the nearest first. Null if they were not
        /// asked for, or if the content has no fingerprint in the epoch for near-duplicates.
        near: Option<Vec<TailNearPage<'a>>>,
    },
    /// A page was forgotten.
    Forget {
        /// The number of the operation.
        operation: u64,
        url: &'a str,
        /// The number of visits that the store had of the page.
        visits: u64,
    },
    /// All pages under a prefix were forgotten.
    ForgetPrefix {
        /// The number of the operation.
        operation: u64,
        prefix: String,
        pages: u64,
        visits: u64,
    },
    /// Operations were sealed before they could be printed.
    Missed {
        /// The number of the first such operation.
        first_operation: u64,
        last_operation: u64,
    },
}

/// A page with a similar fingerprint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TailNearPage<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    fingerprint: Fingerprint,
}

fn line<'a>(
    operation: &'a LoggedOperation,
    epochs: &'a [EpochInfo],
    near: Option<&'a Matches>,
) -> simkeep::Result<TailLine<'a>> {
    let number = operation.sequence;
    Ok(match &operation.kind {
        OperationKind::Entry { url, entry } => {
            let near = near.map(|matches| {
                let pages = matches.near.iter().map(|near| TailNearPage {
                    url: &near.url,
                    distance: near.distance,
                    fingerprint: Fingerprint(near.fingerprint),
                });
                pages.collect()
            });
            let entry = Box::new(crate::verbs::ask::history::HistoryLine::new(url, entry, epochs)?);
            TailLine::Entry { operation: number, entry, near }
        }
        OperationKind::Forget { url, visits } => {
            TailLine::Forget { operation: number, url, visits: *visits }
        }
        OperationKind::ForgetPrefix { prefix, pages, visits } => TailLine::ForgetPrefix {
            operation: number,
            prefix: prefix.to_string(),
            pages: *pages,
            visits: *visits,
        },
    })
}
