//! Pages that a search found, in the order in which they were first seen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::FromHit;
use super::query::NearMatch;
use crate::bug::OrBug;
use crate::engine::component::{Component, PageAddress};
use crate::engine::first_seen::InForceSince;
use crate::engine::lookup::Lookup;
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::page::{PageHead, Weight};
use crate::time::Time;

/// A page that a search found, with the data for ranking.
pub(crate) struct RankedHit {
    pub(crate) near: NearMatch,
    pub(crate) weight: Weight,
    since: InForceSince,
    /// The location of the page's newest record.
    location: PageAddress,
}

impl FromHit for RankedHit {
    const WANTS_HEAD: bool = true;

    fn of(near: NearMatch, head: Option<&PageHead>, location: PageAddress) -> Result<RankedHit> {
        let head = head.ok_or_else(|| {
            let what = format!("a fingerprint refers to {}, but the page has no record", near.url);
            Error::corrupt("segments", 0, what)
        })?;
        let (weight, since) = (head.properties.weight(), InForceSince::of(head));
        Ok(RankedHit { near, weight, since, location })
    }

    fn near(&self) -> &NearMatch {
        &self.near
    }
}

impl RankedHit {
    /// The time when the page was first seen with its content in force, as of a sequence number.
    /// Reads the page's entries up to that time, unless its head has the time, or the time is
    /// cached.
    pub(crate) fn since(&self, view: &View, sequence: u64) -> Result<Time> {
        let PageAddress { component, page } = self.location;
        let read = || {
            self.since.resolve(|in_force| {
                view.first_seen(&Lookup::new(&self.near.url, view.seed), sequence, in_force)
            })
        };
        if self.since.is_known() {
            return read();
        }
        match view.component(component)? {
            Component::Segment(_, live) => live.since.get_or(page, read),
            // The cached times are those of the newest state.
            Component::Memtable(..) if sequence < u64::MAX => read(),
            Component::Memtable(_, memtable) => {
                // The content in force, and the time when it was first seen, change only with
                // another entry.
                let last = memtable.read().page(page).last_arrival();
                match memtable.since.get(page) {
                    Some((of, since)) if of == last => Ok(since),
                    _ => {
                        let since = read()?;
                        memtable.since.keep(page, (last, since));
                        Ok(since)
                    }
                }
            }
        }
    }

    /// A lower bound of the time when the page was first seen with its content in force. Reads
    /// nothing.
    fn earliest(&self) -> Time {
        self.since.earliest()
    }

    /// Selects the first `limit` pages by the time when each was first seen with its content in
    /// force; pages with equal times come in SURT order. `all` must be in SURT order. Returns each
    /// page with its time. Reads entries only of pages that may be among the first.
    pub(crate) fn first_of(
        all: Vec<RankedHit>,
        limit: usize,
        (view, sequence): (&View, u64),
    ) -> Result<Vec<(Time, RankedHit)>> {
        let earliest = |(place, one): (usize, &RankedHit)| Reverse((one.earliest(), place));
        // The heap is ordered by a lower bound, which is free. A page's history is read when the
        // page comes to the top. Reading all histories took 19 ms for a page with 300 mirrors of
        // 3,000 visits each.
        let mut next: BinaryHeap<_> = all.iter().enumerate().map(earliest).collect();
        let mut all: Vec<Option<RankedHit>> = all.into_iter().map(Some).collect();
        let mut first = Vec::with_capacity(limit.min(all.len()));
        while first.len() < limit
            && let Some(Reverse((time, place))) = next.pop()
        {
            let slot = all.get_mut(place).or_bug("each index is the index of a hit")?;
            let one = slot.as_mut().or_bug("each page is taken once")?;
            let since = one.since(view, sequence)?;
            if since > time {
                one.since = InForceSince::Known(since);
                // The page's time is later than its bound, so other pages may come before it. With
                // the exact time the page is not read again.
                next.push(Reverse((since, place)));
            } else {
                first.extend(slot.take().map(|one| (since, one)));
            }
        }
        Ok(first)
    }
}
