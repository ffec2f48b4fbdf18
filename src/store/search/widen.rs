//! Searches in ever wider circles: for those with a budget, and for the nearest of all.

use std::time::{Duration, Instant};

use super::{Wanted, segment_hits};
use crate::error::Result;
use crate::search::DISTANCE_MAX;
use crate::store::epochs::check_live;
use crate::store::query::{Matches, Query};
use crate::store::snapshot::Snapshot;

/// A circle may cost so many times what the one before did.
const STEP: f64 = 2.0;

/// A search that is expected to cost more than this, in nanoseconds, begins with narrow circles:
/// its limit may be reached in one of those.
const WORTH_NS: f64 = 20_000.0;

impl Snapshot {
    /// Pages near a fingerprint; see [`Store::search`](super::super::Store::search).
    pub fn search(&self, query: &Query) -> Result<Matches> {
        let wanted = self.wanted(query)?;
        if query.budget.is_some() || self.is_better_widened(&wanted) {
            return self.widen(&wanted, query.budget);
        }
        for memtable in self.view.memtables.iter().filter(|memtable| !memtable.is_untouched()) {
            memtable.read().prefetch(wanted.epoch, wanted.fingerprint);
        }
        let mut hits = segment_hits(&self.view.segments, &wanted)?;
        self.matches(&wanted, &mut hits)
    }

    pub(super) fn wanted<'q>(&self, query: &'q Query) -> Result<Wanted<'q>> {
        let epoch = query.epoch.unwrap_or_else(|| self.newest_epoch());
        check_live(self.epochs(), epoch)?;
        Ok(Wanted {
            fingerprint: query.fingerprint & epoch.mask(),
            k: query.k.min(DISTANCE_MAX),
            epoch: epoch.0,
            limit: query.limit,
            versions: query.versions,
            under: query.under.as_ref(),
            except: None,
            digest: None,
        })
    }

    /// The answer, from what the segments found.
    pub(super) fn matches(
        &self,
        wanted: &Wanted<'_>,
        hits: &mut Vec<super::Hit>,
    ) -> Result<Matches> {
        let findings = self.view.near(wanted, self.sequence, hits)?;
        Ok(Matches { near: findings.near, complete: findings.complete, within: wanted.k })
    }

    /// Nanoseconds that a search is expected to take.
    fn expected_ns(&self, wanted: &Wanted<'_>) -> f64 {
        let (fingerprint, k) = (wanted.fingerprint, wanted.k);
        let segments = self.view.segments.iter().filter_map(|live| live.tables(wanted.epoch));
        let segments = segments.map(|tables| tables.tables.plan(fingerprint, k).expected.ns);
        let memtables = self.view.memtables.iter().map(|m| m.read().plan(wanted.epoch, k));
        let memtables = memtables.flatten().map(|plan| plan.expected.ns);
        segments.sum::<f64>() + memtables.sum::<f64>()
    }

    /// Whether narrow circles come first: if the whole is costly and wider than is likely needed.
    pub(super) fn is_better_widened(&self, wanted: &Wanted<'_>) -> bool {
        /// Searches this narrow are done at once.
        const NARROW: u32 = 12;
        wanted.k > NARROW && self.expected_ns(wanted) > WORTH_NS
    }

    /// Searches circle by circle until one has as many pages as are wanted, the widest is done, or
    /// the next one is expected to take longer than what is left of the budget.
    fn widen(&self, wanted: &Wanted<'_>, budget: Option<Duration>) -> Result<Matches> {
        let start = Instant::now();
        let mut circle = Wanted { k: 0, ..*wanted };
        loop {
            let mut hits = segment_hits(&self.view.segments, &circle)?;
            let matches = self.matches(&circle, &mut hits)?;
            if circle.k >= wanted.k {
                return Ok(matches);
            }
            if !matches.complete || matches.near.len() >= wanted.limit {
                // Whether there is more is not looked up.
                return Ok(Matches { complete: false, ..matches });
            }
            // As wide as costs little more than the next one.
            let mut next = Wanted { k: circle.k + 1, ..*wanted };
            let expected = self.expected_ns(&next);
            while next.k < wanted.k {
                let wider = Wanted { k: next.k + 1, ..*wanted };
                if self.expected_ns(&wider) > expected * STEP {
                    break;
                }
                next = wider;
            }
            let expected = Duration::from_secs_f64(self.expected_ns(&next) / 1e9);
            if budget.is_some_and(|budget| start.elapsed() + expected > budget) {
                return Ok(Matches { complete: false, ..matches });
            }
            circle = next;
        }
    }
}
