//! `aliases`: differences between URLs that make none.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use clap::Args;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use simkeep::alias::{AliasCount, AliasPair, AliasQuery, AliasSite};
use simkeep::{Prefix, Progress};
use simkeep_formats::escape;

use crate::Common;
use crate::exit::{Exit, Failure, say};
use crate::output::Output;
use crate::output::json::Share;
use crate::output::progress::watched;
use crate::output::{visit, words};
use crate::verbs::ask::near::sought;

/// Find differences between URLs that make no difference
///
/// For each site (a host with and without www.), the rules that make one URL of several whose pages are
/// near each other: how many such pairs of pages there are, how many of them are near, their share, how
/// many visits would have been spared, and an example.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep aliases
  simkeep aliases example.com --all
  simkeep aliases --share 0.99 --json > aliases.jsonl

Tried are, in the order in which they are to be applied:
  host         spellings of a scheme and host that browsers take for the same, such as 127.1 and 127.0.0.1, or
               HTTP://A.example and http://a.example; and a backslash of the path for a slash
  scheme       http and https
  www          a host with and without www.
  port         :80 of http, :443 of https, and an empty port
  escapes      %7E and other characters that need no encoding, and the case of %c3
  session      ;jsessionid=1 and the like in the path, and the (S(1))/ of ASP.NET
  slashes      several slashes in the path for one
  fragment     what follows a #
  empty-query  a ? with nothing behind
  parameter    each parameter by its name, and all that begin with utm_ or ASPSESSIONID together
  order        the order of parameters
  index        index.html, .htm, .php, .shtml, .jsp, default.html, .asp and .aspx, and their folder
  slash        a slash at the end of a path whose last name has no dot
  case         upper and lower case of the path, but for the digits of %C3 and for sessions

Of all known pages that a rule makes one URL, each but the first is a pair with the first, unless it
differs from that in nothing that the rule takes, such as in the place of a parameter. A rule holds for a
site if it has --pairs pairs there and --share of them are near: within -k bits. Pages without content,
or whose content has no fingerprint, take no part.

Where a rule has too few pairs by itself, pages count, too, that differ by two rules at once, such as
http://www.example.com/ and https://example.com/, or with one difference each, such as http://example.com/a
and https://example.com/a/. They count for both rules if they meet `--pairs` and `--share` by themselves; but
never for a rule whose own pairs are not near. Of a page five rules are combined: utm_*, sessions and click
numbers such as gclid before other parameters.

Of a page with more than 32 parameters, or with so many that its URL is long, and of a site with more than
1,024 names of them, some are passed over. A site whose pages --memory does not hold is sampled
by the hash of its URLs as rules make them. Both is said, of each site that is listed and in the end of all.

With --json, an object a site: \"site\", \"pages\", \"sampled\" (what share was looked at),
\"pages_skipped\" (with parameters that were) and \"rules\". A rule has its kind, \"alias\", and a
\"setting\": the scheme, \"with\" or \"without\", or the name of a parameter or index page; whether it
\"holds\", \"pairs\", \"near_pairs\", \"near_share\", \"visits_spared\", and \"examples\" and
\"exceptions\": two URLs and a distance. A crawler applies
those that hold, in their order, to the URLs of that site: docs/guide.md shows how.

Exits with 1 if no rule holds.")]
pub(crate) struct Aliases {
    /// Only pages under this: a domain, a host, a path, a SURT prefix
    prefix: Option<Prefix>,
    /// How many bits may differ [default: what the recipe advises, 3 for most]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=64))]
    k: Option<u32>,
    /// A rule holds if at least this share of its pairs is near
    #[arg(long, default_value_t = 0.9, value_parser = parse_share)]
    share: f64,
    /// A rule holds if it has at least this many pairs
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pairs: u64,
    /// List rules that do not hold, too
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
    share.ok_or("a share is from 0 to 1")
}

impl Aliases {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let (epoch, k) = sought(&snapshot, self.epoch.as_deref(), self.k)?;
        let memory = usize::try_from(u64::from(self.memory) << 20).unwrap_or(usize::MAX);
        let asked = AliasQuery::default().epoch(epoch).k(k).under(self.prefix.clone());
        let asked = asked.share(self.share).pairs(self.pairs).all(self.all).memory_bytes(memory);
        let mut failed = None;
        let mut find = |progress: &Progress| {
            asked.run(&snapshot, progress, |site| {
                let printed = match common.json {
                    true => output.object(&Line::from(&site)),
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
        // Between lines on the same terminal it would be in the way.
        let summary =
            if io::stdout().is_terminal() { find(&Progress::default()) } else { watched(find) };
        failed.map_or(Ok(()), Err)?;
        let summary = summary?;
        output.finish()?;
        let epoch = visit::epoch(snapshot.epochs(), epoch)?;
        let without = words::took_no_part(summary.without_fingerprint, epoch);
        let sampled = match summary.sampled {
            0 => String::new(),
            sites => format!("; {} sampled", words::many(sites, "site was", "sites were")),
        };
        let skipped = match summary.skipped {
            0 => String::new(),
            pages => {
                format!("; parameters of {} passed over", words::many(pages, "page", "pages"))
            }
        };
        let rules = words::many(summary.rules, "rule", "rules");
        let sites = words::many(summary.sites_with_rules, "site", "sites");
        let pages = words::many(summary.pages, "page", "pages");
        let all = words::many(summary.sites, "site", "sites");
        let bits = words::many(k.into(), "bit", "bits");
        let visits = words::many(summary.visits, "visit", "visits");
        say(&format!(
            "{pages} of {all}, within {bits}: {rules} for {sites}, which would have spared {visits}{sampled}\
             {skipped}{without}"
        ));
        Ok(if summary.rules > 0 { Exit::Done } else { Exit::Nothing })
    }
}

/// A site, for people: what is said of it, and a line for each rule.
fn print(site: &AliasSite, output: &mut Output) -> io::Result<()> {
    let name = escape::whole(&site.site);
    let mut line = format!("{name}: {}", words::many(site.pages, "page", "pages"));
    if site.sampled < 1.0 {
        line += &format!(", {} of 100 sampled", words::amount(site.sampled * 100.0));
    }
    if site.skipped > 0 {
        let pages = words::many(site.skipped, "page", "pages");
        line += &format!(", parameters of {pages} passed over");
    }
    output.line(&line)?;
    let widest = site.rules.iter().map(|count| escape::whole(&count.rule.to_string()));
    let widest = widest.map(|rule| rule.chars().count()).max().unwrap_or(0);
    for count in &site.rules {
        let rule = escape::whole(&count.rule.to_string());
        let share = format!("{:.1} %", count.share() * 100.0);
        let figures = format!(
            "{} of {} pairs are near, {share}; spares {}",
            words::count(count.near),
            words::count(count.pairs),
            words::many(count.visits, "visit", "visits"),
        );
        let holds = if count.holds { "" } else { "; does not hold" };
        output.line(&format!("  {rule:<widest$}  {figures}{holds}"))?;
        let example = if count.holds { &count.examples } else { &count.exceptions };
        if let Some(AliasPair { first, other, .. }) = example.first() {
            let (first, other) = (escape::whole(first), escape::whole(other));
            output.line(&format!("    {first}  {other}"))?;
        }
    }
    Ok(())
}

/// A site, and the rules that were found for it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Line<'a> {
    /// The host without www., in lower case.
    site: &'a str,
    /// Its pages that took part.
    pages: u64,
    /// What share of the URLs that rules make was looked at; what is counted of rules is of these.
    sampled: f64,
    /// Pages with parameters that were passed over, since there are too many.
    pages_skipped: u64,
    /// In the order in which they are to be applied.
    rules: Vec<Rule<'a>>,
}

/// A kind of rule.
#[derive(Serialize)]
#[serde(transparent)]
struct Alias(&'static str);

impl JsonSchema for Alias {
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

/// A rule that makes one URL of several.
#[derive(Serialize, JsonSchema)]
struct Rule<'a> {
    /// What kind of rule it is.
    alias: Alias,
    /// The scheme; "with" or "without" of www and slash; the name of a parameter or index page.
    setting: Option<&'a str>,
    /// Whether it holds for the site.
    holds: bool,
    /// Pages that it makes one with a page before them.
    pairs: u64,
    /// Those of them that are near that page.
    near_pairs: u64,
    /// What share that is.
    near_share: Share,
    /// Visits that these pairs had, without those to the first page of each group.
    visits_spared: u64,
    /// Pairs that are near.
    examples: Vec<Pair<'a>>,
    /// Pairs that are not.
    exceptions: Vec<Pair<'a>>,
}

/// Two pages that a rule makes one.
#[derive(Serialize, JsonSchema)]
struct Pair<'a> {
    url: &'a str,
    /// The URL that comes before all others that the rule makes one with it.
    first_url: &'a str,
    /// In how many bits their fingerprints differ.
    distance: u32,
}

impl<'a> From<&'a AliasSite> for Line<'a> {
    fn from(of: &'a AliasSite) -> Line<'a> {
        Line {
            site: &of.site,
            pages: of.pages,
            sampled: of.sampled,
            pages_skipped: of.skipped,
            rules: of.rules.iter().map(Rule::from).collect(),
        }
    }
}

impl<'a> From<&'a AliasCount> for Rule<'a> {
    fn from(of: &'a AliasCount) -> Rule<'a> {
        Rule {
            alias: Alias(of.rule.kind()),
            setting: of.rule.value(),
            holds: of.holds,
            pairs: of.pairs,
            near_pairs: of.near,
            near_share: Share(of.share()),
            visits_spared: of.visits,
            examples: of.examples.iter().map(Pair::from).collect(),
            exceptions: of.exceptions.iter().map(Pair::from).collect(),
        }
    }
}

impl<'a> From<&'a AliasPair> for Pair<'a> {
    fn from(AliasPair { first, other, distance, .. }: &'a AliasPair) -> Pair<'a> {
        Pair { url: other, first_url: first, distance: *distance }
    }
}
