//! `mirrors`: sites that have the same pages.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::mirror::{Mirror, MirrorExample, MirrorQuery, MirrorSite, Mirrors as Found};
use simkeep::{Classes, Prefix};
use simkeep_formats::escape;

use crate::exit::{Exit, VerbError, print_message};
use crate::input::limit::Limit;
use crate::output::Output;
use crate::output::json::JsonRatio;
use crate::output::progress::with_progress_bar;
use crate::output::table::{TextTable, left, right};
use crate::output::{visit, words};
use crate::verbs::ask::near::epoch_and_distance;
use crate::{CommonArgs, time};

/// Find sites that mirror each other
///
/// Two sites mirror each other if the same paths lead to near-duplicate pages. A site is a host, or
/// a folder up to --depth deep in one. One line per pair: the share of near paths in the union of
/// both sites' paths, the number of near paths, paths that differ, outdated pages of the second
/// site, its lag, and both sites, the leading one first.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep mirrors crawl.simkeep
  simkeep mirrors crawl.simkeep --under example.com --depth 0   hosts only
  simkeep mirrors crawl.simkeep --min-share 0.9 --min-paths 20
  simkeep mirrors crawl.simkeep --at 2024-03-01 --examples

A page is outdated if it matches one of the other page's last eight versions instead of
its current one. The lag is the median time by which the second site was later.

Pairs with at least a quarter of --min-share are listed separately: partial mirrors.

Which sites are compared, misses, memory: docs/tool.md#mirrors

Exits with 1 if no sites have enough in common."#)]
pub(crate) struct MirrorsArgs {
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only pages of these classes, such as 0,7,none
    #[arg(long, value_name = "CLASSES")]
    classes: Option<Classes>,
    /// Bits that may differ [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(0..=64))]
    k: Option<u32>,
    /// Paths that must lead to near pages
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    min_paths: u64,
    /// Minimum share of near paths in the union of both sites' paths
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = parse_share)]
    min_share: f64,
    /// Folder depth of sites; 0 compares hosts only
    #[arg(long, value_name = "FOLDERS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=16))]
    depth: u8,
    /// Use the state at this time instead of the newest
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    at: Option<simkeep::Time>,
    /// Pairs to list
    #[arg(long, value_name = "COUNT|all", default_value = "1000")]
    limit: Limit,
    /// Compare fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// List some pages of each pair
    #[arg(long)]
    examples: bool,
}

fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or("write a number above 0 and at most 1")
}

/// Two sites with pages in common.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MirrorLine<'a> {
    /// Whether the fraction of near paths reaches --min-share.
    is_mirror: bool,
    /// The share of paths with near pages in the union of both sites' paths.
    share: JsonRatio,
    /// The number of paths that lead to near pages.
    near_paths: u64,
    /// The number of other paths that both sites have.
    differing_paths: u64,
    /// The median time by which the second site lags, in seconds; null if unknown.
    lag_seconds: Option<u64>,
    /// The site that had the common versions first on most paths.
    leading: MirrorSiteResult,
    following: MirrorSiteResult,
    /// A random sample of the paths that both sites have.
    examples: Vec<MirrorPathExample<'a>>,
}

/// A host, or a folder of a host.
#[derive(Serialize, JsonSchema)]
struct MirrorSiteResult {
    /// The prefix of its pages; it ends with a slash.
    site: String,
    /// The number of its paths.
    paths: u64,
    /// The number of near paths on which it shows an earlier version of the other site.
    outdated_paths: u64,
}

/// The pages of both sites at one path.
#[derive(Serialize, JsonSchema)]
struct MirrorPathExample<'a> {
    leading_url: &'a str,
    following_url: &'a str,
    /// The number of bits in which they differ.
    distance: u32,
}

impl MirrorSiteResult {
    fn of(of: &MirrorSite) -> MirrorSiteResult {
        MirrorSiteResult { site: of.site.to_string(), paths: of.paths, outdated_paths: of.outdated }
    }
}

impl MirrorLine<'_> {
    fn of(mirror: &Mirror) -> MirrorLine<'_> {
        MirrorLine {
            is_mirror: mirror.is_mirror,
            share: JsonRatio(mirror.share),
            near_paths: mirror.near,
            differing_paths: mirror.differing(),
            lag_seconds: mirror.lag.map(seconds),
            leading: MirrorSiteResult::of(&mirror.leader),
            following: MirrorSiteResult::of(&mirror.follower),
            examples: mirror.examples.iter().map(MirrorPathExample::of).collect(),
        }
    }
}

impl MirrorPathExample<'_> {
    fn of(example: &MirrorExample) -> MirrorPathExample<'_> {
        MirrorPathExample {
            leading_url: &example.leader,
            following_url: &example.follower,
            distance: example.distance,
        }
    }
}

/// Converts a non-negative number of milliseconds to whole seconds.
fn seconds(milliseconds: i64) -> u64 {
    milliseconds.unsigned_abs() / 1000
}

impl MirrorsArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let snapshot = common.read()?.snapshot();
        let (epoch, k) = epoch_and_distance(&snapshot, self.epoch.as_deref(), self.k)?;
        let mut asked = MirrorQuery::new()
            .within(k)
            .epoch(epoch)
            .under(self.under.clone())
            .classes(self.classes.clone());
        asked = asked
            .paths(self.min_paths)
            .share(self.min_share)
            .depth(self.depth)
            .limit(self.limit.count());
        asked.at = self.at;
        let found = with_progress_bar(|progress| asked.run(&snapshot, progress))?;
        if common.json {
            for mirror in &found.pairs {
                output.object(&MirrorLine::of(mirror))?;
            }
        } else if !found.pairs.is_empty() {
            self.print(&found, k, output)?;
        }
        let epoch = visit::epoch(snapshot.epochs(), epoch)?;
        let without =
            words::skipped_pages_note(found.without_fingerprint, epoch, words::WITHOUT_FINGERPRINT);
        let left_out = (found.mirrors + found.partial) - found.pairs.len() as u64;
        if left_out > 0 {
            output.note(&format!("{} more; raise --limit to list them", words::count(left_out)))?;
        }
        let sites = words::many(found.sites, "site has", "sites have");
        if found.mirrors + found.partial > 0 {
            if !without.is_empty() {
                output.note(&format!("{sites} {} paths or more{without}", self.min_paths))?;
            }
            return Ok(Exit::Done);
        }
        print_message(&format!(
            "{sites} {} paths or more, but no two of them have enough pages in common{without}",
            self.min_paths
        ));
        Ok(Exit::Nothing)
    }

    fn print(&self, found: &Found, k: u32, output: &mut Output) -> Result<(), VerbError> {
        let bits = words::many(k.into(), "bit", "bits");
        output.summary(&format!(
            "{} on {} with at least {} paths, compared within {bits}: {}",
            words::many(found.paths, "path", "paths"),
            words::many(found.sites, "site", "sites"),
            self.min_paths,
            words::many(found.mirrors, "pair mirrors each other", "pairs mirror each other"),
        ))?;
        let (mirrors, partial): (Vec<_>, Vec<_>) =
            found.pairs.iter().partition(|mirror| mirror.is_mirror);
        self.table(&mirrors, output)?;
        if !partial.is_empty() {
            output.summary("")?;
            output.summary(&format!("partial mirrors, with a share below {}:", self.min_share))?;
            self.table(&partial, output)?;
        }
        Ok(())
    }

    fn table(&self, pairs: &[&Mirror], output: &mut Output) -> Result<(), VerbError> {
        let columns = [right("share"), right("near"), right("differing"), right("outdated")];
        let sites = [left("lag"), left("leading"), left("following")];
        let mut table = TextTable::new(columns.into_iter().chain(sites));
        for mirror in pairs {
            table.row(
                [
                    format!("{:.1} %", mirror.share * 100.0),
                    words::count(mirror.near),
                    words::count(mirror.differing()),
                    words::count(mirror.follower.outdated),
                    mirror.lag.map_or_else(|| "-".to_owned(), |lag| time::span(seconds(lag))),
                    escape::escape_untruncated(&mirror.leader.site.to_string()),
                    escape::escape_untruncated(&mirror.follower.site.to_string()),
                ],
                output,
            )?;
            if self.examples {
                table.show(output)?;
                for example in &mirror.examples {
                    let MirrorExample { leader, follower, distance, .. } = example;
                    let bits = words::many((*distance).into(), "bit", "bits");
                    let (leader, follower) =
                        (escape::escape_untruncated(leader), escape::escape_untruncated(follower));
                    output.line(&format!("    {bits:<7}  {leader}  {follower}"))?;
                }
            }
        }
        table.end(output)?;
        Ok(())
    }
}
