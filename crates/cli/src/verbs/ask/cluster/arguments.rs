//! Arguments that `cluster` and `dedup` share: the pages, the distance, and the choice of leaders.

use std::path::PathBuf;

use clap::Args;
use simkeep::cluster::{Clustering, Clusters, Ranking};
use simkeep::{Classes, Prefix, Snapshot};

use crate::exit::VerbError;
use crate::output::visit;
use crate::time;
use crate::verbs::ask::near::epoch_and_distance;

/// The pages to cluster, the distance, and the rule that ranks leaders.
#[derive(Args)]
pub(crate) struct ClusteringArgs {
    /// Bits a page may differ from its leader [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=64))]
    k: Option<u32>,
    /// Leaders: first-seen, newest, shortest-url, https, weight, canonical
    #[arg(long, value_name = "RULE", default_value = "first-seen")]
    pub(crate) rule: Ranking,
    /// Use the state at this time instead of the newest
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    at: Option<simkeep::Time>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only pages of these classes, such as 0,7,none
    #[arg(long, value_name = "CLASSES")]
    pub(crate) classes: Option<Classes>,
    /// Compare fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Memory to use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512)]
    memory: usize,
    /// Directory for scratch files [default: TMPDIR or /tmp]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

impl ClusteringArgs {
    /// The directory for scratch files.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// The warning that the rule `weight` decides nothing, if it is asked for and all pages have one
    /// weight.
    pub(crate) fn weight_warning(&self, clusters: &Clusters) -> Option<&'static str> {
        let rules = self.rule.to_string();
        let is_asked = rules.split(',').any(|rule| rule == "weight");
        (is_asked && !clusters.is_empty() && !clusters.weights_differ()).then_some(
            "all pages have the same weight, so the rule weight decides nothing; JSON lines with \
             \"url\", \"t\" and \"weight\" set weights, see docs/corpus.md",
        )
    }

    /// The name of the epoch whose fingerprints are compared.
    pub(crate) fn epoch<'s>(&self, snapshot: &'s Snapshot) -> Result<&'s str, VerbError> {
        let (epoch, _) = epoch_and_distance(snapshot, self.epoch.as_deref(), None)?;
        Ok(visit::epoch(snapshot.epochs(), epoch)?)
    }

    /// The clustering that the arguments select. `k` is the default distance in bits; without it,
    /// the recipe's advice is the default.
    pub(crate) fn clustering(
        &self,
        snapshot: &Snapshot,
        k: Option<u32>,
    ) -> Result<Clustering, VerbError> {
        let (epoch, k) = epoch_and_distance(snapshot, self.epoch.as_deref(), self.k.or(k))?;
        Ok(Clustering::within(k)
            .epoch(epoch)
            .rule(self.rule.clone())
            .at(self.at)
            .under(self.under.clone())
            .classes(self.classes.clone())
            .memory_bytes(self.memory.saturating_mul(1 << 20))
            .scratch(self.scratch.clone()))
    }
}
