//! The pairs of some fingerprints with those of all components, by a search for each.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::fingerprint_pairs::Fingerprints;
use super::pairs::NearPair;
use crate::bug::OrBug;
use crate::engine::search::query::Query;
use crate::engine::search::shown::Shown;
use crate::engine::search::widen::wanted;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::Epoch;
use crate::progress::{Progress, Stage};
use crate::threads::{share, up_to};

/// Fingerprints searched for together: few, since each may be near thousands.
const TOGETHER: usize = 256;

/// Fingerprints of which it is told together whether a page shows them.
const SHOWN: usize = 1 << 12;

/// All pairs of one of some fingerprints and a different one that a page shows.
pub(crate) fn pairs_with(
    snapshot: &Snapshot,
    fingerprints: &[u64],
    like: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, Some(fingerprints.len() as u64))?;
    let shown = Shown::new(snapshot, wanted(snapshot, like)?)?;
    let ended = AtomicBool::new(false);
    let run = |(): &mut (), some: &[u64]| -> Result<()> {
        if ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        let pairs = progress.check().and_then(|()| shown.pairs_with(some));
        let flow = match &pairs {
            Ok(pairs) if pairs.is_empty() => ControlFlow::Continue(()),
            Ok(pairs) => sink(pairs),
            Err(_) => ControlFlow::Break(()),
        };
        if flow.is_break() {
            ended.store(true, Ordering::Relaxed);
        }
        progress.find(pairs?.len() as u64);
        progress.pass(some.len() as u64);
        Ok(())
    };
    share(fingerprints.chunks(TOGETHER), up_to(like.threads), || (), run)
        .into_iter()
        .collect::<Result<()>>()?;
    if !ended.into_inner() {
        progress.finish();
    }
    // Whoever takes them may have had enough.
    progress.check()
}

impl Shown<'_> {
    /// The pairs of one of these and a different one that a page shows.
    fn pairs_with(&self, fingerprints: &[u64]) -> Result<Vec<NearPair>> {
        let mask = Epoch(self.wanted.epoch).mask();
        let given: Vec<u64> = fingerprints.iter().map(|given| given & mask).collect();
        let mut near = self.columns.near(&given, self.wanted.epoch, self.wanted.k)?;
        near.retain(|(_, _, candidate)| candidate.distance > 0);
        let found = Fingerprints::new(
            near.iter().map(|&(_, ordinal, c)| (ordinal, c.fingerprint)).collect(),
        );
        let mut is_shown = Vec::with_capacity(found.0.len());
        for some in found.0.chunks(SHOWN) {
            is_shown.append(&mut self.of(some)?);
        }
        let mut pairs = Vec::with_capacity(near.len());
        for (place, ordinal, candidate) in near {
            let is_shown = is_shown.get(found.place(ordinal)).copied();
            if is_shown.or_bug("each that was found was looked at")? {
                let given = given.get(place).copied().or_bug("it is near one of those given")?;
                let (other, distance) = (candidate.fingerprint, candidate.distance.into());
                let (left, right) = (given.min(other), given.max(other));
                pairs.push(NearPair { left, right, distance });
            }
        }
        Ok(pairs)
    }
}
