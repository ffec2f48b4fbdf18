//! Keeps the nearest of many candidates in bounded memory.

use std::time::Instant;

use super::candidate::Candidate;
use super::shards::DISTANCE_MAX;

/// The limits of a search that may be incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The number of nearest fingerprints to return. A scan may return up to twice as many; the
    /// tables alone return at most this many.
    pub hits: usize,
    /// The number to return if not all candidates are compared.
    pub hits_of_crowd: usize,
    /// The maximum number of fingerprints to compare if a dense region has more fingerprints than
    /// the tables can separate.
    pub fingerprints: u32,
    /// The deadline for a scan.
    pub until: Option<Instant>,
}

/// The completeness of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completeness {
    /// The distance up to which the result is complete; the query's distance if the whole result is
    /// complete. `None` if completeness is not certain for any distance.
    pub certain: Option<u32>,
    /// Whether fingerprints were left out because there were enough nearer fingerprints.
    pub full: bool,
    /// Whether a dense region was too large, so that not all candidates were compared.
    pub crowded: bool,
    /// The number of fingerprints compared by a scan.
    pub scanned: u32,
}

impl Completeness {
    /// Returns the extent of a complete result within `k`.
    #[must_use]
    pub fn whole(k: u32) -> Self {
        Self { certain: Some(k), full: false, crowded: false, scanned: 0 }
    }

    /// Whether the result is complete within `k`.
    #[must_use]
    pub fn is_whole(&self, k: u32) -> bool {
        !self.full && self.certain >= Some(k)
    }

    /// Returns the extent of the combined results of two sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            // `None < Some(_)`: if no distance is certain for one set, no distance is certain for
            // both sets together.
            certain: self.certain.min(other.certain),
            full: self.full || other.full,
            crowded: self.crowded || other.crowded,
            scanned: self.scanned.saturating_add(other.scanned),
        }
    }
}

/// Keeps the nearest candidates, and the radius within which more candidates are wanted.
///
/// Once there are enough candidates within some distance, no further candidates at that distance
/// are accepted, and the first candidates stay. So a later candidate never replaces an equally near
/// candidate.
pub(super) struct NearestCandidates<'o> {
    most: usize,
    /// The distance up to which candidates are accepted; `None` if no further candidate is
    /// accepted.
    radius: Option<u32>,
    /// The number of accepted candidates within the radius, fewer than `most`.
    within: usize,
    /// The number of candidates accepted at each distance.
    counts: [usize; DISTANCE_MAX as usize + 1],
    full: bool,
    /// The start of the candidates of this search in `out`.
    start: usize,
    out: &'o mut Vec<Candidate>,
}

impl<'o> NearestCandidates<'o> {
    /// Keeps at least the `most` nearest candidates within `k`, and fewer than twice as many.
    /// Appends them to `out`.
    pub(super) fn new(k: u32, most: usize, out: &'o mut Vec<Candidate>) -> Self {
        let counts = [0; DISTANCE_MAX as usize + 1];
        // `out` may have hits of other components before `start`. The earlier hits must not change.
        let (most, start) = (most.max(1), out.len());
        Self { most, radius: Some(k.min(DISTANCE_MAX)), within: 0, counts, full: false, start, out }
    }

    /// Returns the largest distance at which candidates are still accepted.
    pub(super) fn radius(&self) -> Option<u32> {
        self.radius
    }

    /// Adds a candidate, unless it is beyond the radius.
    #[expect(clippy::indexing_slicing, reason = "there is a count for each distance up to 64")]
    pub(super) fn add(&mut self, candidate: Candidate) {
        let distance = u32::from(candidate.distance);
        if self.radius.is_none_or(|radius| distance > radius) {
            return;
        }
        self.counts[distance as usize] += 1;
        self.within += 1;
        self.out.push(candidate);
        // As soon as there are `most` hits up to the radius, the radius shrinks below the farthest
        // of these hits. Hits at the old radius stay, since they are among the nearest `most`.
        while let Some(radius) = self.radius.filter(|_| self.within >= self.most) {
            self.within -= self.counts[radius as usize];
            self.radius = radius.checked_sub(1);
            self.full = true;
        }
        // Dropping costs a pass over all hits. Dropping only when there are four times as many hits
        // bounds memory and spreads this cost over many additions.
        if self.out.len() - self.start > self.most.saturating_mul(4) {
            self.drop_far();
        }
    }

    /// Drops the candidates beyond the radius.
    #[expect(clippy::indexing_slicing, reason = "places from the start to the end")]
    fn drop_far(&mut self) {
        // Hits at one more than the radius are kept: they were added before the radius shrank, and
        // fewer than `most` hits are nearer.
        let last = self.radius.map_or(0, |radius| radius + 1);
        let mut kept = self.start;
        for at in self.start..self.out.len() {
            if u32::from(self.out[at].distance) <= last {
                // Kept hits only move forward past dropped hits, so their order stays, and the
                // first of equally near hits is still preferred.
                self.out.swap(kept, at);
                kept += 1;
            }
        }
        self.out.truncate(kept);
    }

    /// Returns the extent, if all candidates up to the distance `certain` were added.
    pub(super) fn finish(mut self, certain: Option<u32>, scanned: u32) -> Completeness {
        if !self.full {
            return Completeness { certain, full: false, crowded: false, scanned };
        }
        self.drop_far();
        // All candidates within the radius were added. Candidates beyond the radius were left out,
        // so the certain distance ends at the radius.
        Completeness { certain: certain.min(self.radius), full: true, crowded: false, scanned }
    }
}
