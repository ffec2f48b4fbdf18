//! The best pages by their heads, for policies that go by the order of the last comparisons.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::decide::Asked;
use super::score::{Facts, Score, Scored};
use super::worked::Worked;
use crate::error::Result;
use crate::segment::{Row, host_slot, url_hash};
use crate::store::component::Changing;

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
    last: Option<(Score, Reverse<u64>)>,
}

impl ByScan {
    /// The next page; `wanted` is how many will be asked for, this one included.
    pub(super) fn next(&mut self, asked: &Asked, wanted: usize) -> Result<Option<String>> {
        if self.best.is_empty() && !self.ended {
            self.fill(asked, wanted)?;
        }
        let Some((score, number, url)) = self.best.pop() else { return Ok(None) };
        self.last = Some((score, number));
        Ok(Some(url))
    }

    fn fill(&mut self, asked: &Asked, wanted: usize) -> Result<()> {
        let mut best: BinaryHeap<Reverse<Met>> = BinaryHeap::new();
        let (mut bytes, mut worked, mut number) = (0, Worked::default(), 0);
        self.ended = true;
        let mut scan = asked.snapshot.scan(asked.due.under.as_ref());
        while let Some(page) = scan.next_changing() {
            let (url, Changing { head, changes }) = page?;
            number += 1;
            let seed = asked.snapshot.view.seed;
            let row = Row::new(Some(&head), &changes, 0, host_slot(&url, seed));
            let recent = changes.recent(head.first, head.last.time);
            let (hash, rule) = (url_hash(&url, seed), asked.due.rules.of(&url));
            let changed = asked.scorer.changed(&row, rule, &url);
            let facts = Facts { hash, row: &row, recent: &recent, rule, changed };
            let scored = asked.scorer.score(facts, Score::LEAST, &mut worked)?;
            let Scored::Score(score) = scored else { continue };
            if self.last.is_some_and(|last| (score, Reverse(number)) >= last) {
                continue;
            }
            let full = best.len() >= wanted || bytes > asked.due.memory_bytes && best.len() > 1;
            if full && best.peek().is_some_and(|worst| score <= worst.0.0) {
                self.ended = false;
                continue;
            }
            bytes += url.len() + PAGE_BYTES;
            best.push(Reverse((score, Reverse(number), url)));
            while best.len() > wanted || bytes > asked.due.memory_bytes && best.len() > 1 {
                self.ended = false;
                bytes -= best.pop().map_or(0, |worst| worst.0.2.len() + PAGE_BYTES);
            }
        }
        self.best = best.into_iter().map(|Reverse(met)| met).collect();
        self.best.sort_unstable();
        Ok(())
    }
}
