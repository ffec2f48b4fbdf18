//! Shows a fingerprint.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::query::Explanation;
use simkeep::{Matches, NearMatch, Query, Versions};
use simkeep_formats::escape;

use super::page::bits;
use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::fingerprint::parse_fingerprint;
use crate::input::limit::Limit;
use crate::output::Output;
use crate::output::json::{EpochName, Fingerprint, StoreState};
use crate::output::table::{TextTable, left, right};
use crate::output::visit;
use crate::output::words::many;
use crate::verbs::ask::near::{epoch_and_distance, explain};

/// Show pages with or near a fingerprint, and search costs
#[derive(Args)]
pub(super) struct InspectFingerprintArgs {
    /// The fingerprint, 16 hexadecimal digits
    #[arg(value_parser = parse_fingerprint)]
    fingerprint: u64,
    /// Search fingerprints of this epoch [default: the newest that finds near-duplicates]
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Bits that may differ [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=64))]
    k: Option<u32>,
    /// Pages to list
    #[arg(long, value_name = "COUNT|all", default_value = "50")]
    limit: Limit,
}

/// The pages with or near a fingerprint, and the cost of the search.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FingerprintDetails<'a> {
    fingerprint: Fingerprint,
    epoch: EpochName<'a>,
    /// The maximum distance in bits.
    k: u32,
    /// Whether the list of pages is complete.
    complete: bool,
    /// The pages that have the fingerprint or are near it, the nearest first.
    near: Vec<BitDifferencePage<'a>>,
    /// The number of pages that had the fingerprint earlier, but do not have it now.
    pages_before: usize,
    explain: explain::SearchExplanation<'a>,
    saw: StoreState,
}

/// A page with a similar fingerprint.
#[derive(Serialize, JsonSchema)]
struct BitDifferencePage<'a> {
    url: &'a str,
    distance: u32,
    /// The numbers of the bits that differ; the lowest bit is 0.
    differing_bits: Vec<u32>,
    fingerprint: Fingerprint,
}

impl InspectFingerprintArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let (epoch, k) = epoch_and_distance(&snapshot, self.epoch.as_deref(), self.k)?;
        let query = Query::new(self.fingerprint, k).epoch(epoch).limit(self.limit.count());
        let explanation = Explanation::of(&snapshot, &query)?;
        let Matches { near, complete, .. } = &explanation.matches;
        let ever = snapshot.search(&query.clone().k(0).versions(Versions::Ever))?;
        let had =
            |page: &&NearMatch| !near.iter().any(|now| now.distance == 0 && now.url == page.url);
        let before = ever.near.iter().filter(had).count();
        let exit = if near.is_empty() { Exit::Nothing } else { Exit::Done };
        if common.json {
            let near = near.iter().map(|page| BitDifferencePage {
                url: &page.url,
                distance: page.distance,
                differing_bits: bits((page.fingerprint ^ self.fingerprint) & epoch.mask()),
                fingerprint: Fingerprint(page.fingerprint),
            });
            output.object(&FingerprintDetails {
                fingerprint: Fingerprint(self.fingerprint),
                epoch: EpochName(visit::epoch(snapshot.epochs(), epoch)?),
                k,
                complete: *complete,
                near: near.collect(),
                pages_before: before,
                explain: explain::SearchExplanation::from(&explanation),
                saw: StoreState::of(&reader),
            })?;
            return Ok(exit);
        }
        let ones = self.fingerprint.count_ones();
        let shown = visit::fingerprint(self.fingerprint);
        let name = escape::escape_untruncated(visit::epoch(snapshot.epochs(), epoch)?);
        output.line(&format!(
            "{shown}: {} of 64 are 1; epoch {name}",
            many(ones.into(), "bit", "bits")
        ))?;
        let columns = [right("bits"), left("fingerprint"), left("differing bits"), left("URL")];
        let mut table = TextTable::new(columns);
        for page in near {
            let which = bits((page.fingerprint ^ self.fingerprint) & epoch.mask());
            let which = which.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let fingerprint = visit::fingerprint(page.fingerprint);
            let url = escape::escape_untruncated(&page.url);
            table.row([page.distance.to_string(), fingerprint, which, url], output)?;
        }
        table.end(output)?;
        output.line("")?;
        explain::print(&explanation, output)?;
        if before > 0 {
            let pages = many(before as u64, "page", "pages");
            output.note(&format!(
                "{pages} had this fingerprint before; see simkeep near {shown} -k 0 --ever"
            ))?;
        }
        if !*complete {
            output.note("there are more pages; raise --limit")?;
        }
        if near.is_empty() {
            print_message(&format!(
                "no page is within {} of this fingerprint now",
                many(k.into(), "bit", "bits")
            ));
        }
        Ok(exit)
    }
}
