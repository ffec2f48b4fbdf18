//! A page with nearly the same content as another one, and what it is ranked by among such pages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bug::OrBug;
use crate::engine::component::{Component, PageLocation};
use crate::engine::first_seen::Since;
use crate::engine::lookup::Lookup;
use crate::engine::search::FromHit;
use crate::engine::search::query::Near;
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::page::{Head, Weight};
use crate::time::Time;

/// A page that a search found for an observation.
pub(crate) struct RankedHit {
    pub(crate) near: Near,
    pub(crate) weight: Weight,
    since: Since,
    /// Where its newest record stands.
    standing: PageLocation,
}

impl FromHit for RankedHit {
    const WANTS_HEAD: bool = true;

    fn of(near: Near, head: Option<&Head>, standing: PageLocation) -> Result<RankedHit> {
        let head = head.ok_or_else(|| {
            let what = format!("a fingerprint says that {} is known", near.url);
            Error::corrupt("segments", 0, what)
        })?;
        let (weight, since) = (head.properties.weight(), Since::of(head));
        Ok(RankedHit { near, weight, since, standing })
    }

    fn near(&self) -> &Near {
        &self.near
    }
}

impl RankedHit {
    /// When the page was first seen with what it has in force. Reads its entries until then, unless its
    /// head told, or somebody asked before.
    pub(crate) fn since(&self, view: &View) -> Result<Time> {
        let PageLocation { component, page } = self.standing;
        let read = || {
            self.since.ask(|in_force| {
                view.first_seen(&Lookup::new(&self.near.url, view.seed), u64::MAX, in_force)
            })
        };
        if self.since.is_known() {
            return read();
        }
        match view.component(component)? {
            Component::Segment(_, live) => live.since.get_or(page, read),
            Component::Memtable(_, memtable) => {
                // What the page has in force, and since when, changes only with another entry.
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

    /// A time before which that was not. Reads nothing.
    fn earliest(&self) -> Time {
        self.since.earliest()
    }

    /// Of pages in SURT order the first `limit` by when each was first seen with what it has in force,
    /// and then in that order; each with that time. Reads entries of those alone that may be among them.
    pub(crate) fn first_of(
        all: Vec<RankedHit>,
        limit: usize,
        view: &View,
    ) -> Result<Vec<(Time, RankedHit)>> {
        let earliest = |(place, one): (usize, &RankedHit)| Reverse((one.earliest(), place));
        let mut next: BinaryHeap<_> = all.iter().enumerate().map(earliest).collect();
        let mut all: Vec<Option<RankedHit>> = all.into_iter().map(Some).collect();
        let mut first = Vec::with_capacity(limit.min(all.len()));
        while first.len() < limit
            && let Some(Reverse((time, place))) = next.pop()
        {
            let slot = all.get_mut(place).or_bug("a place is one of all")?;
            let one = slot.as_mut().or_bug("a page is taken once")?;
            let since = one.since(view)?;
            if since > time {
                one.since = Since::Known(since);
                next.push(Reverse((since, place)));
            } else {
                first.extend(slot.take().map(|one| (since, one)));
            }
        }
        Ok(first)
    }
}
