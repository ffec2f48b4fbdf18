//! `pairs`: all pairs of near fingerprints, or of pages with equal and near fingerprints.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::str::FromStr;

use clap::Args;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::Meaning;
use simkeep::query::{PagePair, PairQuery, PairedPage};
use simkeep::{Classes, Prefix, Progress};
use simkeep_formats::escape;

use crate::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::json::{Band, Fingerprint, JsonRatio};
use crate::output::progress::with_progress_bar;
use crate::output::words;
use crate::output::{Output, write_object};
use crate::verbs::ask::missing_fingerprints::without;
use crate::verbs::ask::near::epoch_and_distance;

/// List all pairs of near-duplicates
///
/// One line per pair of different fingerprints: the distance in bits, how large a change that is,
/// and the first page of each. With --pages, pages with equal fingerprints are paired as well.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep pairs crawl.simkeep
  simkeep pairs crawl.simkeep -k 1 --under example.com
  simkeep pairs crawl.simkeep --pages -k 0
  simkeep pairs crawl.simkeep --pages --pages-per-fingerprint 10
  simkeep pairs crawl.simkeep --json | jq -r '[.left.url, .right.url] | @tsv'

The join takes seconds for tens of millions of fingerprints, in constant memory.

A fingerprint that a million pages share would make half a trillion pairs of pages. So
--pages pairs each copy only with the first page of its fingerprint in SURT order, and
near fingerprints by their first pages. The list has the same connected groups as the
list of all pairs. --pages-per-fingerprint N also pairs the first N pages of each
fingerprint with each other; --pages-per-fingerprint all lists every pair.

Exits with 1 if there is no pair."#)]
pub(crate) struct PairsArgs {
    /// Bits that may differ; 0 only with --pages [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(0..=64))]
    k: Option<u32>,
    /// Pair pages instead of fingerprints
    #[arg(long)]
    pages: bool,
    /// Pages of each fingerprint to pair
    #[arg(long, value_name = "COUNT|all", requires = "pages", default_value = "1")]
    pages_per_fingerprint: PagesPerFingerprint,
    /// Compare fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only pages of these classes, such as 0,7,none
    #[arg(long, value_name = "CLASSES")]
    classes: Option<Classes>,
}

/// The maximum number of pages of each fingerprint to pair with others.
#[derive(Clone, Copy)]
struct PagesPerFingerprint(usize);

impl FromStr for PagesPerFingerprint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<PagesPerFingerprint, &'static str> {
        match text.parse::<u64>() {
            _ if text == "all" => Ok(PagesPerFingerprint(usize::MAX)),
            Ok(each @ 1..) => Ok(PagesPerFingerprint(usize::try_from(each).unwrap_or(usize::MAX))),
            _ => Err("write a number, at least 1, or \"all\""),
        }
    }
}

/// The state that the threads of the join share.
struct PairPrinter<'o> {
    output: &'o mut Output,
    printed: u64,
    /// The failure that ends the join, if printing failed.
    failed: Option<VerbError>,
}

/// Two pages with near or equal fingerprints.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PairLine<'a> {
    /// The number of bits in which the fingerprints differ.
    distance: u32,
    band: Band,
    /// The estimated fraction of words that differ: a lower and an upper bound.
    words_changed: [JsonRatio; 2],
    left: PairSide<'a>,
    right: PairSide<'a>,
}

/// A page of a pair. Without --pages, it is the first page with its fingerprint.
#[derive(Serialize, JsonSchema)]
struct PairSide<'a> {
    fingerprint: Fingerprint,
    url: &'a str,
}

impl<'a> PairSide<'a> {
    fn of(page: &'a PairedPage) -> PairSide<'a> {
        PairSide { fingerprint: Fingerprint(page.fingerprint), url: &page.url }
    }
}

impl PairsArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        if self.k == Some(0) && !self.pages {
            let why = "different fingerprints differ in at least one bit; use -k 0 with --pages, which \
                       pairs pages with equal fingerprints";
            return Err(VerbError::Usage(why.to_owned()));
        }
        let snapshot = common.read()?.snapshot();
        let (epoch, k) = epoch_and_distance(&snapshot, self.epoch.as_deref(), self.k)?;
        let asked = PairQuery::within(k).epoch(epoch).under(self.under.clone());
        let asked = asked.classes(self.classes.clone());
        let asked = asked.equal(self.pages).pages_per_fingerprint(self.pages_per_fingerprint.0);
        let meanings: Vec<Meaning> = (0..=k).map(|bits| snapshot.meaning(epoch, bits)).collect();
        let printing = Mutex::new(PairPrinter { output, printed: 0, failed: None });
        let join = |progress: &Progress| {
            asked.run(&snapshot, progress, |pairs| {
                // Each thread formats its lines itself and waits only to write them.
                let lines = lines(pairs, &meanings, common.json);
                let mut printing = printing.lock();
                let PairPrinter { output, printed, failed } = &mut *printing;
                let end = lines.and_then(|lines| output.writer().write_all(&lines));
                *printed += pairs.len() as u64;
                match end {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        *failed = Some(error.into());
                        ControlFlow::Break(())
                    }
                }
            })
        };
        // On a terminal, a progress bar would garble the lines.
        let joined = if io::stdout().is_terminal() {
            join(&Progress::default())
        } else {
            with_progress_bar(join)
        };
        let PairPrinter { printed, failed, .. } = printing.into_inner();
        failed.map_or(Ok(()), Err)?;
        joined?;
        let among = (self.under.as_ref(), self.classes.as_ref());
        let without = without(&snapshot, epoch, among, usize::MAX)?;
        let without = without.map(|without| without.note(&snapshot, epoch)).transpose()?;
        if let Some(without) = without.flatten() {
            output.note(&without)?;
        }
        if printed > 0 {
            return Ok(Exit::Done);
        }
        let within = words::many(k.into(), "bit", "bits");
        let (what, have) =
            if self.pages { ("pages", "have fingerprints") } else { ("fingerprints", "are") };
        print_message(&format!("no two {what} {have} within {within} of each other"));
        Ok(Exit::Nothing)
    }
}

/// Formats a line for each pair. `meanings` has the meaning of each possible distance.
fn lines(pairs: &[PagePair], meanings: &[Meaning], as_json: bool) -> io::Result<Vec<u8>> {
    let mut lines = Vec::with_capacity(pairs.len() * if as_json { 300 } else { 150 });
    for PagePair { left, right, distance, .. } in pairs {
        let distance = *distance;
        let Some(meaning) = meanings.get(distance as usize) else {
            return Err(io::Error::other("a pair is farther apart than was asked for"));
        };
        if as_json {
            let line = PairLine {
                distance,
                band: Band(meaning.band),
                words_changed: words::changed(meaning),
                left: PairSide::of(left),
                right: PairSide::of(right),
            };
            write_object(&mut lines, &line)?;
        } else {
            let bits = if distance == 1 { "bit " } else { "bits" };
            let (left, right) =
                (escape::escape_untruncated(&left.url), escape::escape_untruncated(&right.url));
            let band = meaning.band;
            writeln!(lines, "{distance:>2} {bits}  {band:<8}  {left}  {right}")?;
        }
    }
    Ok(lines)
}
