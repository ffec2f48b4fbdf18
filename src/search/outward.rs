//! Scans the canonical column outward from a fingerprint, the nearest first, in bounded memory and
//! time.
//!
//! Two fingerprints within distance j differ by at most j in popcount. So the shard of the query's
//! own popcount is scanned first, then the neighbouring shards, and so on. After j shards on both
//! sides, all fingerprints within j have been found. Once there are enough hits within j, the scan
//! ends.
//!
//! A dense region has more near fingerprints than any table can separate. An attacker or a template
//! may cause this. If a region has more fingerprints than a search may compare, the search looks up
//! all values within one bit. The search also compares the entries next to the query in each shard,
//! which share the most leading bits with the query. So the search finds exact copies, and many near
//! fingerprints.

use std::ops::{Range, RangeInclusive};
use std::time::Instant;

use super::candidate::Candidate;
use super::column::{Column, u64_at, u64s};
use super::kernel::SearchKernel;
use super::nearest::{Bounds, Completeness, NearestCandidates};
use super::shards::{DISTANCE_MAX, Shards};

/// The distance up to which fingerprints are looked up one by one: 65 values for distance 1.
pub(super) const LOOKED_UP_MAX: u32 = 1;

/// The number of fingerprints compared at a time: 64 KiB, so that the near fingerprints are still
/// in the cache when they are processed. The first stride is short, so that few near but unwanted
/// fingerprints are collected.
const STRIDES: [u32; 2] = [512, 8192];

/// A canonical column with a query.
pub(super) struct OutwardSearch<'c, C> {
    pub(super) fingerprints: &'c C,
    pub(super) shards: &'c Shards,
    pub(super) query: u64,
    pub(super) k: u32,
}

impl<C: Column> OutwardSearch<'_, C> {
    /// Appends the nearest fingerprints to `out`. `bounds.fingerprints` applies only if `crowded`
    /// is true.
    pub(super) fn find(
        &self,
        bounds: &Bounds,
        crowded: bool,
        out: &mut Vec<Candidate>,
    ) -> Result<Completeness, C::Error> {
        let around = self.shards.around(self.query.count_ones(), self.k);
        // A dense neighbourhood within the bound is scanned whole, and the result is exact.
        if crowded && around.end - around.start > bounds.fingerprints {
            return self.find_some(bounds, out);
        }
        let mut scan = OutwardScan::new(self, bounds, out);
        // The value stays `None` until the query's own shard is scanned, since the deadline may
        // pass during that scan.
        let mut certain = None;
        for away in 0..=self.k {
            if scan.nearest.radius().is_none_or(|radius| away > radius) {
                // There are enough hits that are nearer than any fingerprint of these shards can
                // be. `finish` then lowers `certain` to the radius of the kept hits.
                certain = Some(self.k);
                break;
            }
            for shard in self.shards_at(away) {
                if !scan.compare(shard)? {
                    return Ok(scan.finish(certain));
                }
            }
            certain = Some(away);
        }
        Ok(scan.finish(certain))
    }

    /// Appends the nearest fingerprints if there are more than may be compared: all fingerprints
    /// within distance 1, and the nearest of the compared fingerprints.
    fn find_some(
        &self,
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Result<Completeness, C::Error> {
        let bounds = Bounds { hits: bounds.hits_of_crowd, ..*bounds };
        let mut scan = OutwardScan::new(self, &bounds, out);
        let certain = self.k.min(LOOKED_UP_MAX);
        if self.k <= certain {
            self.look_up(certain, &mut |candidate| scan.nearest.add(candidate))?;
            return Ok(scan.finish(Some(certain)));
        }
        // No order of the column separates fingerprints that differ in 2 bits or more, so a bounded
        // sample around the query's position is compared.
        let runs = self.neighbours(bounds.fingerprints)?;
        let values =
            // Comparing a run finds the values inside it. Looking these values up as well would
            // report them twice.
            within_one(self.query).filter(|value| !runs.iter().any(|run| run.covers(*value)));
        self.look_up_values(values, &mut |candidate| scan.nearest.add(candidate))?;
        for ShardRun { ordinals, .. } in runs {
            if !scan.compare(ordinals)? {
                return Ok(Completeness { crowded: true, ..scan.finish(None) });
            }
        }
        Ok(Completeness { crowded: true, ..scan.finish(Some(certain)) })
    }

    /// Returns the one or two shards whose popcount differs from the query's by `away`.
    fn shards_at(&self, away: u32) -> impl Iterator<Item = Range<u32>> + use<'_, C> {
        let own = self.query.count_ones();
        let below = own.checked_sub(away);
        // For `away` 0 both sides are the same shard, which must be scanned once.
        let above = Some(own + away).filter(|above| away > 0 && *above <= DISTANCE_MAX);
        below.into_iter().chain(above).map(|popcount| self.shards.around(popcount, 0))
    }

    /// Returns runs with at most `count` entries in total: the entries around the query's position
    /// in each of the nearest shards, the nearest shards first.
    fn neighbours(&self, count: u32) -> Result<Vec<ShardRun>, C::Error> {
        let nearest = (0..=self.k.min(NEIGHBOURS)).flat_map(|away| self.shards_at(away));
        let shards: Vec<Range<u32>> = nearest.filter(|shard| !shard.is_empty()).collect();
        let place = |shard: &Range<u32>| RangeProbe { value: self.query, range: shard.clone() };
        let mut places: Vec<RangeProbe> = shards.iter().map(place).collect();
        // The position at which the query would be in each shard. The entries next to that position
        // share the top bits of the query.
        self.search(&mut places)?;
        let (mut runs, mut left) = (Vec::with_capacity(shards.len()), count);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as many as neighbours, twice, and one"
        )]
        let shares = (1..=shards.len() as u32).rev();
        for ((shard, place), shares) in shards.iter().zip(places).zip(shares) {
            // The remainder is divided again at each shard, so that later shards can use the
            // entries that a small shard does not need.
            let share = left / shares;
            let count = share.min(shard.end - shard.start);
            let start = place.range.start.saturating_sub(count / 2);
            // The run is centred on the position, but moved inside the shard at the shard's ends.
            // `count` is at most the length of the shard.
            let start = start.clamp(shard.start, shard.end - count);
            if count > 0 {
                let last = start + (count - 1);
                let first = u64_at(self.fingerprints, start)?;
                let popcount = first.count_ones();
                // Shards are sorted, so a value in this range is either in the run or not in the
                // column.
                let values = first..=u64_at(self.fingerprints, last)?;
                runs.push(ShardRun { ordinals: start..last + 1, popcount, values });
            }
            left -= count;
        }
        Ok(runs)
    }

    /// Looks up every fingerprint within `k`, at most 1.
    pub(super) fn look_up(&self, k: u32, found: &mut dyn FnMut(Candidate)) -> Result<(), C::Error> {
        let count = if k == 0 { 1 } else { 1 + u64::BITS as usize };
        self.look_up_values(within_one(self.query).take(count), found)
    }

    /// Looks up each of these fingerprints in its shard.
    fn look_up_values(
        &self,
        values: impl Iterator<Item = u64>,
        found: &mut dyn FnMut(Candidate),
    ) -> Result<(), C::Error> {
        let place =
            |value: u64| RangeProbe { value, range: self.shards.around(value.count_ones(), 0) };
        let mut places: Vec<RangeProbe> = values.map(place).collect();
        self.search(&mut places)?;
        for RangeProbe { value, range } in places {
            // The range starts at the first entry that is not less than the value, if the shard has
            // such an entry.
            if range.start < range.end && u64_at(self.fingerprints, range.start)? == value {
                found(Candidate::new(range.start, value, self.query));
            }
        }
        Ok(())
    }

    /// Narrows each range to the first entry that is not less than its value, or to an empty range.
    /// The binary searches advance in step, so that the memory accesses of all searches overlap.
    fn search(&self, places: &mut [RangeProbe]) -> Result<(), C::Error> {
        // The search changes the ends of the ranges, and callers need the original ends afterwards.
        let ends: Vec<u32> = places.iter().map(|place| place.range.end).collect();
        let mut any = true;
        while any {
            any = false;
            // All binary searches take one step at a time. The reads of these searches are
            // independent, so the waits overlap.
            for RangeProbe { value, range } in &mut *places {
                if range.start < range.end {
                    let middle = range.start + (range.end - range.start) / 2;
                    if u64_at(self.fingerprints, middle)? < *value {
                        range.start = middle + 1;
                    } else {
                        range.end = middle;
                    }
                    any |= range.start < range.end;
                }
            }
        }
        for (place, end) in places.iter_mut().zip(ends) {
            place.range.end = end;
        }
        Ok(())
    }
}

/// Returns a fingerprint, and then every value that differs from it in one bit.
pub(super) fn within_one(fingerprint: u64) -> impl Iterator<Item = u64> {
    std::iter::once(fingerprint).chain((0..u64::BITS).map(move |bit| fingerprint ^ 1 << bit))
}

/// The largest difference in popcount of shards whose entries are compared.
const NEIGHBOURS: u32 = 4;

/// A value to search for in a range of ordinals.
struct RangeProbe {
    value: u64,
    range: Range<u32>,
}

/// Adjacent entries of one shard.
struct ShardRun {
    ordinals: Range<u32>,
    popcount: u32,
    /// The first and the last value.
    values: RangeInclusive<u64>,
}

impl ShardRun {
    /// Whether the run contains a fingerprint, provided that the column contains it.
    fn covers(&self, value: u64) -> bool {
        value.count_ones() == self.popcount && self.values.contains(&value)
    }
}

/// Compares runs of the column, one after another.
struct OutwardScan<'s, 'o, C> {
    outward: &'s OutwardSearch<'s, C>,
    until: Option<Instant>,
    nearest: NearestCandidates<'o>,
    /// The indexes of the near fingerprints of a run.
    near: Vec<u32>,
    compared: u32,
}

impl<'s, 'o, C: Column> OutwardScan<'s, 'o, C> {
    fn new(
        outward: &'s OutwardSearch<'s, C>,
        bounds: &Bounds,
        out: &'o mut Vec<Candidate>,
    ) -> Self {
        let nearest = NearestCandidates::new(outward.k, bounds.hits, out);
        Self { outward, until: bounds.until, nearest, near: Vec::new(), compared: 0 }
    }

    /// Compares a run, and adds the near fingerprints. Returns `false` after the deadline.
    #[expect(clippy::indexing_slicing, reason = "indices of the column that was compared")]
    fn compare(&mut self, mut run: Range<u32>) -> Result<bool, C::Error> {
        let Self { outward, until, nearest, near, compared } = self;
        let kernel = SearchKernel::fastest();
        while run.start < run.end {
            let Some(radius) = nearest.radius() else { break };
            // The clock is read once per stride of at most 64 KiB, which costs little compared with
            // the stride.
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(false);
            }
            let [few, many] = STRIDES;
            // The radius can shrink only between strides. Short strides at the beginning prevent a
            // dense start from collecting thousands of hits.
            let stride = if *compared < many { few } else { many };
            let stop = run.end.min(run.start.saturating_add(stride));
            let column = u64s(outward.fingerprints, run.start..stop)?;
            kernel.near_u64(column, outward.query, radius, near);
            for index in near.drain(..) {
                let word = column[index as usize].get();
                nearest.add(Candidate::new(run.start + index, word, outward.query));
            }
            *compared += stop - run.start;
            run.start = stop;
        }
        Ok(true)
    }

    fn finish(self, certain: Option<u32>) -> Completeness {
        self.nearest.finish(certain, self.compared)
    }
}
