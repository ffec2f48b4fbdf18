//! The copies and near pages of observed content, and the original among them.

use std::cell::OnceCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::decide::{PriorPage, RequestContext};
use crate::bug::OrBug;
use crate::engine::component::{Component, PageAddress};
use crate::engine::first_seen::InForceSince;
use crate::engine::lookup::Lookup;
use crate::engine::options::Options;
use crate::engine::results::{ExactCopy, NearDuplicate, Original, OriginalBy};
use crate::engine::search::query::NearMatch;
use crate::engine::search::{FromHit, HitSet, SearchRequest, merge_results};
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::page::{Content, PageHead, RankInput, RankKey, Ranking, Weight, surt};
use crate::time::Time;

/// The copies of observed content, and the near pages, each with the time when its content in force
/// was first seen.
pub(crate) struct NearbyPages {
    copies: Vec<(Time, RankedHit)>,
    near: Vec<(Time, RankedHit)>,
    /// Whether the copies and the near pages are complete.
    pub(crate) complete: bool,
}

impl NearbyPages {
    /// Adds the hits of the memtables to the hits of the segments, and reads the pages.
    pub(crate) fn find(
        view: &View,
        options: &Options,
        searches: &[SearchRequest<'_>],
        found: &mut [HitSet],
    ) -> Result<NearbyPages> {
        let (mut copies, mut near, mut complete) = (Vec::new(), Vec::new(), true);
        for (search, found) in searches.iter().zip(found) {
            view.add_memory(search, found);
            let output = view.near::<RankedHit>(search, u64::MAX, found)?;
            near = merge_results(near, output.near);
            // Two searches may each stay within the limit and exceed it together.
            complete &= output.complete && near.len() <= search.limit;
            near.truncate(search.limit);
            copies.extend(output.copies);
        }
        // One search yields copies in SURT order. The copies of two searches must be sorted.
        if searches.len() > 1 {
            copies.sort_by_cached_key(|copy: &RankedHit| surt::key_of(&copy.near.url));
        }
        complete &= copies.len() <= options.near_limit;
        let copies = RankedHit::first_of(copies, options.near_limit, view)?;
        let dated = |near: RankedHit| Ok((near.since(view)?, near));
        let near = near.into_iter().map(dated).collect::<Result<_>>()?;
        Ok(NearbyPages { copies, near, complete })
    }

    /// Returns the page that ranks first, unless that page is the page of the request itself.
    /// `weight` is the weight of the request's page, if the request changes it. `before` returns
    /// the state of the request's page before the request; it is called only if there are other
    /// pages.
    ///
    /// Costs reading the history of the request's page up to its first visit with this content, if
    /// its visits may decide.
    pub(crate) fn original(
        &self,
        ranking: &Ranking,
        context: RequestContext<'_>,
        weight: Option<Weight>,
        before: impl FnOnce() -> Option<PriorPage>,
    ) -> Result<Option<Original>> {
        let by_fingerprint = |near: &NearMatch| match near.distance {
            0 => OriginalBy::Fingerprint,
            _ => OriginalBy::Near,
        };
        let others = self.near.iter().map(|of| (of, by_fingerprint(&of.1.near)));
        let all = self.copies.iter().map(|of| (of, OriginalBy::Digest)).chain(others);
        let placed = all.map(|((first, RankedHit { near, weight, .. }), by)| {
            (NearbyRank::of(ranking, &near.url, *first, *weight), near.distance, by)
        });
        let Some((least, distance, by)) = placed.min_by(|(a, ..), (b, ..)| a.order(b)) else {
            return Ok(None);
        };
        let is_first = is_before(&least, ranking, context, weight, before())?;
        Ok((!is_first).then(|| Original { url: least.url.to_owned(), distance, by }))
    }

    /// The copies and the near pages, as in an outcome.
    pub(crate) fn into_pages(self) -> (Vec<ExactCopy>, Vec<NearDuplicate>) {
        let copy = |(first, of): (Time, RankedHit)| ExactCopy { url: of.near.url, first };
        let near = |(first, of): (Time, RankedHit)| {
            let NearMatch { url, distance, fingerprint } = of.near;
            NearDuplicate { url, distance, fingerprint, first }
        };
        let copies = self.copies.into_iter().map(copy).collect();
        (copies, self.near.into_iter().map(near).collect())
    }
}

/// A page that a search found for an observation, with the data for ranking.
struct RankedHit {
    near: NearMatch,
    weight: Weight,
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
    /// The time when the page was first seen with its content in force. Reads the page's entries up
    /// to that time, unless its head has the time, or the time is cached.
    fn since(&self, view: &View) -> Result<Time> {
        let PageAddress { component, page } = self.location;
        let read = || {
            self.since.resolve(|in_force| {
                view.first_seen(&Lookup::new(&self.near.url, view.seed), u64::MAX, in_force)
            })
        };
        if self.since.is_known() {
            return read();
        }
        match view.component(component)? {
            Component::Segment(_, live) => live.since.get_or(page, read),
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
    fn first_of(all: Vec<RankedHit>, limit: usize, view: &View) -> Result<Vec<(Time, RankedHit)>> {
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
            let since = one.since(view)?;
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

/// The rank of a page among other pages.
struct NearbyRank<'u> {
    rank: RankKey,
    url: &'u str,
    /// The SURT key, computed if the rules do not decide.
    key: OnceCell<Vec<u8>>,
}

impl<'u> NearbyRank<'u> {
    fn of(ranking: &Ranking, url: &'u str, since: Time, weight: Weight) -> NearbyRank<'u> {
        NearbyRank {
            // A store refuses the rule `canonical`.
            rank: ranking.rank(&RankInput { url, since, weight, is_canonical: false }),
            url,
            key: OnceCell::new(),
        }
    }

    fn key(&self) -> (&[u8], &str) {
        (self.key.get_or_init(|| surt::key_of(self.url)), self.url)
    }

    fn order(&self, other: &NearbyRank<'_>) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.key().cmp(&other.key()))
    }
}

/// Whether the page of a request ranks before a place.
fn is_before(
    other: &NearbyRank<'_>,
    ranking: &Ranking,
    RequestContext { view, lookup, request }: RequestContext<'_>,
    weight: Option<Weight>,
    before: Option<PriorPage>,
) -> Result<bool> {
    let time = request.entry().time();
    let weight = weight.or_else(|| before.map(|before| before.weight));
    let weight = weight.or_bug("a page without a new weight is known already")?;
    let is_first =
        |since: Time| NearbyRank::of(ranking, lookup.url, since, weight).order(other).is_lt();
    // The page was first seen with this content now, or some time since its first visit. If the
    // exact time does not matter, the page's history is not read.
    let earliest = before.map_or(time, |before| before.first.min(time));
    let [then, now] = [earliest, time].map(is_first);
    if then == now {
        return Ok(now);
    }
    // The content came with this visit, unless the page had the content before. A restatement may
    // be older than all visits; in this case the first visit counts.
    let seen: Vec<Content> =
        request.seen().copied().into_iter().chain(request.also_content()).collect();
    let had = view.first_seen(lookup, u64::MAX, &seen)?;
    Ok(is_first(had.map_or(time, |had| had.min(time).max(earliest))))
}
