//! `aliases`: URL variants that lead to the same page.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use simkeep::alias::{AliasCount, AliasPair, AliasQuery, AliasSite, AliasTotals, DeclaredUrls};
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
/// near-duplicates, the visits that the rule would save, and an example. Redirects are evidence,
/// too. The canonical URLs that pages declare are checked: pages whose canonical URL has other
/// content are listed.
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

Exits with 1 if no rule holds and no page declares a canonical URL of another page."#)]
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
        let without = words::skipped_pages_note(
            summary.without_fingerprint,
            epoch,
            words::WITHOUT_FINGERPRINT,
        );
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
        let canonicals = canonicals(&summary);
        print_message(&format!(
            "{pages} of {all} compared within {bits}: {rules} for {sites}, which would have saved \
             {visits}{canonicals}{sampled}{skipped}{without}"
        ));
        let is_found = summary.rules > 0 || summary.canonicals > 0;
        Ok(if is_found { Exit::Done } else { Exit::Nothing })
    }
}

/// The note about canonical URLs, if pages declare some.
fn canonicals(summary: &AliasTotals) -> String {
    if summary.canonicals == 0 {
        return String::new();
    }
    let all = words::many(summary.canonicals, "canonical URL", "canonical URLs");
    let near = words::count(summary.canonicals_near);
    let different = words::count(summary.canonicals_different);
    format!("; of {all}, {near} have near content, and {different} other content")
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
    let DeclaredUrls { canonicals, near, different, wrong, .. } = &site.declared;
    if *canonicals > 0 {
        let canonicals = words::many(*canonicals, "canonical URL", "canonical URLs");
        let [near, different] = [near, different].map(|count| words::count(*count));
        line += &format!(", {canonicals} ({near} near, {different} with other content)");
    }
    output.line(&line)?;
    for AliasPair { first, other, distance, .. } in wrong {
        let [first, other] = [first, other].map(|url| escape::escape_untruncated(url));
        let bits = words::many(u64::from(*distance), "bit", "bits");
        output.line(&format!("  {other} declares {first}, which differs in {bits}"))?;
    }
    let left = different.saturating_sub(wrong.len() as u64);
    if left > 0 {
        let pages = words::many(left, "more page", "more pages");
        output.line(&format!("  {pages} with a canonical URL of other content"))?;
    }
    let widest = site.rules.iter().map(|count| escape::escape_untruncated(&count.rule.to_string()));
    let widest = widest.map(|rule| rule.chars().count()).max().unwrap_or(0);
    for count in &site.rules {
        let rule = escape::escape_untruncated(&count.rule.to_string());
        let share = format!("{:.1} %", count.share() * 100.0);
        let figures = format!(
            "{} of {} pairs are near{}, {share}; would save {}{}",
            words::count(count.near),
            words::count(count.pairs),
            redirects(count),
            words::many(count.visits, "visit", "visits"),
            agreement(count),
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

/// The redirects that a rule explains, if there are some.
fn redirects(count: &AliasCount) -> String {
    match count.redirects {
        0 => String::new(),
        redirects => format!(" and {} fit", words::many(redirects, "redirect", "redirects")),
    }
}

/// How many canonical URLs agree with a rule, if it explains some.
fn agreement(count: &AliasCount) -> String {
    let all = count.canonicals + count.contradicted;
    if all == 0 {
        return String::new();
    }
    let agree = words::count(count.canonicals);
    format!("; {agree} of {} agree", words::many(all, "canonical URL", "canonical URLs"))
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
    /// The number of pages that declare the URL of another page as canonical.
    canonicals: u64,
    /// The number of these pages whose content is near the content of the canonical page.
    canonicals_near: u64,
    /// The number of these pages whose content differs from the content of the canonical page. The
    /// content of the other pages cannot be compared.
    canonicals_different: u64,
    /// The number of pages that redirect to another page.
    redirects: u64,
    /// The pages whose content differs from the content of their canonical page: the first 1,024.
    wrong_canonicals: Vec<WrongCanonical<'a>>,
}

/// A page whose canonical URL has other content.
#[derive(Serialize, JsonSchema)]
struct WrongCanonical<'a> {
    url: &'a str,
    /// The canonical URL that the page declares.
    canonical: &'a str,
    /// The number of bits in which their fingerprints differ.
    distance: u32,
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
    /// The ratio of near pairs to all pairs; without pairs, 1 if there are redirects.
    near_share: JsonRatio,
    /// The number of redirects within the site that the rule explains, alone or with other rules.
    redirects: u64,
    /// The number of canonical URLs of the site that the rule explains and whose content is near.
    canonicals_near: u64,
    /// The number of canonical URLs of this kind whose content is not near.
    canonicals_different: u64,
    /// The number of visits to the redundant and redirecting pages, which the rule would have saved.
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
            canonicals: of.declared.canonicals,
            canonicals_near: of.declared.near,
            canonicals_different: of.declared.different,
            redirects: of.declared.redirects,
            wrong_canonicals: of.declared.wrong.iter().map(WrongCanonical::from).collect(),
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
            redirects: of.redirects,
            canonicals_near: of.canonicals,
            canonicals_different: of.contradicted,
            visits_spared: of.visits,
            examples: of.examples.iter().map(MergedPair::from).collect(),
            exceptions: of.exceptions.iter().map(MergedPair::from).collect(),
        }
    }
}

impl<'a> From<&'a AliasPair> for WrongCanonical<'a> {
    fn from(AliasPair { first, other, distance, .. }: &'a AliasPair) -> WrongCanonical<'a> {
        WrongCanonical { url: other, canonical: first, distance: *distance }
    }
}

impl<'a> From<&'a AliasPair> for MergedPair<'a> {
    fn from(AliasPair { first, other, distance, .. }: &'a AliasPair) -> MergedPair<'a> {
        MergedPair { url: other, first_url: first, distance: *distance }
    }
}
