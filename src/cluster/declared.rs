//! The pages that other pages declare as canonical, for
//! [`RankingRule::Canonical`](super::RankingRule::Canonical).
//!
//! A pass over the pages in SURT order looks up the canonical page of each page that declares one, and
//! sorts the locations of canonical pages that are near. The next passes read the sorted locations of
//! each component beside its pages. Only scratch files grow with the number of pages.

use std::collections::BTreeMap;

use super::clustering::Clustering;
use super::column::SpillColumn;
use super::gather::each_page;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::progress::Progress;
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::sort::Workspace;

/// The number of locations that are read at a time.
const READ: u32 = 512;

/// The locations of pages that a near page declares as canonical.
#[derive(Debug)]
pub(super) struct DeclaredPages {
    /// The locations in order, without duplicates.
    column: SpillColumn<u64>,
    /// The next location of each component.
    cursors: BTreeMap<u64, LocationCursor>,
}

/// A position among the locations.
#[derive(Debug, Default)]
struct LocationCursor {
    /// The location that was looked up last.
    last: u64,
    /// Locations that were read, and the number of the first location after them.
    read: Vec<u64>,
    next: u32,
    /// The index of the next location in `read`.
    at: usize,
}

impl DeclaredPages {
    /// Finds the pages that a near selected page declares as canonical. Reads nothing if the ranking
    /// does not use them.
    pub(super) fn of(
        (snapshot, asked, filter): (&Snapshot, &Clustering, &InForceFilter),
        work: &Workspace,
        progress: &Progress,
    ) -> Result<DeclaredPages> {
        let mut column = SpillColumn::new(work, work.part(16));
        if filter.with_target {
            let k = asked.distance(snapshot, filter.epoch);
            let mut sorter = work.sorter(4);
            let _without = each_page(snapshot, filter, progress, |_, taken| {
                let Some(target) = &taken.target else { return Ok(()) };
                match filter.page(snapshot, target)? {
                    Some(other) if is_near(taken, &other, k) => {
                        sorter.push(other.location.to_bits())
                    }
                    _ => Ok(()),
                }
            })?;
            let (mut sorted, mut last) = (sorter.finish()?, None);
            while let Some(location) = sorted.next()? {
                if last != Some(location) {
                    column.push(location)?;
                    last = Some(location);
                }
            }
        }
        Ok(DeclaredPages { column, cursors: BTreeMap::new() })
    }

    /// Whether a near page declares the page at a location. Fast if the locations of each component
    /// come in order.
    pub(super) fn has(&mut self, location: u64) -> Result<bool> {
        if self.column.len() == 0 {
            return Ok(false);
        }
        let cursor = self.cursors.entry(location >> 32).or_default();
        if cursor.next == 0 || location < cursor.last {
            let next = self.column.partition_point(|known| *known < location)?;
            *cursor = LocationCursor { next, ..LocationCursor::default() };
        }
        cursor.last = location;
        loop {
            match cursor.read.get(cursor.at) {
                Some(found) if *found >= location => return Ok(*found == location),
                Some(_) => cursor.at += 1,
                None => {
                    let end = cursor.next.saturating_add(READ).min(self.column.len());
                    if cursor.next == end {
                        return Ok(false);
                    }
                    cursor.read.resize((end - cursor.next) as usize, 0);
                    self.column.read(cursor.next..end, &mut cursor.read)?;
                    (cursor.next, cursor.at) = (end, 0);
                }
            }
        }
    }
}

/// Whether two pages are near each other.
pub(super) fn is_near(one: &InForcePage, other: &InForcePage, k: u32) -> bool {
    one.distance_to(other).is_some_and(|distance| distance <= k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn locations_are_found_in_any_order(
            known in prop::collection::btree_set((0_u64..4, 0_u64..3000), 0..2000),
            sought in prop::collection::vec((0_u64..5, 0_u64..3000), 0..300),
            in_order: bool,
        ) {
            let work = Workspace::new(None, 1 << 20);
            let bits = |(component, page): (u64, u64)| component << 32 | page;
            let mut column = SpillColumn::new(&work, 1 << 12);
            column.append(known.iter().copied().map(bits)).unwrap();
            let mut declared = DeclaredPages { column, cursors: BTreeMap::new() };
            let mut sought = sought;
            if in_order {
                // Pages of several components come in SURT order.
                sought.sort_unstable_by_key(|(component, page)| (*page, *component));
            }
            for location in sought {
                prop_assert_eq!(declared.has(bits(location)).unwrap(), known.contains(&location));
            }
        }
    }
}
