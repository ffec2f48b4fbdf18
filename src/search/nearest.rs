//! The nearest of many candidates, in memory for some.

use std::time::Instant;

use super::candidate::Candidate;
use super::shards::DISTANCE_MAX;

/// How far a search may go that need not find everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of what is near, so many of the nearest are handed over at least; at most as many as the tables
    /// find by themselves, or twice as many.
    pub hits: usize,
    /// How many of them, if not all are compared.
    pub hits_of_crowd: usize,
    /// How many fingerprints are compared if more of them crowd together than the tables can tell
    /// apart.
    pub fingerprints: u32,
    /// When to give up what costs a scan.
    pub until: Option<Instant>,
}

/// How much of what is near was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Up to this distance everything was found, that of the query if it is all. `None`: nothing is
    /// known.
    pub certain: Option<u32>,
    /// Whether something was left out because there was so much nearer.
    pub full: bool,
    /// Whether not all were compared that might be near, since too many crowd together.
    pub crowded: bool,
    /// How many fingerprints were compared one after another.
    pub scanned: u32,
}

impl Extent {
    /// Everything within `k`.
    #[must_use]
    pub fn whole(k: u32) -> Self {
        Self { certain: Some(k), full: false, crowded: false, scanned: 0 }
    }

    /// Whether that is everything within `k`.
    #[must_use]
    pub fn is_whole(&self, k: u32) -> bool {
        !self.full && self.certain >= Some(k)
    }

    /// What is known of two sets together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            // `None < Some(_)`: if nothing is certain of one set, nothing is certain of both.
            certain: self.certain.min(other.certain),
            full: self.full || other.full,
            crowded: self.crowded || other.crowded,
            scanned: self.scanned.saturating_add(other.scanned),
        }
    }
}

/// Keeps the nearest, and says how near others must be to be wanted at all.
///
/// Once it has as many as are wanted within some distance, no more of that distance are taken: of
/// those the ones that come first stay. So what comes later never takes the place of what was as near.
pub(super) struct Nearest<'o> {
    most: usize,
    /// The distance up to which more are taken; `None` if none are.
    radius: Option<u32>,
    /// How many have been taken within the radius, which are fewer than `most`.
    within: usize,
    /// How many of each distance have been taken.
    counts: [usize; DISTANCE_MAX as usize + 1],
    full: bool,
    /// Where those begin that this one took.
    start: usize,
    out: &'o mut Vec<Candidate>,
}

impl<'o> Nearest<'o> {
    /// Of what is within `k`, keeps the `most` nearest, and fewer than as many again. Appends to `out`.
    pub(super) fn new(k: u32, most: usize, out: &'o mut Vec<Candidate>) -> Self {
        let counts = [0; DISTANCE_MAX as usize + 1];
        // `out` may have hits of other components before `start`, which must stay as they are.
        let (most, start) = (most.max(1), out.len());
        Self { most, radius: Some(k.min(DISTANCE_MAX)), within: 0, counts, full: false, start, out }
    }

    /// The largest distance that is still wanted.
    pub(super) fn radius(&self) -> Option<u32> {
        self.radius
    }

    /// Takes a candidate, unless it is too far by now.
    #[expect(clippy::indexing_slicing, reason = "there is a count for each distance up to 64")]
    pub(super) fn add(&mut self, candidate: Candidate) {
        let distance = u32::from(candidate.distance);
        if self.radius.is_none_or(|radius| distance > radius) {
            return;
        }
        self.counts[distance as usize] += 1;
        self.within += 1;
        self.out.push(candidate);
        // As soon as there are `most` hits up to the radius, the radius shrinks below the farthest of
        // them. Those at the old radius stay, since they are among the nearest `most`.
        while let Some(radius) = self.radius.filter(|_| self.within >= self.most) {
            self.within -= self.counts[radius as usize];
            self.radius = radius.checked_sub(1);
            self.full = true;
        }
        // Dropping costs a pass over all hits. Waiting for four times as many bounds memory and
        // spreads that cost over many additions.
        if self.out.len() - self.start > self.most.saturating_mul(4) {
            self.drop_far();
        }
    }

    /// Lets go of those that are too far by now.
    #[expect(clippy::indexing_slicing, reason = "places from the start to the end")]
    fn drop_far(&mut self) {
        // Hits one beyond the radius are kept: they were taken
        // before it shrank, and fewer than `most` are nearer.
        let last = self.radius.map_or(0, |radius| radius + 1);
        let mut kept = self.start;
        for at in self.start..self.out.len() {
            if u32::from(self.out[at].distance) <= last {
                // Kept hits only move forward past dropped ones, so
                // their order stays: the first of equals still wins.
                self.out.swap(kept, at);
                kept += 1;
            }
        }
        self.out.truncate(kept);
    }

    /// What was taken, if everything up to the distance `certain` was handed over.
    pub(super) fn finish(mut self, certain: Option<u32>, scanned: u32) -> Extent {
        if !self.full {
            return Extent { certain, full: false, crowded: false, scanned };
        }
        self.drop_far();
        // Everything within the radius was taken. Beyond
        // it hits were left out, so certainty ends there.
        Extent { certain: certain.min(self.radius), full: true, crowded: false, scanned }
    }
}
