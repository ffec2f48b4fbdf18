//! The copies and near pages of observed content, and the original among them.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::decide::{PriorPage, RequestContext};
use crate::bug::OrBug;
use crate::engine::options::Options;
use crate::engine::results::{Capture, ExactCopy, NearDuplicate, Original, OriginalBy};
use crate::engine::search::query::NearMatch;
use crate::engine::search::ranked_hit::RankedHit;
use crate::engine::search::{HitSet, SearchRequest, merge_results};
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{Content, RankInput, RankKey, Ranking, Weight, surt};
use crate::time::Time;

/// The copies of observed content, and the near pages, each with the time when its content in force
/// was first seen.
pub(crate) struct NearbyPages {
    copies: Vec<(Time, RankedHit)>,
    near: Vec<(Time, RankedHit)>,
    /// Whether the copies and the near pages are complete.
    pub(crate) complete: bool,
    /// The first capture of the content on pages that have changed since.
    past_capture: Option<Capture>,
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
        let mut past_capture = None;
        for (search, found) in searches.iter().zip(found) {
            view.add_memory(search, found);
            let output = view.near::<RankedHit>(search, u64::MAX, found)?;
            near = merge_results(near, output.near);
            // Two searches may each stay within the limit and exceed it together.
            complete &= output.complete && near.len() <= search.limit;
            near.truncate(search.limit);
            copies.extend(output.copies);
            past_capture = past_capture.into_iter().chain(output.first_capture).min();
        }
        // One search yields copies in SURT order. The copies of two searches must be sorted.
        if searches.len() > 1 {
            copies.sort_by_cached_key(|copy: &RankedHit| surt::key_of(&copy.near.url));
        }
        complete &= copies.len() <= options.near_limit;
        let copies = RankedHit::first_of(copies, options.near_limit, (view, u64::MAX))?;
        let dated = |near: RankedHit| Ok((near.since(view, u64::MAX)?, near));
        let near = near.into_iter().map(dated).collect::<Result<_>>()?;
        Ok(NearbyPages { copies, near, complete, past_capture })
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

    /// Returns the first capture of exactly the content of a request, before the request: on other
    /// pages, or on the request's own page if it is known. Costs reading the history of the own
    /// page up to its first visit with this content.
    pub(crate) fn first_capture(
        self: &NearbyPages,
        RequestContext { view, lookup, request }: RequestContext<'_>,
        is_known: bool,
    ) -> Result<Option<Capture>> {
        let content = request.seen().filter(|content| content.digest.is_some());
        let Some(content) = content else { return Ok(None) };
        if content.is_redirect() {
            return Ok(None);
        }
        let time = request.time();
        let copies = self.copies.iter().map(|(first, copy)| (*first, copy.near.url.as_str()));
        let past = self.past_capture.as_ref().map(|capture| (capture.time, capture.url.as_str()));
        let own = match is_known {
            true => view.first_seen(lookup, u64::MAX, &[*content])?.filter(|first| *first < time),
            false => None,
        };
        let own = own.map(|first| (first, lookup.url));
        let all = copies.chain(past).chain(own).filter(|(first, _)| *first <= time);
        Ok(all.map(|(time, url)| Capture { time, url: url.to_owned() }).min())
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
    let time = request.time();
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
