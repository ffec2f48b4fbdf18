//! All different fingerprints that some page shows, across the components.

use std::ops::ControlFlow;

use super::query::Query;
use super::shown::Shown;
use super::widen::wanted;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::progress::{Progress, Stage};

/// All different fingerprints.
pub(crate) fn all_fingerprints(
    snapshot: &Snapshot,
    like: &Query,
    progress: &Progress,
    sink: impl Fn(&[u64]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    let shown = Shown::new(snapshot, wanted(snapshot, like)?)?;
    let flow = shown.columns.each(like.threads, progress, |some| {
        let is_shown = shown.of(some)?.into_iter();
        let found = some.iter().zip(is_shown).filter(|(_, shown)| *shown);
        let found: Vec<u64> = found.map(|((_, fingerprint), _)| *fingerprint).collect();
        progress.find(found.len() as u64);
        Ok(if found.is_empty() { ControlFlow::Continue(()) } else { sink(&found) })
    })?;
    if flow.is_continue() {
        progress.finish();
    }
    // Whoever takes them may have had enough.
    progress.check()
}
