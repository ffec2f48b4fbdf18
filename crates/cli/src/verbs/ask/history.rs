//! `history`: the visits of a page, with their verdicts.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{EpochInfo, HistoryEntry, Verdict, Visit};

use crate::exit::{Exit, VerbError, print_message};
use crate::input::spelling;
use crate::output::Output;
use crate::output::json::{self, Band, JsonEntry, JsonRatio, Time};
use crate::output::table::{TextTable, left, right};
use crate::output::visit::{self, ResponseProperties};
use crate::output::words;
use crate::time::TimeFormat;
use crate::{CommonArgs, time};
use simkeep_formats::escape;

/// Print all visits of a page and their verdicts
///
/// One line per visit: time, HTTP status, fingerprint, first digits of the digest, and the verdict:
/// new, same, changed (by how many bits, and how large a change that is), reverted, gone, failed or
/// not modified. Weights, classes and fingerprints of other epochs have lines of their own.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep history crawl.simkeep https://example.com/terms
  simkeep history crawl.simkeep https://example.com/terms --at 2024-05-01
  simkeep history crawl.simkeep https://example.com/terms --json

In a text of fewer than 100 words a distance means little. A text of fewer than 8 words
has no fingerprint: only its digest shows whether it changed.

Exits with 1 if the page is unknown, or had no content at the time."#)]
pub(crate) struct HistoryArgs {
    /// URL of the page, exactly as it was observed
    url: String,
    /// Print only the visit that found the version of this time
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    at: Option<simkeep::Time>,
    /// Print all 32 digits of digests
    #[arg(short, long)]
    wide: bool,
}

/// The number of digits that usually distinguish a digest from the others of its page.
const DIGITS: usize = 8;

/// The table of a page's entries.
struct EntryTable<'a> {
    table: TextTable,
    clock: TimeFormat,
    epochs: &'a [EpochInfo],
    is_wide: bool,
    /// The time of the last visit. Restatements of its content follow below it.
    last: Option<simkeep::Time>,
}

impl<'a> EntryTable<'a> {
    fn new(epochs: &'a [EpochInfo], clock: TimeFormat, is_wide: bool) -> EntryTable<'a> {
        let mut columns = vec![left(clock.heading("visit")), right("status"), left("fingerprint")];
        if epochs.len() > 1 {
            columns.push(left("epoch"));
        }
        columns.extend([left("digest"), left("verdict")]);
        EntryTable { table: TextTable::new(columns), clock, epochs, is_wide, last: None }
    }

    /// Adds an entry of the page `url`. `facts` follow its verdict.
    fn add(
        &mut self,
        (url, entry): (&str, &HistoryEntry),
        facts: &str,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        let of = entry.entry();
        let is_restated = matches!(entry, HistoryEntry::Restated(_));
        // A restatement directly below its visit does not repeat the time.
        let time = match is_restated && self.last == Some(of.time()) {
            true => String::new(),
            false => self.clock.show(of.time()),
        };
        if !is_restated {
            self.last = Some(of.time());
        }
        let status = of.visit().and_then(|visit| visit.status);
        let status = status.map(|status| status.to_string());
        let none = || if is_restated { String::new() } else { "-".to_owned() };
        let content = of.content();
        let fingerprint = content.and_then(|content| content.fingerprint).map(visit::fingerprint);
        let mut cells = vec![time, status.unwrap_or_else(none), fingerprint.unwrap_or("-".into())];
        if self.epochs.len() > 1 {
            let epoch = of.epoch().map(|epoch| visit::epoch(self.epochs, epoch)).transpose()?;
            cells.push(epoch.map_or_else(none, escape::escape_untruncated));
        }
        // A restatement has the digest of its visit, which is not repeated.
        let digest = of.digest().filter(|_| !is_restated).map(|digest| {
            let mut digits = digest.to_string();
            digits.truncate(if self.is_wide { digits.len() } else { DIGITS });
            digits
        });
        let mut meaning = meaning_of(url, entry, &self.clock) + facts;
        if let Some((visit, _)) = entry.visit() {
            meaning += &request_of(&visit, &self.clock);
        }
        cells.extend([digest.unwrap_or_else(none), meaning]);
        Ok(self.table.cells(cells, output)?)
    }
}

/// The target and the entity tag of a response, as they follow the verdict of its visit.
fn facts_of(url: &str, entry: &HistoryEntry, history: &[HistoryEntry]) -> String {
    let Some((visit, _)) = entry.visit() else { return String::new() };
    let of_response = ResponseProperties::of_visit(visit, history);
    let etag = of_response.etag.map(|etag| format!("; etag {etag}"));
    of_response.target_text(url, &visit.seen) + &etag.unwrap_or_default()
}

/// The facts about the request of a visit and its transfer, as they follow the verdict.
fn request_of(visit: &Visit, clock: &TimeFormat) -> String {
    let modified = visit.modified.map(|time| format!("; modified {}", clock.show(time)));
    let bytes = visit.bytes.map(|bytes| format!("; {}", words::many(bytes, "byte", "bytes")));
    let conditional = if visit.conditional { "; conditional request" } else { "" };
    modified.unwrap_or_default() + &bytes.unwrap_or_default() + conditional
}

/// The meaning of an entry.
fn meaning_of(url: &str, entry: &HistoryEntry, clock: &TimeFormat) -> String {
    match entry {
        HistoryEntry::Visit { verdict, meaning: Some(meaning), .. } => {
            format!("{}: {meaning}", found(*verdict, clock))
        }
        HistoryEntry::Visit { verdict, .. } if visit::is_redirect(&entry.entry()) => {
            format!("{}; it redirects", found(*verdict, clock))
        }
        HistoryEntry::Visit { verdict: Verdict::Changed { .. }, .. }
            if visit::is_by_digest(&entry.entry()) =>
        {
            "changed (by digest, without a fingerprint)".to_owned()
        }
        HistoryEntry::Visit { verdict, meaning: None, .. } => found(*verdict, clock),
        HistoryEntry::Restated(_) => "restated".to_owned(),
        HistoryEntry::Property(given) => visit::property(url, &given.property),
    }
}

/// The verdict of a visit in words. Times have the format of the table.
fn found(verdict: Verdict, clock: &TimeFormat) -> String {
    let Verdict::Reverted { to, distance } = verdict else { return verdict.to_string() };
    let back = format!("reverted to the version of {}", clock.show(to));
    match distance {
        None => back,
        Some(distance) => format!("{back}, {distance} from the previous version"),
    }
}

impl HistoryArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.read()?.snapshot();
        let history = store.history(&self.url)?;
        let mut shown = history.as_slice();
        if history.is_empty() {
            print_message(&spelling::unknown(&store, &self.url, |_| true)?);
            return Ok(Exit::Nothing);
        }
        if let Some(time) = self.at {
            let Some(found) = store.as_of(&self.url, time)? else {
                let (url, when) = (&self.url, time);
                print_message(&format!("{url} had no content at {when}: it was unknown or gone"));
                return Ok(Exit::Nothing);
            };
            // Selects the visit that saw the version, not its restatements. Of two visits at one
            // moment, the later one is in force.
            let found_it = |entry: &HistoryEntry| {
                let visit = entry.visit().map(|(visit, _)| visit);
                visit.is_some_and(|v| v.time == found.time && v.seen.content().is_some())
            };
            let Some(at) = history.iter().rposition(found_it) else {
                let what = "a bug in simkeep: the current version is not in the page's history";
                return Err(VerbError::Other(what.to_owned()));
            };
            shown = history.get(at..=at).unwrap_or_default();
        }
        let epochs = store.epochs();
        let mut entries = EntryTable::new(epochs, common.clock(), self.wide);
        for entry in shown {
            if common.json {
                output.object(&HistoryLine::new(&self.url, entry, epochs)?)?;
            } else if !ResponseProperties::contain(entry, &history) {
                let facts = facts_of(&self.url, entry, &history);
                entries.add((&self.url, entry), &facts, output)?;
            }
        }
        entries.table.end(output)?;
        Ok(Exit::Done)
    }
}

/// An entry of a page's history. Entries that are visits also have a verdict.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HistoryLine<'a> {
    #[serde(flatten)]
    entry: JsonEntry<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<json::Verdict>,
    /// The evidence that the content is the same, or that it changed although it has no
    /// fingerprint: "digest", "fingerprint" or "not-modified".
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    /// The time when the version that the page reverted to was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Time>,
    /// The number of bits that differ from the previous version.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<Band>,
    /// The estimated fraction of words that changed: a lower and an upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    words_changed: Option<[JsonRatio; 2]>,
}

impl HistoryLine<'_> {
    pub(crate) fn new<'a>(
        url: &'a str,
        of: &HistoryEntry,
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<HistoryLine<'a>> {
        let verdict = of.visit().map(|(_, verdict)| verdict);
        let by = verdict.and_then(|verdict| visit::known_by(&of.entry(), verdict));
        let to = match verdict {
            Some(Verdict::Reverted { to, .. }) => Some(Time(to)),
            _ => None,
        };
        let meaning = match of {
            HistoryEntry::Visit { meaning, .. } => meaning.as_ref(),
            _ => None,
        };
        Ok(HistoryLine {
            entry: JsonEntry::of(url, &of.entry(), epochs)?,
            verdict: verdict.map(json::Verdict),
            by: by.map(words::same_by_key),
            to,
            distance: meaning.map(|meaning| meaning.distance),
            band: meaning.map(|meaning| Band(meaning.band)),
            words_changed: meaning.map(words::changed),
        })
    }
}
