//! Many searches at once: interleaved, and on all cores.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::query::{Matches, Query};
use super::widen::{build_request, finish_search, is_better_widened, search};
use super::{Hit, HitSet, HitStep, SearchRequest};
use crate::bug::ensure;
use crate::engine::component::ComponentId;
use crate::engine::live_segment::LiveSegment;
use crate::engine::pipeline::ChunkPipeline;
use crate::engine::snapshot::Snapshot;
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{DIGESTS, Epoch};
use crate::search::Completeness;
use crate::sync::thread;
use crate::threads::up_to;

/// The maximum number of searches in one batch: few enough that their hits are soon released.
const TOGETHER: usize = 1 << 12;

/// The number of hits to prefetch together.
const AHEAD: usize = 16;

/// The minimum number of searches that is worth a second thread.
const TOGETHER_MIN: usize = 256;

/// Finds the fingerprints near each of many fingerprints in the segments, at a fraction of the cost
/// of single searches. Returns one result for each.
#[expect(clippy::indexing_slicing, reason = "each index is the index of a query")]
pub(crate) fn segment_hits_of_many(
    segments: &[Arc<LiveSegment>],
    wanted: &[SearchRequest<'_>],
) -> Result<Vec<HitSet>> {
    let mut all: Vec<HitSet> = wanted.iter().map(|wanted| HitSet::new(wanted.k)).collect();
    let mut epochs: Vec<(u32, u32)> = wanted.iter().map(|w| (w.epoch, w.k)).collect();
    epochs.sort_unstable();
    epochs.dedup();
    for (epoch, k) in epochs {
        let of_epoch = |(_, w): &(usize, &SearchRequest<'_>)| (w.epoch, w.k) == (epoch, k);
        if epoch == DIGESTS {
            for (found, wanted) in all.iter_mut().zip(wanted).filter(|(_, w)| w.is_by_digest()) {
                for (number, live) in (0..).zip(segments) {
                    found.add_equal(ComponentId::Segment(number), live, wanted)?;
                }
            }
            continue;
        }
        // All searches of one call have the same bounds, so the bounds of the first search apply to
        // all.
        let bounds = wanted.iter().find_map(|wanted| wanted.bounds.as_ref());
        let places = wanted.iter().enumerate().filter(of_epoch);
        let places: Vec<(usize, u64)> = places.map(|(place, w)| (place, w.fingerprint)).collect();
        let queries: Vec<u64> = places.iter().map(|(_, fingerprint)| *fingerprint).collect();
        // The search goes segment by segment, so that the tables of one segment stay in the caches
        // for all queries.
        for (number, live) in (0..).zip(segments) {
            let Some(tables) = live.tables(epoch) else { continue };
            let component = ComponentId::Segment(number);
            let mut push = |query: usize, candidate| {
                all[places[query].0].hits.push(Hit { candidate, component });
            };
            let Some(bounds) = bounds else {
                tables.find_each(&queries, k, &mut push)?;
                continue;
            };
            for query in tables.find_in_tables(&queries, k, bounds, &mut push)? {
                let place = places[query].0;
                let found = &mut all[place];
                // The tables gave up within this segment. The segment's hits are incomplete, and
                // the scan finds them again.
                found.hits.retain(|hit| hit.component != component);
                found.add_nearest(component, tables, &wanted[place], bounds)?;
            }
        }
    }
    Ok(all)
}

/// Prefetches the data that many hits need, in rounds. Each round does the first step of some hits,
/// the second step of the hits before them, and so on, so that all data is in the cache when it is
/// needed.
pub(crate) struct HitPrefetcher<'a> {
    view: &'a View,
    hits: &'a [Hit],
    rounds: usize,
}

impl<'a> HitPrefetcher<'a> {
    pub(crate) fn new(view: &'a View, hits: &'a [Hit]) -> HitPrefetcher<'a> {
        HitPrefetcher { view, hits, rounds: 0 }
    }

    /// Prepares the next hits.
    pub(crate) fn until(&mut self, taken: usize, wanted: &SearchRequest<'_>) -> Result<()> {
        // Rounds stay three ahead of the hits in use: each step needs the result of the previous
        // step in the cache.
        while self.rounds < taken.div_ceil(AHEAD) + HitStep::ALL.len() {
            for (before, step) in HitStep::ALL.into_iter().enumerate() {
                let hits = self
                    .rounds
                    .checked_sub(before)
                    .and_then(|round| self.hits.chunks(AHEAD).nth(round));
                self.view.prefetch_step(step, hits.unwrap_or(&[]), wanted)?;
            }
            self.rounds += 1;
        }
        Ok(())
    }
}

/// The individual part of one of many searches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryKey<'u> {
    pub(crate) fingerprint: u64,
    /// A page to exclude from the results.
    pub(crate) exclude: Option<&'u str>,
}

impl QueryKey<'_> {
    /// Returns the individual search as a query.
    fn query(&self, like: &Query) -> Query {
        let (fingerprint, exclude) = (self.fingerprint, self.exclude.map(str::to_owned));
        Query { fingerprint, exclude, ..like.clone() }
    }
}

impl Query {
    /// Runs one search for each of many fingerprints, with the settings of this query. The query's
    /// own fingerprint is ignored. Results come in the order of the fingerprints.
    ///
    /// Searches are interleaved and run on all cores: while one search waits for memory, others
    /// continue. So each search costs a half to a quarter of a single search. Takes memory for the
    /// results, and for the hits of 4,096 fingerprints at a time on each core.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 7, store.change_epoch()))?;
    /// let found = Query::new(0, 3).run_batch(&store.snapshot(), &[7, u64::MAX])?;
    /// assert_eq!((found[0].near.len(), found[1].near.len()), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the data to read is damaged.
    pub fn run_batch(&self, snapshot: &Snapshot, fingerprints: &[u64]) -> Result<Vec<Matches>> {
        let exclude = self.exclude.as_deref();
        let keys = fingerprints.iter().map(|&fingerprint| QueryKey { fingerprint, exclude });
        self.run_each(snapshot, &keys.collect::<Vec<_>>())
    }

    /// Runs one search for each of many pages, each given with a fingerprint, with the settings of
    /// this query. The query's own fingerprint and excluded page are ignored. Each search excludes
    /// its own page. Results come in the order of the pages.
    ///
    /// Costs as much as [`run_batch`](Query::run_batch). No page is looked up: the fingerprint is
    /// searched for, whether the page has it or not.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.snapshot().near_epoch();
    /// let pages = [(0b0111, "https://example.com/"), (0b1111, "https://example.org/")];
    /// for (fingerprint, url) in pages {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let answers = Query::new(0, 3).run_batch_of_pages(&store.snapshot(), &pages)?;
    /// assert_eq!(answers[0].near.len(), 1);
    /// assert_eq!(answers[0].near[0].url, "https://example.org/");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the data to read is damaged.
    pub fn run_batch_of_pages(
        &self,
        snapshot: &Snapshot,
        pages: &[(u64, &str)],
    ) -> Result<Vec<Matches>> {
        let keys =
            pages.iter().map(|&(fingerprint, url)| QueryKey { fingerprint, exclude: Some(url) });
        self.run_each(snapshot, &keys.collect::<Vec<_>>())
    }

    fn run_each(&self, snapshot: &Snapshot, keys: &[QueryKey<'_>]) -> Result<Vec<Matches>> {
        let matches = snapshot.poison_on_bug(|| search_batch(snapshot, keys, self))?;
        matches.iter().for_each(|matches| snapshot.view().metrics.searched(matches.complete));
        Ok(matches)
    }
}

/// Runs many searches of one kind.
pub(crate) fn search_batch(
    snapshot: &Snapshot,
    sought: &[QueryKey<'_>],
    like: &Query,
) -> Result<Vec<Matches>> {
    let threads = up_to(like.threads);
    // Each thread gets an equal part, unless the part is too small to pay for a thread or too large
    // to hold its hits.
    let each = sought.len().div_ceil(threads).clamp(TOGETHER_MIN, TOGETHER);
    let chunks = sought.chunks(each);
    if chunks.len() < 2 {
        return search_chunk(snapshot, sought, like);
    }
    let ahead = ChunkPipeline::new(chunks);
    let work = |chunk| search_chunk(snapshot, chunk, like);
    thread::scope(|scope| {
        // On an early return the guard stops the helpers before the scope waits for them.
        let _until = ahead.until_dropped();
        for _ in 1..threads {
            ahead.help(scope, work);
        }
        let mut all = Vec::with_capacity(sought.len());
        while let Some((_, matches)) = ahead.next(work) {
            all.append(&mut matches?);
        }
        Ok(all)
    })
}

#[expect(clippy::indexing_slicing, reason = "each index is the index of a search")]
fn search_chunk(
    snapshot: &Snapshot,
    sought: &[QueryKey<'_>],
    like: &Query,
) -> Result<Vec<Matches>> {
    let wanted = build_request(snapshot, like)?;
    // A time limit is per search, and widening decides from radius to radius: neither can be
    // interleaved.
    if like.budget.is_some() || is_better_widened(snapshot, &wanted) {
        return sought.iter().map(|sought| search(snapshot, &sought.query(like))).collect();
    }
    // Reserved bits are cleared in the stored fingerprints, so they must be in the queries.
    let mask = Epoch(wanted.epoch).mask();
    let fingerprints: Vec<u64> = sought.iter().map(|sought| sought.fingerprint & mask).collect();
    let mut matches = Vec::with_capacity(fingerprints.len());
    let none = || Matches { near: Vec::new(), complete: true, within: Some(wanted.k) };
    matches.resize_with(fingerprints.len(), none);
    let (mut hits, extents) = hits_of_segments(snapshot, sought, &wanted, &fingerprints)?;
    // Hits came segment by segment. After sorting by index, the hits of one search are adjacent.
    hits.sort_unstable_by_key(|(place, _)| *place);
    let in_order: Vec<Hit> = hits.iter().map(|(_, hit)| *hit).collect();
    let mut ahead = HitPrefetcher::new(&snapshot.view, &in_order);
    let mut taken = 0;
    let mut of_one = HitSet::new(wanted.k);
    let mut hits = hits.chunk_by(|a, b| a.0 == b.0).peekable();
    let in_memory = snapshot.view.memtables.iter().any(|memtable| !memtable.is_untouched());
    for (place, (sought, matches)) in sought.iter().zip(&mut matches).enumerate() {
        let own = hits.next_if(|hits| hits[0].0 == place);
        let extent = extents.get(&place).copied();
        // Most searches of a batch end here: there are no hits in the segments, no memtables, and
        // no search was cut short.
        if own.is_none() && !in_memory && extent.is_none() {
            continue;
        }
        // One set is reused for all searches, so its memory is allocated once.
        of_one.hits.clear();
        of_one.hits.extend(own.unwrap_or(&[]).iter().map(|(_, hit)| *hit));
        of_one.extent = extent.unwrap_or_else(|| Completeness::whole(wanted.k));
        taken += of_one.hits.len();
        ahead.until(taken, &wanted)?;
        let wanted =
            SearchRequest { fingerprint: fingerprints[place], exclude: sought.exclude, ..wanted };
        *matches = match finish_search(snapshot, &wanted, &mut of_one)? {
            (matches, false) => matches,
            // This case is rare: too few of the nearest fingerprints have visible pages. The search
            // starts over by itself, with wider bounds.
            (_, true) => search(snapshot, &sought.query(like))?,
        };
    }
    ensure(hits.next().is_none(), "each hit belongs to a search")?;
    Ok(matches)
}

/// The hits near each fingerprint, segment by segment, with the index of the search. Also the
/// extents of searches that the tables cut short.
#[expect(clippy::indexing_slicing, reason = "each index is the index of a search")]
#[expect(clippy::type_complexity, reason = "the type is used once")]
fn hits_of_segments(
    snapshot: &Snapshot,
    sought: &[QueryKey<'_>],
    wanted: &SearchRequest<'_>,
    fingerprints: &[u64],
) -> Result<(Vec<(usize, Hit)>, BTreeMap<usize, Completeness>)> {
    let mut hits: Vec<(usize, Hit)> = Vec::new();
    let mut extents: BTreeMap<usize, Completeness> = BTreeMap::new();
    for (number, live) in (0..).zip(snapshot.view.segments.iter()) {
        let Some(tables) = live.tables(wanted.epoch) else { continue };
        let component = ComponentId::Segment(number);
        let mut push = |place, candidate| hits.push((place, Hit { candidate, component }));
        let Some(bounds) = &wanted.bounds else {
            tables.find_each(fingerprints, wanted.k, &mut push)?;
            continue;
        };
        let mut others = tables.find_in_tables(fingerprints, wanted.k, bounds, &mut push)?;
        if others.is_empty() {
            continue;
        }
        others.sort_unstable();
        // Drops the hits that this segment's tables found for queries that gave up. Hits of other
        // segments stay.
        hits.retain(|(place, hit)| {
            hit.component != component || others.binary_search(place).is_err()
        });
        for place in others {
            let (fingerprint, exclude) = (fingerprints[place], sought[place].exclude);
            let mut found = HitSet::new(wanted.k);
            let wanted = SearchRequest { fingerprint, exclude, ..*wanted };
            found.add_nearest(component, tables, &wanted, bounds)?;
            hits.extend(found.hits.into_iter().map(|hit| (place, hit)));
            let known = extents.entry(place).or_insert(Completeness::whole(wanted.k));
            // Several segments may cut the same search short: a result is certain only if it is
            // certain in all of them.
            *known = known.and(found.extent);
        }
    }
    Ok((hits, extents))
}
