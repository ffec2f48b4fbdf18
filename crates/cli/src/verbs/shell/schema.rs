//! `schema`: prints the JSON schemas of the verbs' output.
//!
//! [`VERBS`] lists each verb that prints JSON, with the type of its output.

use clap::Args;
use schemars::generate::SchemaSettings;
use schemars::transform::RestrictFormats;
use schemars::{JsonSchema, Schema as Of, SchemaGenerator};
use serde_json::{Map, Value};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json;
use crate::verbs::ask::{aliases, cluster, dedup, diff, history};
use crate::verbs::ask::{mirrors, near, pairs, scan};
use crate::verbs::change::{compact, epoch, forget};
use crate::verbs::fill::ingest;
use crate::verbs::fill::load;
use crate::verbs::fingerprints::{df, evaluate, fingerprint};
use crate::verbs::look::verify;
use crate::verbs::look::{inspect, report, stats, tail};
use crate::verbs::revisit::due;
use crate::verbs::revisit::{recrawl, simulate};
use crate::verbs::save::{backup, export};
use crate::verbs::save::{publish, repair};

/// Print the JSON Schema of a verb's output
///
/// Describes each object that the verb prints with --json. "messages" are the errors and notes on
/// standard error. Without a verb, prints all schemas in one object.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep schema history
  simkeep schema inspect page
  simkeep schema messages
  simkeep schema

Later versions may add keys and enum values, but never rename one. So ignore keys you do
not know. Every key is present, null if empty; only entries, as in an export, omit keys.
More: docs/json.md"#)]
pub(crate) struct SchemaArgs {
    /// The verb, one or two words
    #[arg(value_name = "VERB")]
    verb: Vec<String>,
}

/// Generates the schema of a type.
type SchemaFunction = fn(&mut SchemaGenerator) -> Of;

/// The type of the output of each verb, by name.
const VERBS: &[(&str, SchemaFunction)] = &[
    ("aliases", of::<aliases::AliasSiteLine<'static>>),
    ("backup", of::<backup::BackupResult<'static>>),
    ("cluster", of::<cluster::ClusterLine<'static>>),
    ("compact", of::<compact::CompactResult>),
    ("dedup", of::<dedup::DedupLine<'static>>),
    ("df build", of::<df::DfTableSummary<'static>>),
    ("df compare", of::<df::Compared<'static>>),
    ("df freeze", of::<df::DfTableSummary<'static>>),
    ("df list", of::<df::Listed<'static>>),
    ("df show", of::<df::Shown<'static>>),
    ("diff", of::<diff::DiffLine<'static>>),
    ("due", of::<due::DueLine<'static>>),
    ("epoch begin", of::<json::EpochSummary<'static>>),
    ("epoch end", of::<json::EpochSummary<'static>>),
    ("epoch list", of::<json::EpochSummary<'static>>),
    ("epoch stale", of::<epoch::StaleLine<'static>>),
    ("evaluate", of::<evaluate::EvaluateLine<'static>>),
    ("export", of::<export::ExportOutput<'static>>),
    ("fingerprint", of::<fingerprint::FingerprintLine<'static>>),
    ("forget", of::<forget::ForgetResult<'static>>),
    ("history", of::<history::HistoryLine<'static>>),
    ("ingest", of::<ingest::OutcomeLine<'static>>),
    ("inspect", of::<inspect::StoreOverview<'static>>),
    ("inspect epoch", of::<inspect::OfEpoch<'static>>),
    ("inspect fingerprint", of::<inspect::OfFingerprint<'static>>),
    ("inspect host", of::<inspect::OfHost<'static>>),
    ("inspect journal", of::<inspect::OfJournal>),
    ("inspect page", of::<inspect::OfPage<'static>>),
    ("inspect segment", of::<inspect::OfSegment<'static>>),
    ("load", of::<load::LoadResult<'static>>),
    ("messages", of::<json::StderrMessage<'static>>),
    ("mirrors", of::<mirrors::MirrorLine<'static>>),
    ("near", of::<near::NearOutput<'static>>),
    ("pairs", of::<pairs::PairLine<'static>>),
    ("publish", of::<publish::PublishLine<'static>>),
    ("recrawl", of::<recrawl::RecrawlResult<'static>>),
    ("repair", of::<repair::RepairResult<'static>>),
    ("report", of::<report::ReportResult<'static>>),
    ("scan", of::<scan::ScanLine<'static>>),
    ("simulate", of::<simulate::SimulateLine<'static>>),
    ("stats", of::<stats::StatsLine<'static>>),
    ("tail", of::<tail::TailLine<'static>>),
    ("verify", of::<verify::VerifyResult<'static>>),
];

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Of {
    generator.root_schema_for::<T>()
}

/// The schema of the output of a verb.
///
/// It permits additional keys, for keys that are added later. The tests check that there are no
/// others.
fn schema(verb: &str, makes: SchemaFunction) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    // Formats outside of the standard add nothing to the numeric limits, so they are removed.
    let settings = settings.with_transform(RestrictFormats::default());
    let mut made = makes(&mut settings.into_generator()).to_value();
    tidy(&mut made);
    let title = match verb {
        "messages" => "standard error with --json".to_owned(),
        verb => format!("simkeep {verb} --json"),
    };
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), Value::Null);
    schema.insert("title".to_owned(), Value::Null);
    schema.insert("description".to_owned(), Value::Null);
    // A key that exists keeps its position.
    schema.extend(made.as_object_mut().map(std::mem::take).into_iter().flatten());
    schema.insert("title".to_owned(), title.into());
    schema.into()
}

/// Removes null from keys that may be left out, and joins the lines of descriptions.
fn tidy(schema: &mut Value) {
    let Value::Object(object) = schema else {
        schema.as_array_mut().into_iter().flatten().for_each(tidy);
        return;
    };
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    let required = object.get("required").cloned().unwrap_or_default();
    let is_required = |key: &str| {
        required.as_array().is_some_and(|required| required.iter().any(|name| name == key))
    };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (_, property) in properties.iter_mut().filter(|(key, _)| !is_required(key)) {
            without_null(property);
        }
    }
    object.values_mut().for_each(tidy);
}

/// Restricts a schema to values that are not null.
fn without_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            object.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(mut any)) = object.remove("anyOf") else { return };
    any.retain(|schema| schema.get("type").is_none_or(|name| name != "null"));
    for schema in any {
        let Value::Object(of) = schema else { continue };
        object.extend(of);
    }
}

impl SchemaArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        let verb = self.verb.join(" ");
        let printed = if verb.is_empty() {
            VERBS.iter().map(|(verb, makes)| ((*verb).to_owned(), schema(verb, *makes))).collect()
        } else {
            let Some((verb, makes)) = VERBS.iter().find(|(name, _)| *name == verb) else {
                let names: Vec<&str> = VERBS.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                let why = format!("there is no schema of {verb}; there are schemas of: {names}");
                return Err(VerbError::Usage(why));
            };
            schema(verb, *makes)
        };
        let text = serde_json::to_string_pretty(&printed).map_err(std::io::Error::from)?;
        output.line(&text)?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Verbs that print no JSON of their own, with the reason.
    const WITHOUT: &[(&str, &str)] = &[
        ("completions", "it prints a script for a shell"),
        ("man", "it prints pages for people"),
        ("schema", "it prints the schemas themselves"),
    ];

    /// Collects the verbs that do something by themselves, each by all its words.
    fn verbs(command: &clap::Command, before: &str, found: &mut Vec<String>) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = format!("{before}{}", verb.get_name());
            if !verb.is_subcommand_required_set() {
                found.push(name.clone());
            }
            verbs(verb, &format!("{name} "), found);
        }
    }

    #[test]
    fn each_verb_has_a_schema_or_an_exemption() {
        let mut expected = vec!["messages".to_owned()];
        verbs(&crate::Cli::command(), "", &mut expected);
        expected.sort();
        let names = VERBS.iter().map(|(name, _)| *name).chain(WITHOUT.iter().map(|of| of.0));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(names, expected);
    }
}
