//! The totals of a store.

use std::fmt;

use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::layout::Delta;

/// The totals of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreTotals {
    /// The number of pages with a visit.
    pub(crate) pages: u64,
    /// The number of visits to these pages.
    pub(crate) visits: u64,
    /// The number of pages with content in force.
    pub(crate) in_force: u64,
    /// The number of pages that are gone.
    pub(crate) gone: u64,
}

impl StoreTotals {
    /// Computes the totals of a snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the segments and the journal remove more than they add.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<StoreTotals> {
        let mut sum = Some(Delta::default());
        for component in snapshot.view.components() {
            let delta = component.delta(snapshot.sequence)?;
            sum = sum.and_then(|sum| sum.plus(delta));
        }
        let what = "the total numbers of pages and visits in the segments are impossible";
        sum.and_then(StoreTotals::from_delta).ok_or_else(|| Error::corrupt("segments", 0, what))
    }

    /// Converts the sum of all changes; `None` if the sum is impossible.
    pub(crate) fn from_delta(sum: Delta) -> Option<StoreTotals> {
        let Delta { pages, visits, in_force, gone } = sum;
        let counted = StoreTotals {
            pages: pages.try_into().ok()?,
            visits: visits.try_into().ok()?,
            in_force: in_force.try_into().ok()?,
            gone: gone.try_into().ok()?,
        };
        let seen = counted.in_force.checked_add(counted.gone)?;
        (seen <= counted.pages).then_some(counted)
    }
}

impl fmt::Display for StoreTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoreTotals { pages, visits, in_force, gone } = self;
        write!(f, "{pages} pages, {in_force} in force and {gone} gone, with {visits} visits")
    }
}
