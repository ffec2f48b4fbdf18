//! The tool `simkeep` as a library, for the programs that start it. See `simkeep --help`.
//!
//! [`verbs`] has a file or a folder for each verb, in the groups of the help. [`input`] reads the
//! inputs of verbs, and [`output`] prints their results.
//!
//! A verb takes its arguments and an [`Output`], and returns an [`exit::Exit`] or a [`VerbError`].
//! [`exit`] maps both to exit codes and messages. Reading verbs never write to the store, even
//! while a writer is active.

mod advice;
mod common;
mod exit;
mod help;
mod input;
mod output;
mod signals;
mod store_argument;
mod suggestion;
mod time;
mod verbs;

use std::ffi::OsString;

use clap::{FromArgMatches as _, Parser, Subcommand};

use common::CommonArgs;
use exit::VerbError;
use output::Output;
use verbs::ask::{aliases, cluster, dedup, diff, history, mirrors, near, pairs, scan};
use verbs::change::{compact, epoch, forget};
use verbs::fill::{ingest, load};
use verbs::fingerprints::{df, evaluate, fingerprint};
use verbs::look::{inspect, report, stats, tail, verify};
use verbs::revisit::{due, recrawl, simulate};
use verbs::save::{backup, export, publish, repair};
use verbs::shell::{completions, man, schema};

/// Remember a crawl: which pages are new, changed or near-duplicates
///
/// A store is a directory. `ingest` and `load` create and fill it; the other verbs query it. The tool
/// can be killed at any moment without damage to the store.
#[derive(Parser)]
#[command(name = "simkeep", version, after_long_help = AFTER_HELP)]
#[command(after_help = exit::HELP)]
struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    verb: Verb,
}

const AFTER_HELP: &str = concat!(
    "Examples:
  simkeep ingest crawl.simkeep crawl.warc.gz
  simkeep history crawl.simkeep https://example.com/
  simkeep near crawl.simkeep https://example.com/

The store is the first argument of a verb. If --store or SIMKEEP_STORE names it, leave that
argument out.

Values, the same for all verbs:
  TIME      2024-05-01 (its first moment in UTC), '2024-05-01 12:00', RFC 3339, 3d or '3d ago',
            yesterday, now, or seconds since 1970
  DURATION  a whole number and a unit: 500ms, 90s, 30m, 24h, 7d, 2w
  PREFIX    example.com (with subdomains), example.com/ (that host), example.com/docs, or a SURT prefix
  CLASSES   numbers, and none for pages without a class: 0,7,none

",
    exit::help!()
);

#[derive(Subcommand)]
enum Verb {
    Ingest(ingest::IngestArgs),
    Load(load::LoadArgs),
    Near(near::NearArgs),
    Pairs(pairs::PairsArgs),
    Cluster(Box<cluster::ClusterArgs>),
    Aliases(aliases::AliasesArgs),
    Mirrors(mirrors::MirrorsArgs),
    Dedup(Box<dedup::DedupArgs>),
    History(history::HistoryArgs),
    Scan(scan::ScanArgs),
    Inspect(inspect::InspectArgs),
    Report(report::ReportArgs),
    Stats(stats::StatsArgs),
    Tail(tail::TailArgs),
    Verify(verify::VerifyArgs),
    Repair(repair::RepairArgs),
    Backup(backup::BackupArgs),
    Publish(publish::PublishArgs),
    Compact(compact::CompactArgs),
    Forget(forget::ForgetArgs),
    Export(export::ExportArgs),
    Diff(diff::DiffArgs),
    Fingerprint(fingerprint::FingerprintArgs),
    Evaluate(evaluate::EvaluateArgs),
    Df(df::DfArgs),
    Epoch(epoch::EpochArgs),
    Due(due::DueArgs),
    Recrawl(recrawl::RecrawlArgs),
    Simulate(simulate::SimulateArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Schema(schema::SchemaArgs),
}

/// Runs the tool with these arguments and returns its exit code. The first argument is the name of
/// the program.
///
/// Writes to the standard streams of the process. The caller must keep the default action of
/// SIGINT, and ignore SIGPIPE. While `ingest` runs, it handles SIGINT, SIGTERM and SIGHUP itself,
/// and then returns 128 plus the number of the signal.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    exit::detect_json_flag(words.iter());
    let command = help::command();
    let is_set = common::of_environment().is_some();
    let named = match store_argument::insert_store_option(&command, words.clone(), is_set) {
        Ok(words) => words,
        Err(why) => return exit::code(Err(VerbError::Usage(why))),
    };
    let matches = command.clone().try_get_matches_from(named);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&command, &words, &error),
    };
    let output = &mut Output::stdout(cli.common.has_header());
    let done = match cli.verb {
        Verb::Ingest(verb) => verb.run(&cli.common, output),
        Verb::Load(verb) => verb.run(&cli.common, output),
        Verb::Near(verb) => verb.run(&cli.common, output),
        Verb::Pairs(verb) => verb.run(&cli.common, output),
        Verb::Cluster(verb) => verb.run(&cli.common, output),
        Verb::Aliases(verb) => verb.run(&cli.common, output),
        Verb::Mirrors(verb) => verb.run(&cli.common, output),
        Verb::Dedup(verb) => verb.run(&cli.common, output),
        Verb::History(verb) => verb.run(&cli.common, output),
        Verb::Scan(verb) => verb.run(&cli.common, output),
        Verb::Inspect(verb) => verb.run(&cli.common, output),
        Verb::Report(verb) => verb.run(&cli.common, output),
        Verb::Stats(verb) => verb.run(&cli.common, output),
        Verb::Tail(verb) => verb.run(&cli.common, output),
        Verb::Verify(verb) => verb.run(&cli.common, output),
        Verb::Repair(verb) => verb.run(&cli.common, output),
        Verb::Backup(verb) => verb.run(&cli.common, output),
        Verb::Publish(verb) => verb.run(&cli.common, output),
        Verb::Compact(verb) => verb.run(&cli.common, output),
        Verb::Forget(verb) => verb.run(&cli.common, output),
        Verb::Export(verb) => verb.run(&cli.common, output),
        Verb::Diff(verb) => verb.run(&cli.common, output),
        Verb::Fingerprint(verb) => verb.run(&cli.common, output),
        Verb::Evaluate(verb) => verb.run(&cli.common, output),
        Verb::Df(verb) => verb.run(&cli.common, output),
        Verb::Epoch(verb) => verb.run(&cli.common, output),
        Verb::Due(verb) => verb.run(&cli.common, output),
        Verb::Recrawl(verb) => verb.run(&cli.common, output),
        Verb::Simulate(verb) => verb.run(&cli.common, output),
        Verb::Completions(verb) => verb.run(&cli.common, output),
        Verb::Man(verb) => verb.run(&cli.common, output),
        Verb::Schema(verb) => verb.run(&cli.common, output),
    };
    let done = done.and_then(|exit| output.finish().map(|()| exit).map_err(VerbError::Output));
    exit::code(done)
}
