//! `stats`: how large a store is.

use clap::Args;
use serde_json::{Value, json};
use simkeep::due::Survey;
use simkeep::maintenance::SegmentStats;

use super::common::{Bare, Common, read};
use super::exit::{Exit, Failure};
use super::output::Output;
use super::table::{Table, right};
use super::words::{bytes, count};
use super::{visit, words};
use simkeep_archive::escape;

/// Print how many pages and visits a store holds, and how large it is
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep stats
  simkeep stats --changes
  simkeep stats --json

Reads no page: takes no longer for a large store. With --changes it reads 28 bytes for each page, or
for a million of them where there are more; its figures are then estimated. A page was compared if
two of its visits were, and found changed if it was more than a minor change away from the one before,
or back at an earlier version. The tenths are those of the pages that were compared, by how often each
is believed to change.

With --json and --changes, \"changes\" has \"pages\", \"compared\", \"changed\", and \"per_day\": the rate
that one, two and up to nine tenths of the pages have at most; null if none was compared.")]
pub(super) struct Stats {
    /// Say how many pages changed, and how often pages change, by tenths of them
    #[arg(long)]
    changes: bool,
    #[command(flatten)]
    bare: Bare,
}

impl Stats {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let reader = read(&common.store_of(&self.bare)?)?;
        let stats = reader.stats()?;
        let survey = self.changes.then(|| reader.snapshot().survey()).transpose()?;
        if common.json {
            let mut object = object(&stats);
            if let (Some(survey), Some(object)) = (survey, object.as_object_mut()) {
                object.insert("changes".to_owned(), changes(&survey));
            }
            output.object(&object)?;
            return Ok(Exit::Done);
        }
        let total = stats.segment_bytes + stats.catalog_bytes;
        for (name, value) in [
            ("pages", count(stats.pages)),
            ("visits", count(stats.visits)),
            ("  not yet in a segment", count(stats.unsealed_visits)),
            ("size", bytes(total)),
            ("  of segments", bytes(stats.segment_bytes)),
            ("  of the catalog", bytes(stats.catalog_bytes)),
            ("last operation", count(stats.sequence)),
        ] {
            output.line(&line(name, &value))?;
        }
        if let Some(survey) = &survey {
            for (name, value) in of_changes(survey) {
                output.line(&line(&name, &value))?;
            }
        }
        for info in &stats.epochs {
            let ended = if info.ended { "  (ended)" } else { "" };
            let (number, name) = (info.epoch.count(), escape::whole(&info.name));
            output.line(&format!("epoch {number:<16}  {name:>14}{ended}"))?;
        }
        if stats.epoch_due {
            let visits = count(stats.epoch_visits);
            output.line(&format!(
                "a new epoch is due: {visits} visits came since the newest began; see simkeep epoch"
            ))?;
        }
        if !stats.segments.is_empty() {
            output.line("")?;
        }
        let headings = ["segment", "pages", "visits", "fingerprints", "size"];
        let mut table = Table::new(headings.map(right));
        for segment in &stats.segments {
            let SegmentStats { id, pages, visits, fingerprints, bytes: size, .. } = *segment;
            let numbers = [pages, visits, fingerprints].map(count);
            let [pages, visits, fingerprints] = numbers;
            let name = format!("segment {id}");
            table.row([name, pages, visits, fingerprints, bytes(size)], output)?;
        }
        table.end(output)?;
        Ok(Exit::Done)
    }
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<22}  {value:>14}")
}

/// How pages change, as names and figures.
fn of_changes(survey: &Survey) -> Vec<(String, String)> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of pages")]
    let pages = |pages: f64| count(pages.round() as u64);
    let mut figures = vec![
        ("pages compared".to_owned(), pages(survey.compared)),
        ("  found changed".to_owned(), pages(survey.changed)),
    ];
    for (tenths, rate) in (1..).zip(survey.deciles.into_iter().flatten()) {
        let rate = format!("{} a day", words::amount(rate));
        figures.push((format!("  {tenths}0 % change at most"), rate));
    }
    figures
}

fn changes(survey: &Survey) -> Value {
    json!({
        "pages": visit::number(survey.pages),
        "compared": visit::number(survey.compared),
        "changed": visit::number(survey.changed),
        "per_day": survey.deciles,
    })
}

fn object(stats: &simkeep::maintenance::Stats) -> Value {
    let segment = |segment: &SegmentStats| {
        json!({
            "id": segment.id,
            "pages": segment.pages,
            "visits": segment.visits,
            "fingerprints": segment.fingerprints,
            "bytes": segment.bytes,
        })
    };
    json!({
        "pages": stats.pages,
        "visits": stats.visits,
        "unsealed_visits": stats.unsealed_visits,
        "segment_bytes": stats.segment_bytes,
        "catalog_bytes": stats.catalog_bytes,
        "sequence": stats.sequence,
        "epochs": stats.epochs.iter().map(|info| &info.name).collect::<Vec<_>>(),
        "epoch_visits": stats.epoch_visits,
        "epoch_due": stats.epoch_due,
        "segments": stats.segments.iter().map(segment).collect::<Vec<_>>(),
    })
}
