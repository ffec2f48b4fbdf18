//! All pairs of fingerprints that are near each other, across the components.

use std::ops::ControlFlow;

use super::columns::Columns;
use super::many::Expected;
use super::resolve::Search;
use super::widen::wanted;
use super::{Hit, Wanted};
use crate::bug::OrBug;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::segment::EpochTables;
use crate::store::pairs::NearPair;
use crate::store::query::Query;
use crate::store::snapshot::Snapshot;
use crate::sync::Mutex;

/// How many pairs ahead to prefetch.
const AHEAD: usize = 16;

/// All pairs of near fingerprints.
pub(in crate::store) fn all_pairs(
    snapshot: &Snapshot,
    like: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    // Of each fingerprint one page is enough.
    let wanted = Wanted { bounds: None, limit: 0, ..wanted(snapshot, like)? };
    let columns = Columns::new(&snapshot.view, wanted.epoch)?;
    // What comes to a memtable later is not in this snapshot.
    let quiet = snapshot.view.memtables.iter().all(|memtable| memtable.is_untouched());
    let alone = match &*snapshot.view.segments {
        [only] if quiet && wanted.is_of_all_in_force() => only.tables(wanted.epoch),
        _ => None,
    };
    join(&columns, wanted.k, progress, |pairs| {
        let near = match alone {
            Some(tables) => in_force(&columns, tables, pairs)?,
            None => shown(snapshot, &columns, &wanted, pairs)?,
        };
        progress.find(near.len() as u64);
        Ok(if near.is_empty() { ControlFlow::Continue(()) } else { sink(&near) })
    })
}

/// Joins all fingerprints with each other. What is done with pairs may fail, which ends the join.
pub(super) fn join(
    columns: &Columns<'_>,
    k: u32,
    progress: &Progress,
    work: impl Fn(&[Pair]) -> Result<ControlFlow<()>> + Sync,
) -> Result<()> {
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let flow = Join::within(k).run(columns, progress, |pairs: &[Pair]| {
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

/// The pairs of which both fingerprints are in force, where the only component says by itself what is.
fn in_force(columns: &Columns<'_>, tables: &EpochTables, pairs: &[Pair]) -> Result<Vec<NearPair>> {
    let mut near = Vec::with_capacity(pairs.len());
    let mut ahead = pairs.iter();
    ahead.by_ref().take(AHEAD).for_each(|pair| columns.prefetch(pair));
    for pair in pairs {
        ahead.next().into_iter().for_each(|pair| columns.prefetch(pair));
        if tables.is_in_force(pair.left)? && tables.is_in_force(pair.right)? {
            near.extend(near_pair(pair));
        }
    }
    Ok(near)
}

/// The pairs of which both fingerprints have a page that shows them, each once.
fn shown(
    snapshot: &Snapshot,
    columns: &Columns<'_>,
    wanted: &Wanted<'_>,
    pairs: &[Pair],
) -> Result<Vec<NearPair>> {
    let mut search = Search::of_all(&snapshot.view, wanted, snapshot.sequence);
    let fingerprints = Fingerprints::of(pairs);
    let hits = columns.holders(&fingerprints.0, wanted.epoch)?;
    let in_order: Vec<Hit> = hits.iter().map(|(_, hit)| *hit).collect();
    let (mut ahead, mut taken) = (Expected::new(&snapshot.view, &in_order), 0);
    let mut is_shown = vec![false; fingerprints.0.len()];
    for hits in hits.chunk_by(|a, b| a.0 == b.0) {
        if let [(place, _), ..] = hits {
            taken += hits.len();
            ahead.until(taken, wanted)?;
            let any = search.any(hits.iter().map(|(_, hit)| hit))?;
            *is_shown.get_mut(*place).or_bug("a place among the fingerprints")? = any;
        }
    }
    let mut near = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let shown = |ordinal| is_shown.get(fingerprints.place(ordinal)).copied() == Some(true);
        if shown(pair.left) && shown(pair.right) {
            near.extend(near_pair(pair));
        }
    }
    Ok(near)
}

/// A pair to pass on: none of one fingerprint in two components.
fn near_pair(pair: &Pair) -> Option<NearPair> {
    let [one, other] = pair.fingerprints;
    let (left, right) = (one.min(other), one.max(other));
    (pair.distance > 0).then_some(NearPair { left, right, distance: pair.distance })
}

/// The fingerprints of some pairs with their ordinals, each once: a crowd has each in many pairs.
pub(super) struct Fingerprints(pub(super) Vec<(u32, u64)>);

impl Fingerprints {
    pub(super) fn of(pairs: &[Pair]) -> Fingerprints {
        let mut all = Vec::with_capacity(2 * pairs.len());
        for pair in pairs.iter().filter(|pair| pair.distance > 0) {
            let [left, right] = pair.fingerprints;
            all.extend([(pair.left, left), (pair.right, right)]);
        }
        all.sort_unstable();
        all.dedup();
        Fingerprints(all)
    }

    /// The place of one of them.
    pub(super) fn place(&self, ordinal: u32) -> usize {
        self.0.partition_point(|(other, _)| *other < ordinal)
    }
}
