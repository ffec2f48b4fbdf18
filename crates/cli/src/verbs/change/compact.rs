//! `compact`: reduces a store to its smallest size.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::CompactionEstimate;
use simkeep::{Compacted, Options};

use crate::common::{CommonArgs, read, write};
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::output::words::{bytes, many};

/// Shrink a store to its smallest size
///
/// Seals the journal, merges all segments into one, removes what ended epochs left, and rewrites
/// the catalog. Answers stay the same and searches get faster. A store that is idle for some
/// minutes does most of this by itself.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep compact crawl.simkeep --dry-run
  simkeep compact crawl.simkeep

It reads and writes the whole store, and needs as much free space as the store takes. If
there is less, it does not begin. Other processes may read the store meanwhile, but not
write to it."#)]
pub(crate) struct CompactArgs {
    /// Print what it would free and need, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl CompactArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let place = common.store()?;
        if self.dry_run {
            let reader = read(&place)?;
            let estimate = CompactionEstimate::of(&reader.snapshot())?;
            let catalog = reader.stats()?.catalog_bytes;
            let temporary_bytes = estimate.temporary_bytes + catalog;
            if common.json {
                output.object(&CompactResult {
                    dry_run: true,
                    merged_segments: estimate.segments,
                    segment_bytes_before: estimate.segment_bytes,
                    catalog_bytes_before: catalog,
                    segment_bytes: None,
                    catalog_bytes: None,
                    freed_bytes: estimate.reclaimable_bytes,
                    temporary_bytes,
                })?;
                return Ok(Exit::Done);
            }
            let segments = many(estimate.segments as u64, "segment", "segments");
            output.line(&format!("{segments}, {}", bytes(estimate.segment_bytes)))?;
            output.line(&match estimate.reclaimable_bytes {
                0 => "merging all segments would free nothing (an estimate)".to_owned(),
                some => format!("merging all segments would free about {}", bytes(some)),
            })?;
            output.line(&format!(
                "catalog: {}; its journal moves into the segment, and its unused space is freed",
                bytes(catalog)
            ))?;
            output
                .line(&format!("compacting needs {} of free disk space", bytes(temporary_bytes)))?;
            return Ok(Exit::Done);
        }
        let store = write(&place, Options::default().background(false))?;
        let compacted = with_progress_bar(|progress| store.compact(progress))?;
        store.close()?;
        let Compacted { merged, segment_bytes, .. } = compacted;
        let before = compacted.segment_bytes_before + compacted.catalog_bytes_before;
        // Closing the store makes one more commit, so the size is read afterwards.
        let catalog_bytes = read(&place)?.stats()?.catalog_bytes;
        let freed_bytes = before.saturating_sub(segment_bytes + catalog_bytes);
        if common.json {
            output.object(&CompactResult {
                dry_run: false,
                merged_segments: merged.inputs,
                segment_bytes_before: compacted.segment_bytes_before,
                catalog_bytes_before: compacted.catalog_bytes_before,
                segment_bytes: Some(segment_bytes),
                catalog_bytes: Some(catalog_bytes),
                freed_bytes,
                temporary_bytes: merged.bytes + catalog_bytes,
            })?;
            return Ok(Exit::Done);
        }
        output.line(&match merged.inputs {
            0 => "nothing to merge".to_owned(),
            inputs => format!("merged {}", many(inputs as u64, "segment", "segments")),
        })?;
        let after = bytes(segment_bytes + catalog_bytes);
        output.line(&format!(
            "freed {}: {} before, {after} now",
            bytes(freed_bytes),
            bytes(before)
        ))?;
        Ok(Exit::Done)
    }
}

/// The result of a compaction; with --dry-run, an estimate.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CompactResult {
    /// Whether this is an estimate, and the store was not changed.
    dry_run: bool,
    /// The number of segments that are merged into one.
    merged_segments: usize,
    segment_bytes_before: u64,
    catalog_bytes_before: u64,
    /// The size of the segments afterwards, in bytes; null for an estimate.
    segment_bytes: Option<u64>,
    catalog_bytes: Option<u64>,
    freed_bytes: u64,
    /// The free space that the compaction needs temporarily, in bytes.
    temporary_bytes: u64,
}
