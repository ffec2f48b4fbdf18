//! All pairs of fingerprints that are near each other, across the components.

use std::ops::ControlFlow;

use super::pairs::NearPair;
use crate::engine::search::columns::Columns;
use crate::engine::search::query::Query;
use crate::engine::search::shown::Shown;
use crate::engine::search::widen::wanted;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::sync::Mutex;
use crate::threads::up_to;

/// All pairs of near fingerprints.
pub(crate) fn all_pairs(
    snapshot: &Snapshot,
    like: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    let shown = Shown::new(snapshot, wanted(snapshot, like)?)?;
    let join_of = Join::within(shown.wanted.k).threads(up_to(like.threads));
    join(&shown.columns, join_of, progress, |pairs| {
        let near = shown.pairs(pairs)?;
        progress.find(near.len() as u64);
        Ok(if near.is_empty() { ControlFlow::Continue(()) } else { sink(&near) })
    })
}

impl Shown<'_> {
    /// The pairs of which both fingerprints have a page that shows them, each once.
    fn pairs(&self, pairs: &[Pair]) -> Result<Vec<NearPair>> {
        let fingerprints = Fingerprints::of(pairs);
        let shown = self.of(&fingerprints.0)?;
        let is_shown = |ordinal| shown.get(fingerprints.place(ordinal)).copied() == Some(true);
        let both = pairs.iter().filter(|pair| is_shown(pair.left) && is_shown(pair.right));
        Ok(both.filter_map(near_pair).collect())
    }
}

/// Joins all fingerprints with each other. What is done with pairs may fail, which ends the join.
pub(crate) fn join(
    columns: &Columns<'_>,
    join: Join,
    progress: &Progress,
    work: impl Fn(&[Pair]) -> Result<ControlFlow<()>> + Sync,
) -> Result<()> {
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let flow = join.run(columns, progress, |pairs: &[Pair]| {
        work(pairs).unwrap_or_else(|error| {
            *failed.lock() = Some(error);
            ControlFlow::Break(())
        })
    })?;
    match failed.into_inner() {
        Some(error) => Err(error),
        // Whoever takes them may have had enough.
        None if flow.is_break() => progress.check(),
        None => Ok(()),
    }
}

/// A pair to pass on: none of one fingerprint in two components.
fn near_pair(pair: &Pair) -> Option<NearPair> {
    let [one, other] = pair.fingerprints;
    let (left, right) = (one.min(other), one.max(other));
    (pair.distance > 0).then_some(NearPair { left, right, distance: pair.distance })
}

/// The fingerprints of some pairs with their ordinals, each once: a crowd has each in many pairs.
pub(crate) struct Fingerprints(pub(crate) Vec<(u32, u64)>);

impl Fingerprints {
    pub(crate) fn of(pairs: &[Pair]) -> Fingerprints {
        let mut all = Vec::with_capacity(2 * pairs.len());
        for pair in pairs.iter().filter(|pair| pair.distance > 0) {
            let [left, right] = pair.fingerprints;
            all.extend([(pair.left, left), (pair.right, right)]);
        }
        Fingerprints::new(all)
    }

    pub(crate) fn new(mut all: Vec<(u32, u64)>) -> Fingerprints {
        all.sort_unstable();
        all.dedup();
        Fingerprints(all)
    }

    /// The place of one of them.
    pub(crate) fn place(&self, ordinal: u32) -> usize {
        self.0.partition_point(|(other, _)| *other < ordinal)
    }
}
