//! All pairs of fingerprints that are near each other, across the components.

use std::ops::{ControlFlow, Range};

use super::widen::wanted;
use super::{Wanted, segment_hits};
use crate::bug::{Bug, OrBug, ensure};
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair, Source};
use crate::segment::EpochTables;
use crate::store::component::{Component, ComponentId};
use crate::store::query::{NearPair, Query};
use crate::store::snapshot::Snapshot;
use crate::store::view::View;
use crate::sync::Mutex;

/// How many pairs ahead to prefetch.
const AHEAD: usize = 16;

/// The fingerprints of all components, one after another, the oldest first. Several components may
/// have a fingerprint.
struct Columns<'v> {
    columns: Vec<(ComponentId, Column<'v>)>,
    /// Where each of them begins, and then the end.
    starts: Vec<u32>,
}

/// What one component has.
enum Column<'v> {
    Tables(&'v EpochTables),
    Memory(Vec<u64>),
}

impl<'v> Columns<'v> {
    fn new(view: &'v View, epoch: u32) -> Result<Columns<'v>> {
        let (mut columns, mut starts, mut end) = (Vec::new(), vec![0], 0_u32);
        for component in view.components().rev() {
            let (column, len) = match component {
                Component::Segment(_, live) => {
                    let Some(tables) = live.tables(epoch) else { continue };
                    (Column::Tables(tables), tables.tables.len() as usize)
                }
                Component::Memtable(_, memtable) => {
                    let all = memtable.read().all_fingerprints(epoch);
                    let len = all.len();
                    (Column::Memory(all), len)
                }
            };
            let sum = u32::try_from(len).ok().and_then(|len| end.checked_add(len));
            end = sum.ok_or(Error::Limit {
                what: "fingerprints to find all pairs of",
                max: u32::MAX.into(),
                instead: "look for what is near to some of them",
            })?;
            columns.push((component.id(), column));
            starts.push(end);
        }
        Ok(Columns { columns, starts })
    }

    /// The column that an ordinal lies in, by number, and its ordinal there.
    #[expect(clippy::indexing_slicing, reason = "the first begins at 0, before any ordinal")]
    fn place(&self, ordinal: u32) -> (usize, u32) {
        let number = self.starts.partition_point(|start| *start <= ordinal) - 1;
        (number, ordinal - self.starts[number])
    }

    /// Where a column ends.
    fn end(&self, number: usize) -> Result<u32, Bug> {
        self.starts.get(number + 1).copied().or_bug("an ordinal lies before the end of all")
    }

    fn column(&self, number: usize) -> Result<&(ComponentId, Column<'v>), Bug> {
        self.columns.get(number).or_bug("an ordinal lies in a column")
    }

    /// The fingerprints in place, if they are all in one component.
    fn in_place(&self, ordinals: &Range<u32>) -> Result<Option<&[u64]>> {
        let (number, from) = self.place(ordinals.start);
        let end = from + (ordinals.end - ordinals.start);
        if ordinals.end > self.end(number)? {
            return Ok(None);
        }
        match &self.column(number)?.1 {
            Column::Tables(tables) => tables.fingerprints_in_place(from..end),
            Column::Memory(all) => {
                let there = all.get(from as usize..end as usize);
                Ok(Some(there.or_bug("a column is as long as it was")?))
            }
        }
    }

    /// Fills `out` with fingerprints of one column.
    fn fill(&self, number: usize, from: u32, out: &mut [u64]) -> Result<()> {
        match &self.column(number)?.1 {
            Column::Tables(tables) => tables.fingerprints(from, out),
            Column::Memory(all) => {
                let from = from as usize;
                let there = all.get(from..from + out.len());
                out.copy_from_slice(there.or_bug("a column is as long as it was")?);
                Ok(())
            }
        }
    }

    /// Prefetches what is read of a pair.
    fn prefetch(&self, pair: &Pair) {
        for ordinal in [pair.left, pair.right] {
            let (number, own) = self.place(ordinal);
            if let Some((_, Column::Tables(tables))) = self.columns.get(number) {
                tables.prefetch_posting(own);
            }
        }
    }
}

impl Source for Columns<'_> {
    type Error = Error;

    fn len(&self) -> u32 {
        // There is one, if it is the only one.
        self.starts.last().copied().unwrap_or(0)
    }

    fn read<'a>(&'a self, ordinals: Range<u32>, buffer: &'a mut [u64]) -> Result<&'a [u64]> {
        if let Some(fingerprints) = self.in_place(&ordinals)? {
            return Ok(fingerprints);
        }
        let mut rest = &mut *buffer;
        let mut at = ordinals.start;
        while at < ordinals.end {
            let (number, from) = self.place(at);
            let count = self.end(number)?.min(ordinals.end) - at;
            let room = rest.split_at_mut_checked(count as usize);
            let (now, later) = room.or_bug("there is room for as many as are read")?;
            self.fill(number, from, now)?;
            (rest, at) = (later, at + count);
        }
        ensure(rest.is_empty(), "there is room for as many as are read")?;
        Ok(buffer)
    }
}

/// All pairs of near fingerprints.
pub(in crate::store) fn all_pairs(
    snapshot: &Snapshot,
    like: &Query,
    progress: &Progress,
    sink: impl Fn(&[NearPair]) -> ControlFlow<()> + Sync,
) -> Result<()> {
    progress.start(Stage::Joining, None)?;
    let wanted = Wanted { bounds: None, ..wanted(snapshot, like)? };
    let columns = Columns::new(&snapshot.view, wanted.epoch)?;
    // What comes to a memtable later is not in this snapshot.
    let quiet = snapshot.view.memtables.iter().all(|memtable| memtable.is_untouched());
    let alone = match &*snapshot.view.segments {
        [only] if quiet && wanted.is_of_all_in_force() => only.tables(wanted.epoch),
        _ => None,
    };
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let pairs = |pairs: &[Pair]| {
        let mut near = Vec::with_capacity(pairs.len());
        let mut ahead = pairs.iter();
        ahead.by_ref().take(AHEAD).for_each(|pair| columns.prefetch(pair));
        for pair in pairs {
            ahead.next().into_iter().for_each(|pair| columns.prefetch(pair));
            match near_pair(snapshot, &columns, alone, &wanted, pair) {
                Ok(found) => near.extend(found),
                Err(error) => {
                    *failed.lock() = Some(error);
                    return ControlFlow::Break(());
                }
            }
        }
        progress.find(near.len() as u64);
        if near.is_empty() { ControlFlow::Continue(()) } else { sink(&near) }
    };
    let flow = Join::within(wanted.k).run(&columns, progress, pairs)?;
    match failed.into_inner() {
        Some(error) => Err(error),
        // Whoever takes them may have had enough.
        None if flow.is_break() => progress.check(),
        None => Ok(()),
    }
}

/// The pair to pass on: only once, and only if both fingerprints have a page. `alone` are the only
/// tables, if these know by themselves what is in force.
fn near_pair(
    snapshot: &Snapshot,
    columns: &Columns<'_>,
    alone: Option<&EpochTables>,
    wanted: &Wanted<'_>,
    pair: &Pair,
) -> Result<Option<NearPair>> {
    if pair.distance == 0 {
        // One fingerprint in two components.
        return Ok(None);
    }
    for (fingerprint, ordinal) in pair.fingerprints.into_iter().zip([pair.left, pair.right]) {
        let wanted = Wanted { fingerprint, k: 0, ..*wanted };
        let is_shown = match alone {
            // The only component says by itself what is in force.
            Some(tables) => tables.is_in_force(ordinal)?,
            None => is_first_and_shown(snapshot, columns, &wanted, ordinal)?,
        };
        if !is_shown {
            return Ok(None);
        }
    }
    let [one, other] = pair.fingerprints;
    let (left, right) = (one.min(other), one.max(other));
    Ok(Some(NearPair { left, right, distance: pair.distance }))
}

/// Whether no earlier component has the fingerprint, and a wanted page has it.
fn is_first_and_shown(
    snapshot: &Snapshot,
    columns: &Columns<'_>,
    wanted: &Wanted<'_>,
    ordinal: u32,
) -> Result<bool> {
    let (component, _) = *columns.column(columns.place(ordinal).0)?;
    let mut found = segment_hits(&snapshot.view.segments, wanted)?;
    snapshot.view.add_memory(wanted, &mut found);
    let is_first = found.hits.iter().all(|hit| hit.component >= component);
    Ok(is_first && snapshot.view.is_shown(wanted, snapshot.sequence, &found.hits)?)
}
