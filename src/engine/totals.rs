//! What a store knows, in numbers.

use std::fmt;

use crate::bug::OrBug;
use crate::engine::answer::{SegmentStats, Stats};
use crate::engine::files::has_table;
use crate::engine::memtable::PageOf;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::layout::Delta;
use crate::page::{Entry, Epoch, EpochInfo, Role, in_use};

impl Snapshot {
    /// How much is known.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the segments and the journal take away more than there was.
    pub(crate) fn count(&self) -> Result<Totals> {
        let mut sum = Some(Delta::default());
        for component in self.view.components() {
            let delta = component.delta(self.sequence)?;
            sum = sum.and_then(|sum| sum.plus(delta));
        }
        let what = "the sums of their pages and visits are impossible";
        sum.and_then(Totals::of).ok_or_else(|| Error::corrupt("segments", 0, what))
    }

    /// How many distinct fingerprints of an epoch can be searched. A fingerprint counts once for
    /// each segment that has it. Reads no table.
    pub fn fingerprints(&self, epoch: Epoch) -> u64 {
        self.view.components().map(|component| u64::from(component.fingerprints(epoch.0))).sum()
    }

    /// Sizes of what is seen; those of the catalog's file are for others to say.
    pub(crate) fn sizes(&self, epoch_visits: u64) -> Result<Stats> {
        let mut stats =
            Stats { epochs: self.epochs().to_vec(), sequence: self.sequence, ..Stats::default() };
        for live in self.view.segments.iter() {
            let numbers = live.segment.numbers();
            stats.segment_bytes += live.segment.file_bytes();
            stats.segments.push(SegmentStats {
                id: live.segment.id(),
                pages: numbers.pages,
                visits: numbers.visits,
                fingerprints: numbers.fingerprints,
                bytes: live.segment.file_bytes(),
            });
        }
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            let visits = |page: PageOf<'_>| {
                page.entries_at(self.sequence).filter(Entry::is_visit).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        let Totals { pages, visits, .. } = self.count()?;
        (stats.pages, stats.visits) = (pages, visits);
        // There may be fewer visits than when it began, since some were forgotten.
        let since = |info: &EpochInfo| stats.visits.saturating_sub(info.begun);
        let in_use = || Role::USES.into_iter().filter_map(|is_for| in_use(self.epochs(), is_for));
        stats.epoch_visits = in_use().map(since).min().or_bug("every store has an epoch in use")?;
        let is_due = |info: &EpochInfo| has_table(info) && since(info) >= epoch_visits;
        stats.epoch_due = in_use().any(is_due);
        Ok(stats)
    }
}

/// How much of what there is a store knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Pages with a visit.
    pub(crate) pages: u64,
    /// Those visits.
    pub(crate) visits: u64,
    /// Pages of which a content is in force.
    pub(crate) in_force: u64,
    /// Pages that are gone.
    pub(crate) gone: u64,
}

impl Totals {
    /// That to which all changes come together; `None` if that is impossible.
    pub(crate) fn of(sum: Delta) -> Option<Totals> {
        let Delta { pages, visits, in_force, gone } = sum;
        let counted = Totals {
            pages: pages.try_into().ok()?,
            visits: visits.try_into().ok()?,
            in_force: in_force.try_into().ok()?,
            gone: gone.try_into().ok()?,
        };
        let seen = counted.in_force.checked_add(counted.gone)?;
        (seen <= counted.pages).then_some(counted)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { pages, visits, in_force, gone } = self;
        write!(f, "{pages} pages, {in_force} in force and {gone} gone, with {visits} visits")
    }
}
