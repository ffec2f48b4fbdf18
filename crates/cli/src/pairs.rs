//! `pairs`: all pairs of near fingerprints.

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use clap::Args;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Epoch, NearPair, Prefix, Progress, Query, Snapshot};

use super::exit::{Exit, Failure, say};
use super::gauge::watched;
use super::json::{Band, Fingerprint, Share};
use super::near::sought;
use super::output::Output;
use super::{Common, words};
use simkeep_archive::escape;

/// List all pairs of near-duplicates
///
/// One line per pair of different fingerprints that pages have now: in how many bits they differ, how
/// much of a change that is, and the first page of each. `simkeep near -k 0` finds other pages with
/// the same fingerprint.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep pairs
  simkeep pairs -k 1 --under example.com
  simkeep pairs --json | jq -r '[.left.url, .right.url] | @tsv'

All fingerprints are joined with each other at once, which takes seconds for tens of millions.

With --json, an object a pair: \"distance\", its \"band\" and \"words_changed\" as of `simkeep near`, and \"left\" and
\"right\" with \"fingerprint\" and \"url\".

Exits with 1 if there is no such pair.")]
pub(super) struct Pairs {
    /// How many bits may differ [default: what the recipe advises, 3 for most]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    k: Option<u32>,
    /// Join fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Join pages under this prefix only: a domain, a host, or one with a path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
}

/// What the threads that find pairs have in common.
struct Printing<'o> {
    output: &'o mut Output,
    printed: u64,
    json: bool,
    /// Why no more can be printed, which ends the join.
    failed: Option<Failure>,
}

/// Two near fingerprints.
#[derive(Serialize, JsonSchema)]
pub(super) struct Line<'a> {
    /// In how many bits they differ.
    distance: u32,
    band: Band,
    /// From what share of the words to what share that means.
    words_changed: [Share; 2],
    left: Side<'a>,
    right: Side<'a>,
}

/// One of them, and the first page that has it.
#[derive(Serialize, JsonSchema)]
struct Side<'a> {
    fingerprint: Fingerprint,
    url: &'a str,
}

impl Pairs {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let (epoch, k) = sought(&snapshot, self.epoch.as_deref(), self.k)?;
        let mut like = Query::new(0, k).epoch(epoch);
        like.under.clone_from(&self.under);
        let printing = Mutex::new(Printing { output, json: common.json, printed: 0, failed: None });
        let join = |progress: &Progress| {
            snapshot.all_pairs(&like, progress, |pairs| {
                let mut printing = printing.lock();
                for pair in pairs {
                    if let Err(failure) = self.print(&snapshot, epoch, pair, &mut printing) {
                        printing.failed = Some(failure);
                        return ControlFlow::Break(());
                    }
                    printing.printed += 1;
                }
                ControlFlow::Continue(())
            })
        };
        // Between lines on the same terminal it would be in the way.
        let joined =
            if io::stdout().is_terminal() { join(&Progress::default()) } else { watched(join) };
        let Printing { printed, failed, .. } = printing.into_inner();
        failed.map_or(Ok(()), Err)?;
        joined?;
        if printed > 0 {
            return Ok(Exit::Done);
        }
        let within = words::many(k.into(), "bit", "bits");
        say(&format!("no two fingerprints are within {within} of each other"));
        Ok(Exit::Nothing)
    }

    fn print(
        &self,
        snapshot: &Snapshot,
        epoch: Epoch,
        pair: &NearPair,
        printing: &mut Printing<'_>,
    ) -> Result<(), Failure> {
        let Printing { output, json: as_json, .. } = printing;
        let url = |fingerprint| {
            let mut query = Query::new(fingerprint, 0).epoch(epoch).limit(1);
            query.under.clone_from(&self.under);
            let first = snapshot.search(&query)?.near.into_iter().next();
            Ok::<_, Failure>(first.map_or_else(String::new, |near| near.url))
        };
        let (left, right) = (url(pair.left)?, url(pair.right)?);
        if *as_json {
            let meaning = snapshot.meaning(epoch, pair.distance);
            output.object(&Line {
                distance: pair.distance,
                band: Band(meaning.band),
                words_changed: words::changed(&meaning),
                left: Side { fingerprint: Fingerprint(pair.left), url: &left },
                right: Side { fingerprint: Fingerprint(pair.right), url: &right },
            })?;
        } else {
            let bits = if pair.distance == 1 { "bit " } else { "bits" };
            let (left, right) = (escape::whole(&left), escape::whole(&right));
            let band = snapshot.meaning(epoch, pair.distance).band;
            output.line(&format!("{:>2} {bits}  {band:<8}  {left}  {right}", pair.distance))?;
        }
        Ok(())
    }
}
