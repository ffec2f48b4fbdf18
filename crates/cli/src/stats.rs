//! `stats`: how large a store is.

use clap::Args;
use serde_json::{Value, json};
use simkeep::maintenance::SegmentStats;

use super::Common;
use super::exit::{Exit, Failure};
use super::output::Output;
use super::words::{bytes, count};
use simkeep_archive::escape;

/// Print how many pages and visits a store holds, and how large it is
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep stats
  simkeep stats --json

Reads no page: takes no longer for a large store.")]
pub(super) struct Stats {
    #[command(flatten)]
    common: Common,
}

impl Stats {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        let stats = self.common.read()?.stats()?;
        if self.common.json {
            output.object(&object(&stats))?;
            return Ok(Exit::Done);
        }
        let total = stats.segment_bytes + stats.catalog_bytes;
        for (name, value) in [
            ("pages", count(stats.pages)),
            ("visits", count(stats.visits)),
            ("  not yet in a segment", count(stats.unsealed_visits)),
            ("size", bytes(total)),
            ("  of segments", bytes(stats.segment_bytes)),
            ("  of the catalog", bytes(stats.catalog_bytes)),
            ("last operation", count(stats.sequence)),
        ] {
            output.line(&format!("{name:<22}  {value:>14}"))?;
        }
        for info in &stats.epochs {
            let ended = if info.ended { "  (ended)" } else { "" };
            let (number, name) = (info.epoch.count(), escape::whole(&info.name));
            output.line(&format!("epoch {number:<16}  {name:>14}{ended}"))?;
        }
        if stats.epoch_due {
            let visits = count(stats.epoch_visits);
            output.line(&format!(
                "a new epoch is due: {visits} visits came since the newest began; see simkeep epoch"
            ))?;
        }
        if !stats.segments.is_empty() {
            output.line("")?;
            output.line("segment        pages       visits  fingerprints      size")?;
        }
        for segment in &stats.segments {
            let SegmentStats { id, pages, visits, fingerprints, bytes: size, .. } = *segment;
            let (pages, visits, fingerprints) = (count(pages), count(visits), count(fingerprints));
            let size = bytes(size);
            let line = format!("{id:>7}  {pages:>11}  {visits:>11}  {fingerprints:>12}  {size:>8}");
            output.line(&line)?;
        }
        Ok(Exit::Done)
    }
}

fn object(stats: &simkeep::maintenance::Stats) -> Value {
    let segment = |segment: &SegmentStats| {
        json!({
            "id": segment.id,
            "pages": segment.pages,
            "visits": segment.visits,
            "fingerprints": segment.fingerprints,
            "bytes": segment.bytes,
        })
    };
    json!({
        "pages": stats.pages,
        "visits": stats.visits,
        "unsealed_visits": stats.unsealed_visits,
        "segment_bytes": stats.segment_bytes,
        "catalog_bytes": stats.catalog_bytes,
        "sequence": stats.sequence,
        "epochs": stats.epochs.iter().map(|info| &info.name).collect::<Vec<_>>(),
        "epoch_visits": stats.epoch_visits,
        "epoch_due": stats.epoch_due,
        "segments": stats.segments.iter().map(segment).collect::<Vec<_>>(),
    })
}
