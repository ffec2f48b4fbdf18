//! `diff`: pages that differ between two stores, or between two times.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::query::{self, Difference, ExactDifference};
use simkeep::{Content, EpochInfo, Prefix};
use simkeep_formats::escape::escape_untruncated;
use simkeep_formats::export;

use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::{Digest, EpochName, Fingerprint, JsonEntry, Time, Verdict};
use crate::output::table::{TextTable, left, right};
use crate::output::visit;
use crate::output::words::verdict_key;
use crate::{CommonArgs, common, time};

/// The usage, with a line for each way to name the sides.
const USAGE: &str = "\
simkeep diff [OPTIONS] <BEFORE> <AFTER>
       simkeep diff [STORE] [OPTIONS] --since <TIME>";

/// List pages that differ between two stores or two times
///
/// Compares the current content of each page in both. A page that changed and changed back does not
/// differ. Lists pages in SURT order (by reversed host name), and reads each store once.
#[derive(Args)]
#[command(override_usage = USAGE, after_long_help = r#"Examples:
  simkeep diff yesterday.simkeep crawl.simkeep
  simkeep diff crawl.simkeep --since 3d
  simkeep diff crawl.simkeep --since 2024-05-01 --until 2024-06-01 --json
  simkeep diff --exact crawl.simkeep copy.simkeep

Each line has a verdict, the distance in bits, a priority and the page:
  new       the page had no content before
  changed   content that the page never had
  reverted  content that the page had earlier
  gone      no content any more, or the second store does not know the page

Process pages of high priority first. The priority of a new page is its weight. The priority
of a changed page is its weight times min(1, distance / 32), or its weight if the distance is
unknown.

Exits with 0, also if nothing differs."#)]
pub(crate) struct DiffArgs {
    /// The older store and the newer store
    #[arg(value_names = ["BEFORE", "AFTER"], num_args = 2, required_unless_present = "since")]
    stores: Vec<PathBuf>,
    /// Compare the state at this time with a later one
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, conflicts_with = "stores")]
    since: Option<simkeep::Time>,
    /// With --since, the later time [default: the last visit]
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, requires = "since")]
    until: Option<simkeep::Time>,
    /// List entries that only one store has: - first, + second
    #[arg(long, conflicts_with = "since")]
    exact: bool,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
}

impl DiffArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let under = self.under.as_ref();
        let diff = match (&self.stores[..], self.since) {
            ([before, after], _) => {
                common.without_store()?;
                let before = common::read(before)?.snapshot();
                let after = common::read(after)?.snapshot();
                if self.exact {
                    let exact = query::ExactDiff::of(&before, &after, under)?;
                    let epochs = exact.epochs().to_vec();
                    let mut any = false;
                    for found in exact {
                        any = true;
                        print_exact(&found?, &epochs, common.json, output)?;
                    }
                    return self.end(any, output);
                }
                after.diff(&before, under)?
            }
            (_, Some(since)) => {
                if self.until.is_some_and(|until| until < since) {
                    let why = "--until must not be earlier than --since".to_owned();
                    return Err(VerbError::Usage(why));
                }
                let store = common.read()?.snapshot();
                query::Diff::between(&store, since, self.until.unwrap_or(simkeep::Time::MAX), under)
            }
            _ => {
                return Err(VerbError::Usage(
                    "name two stores, or one store and a time with --since".to_owned(),
                ));
            }
        };
        let epochs = diff.epochs().to_vec();
        let columns = [left("verdict"), right("bits"), right("priority"), left("URL")];
        let mut table = TextTable::new(columns);
        let mut any = false;
        for found in diff {
            let found = found?;
            any = true;
            if common.json {
                output.object(&DiffLine::Page(DiffPageLine::new(&found, &epochs)?))?;
            } else {
                table.row(row(&found), output)?;
            }
        }
        table.end(output)?;
        self.end(any, output)
    }

    /// Says so if nothing differs.
    fn end(&self, any: bool, output: &mut Output) -> Result<Exit, VerbError> {
        if !any {
            let under = self.under.as_ref().map(|prefix| format!(" under {prefix}"));
            let under = under.unwrap_or_default();
            output.note(&match (self.since, self.until) {
                (Some(since), None) => format!("no page{under} differs since {since}"),
                (Some(since), Some(until)) => {
                    format!("no page{under} differs between {since} and {until}")
                }
                (None, _) if self.exact => format!("the stores have the same entries{under}"),
                (None, _) => {
                    format!("no page{under} has different content; --exact compares all visits")
                }
            })?;
        }
        Ok(Exit::Done)
    }
}

fn row(found: &Difference) -> [String; 4] {
    let distance = found.verdict.distance();
    let bits = distance.map_or("-".to_owned(), |distance| distance.bits.to_string());
    let priority = format!("{:.3}", found.priority);
    [verdict_key(found.verdict).to_owned(), bits, priority, escape_untruncated(&found.url)]
}

/// A page that differs; with --exact, an entry that only one side has.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DiffLine<'a> {
    Page(DiffPageLine<'a>),
    Entry(OneSidedEntry<'a>),
}

/// A page whose current content differs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffPageLine<'a> {
    url: &'a str,
    /// The verdict on the later content, as if it were observed next.
    verdict: Verdict,
    /// The number of bits in which the contents differ; null if unknown.
    distance: Option<u32>,
    /// The priority for processing: the weight of the page, scaled by the size of the change.
    priority: f64,
    before: Option<ContentInForce<'a>>,
    after: Option<ContentInForce<'a>>,
    /// The time when the later content was last seen; null if there is no later content.
    content_seen: Option<Time>,
}

/// The current content.
#[derive(Serialize, JsonSchema)]
struct ContentInForce<'a> {
    fingerprint: Option<Fingerprint>,
    digest: Option<Digest>,
    epoch: Option<EpochName<'a>>,
}

/// An entry that only one side has.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OneSidedEntry<'a> {
    #[serde(flatten)]
    entry: JsonEntry<'a>,
    only: DiffSideName,
}

/// A side of the comparison.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum DiffSideName {
    Before,
    After,
}

impl DiffPageLine<'_> {
    fn new<'a>(
        found: &'a Difference,
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<DiffPageLine<'a>> {
        let in_force = |content: Content| {
            Ok::<_, simkeep::Error>(ContentInForce {
                fingerprint: content.fingerprint.map(Fingerprint),
                digest: content.digest.map(Digest),
                epoch: visit::epoch_of(epochs, &content)?.map(EpochName),
            })
        };
        Ok(DiffPageLine {
            url: &found.url,
            verdict: Verdict(found.verdict),
            distance: found.verdict.distance().map(|distance| distance.bits),
            priority: found.priority,
            before: found.before.map(in_force).transpose()?,
            after: found.after.map(in_force).transpose()?,
            content_seen: found.seen.map(Time),
        })
    }
}

/// Prints each entry that only one side has.
fn print_exact(
    found: &ExactDifference,
    epochs: &[EpochInfo],
    json: bool,
    output: &mut Output,
) -> Result<(), VerbError> {
    for (only, sign, entries) in
        [(DiffSideName::Before, '-', &found.before), (DiffSideName::After, '+', &found.after)]
    {
        for entry in entries {
            if json {
                let entry = JsonEntry::of(&found.url, entry, epochs)?;
                output.object(&DiffLine::Entry(OneSidedEntry { entry, only }))?;
            } else {
                let name = entry.epoch().map(|epoch| visit::epoch(epochs, epoch));
                let name = name.transpose()?.unwrap_or_default();
                output.line(&format!("{sign} {}", export::entry(&found.url, entry, name)))?;
            }
        }
    }
    Ok(())
}
