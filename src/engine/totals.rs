//! What a store knows, in numbers.

use std::fmt;

use crate::bug::OrBug;
use crate::engine::answer::{SegmentStats, Stats};
use crate::engine::files::has_table;
use crate::engine::memtable::PageOf;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::layout::Delta;
use crate::page::{Entry, EpochInfo, Role, in_use};

impl Stats {
    /// Sizes of what is seen; those of the catalog's file are for others to say.
    pub(crate) fn of(snapshot: &Snapshot, epoch_visits: u64) -> Result<Stats> {
        let mut stats = Stats {
            epochs: snapshot.epochs().to_vec(),
            sequence: snapshot.sequence,
            ..Stats::default()
        };
        for live in snapshot.view.segments.iter() {
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
        for memtable in &snapshot.view.memtables {
            let inner = memtable.read();
            let visits = |page: PageOf<'_>| {
                page.entries_at(snapshot.sequence).filter(Entry::is_visit).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        let Totals { pages, visits, .. } = Totals::of(snapshot)?;
        (stats.pages, stats.visits) = (pages, visits);
        // There may be fewer visits than when it began, since some were forgotten.
        let since = |info: &EpochInfo| stats.visits.saturating_sub(info.begun);
        let in_use =
            || Role::USES.into_iter().filter_map(|is_for| in_use(snapshot.epochs(), is_for));
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
    /// How much is known.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the segments and the journal take away more than there was.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Totals> {
        let mut sum = Some(Delta::default());
        for component in snapshot.view.components() {
            let delta = component.delta(snapshot.sequence)?;
            sum = sum.and_then(|sum| sum.plus(delta));
        }
        let what = "the sums of their pages and visits are impossible";
        sum.and_then(Totals::from_delta).ok_or_else(|| Error::corrupt("segments", 0, what))
    }

    /// That to which all changes come together; `None` if that is impossible.
    pub(crate) fn from_delta(sum: Delta) -> Option<Totals> {
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
