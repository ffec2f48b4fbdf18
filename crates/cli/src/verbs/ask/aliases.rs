//! `aliases`: URL variants that lead to the same page.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use simkeep::alias::{AliasCount, AliasPair, AliasQuery, AliasSite};
use simkeep::{Prefix, Progress};
use simkeep_formats::escape;

use crate::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::JsonRatio;
use crate::output::progress::with_progress_bar;
use crate::output::{visit, words};
use crate::verbs::ask::near::epoch_and_distance;

/// Find URL variants that lead to the same page
///
/// Tests, for each site, rules such as "http is https" or "the parameter sid does not matter" on
/// pairs of known pages. Lists the rules that hold: the number of pairs, how many of them are
/// near-duplicates, the visits that the rule would save, and an example.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep aliases crawl.simkeep
  simkeep aliases crawl.simkeep --under example.com --all
  simkeep aliases crawl.simkeep --min-share 0.99 --json > aliases.jsonl

Rules, in the order in which a crawler applies them:
  host         spellings of one host, such as 127.1 and 127.0.0.1
  scheme       http and https
  www          a host with and without www.
  port         default and empty ports
  escapes      %7E and other needless escapes, and the case of %c3
  session      session ids in the path
  slashes      repeated slashes
  fragment     the part after #
  empty-query  a ? with nothing after it
  parameter    one parameter; all utm_* count as one
  order        the order of parameters
  index        index.html and the like
  slash        a slash at the end of the path
  case         upper and lower case of the path

How pairs are formed, and sampling of large sites: docs/tool.md#aliases

Exits with 1 if no rule holds."#)]
pub(crate) struct AliasesArgs {
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Bits that may differ [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=64))]
    k: Option<u32>,
    /// Minimum share of near pairs for a rule to hold
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, value_parser = parse_share)]
    min_share: f64,
    /// Minimum number of pairs for a rule to hold
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    min_pairs: u64,
    /// Also list rules that do not hold
    #[arg(long)]
    all: bool,
    /// Compare fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Memory for the pages of one site, in MiB
    #[arg(long, value_name = "MIB", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    memory: u32,
}

fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("write a number from 0 to 1")
}

impl AliasesArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let snapshot = common.read()?.snapshot();
        let (epoch, k) = epoch_and_distance(&snapshot, self.epoch.as_deref(), self.k)?;
        let memory = usize::try_from(u64::from(self.memory) << 20).unwrap_or(usize::MAX);
        let asked = AliasQuery::default().epoch(epoch).k(k).under(self.under.clone());
        let asked =
            asked.share(self.min_share).pairs(self.min_pairs).all(self.all).memory_bytes(memory);
        let mut failed = None;
        let mut find = |progress: &Progress| {
            asked.run(&snapshot, progress, |site| {
                let printed = match common.json {
                    true => output.object(&AliasSiteLine::from(&site)),
                    false => print(&site, output),
                };
                match printed {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        failed = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })
        };
        // On a terminal, a progress bar would garble the lines.
        let summary = if io::stdout().is_terminal() {
            find(&Progress::default())
        } else {
            with_progress_bar(find)
        };
        failed.map_or(Ok(()), Err)?;
        let summary = summary?;
        output.finish()?;
        let epoch = visit::epoch(snapshot.epochs(), epoch)?;
        let without = words::skipped_pages_note(summary.without_fingerprint, epoch);
        let sampled = match summary.sampled {
            0 => String::new(),
            sites => format!("; {} sampled", words::many(sites, "site was", "sites were")),
        };
        let skipped = match summary.skipped {
            0 => String::new(),
            pages => {
                format!("; the parameters of {} were skipped", words::many(pages, "page", "pages"))
            }
        };
        let rules = words::many(summary.rules, "rule", "rules");
        let sites = words::many(summary.sites_with_rules, "site", "sites");
        let pages = words::many(summary.pages, "page", "pages");
        let all = words::many(summary.sites, "site", "sites");
        let bits = words::many(k.into(), "bit", "bits");
        let visits = words::many(summary.visits, "visit", "visits");
        print_message(&format!(
            "{pages} of {all} compared within {bits}: {rules} for {sites}, which would have saved \
             {visits}{sampled}{skipped}{without}"
        ));
        Ok(if summary.rules > 0 { Exit::Done } else { Exit::Nothing })
    }
}

/// Prints a site for people: a line about it, and a line for each rule.
fn print(site: &AliasSite, output: &mut Output) -> io::Result<()> {
    let name = escape::escape_untruncated(&site.site);
    let mut line = format!("{name}: {}", words::many(site.pages, "page", "pages"));
    if site.sampled < 1.0 {
        line += &format!(", {} % of them sampled", words::amount(site.sampled * 100.0));
    }
    if site.skipped > 0 {
        let pages = words::many(site.skipped, "page", "pages");
        line += &format!(", parameters of {pages} skipped");
    }
    output.line(&line)?;
    let widest = site.rules.iter().map(|count| escape::escape_untruncated(&count.rule.to_string()));
    let widest = widest.map(|rule| rule.chars().count()).max().unwrap_or(0);
    for count in &site.rules {
        let rule = escape::escape_untruncated(&count.rule.to_string());
        let share = format!("{:.1} %", count.share() * 100.0);
        let figures = format!(
            "{} of {} pairs are near, {share}; would save {}",
            words::count(count.near),
            words::count(count.pairs),
            words::many(count.visits, "visit", "visits"),
        );
        let holds = if count.holds { "" } else { "; the rule does not hold" };
        output.line(&format!("  {rule:<widest$}  {figures}{holds}"))?;
        let example = if count.holds { &count.examples } else { &count.exceptions };
        if let Some(AliasPair { first, other, .. }) = example.first() {
            let (first, other) =
                (escape::escape_untruncated(first), escape::escape_untruncated(other));
            output.line(&format!("    {first}  {other}"))?;
        }
    }
    Ok(())
}

/// A site, and the rules that were found for it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AliasSiteLine<'a> {
    /// The host without www., in lower case.
    site: &'a str,
    /// The number of its pages that were compared.
    pages: u64,
    /// The sampled fraction of the URLs that rules make, from 0 to 1. All counts of rules refer to the
    /// sample.
    sampled: f64,
    /// The number of pages with skipped parameters, because the page or the site has too many of
    /// them.
    pages_skipped: u64,
    /// The rules, in the order in which a crawler applies them.
    rules: Vec<AliasRuleResult<'a>>,
}

/// The kind of a rule.
#[derive(Serialize)]
#[serde(transparent)]
struct AliasRuleKind(&'static str);

impl JsonSchema for AliasRuleKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Alias".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "enum": [
                "host", "scheme", "www", "port", "escapes", "session", "slashes", "fragment",
                "empty-query", "parameter", "order", "index", "slash", "case"
            ],
        })
    }
}

/// A rule that maps several URLs to one.
#[derive(Serialize, JsonSchema)]
struct AliasRuleResult<'a> {
    /// The kind of the rule.
    alias: AliasRuleKind,
    /// The detail of the rule: the scheme; "with" or "without" for www and slash; the name of a
    /// parameter or index page; null for other kinds.
    setting: Option<&'a str>,
    /// Whether the rule holds for the site.
    holds: bool,
    /// The number of redundant pages: the rule maps each of them to the URL of an earlier page.
    pairs: u64,
    /// The number of redundant pages that are near that earlier page.
    near_pairs: u64,
    /// The ratio of near pairs to all pairs.
    near_share: JsonRatio,
    /// The number of visits to the redundant pages, which the rule would have saved.
    visits_spared: u64,
    /// Examples of pairs that are near.
    examples: Vec<MergedPair<'a>>,
    /// Examples of pairs that are not near.
    exceptions: Vec<MergedPair<'a>>,
}

/// Two pages that a rule maps to one URL.
#[derive(Serialize, JsonSchema)]
struct MergedPair<'a> {
    url: &'a str,
    /// The first of the pages that the rule maps to this URL.
    first_url: &'a str,
    /// The number of bits in which their fingerprints differ.
    distance: u32,
}

impl<'a> From<&'a AliasSite> for AliasSiteLine<'a> {
    fn from(of: &'a AliasSite) -> AliasSiteLine<'a> {
        AliasSiteLine {
            site: &of.site,
            pages: of.pages,
            sampled: of.sampled,
            pages_skipped: of.skipped,
            rules: of.rules.iter().map(AliasRuleResult::from).collect(),
        }
    }
}

impl<'a> From<&'a AliasCount> for AliasRuleResult<'a> {
    fn from(of: &'a AliasCount) -> AliasRuleResult<'a> {
        AliasRuleResult {
            alias: AliasRuleKind(of.rule.kind()),
            setting: of.rule.value(),
            holds: of.holds,
            pairs: of.pairs,
            near_pairs: of.near,
            near_share: JsonRatio(of.share()),
            visits_spared: of.visits,
            examples: of.examples.iter().map(MergedPair::from).collect(),
            exceptions: of.exceptions.iter().map(MergedPair::from).collect(),
        }
    }
}

impl<'a> From<&'a AliasPair> for MergedPair<'a> {
    fn from(AliasPair { first, other, distance, .. }: &'a AliasPair) -> MergedPair<'a> {
        MergedPair { url: other, first_url: first, distance: *distance }
    }
}
