//! `stats`: prints the size of a store.

mod prometheus;
mod requests;

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use simkeep::due::Survey;
use simkeep::{SegmentStats, Snapshot};
use simkeep_formats::escape;

use crate::common::{CommonArgs, read};
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::{EpochSummary, JsonNumber, StoreState};
use crate::output::table::{TextTable, right};
use crate::output::words;
use crate::output::words::{bytes, count};

/// Print the number of pages and visits, and sizes
///
/// Takes the same time for a store of any size, except with --changes, --saved and --validators.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep stats crawl.simkeep
  simkeep stats crawl.simkeep --changes
  simkeep stats crawl.simkeep --saved --by-host
  simkeep stats crawl.simkeep --validators
  simkeep stats crawl.simkeep --prometheus -o simkeep.prom

--changes reads 28 bytes per page, of at most a million pages; with more, its figures
are estimates. A page counts as compared if two of its visits could be compared, and as
changed if one of them found more than a minor change, or an earlier version. The
deciles are computed from the estimated change rates of the compared pages.

--saved and --validators read all histories. A body was not transferred if the server
answered "not modified". A body is not worth storing if it equals the content before
("unchanged"), or if any page had this content before ("copies"). "sent again" counts
conditional requests that got the same content again, and "honored" the share of
conditional requests for unchanged content that got "not modified". "newer date" counts
unchanged contents whose Last-Modified was newer: do not trust the dates of this host.

docs/metrics.md lists the gauges of --prometheus."#)]
pub(crate) struct StatsArgs {
    /// Print how many pages changed, and deciles of change rates
    #[arg(long)]
    changes: bool,
    /// Print which bodies were not transferred, or not worth storing
    #[arg(long, conflicts_with_all = ["changes", "prometheus"])]
    saved: bool,
    /// With --saved, for each host
    // A requirement that conflicts with a given option would be passed over.
    #[arg(long, requires = "saved", conflicts_with = "validators")]
    by_host: bool,
    /// Print how each host answers conditional requests
    #[arg(long, conflicts_with_all = ["changes", "prometheus", "saved"])]
    validators: bool,
    /// Print gauges in the text format of Prometheus
    #[arg(long, conflicts_with = "changes")]
    prometheus: bool,
    /// With --prometheus, replace this file instead of printing
    #[arg(short, long, value_name = "FILE", requires = "prometheus")]
    output: Option<PathBuf>,
}

impl StatsArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        let reader = read(&store)?;
        if self.prometheus {
            if common.json {
                return Err(VerbError::Usage(
                    "--prometheus and --json are different formats: leave one of them out".into(),
                ));
            }
            prometheus::run(&store, &reader, self.output.as_ref(), output)?;
            return Ok(Exit::Done);
        }
        if self.saved {
            requests::print_saved(&reader.snapshot(), self.by_host, common.json, output)?;
            return Ok(Exit::Done);
        }
        if self.validators {
            requests::print_validators(&reader.snapshot(), common.json, output)?;
            return Ok(Exit::Done);
        }
        let stats = reader.stats()?;
        let survey = self.changes.then(|| Survey::of(&reader.snapshot())).transpose()?;
        if common.json {
            let saw = StoreState::of(&reader);
            let result = StatsResult::new(&reader.snapshot(), &stats, survey, saw);
            output.object(&StatsLine::Store(Box::new(result)))?;
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
            let (number, name) = (info.epoch.count(), escape::escape_untruncated(&info.name));
            output.line(&format!("epoch {number:<16}  {name:>14}{ended}"))?;
        }
        if stats.epoch_due {
            let visits = count(stats.epoch_visits);
            output.line(&format!(
                "a new epoch is due: {visits} visits came since the newest epoch began; see \
                 simkeep epoch"
            ))?;
        }
        if !stats.segments.is_empty() {
            output.line("")?;
        }
        let headings = ["segment", "pages", "visits", "fingerprints", "size"];
        let mut table = TextTable::new(headings.map(right));
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

/// The names and figures of how pages change.
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

/// The size of a store; with --saved or --validators, requests.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StatsLine<'a> {
    Store(Box<StatsResult<'a>>),
    Requests(requests::RequestsLine<'a>),
}

/// The size of a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatsResult<'a> {
    #[serde(flatten)]
    counters: StoreCounters<'a>,
    /// All epochs, the oldest first.
    epochs: Vec<EpochSummary<'a>>,
    /// Whether a new epoch is advised, given the number of visits since the newest epoch began.
    epoch_due: bool,
    /// The segments, the oldest first.
    segments: Vec<SegmentSizes>,
    /// Figures of how pages change; null without --changes.
    survey: Option<ChangeSurvey>,
    saw: StoreState,
}

/// All counters of a store, by their names in the library.
struct StoreCounters<'a>(&'a simkeep::Stats);

impl Serialize for StoreCounters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = simkeep::Stats::COUNTERS.iter();
        serializer.collect_map(all.map(|counter| (counter.name, (counter.value)(self.0))))
    }
}

impl JsonSchema for StoreCounters<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Counters".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties = simkeep::Stats::COUNTERS.iter().map(|counter| {
            let mut schema = u64::json_schema(generator);
            schema.insert("description".into(), counter.what.into());
            (counter.name.to_owned(), schema.to_value())
        });
        let properties: serde_json::Map<_, _> = properties.collect();
        let required: Vec<_> = properties.keys().cloned().collect();
        json_schema!({ "type": "object", "properties": properties, "required": required })
    }
}

/// A segment.
#[derive(Serialize, JsonSchema)]
struct SegmentSizes {
    /// The number of the segment, which is also in its file name.
    segment: u64,
    pages: u64,
    visits: u64,
    /// The number of distinct fingerprints, counted once for each epoch.
    fingerprints: u64,
    /// The number of distinct digests of content without a fingerprint.
    digests: u64,
    size_bytes: u64,
}

/// Figures of how pages change. Above a million pages, they are estimates from a sample.
#[derive(Serialize, JsonSchema)]
struct ChangeSurvey {
    pages: JsonNumber,
    /// Pages with visits that could be compared.
    pages_compared: JsonNumber,
    /// Compared pages that were found changed, or back at an earlier version.
    pages_changed: JsonNumber,
    /// The deciles of the estimated changes per day of compared pages; null without compared pages.
    changes_per_day_deciles: Option<[f64; 9]>,
}

impl StatsResult<'_> {
    fn new<'a>(
        snapshot: &Snapshot,
        stats: &'a simkeep::Stats,
        survey: Option<Survey>,
        saw: StoreState,
    ) -> StatsResult<'a> {
        let segments = stats.segments.iter().map(|of| SegmentSizes {
            segment: of.id,
            pages: of.pages,
            visits: of.visits,
            fingerprints: of.fingerprints,
            digests: of.digests,
            size_bytes: of.bytes,
        });
        StatsResult {
            counters: StoreCounters(stats),
            epochs: stats.epochs.iter().map(|info| EpochSummary::of(snapshot, info)).collect(),
            epoch_due: stats.epoch_due,
            segments: segments.collect(),
            survey: survey.map(|survey| ChangeSurvey {
                pages: JsonNumber(survey.pages),
                pages_compared: JsonNumber(survey.compared),
                pages_changed: JsonNumber(survey.changed),
                changes_per_day_deciles: survey.deciles,
            }),
            saw,
        }
    }
}
