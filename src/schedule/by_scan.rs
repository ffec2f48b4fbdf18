//! The best pages by their heads, for policies that go by the order of the last comparisons.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::decide::Asked;
use super::in_order::{Coming, Most};
use super::score::{Facts, Score, ScoreCache};
use crate::engine::component::Changing;
use crate::error::Result;
use crate::segment::{Row, host_slot, url_hash};

/// Pages of which it is kept what was worked out.
const BELIEVED: u64 = 1 << 12;

/// What a page takes beside its URL, about.
const PAGE_BYTES: usize = 64;

/// A page that was met: the better one is greater. Pages are numbered in SURT order.
type Met = (Score, Reverse<u64>, String);

/// Pages in their order, the best first: as many as memory holds, and then more.
#[derive(Default)]
pub(super) struct ByScan {
    /// The best one last.
    best: Vec<Met>,
    /// Whether no more pages come after these.
    ended: bool,
    last: Option<ScanPlace>,
}

/// A page: its score, and its number.
pub(super) type ScanPlace = (Score, Reverse<u64>);

impl ByScan {
    /// The pages that come after one, or all.
    pub(super) fn after(place: Option<ScanPlace>) -> ByScan {
        ByScan { last: place, ..ByScan::default() }
    }

    /// The last page that was returned.
    pub(super) fn place(&self) -> Option<ScanPlace> {
        self.last
    }

    /// The next page.
    pub(super) fn next(&mut self, asked: &Asked, most: Most) -> Result<Option<Coming>> {
        if self.best.is_empty() && !self.ended {
            self.fill(asked, most)?;
        }
        let Some((score, number, url)) = self.best.pop() else { return Ok(None) };
        self.last = Some((score, number));
        Ok(Some(Coming { score, url, location: None }))
    }

    fn fill(&mut self, asked: &Asked, most: Most) -> Result<()> {
        // A heap with the worst page on top, so that it can be replaced.
        let mut best: BinaryHeap<Reverse<Met>> = BinaryHeap::new();
        let (mut bytes, mut scores, mut number) = (0, ScoreCache::of(BELIEVED), 0);
        self.ended = true;
        let mut scan = asked.snapshot.scan(asked.due.under.as_ref());
        while let Some(page) = scan.next_changing() {
            let (url, Changing { head, changes }) = page?;
            number += 1;
            let seed = asked.snapshot.view.seed;
            // 0 own visits: they only set `first`, which matters where
            // rows of components meet. Here none do.
            let row = Row::new(Some(&head), &changes, 0, host_slot(&url, seed));
            let recent = changes.recent(head.first, head.last.time);
            let (hash, rule) = (url_hash(&url, seed), asked.due.rules.of(&url));
            let changed = asked.scorer.changed(&row, rule, &url);
            let facts = Facts { hash, row: &row, recent: &recent, rule, changed, led: false };
            let Some(score) = asked.scorer.score(facts, &mut scores)? else { continue };
            // A page keeps its number in each scan of one snapshot, so pages
            // that were returned are skipped by it.
            if self.last.is_some_and(|last| (score, Reverse(number)) >= last) {
                continue;
            }
            // One page is kept whatever its URL takes. Otherwise a
            // long URL would end the iterator early.
            let full = best.len() >= most.pages || bytes > most.bytes && best.len() > 1;
            // Numbers ascend, so a page that ties with the worst comes after it.
            if full && best.peek().is_some_and(|worst| score <= worst.0.0) {
                self.ended = false;
                continue;
            }
            bytes += url.len() + PAGE_BYTES;
            best.push(Reverse((score, Reverse(number), url)));
            while best.len() > most.pages || bytes > most.bytes && best.len() > 1 {
                self.ended = false;
                bytes -= best.pop().map_or(0, |worst| worst.0.2.len() + PAGE_BYTES);
            }
        }
        self.best = best.into_iter().map(|Reverse(met)| met).collect();
        self.best.sort_unstable();
        Ok(())
    }
}
