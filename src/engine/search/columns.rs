//! The fingerprints of all components as one column, for the join, and lookup of a fingerprint in
//! the components.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Hit;
use crate::bug::{Bug, OrBug, ensure};
use crate::engine::component::{Component, ComponentId};
use crate::engine::memtable::Memtable;
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::search::{Candidate, Source};
use crate::segment::EpochTables;
use crate::threads::{run_jobs, up_to};

/// The number of fingerprints that a thread takes at a time.
const SOME: u32 = 1 << 12;

/// The fingerprints of all components, one after another, the oldest component first. Several
/// components may have the same fingerprint.
pub(crate) struct FingerprintColumns<'v> {
    columns: Vec<(ComponentId, ComponentColumn<'v>)>,
    /// The start of each column, followed by the end of the last column.
    starts: Vec<u32>,
}

/// The fingerprints of one component.
enum ComponentColumn<'v> {
    Tables(&'v EpochTables),
    Memory(&'v Memtable, Vec<u64>),
}

impl<'v> FingerprintColumns<'v> {
    pub(crate) fn new(view: &'v View, epoch: u32) -> Result<FingerprintColumns<'v>> {
        let (mut columns, mut starts, mut end) = (Vec::new(), vec![0], 0_u32);
        // The oldest component comes first, so that `components_with` meets the oldest component of a
        // fingerprint before any other.
        for component in view.components().rev() {
            let (column, len) = match component {
                Component::Segment(_, live) => {
                    let Some(tables) = live.tables(epoch) else { continue };
                    (ComponentColumn::Tables(tables), tables.tables.len() as usize)
                }
                Component::Memtable(_, memtable) => {
                    // The fingerprints are copied: the memtable may grow during the join, and a
                    // source must always have the same length.
                    let all = memtable.read().all_fingerprints(epoch);
                    let len = all.len();
                    (ComponentColumn::Memory(memtable, all), len)
                }
            };
            let sum = u32::try_from(len).ok().and_then(|len| end.checked_add(len));
            // A join numbers fingerprints with 32 bits, over all components together.
            end = sum.ok_or(Error::Limit {
                what: "a batch of fingerprints",
                max: u32::MAX.into(),
                instead: "restrict the query to a prefix, or search for the pages near some \
                     fingerprints",
            })?;
            columns.push((component.id(), column));
            starts.push(end);
        }
        Ok(FingerprintColumns { columns, starts })
    }

    /// The number of the column that contains an ordinal, and the ordinal within that column.
    #[expect(clippy::indexing_slicing, reason = "the first begins at 0, before any ordinal")]
    fn place(&self, ordinal: u32) -> (usize, u32) {
        // This is the last start at or before the ordinal, so empty columns (with equal starts) are
        // skipped.
        let number = self.starts.partition_point(|start| *start <= ordinal) - 1;
        (number, ordinal - self.starts[number])
    }

    /// The end of a column.
    fn end(&self, number: usize) -> Result<u32, Bug> {
        self.starts
            .get(number + 1)
            .copied()
            .or_bug("each ordinal is below the total number of fingerprints")
    }

    fn column(&self, number: usize) -> Result<&(ComponentId, ComponentColumn<'v>), Bug> {
        self.columns.get(number).or_bug("each ordinal belongs to a column")
    }

    /// The fingerprints without a copy, if they are all in one component.
    fn in_place(&self, ordinals: &Range<u32>) -> Result<Option<&[u64]>> {
        let (number, from) = self.place(ordinals.start);
        let end = from + (ordinals.end - ordinals.start);
        // The range spans two columns, whose fingerprints are not adjacent in memory: `read` copies
        // them instead.
        if ordinals.end > self.end(number)? {
            return Ok(None);
        }
        match &self.column(number)?.1 {
            ComponentColumn::Tables(tables) => tables.fingerprints_in_place(from..end),
            ComponentColumn::Memory(_, all) => {
                let there = all.get(from as usize..end as usize);
                Ok(Some(there.or_bug("the length of a column does not change")?))
            }
        }
    }

    /// Fills `out` with fingerprints of one column.
    fn fill(&self, number: usize, from: u32, out: &mut [u64]) -> Result<()> {
        match &self.column(number)?.1 {
            ComponentColumn::Tables(tables) => tables.fingerprints(from, out),
            ComponentColumn::Memory(_, all) => {
                let from = from as usize;
                let there = all.get(from..from + out.len());
                out.copy_from_slice(there.or_bug("the length of a column does not change")?);
                Ok(())
            }
        }
    }

    /// Passes all fingerprints to `work` in chunks, each with its ordinal, on up to `threads`
    /// cores, until `work` breaks.
    pub(crate) fn each(
        &self,
        threads: usize,
        progress: &Progress,
        work: impl Fn(&[(u32, u64)]) -> Result<ControlFlow<()>> + Sync,
    ) -> Result<ControlFlow<()>> {
        let n = u64::from(self.len());
        progress.begin(Stage::Joining, Some(n));
        let threads = up_to(threads);
        // The counter has 64 bits: threads may add past the end before they stop, which could wrap
        // 32 bits.
        let (next, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let some = |ordinals: Range<u32>| {
            let mut buffer = vec![0; (ordinals.end - ordinals.start) as usize];
            let fingerprints = self.read(ordinals.clone(), &mut buffer)?;
            let some: Vec<_> = ordinals.zip(fingerprints.iter().copied()).collect();
            work(&some)
        };
        let run = |(): &mut (), _: usize| -> Result<()> {
            // `Relaxed` is enough: a late look at the flag costs one more chunk, and results are
            // joined by `share`.
            while !ended.load(Ordering::Relaxed) {
                progress.check()?;
                let from = next.fetch_add(SOME.into(), Ordering::Relaxed);
                let ordinal =
                    |at: u64| u32::try_from(at.min(n)).ok().or_bug("each ordinal fits in 32 bits");
                let range = ordinal(from)?..ordinal(from + u64::from(SOME))?;
                if range.is_empty() {
                    break;
                }
                let passed = u64::from(range.end - range.start);
                let flow = some(range);
                // An error stops the other threads too, before it is returned.
                if !matches!(flow, Ok(ControlFlow::Continue(()))) {
                    ended.store(true, Ordering::Relaxed);
                }
                let _: ControlFlow<()> = flow?;
                progress.pass(passed);
            }
            Ok(())
        };
        run_jobs(0..threads, threads, || (), run).into_iter().collect::<Result<()>>()?;
        Ok(if ended.into_inner() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The fingerprints within `k` bits of each given fingerprint, in each component. Each result
    /// has its ordinal and the index of the given fingerprint.
    pub(crate) fn near(
        &self,
        fingerprints: &[u64],
        epoch: u32,
        k: u32,
    ) -> Result<Vec<(usize, u32, Candidate)>> {
        let mut found = Vec::new();
        for ((_, column), start) in self.columns.iter().zip(&self.starts) {
            let mut find = |place: usize, candidate: Candidate| {
                found.push((place, start + candidate.ordinal, candidate));
            };
            match column {
                ComponentColumn::Tables(tables) => tables.find_each(fingerprints, k, &mut find)?,
                ComponentColumn::Memory(_, all) if all.is_empty() => {}
                ComponentColumn::Memory(memtable, all) => {
                    // One read lock serves the whole batch; writers wait meanwhile.
                    let (inner, mut near) = (memtable.read(), Vec::new());
                    for (place, fingerprint) in fingerprints.iter().enumerate() {
                        inner.near(epoch, *fingerprint, k, &mut near);
                        // Fingerprints that arrived after the copy have no ordinal in this source.
                        let here = near.drain(..).filter(|c| (c.ordinal as usize) < all.len());
                        here.for_each(|candidate| find(place, candidate));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Prefetches the posting of a fingerprint.
    pub(crate) fn prefetch(&self, ordinal: u32) {
        let (number, own) = self.place(ordinal);
        if let Some((_, ComponentColumn::Tables(tables))) = self.columns.get(number) {
            tables.prefetch_posting(own);
        }
    }

    /// Finds all components with each of the given fingerprints, which come with their ordinals.
    /// The result is empty for a fingerprint if a component older than the component of its ordinal
    /// has it. So exactly one of a fingerprint's ordinals has a result. The result is in the order
    /// of the given fingerprints, the oldest component first.
    ///
    /// Does not search the component of the ordinal; other components are searched for many
    /// fingerprints at once.
    #[expect(clippy::indexing_slicing, reason = "each index is the index of a fingerprint")]
    pub(crate) fn components_with(
        &self,
        fingerprints: &[(u32, u64)],
        epoch: u32,
    ) -> Result<Vec<(usize, Hit)>> {
        let homes: Vec<(usize, u32)> = fingerprints.iter().map(|f| self.place(f.0)).collect();
        let mut hits: Vec<(usize, Hit)> = Vec::with_capacity(fingerprints.len());
        let mut is_again = vec![false; fingerprints.len()];
        // The oldest component comes first. So `is_again` is set before a newer component could add
        // a hit.
        for (number, (component, column)) in self.columns.iter().enumerate() {
            let component = *component;
            let mut asked: Vec<usize> = Vec::new();
            for (place, &(home, ordinal)) in homes.iter().enumerate() {
                // The component of the ordinal is known to have the fingerprint, so it is not
                // searched.
                if home == number && !is_again[place] {
                    let fingerprint = fingerprints[place].1;
                    let candidate = Candidate { ordinal, fingerprint, distance: 0 };
                    hits.push((place, Hit { candidate, component }));
                } else if !is_again[place] {
                    asked.push(place);
                }
            }
            let queries: Vec<u64> = asked.iter().map(|&place| fingerprints[place].1).collect();
            let mut find = |asked_for: usize, candidate: Candidate| {
                let place = asked[asked_for];
                // An older component has the fingerprint as well, so the fingerprint is reported at
                // the ordinal of that component.
                if number < homes[place].0 {
                    is_again[place] = true;
                } else {
                    hits.push((place, Hit { candidate, component }));
                }
            };
            match column {
                ComponentColumn::Tables(tables) => tables.find_each(&queries, 0, &mut find)?,
                ComponentColumn::Memory(_, all) if all.is_empty() => {}
                ComponentColumn::Memory(memtable, _) => {
                    let (inner, mut equal) = (memtable.read(), Vec::new());
                    for (asked_for, query) in queries.iter().enumerate() {
                        inner.near(epoch, *query, 0, &mut equal);
                        equal.drain(..).for_each(|candidate| find(asked_for, candidate));
                    }
                }
            }
        }
        // Hits came component by component; callers take hits by index.
        hits.sort_unstable_by_key(|(place, hit)| (*place, hit.component));
        Ok(hits)
    }
}

impl Source for FingerprintColumns<'_> {
    type Error = Error;

    fn len(&self) -> u32 {
        // `starts` always contains the 0, so the default is never used.
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
            // Reads up to the end of this column. The loop continues in the next column.
            let count = self.end(number)?.min(ordinals.end) - at;
            let room = rest.split_at_mut_checked(count as usize);
            let (now, later) =
                room.or_bug("the buffer has room for the fingerprints that are read")?;
            self.fill(number, from, now)?;
            (rest, at) = (later, at + count);
        }
        ensure(rest.is_empty(), "the buffer has room for the fingerprints that are read")?;
        Ok(buffer)
    }
}
