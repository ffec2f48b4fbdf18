//! Who leads: a node within k of no leader that ranks before it, and every other belongs to the nearest
//! of the leaders that rank before it.
//!
//! Nodes are distinct fingerprints in the order of their ranks. They come in batches, each some times
//! as many as all before, and a batch takes three joins:
//!
//! 1. the leaders so far with the batch: what is near a leader leads nothing,
//! 2. the rest of the batch with itself: in the order of ranks, this tells the new leaders,
//! 3. the new leaders with those of the batch that have a leader: one of the new may be nearer, and rank
//!    before them.
//!
//! No two leaders are near each other, so the first and the third join find no pairs but those that are
//! wanted; and members never meet members, so a crowd around a leader costs a pair each, where the list
//! of its pairs grows with its square. Only the second join can meet a crowd. If it finds too many
//! pairs, the batch is halved: then the leaders among the first half take the crowd away.
//!
//! While batches grow, all of them together join about three times as many entries as there are nodes.
//! Where the memory allows no larger ones, each joins all leaders before it once more.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::column::{Beside, Column};
use crate::error::Result;
use crate::progress::Progress;
use crate::search::{Join, Pair};
use crate::sort::Workspace;
use crate::sync::Mutex;

/// The first batch.
const BATCH_MIN: usize = 4096;
/// How many times as many as all nodes before it the next batch has.
const GROWTH: usize = 3;
/// Pairs of a batch with itself above which it is halved: as many as fit into their memory, but so many
/// in any.
const PAIRS_MIN: usize = 1 << 18;
/// Bytes that a pair takes while its list grows, and a node of a batch.
const PAIR_BYTES: usize = 16;
const NODE_BYTES: usize = 64;

/// Which leader a node belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Belongs {
    /// The number of the leader: leaders are counted in the order of their ranks.
    pub(super) leader: u32,
    /// How far the node is from it: 0 of the leader itself.
    pub(super) distance: u8,
}

/// What finds the leaders of nodes that come in the order of their ranks.
pub(super) struct Leaders {
    k: u32,
    join: Join,
    batch_max: usize,
    pairs_max: usize,
    column: Column,
    passed: usize,
    /// How many nodes the next batch has at most, after a crowd was met.
    calm: usize,
}

/// Too many pairs of nodes are near each other.
struct Crowded;

impl Leaders {
    /// Leaders within a distance, with five eighths of the memory: an eighth each for a batch, its pairs
    /// and the fingerprints of leaders, and a quarter for the joins.
    pub(super) fn new(k: u32, work: &Workspace) -> Self {
        Leaders {
            k,
            join: Join::within(k).memory_bytes(work.part(4)),
            batch_max: (work.part(8) / NODE_BYTES).max(BATCH_MIN),
            pairs_max: (work.part(8) / PAIR_BYTES).max(PAIRS_MIN),
            column: Column::new(work, work.part(8)),
            passed: 0,
            calm: usize::MAX,
        }
    }

    /// How many leaders there are so far.
    pub(super) fn len(&self) -> u32 {
        self.column.len()
    }

    /// How many nodes are to come next.
    pub(super) fn wants(&self) -> usize {
        (self.passed * GROWTH).clamp(BATCH_MIN, self.batch_max).min(self.calm)
    }

    /// Settles the first of some nodes that come next, and says to which leaders they belong. That is
    /// all of them, unless they crowd.
    #[expect(clippy::indexing_slicing, reason = "the first of them")]
    pub(super) fn settle(&mut self, nodes: &[u64], progress: &Progress) -> Result<Vec<Belongs>> {
        let mut count = nodes.len().min(self.wants());
        loop {
            match self.settle_batch(&nodes[..count], progress)? {
                Ok(belongs) => {
                    self.passed += count;
                    self.calm =
                        if count < nodes.len() { count } else { self.calm.saturating_mul(2) };
                    return Ok(belongs);
                }
                Err(Crowded) => count = count.div_ceil(2),
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    fn settle_batch(
        &mut self,
        nodes: &[u64],
        progress: &Progress,
    ) -> Result<Result<Vec<Belongs>, Crowded>> {
        let best: Vec<AtomicU64> = nodes.iter().map(|_| AtomicU64::new(NONE)).collect();
        let before = self.column.len();
        self.join_across(nodes, progress, |leader, node, distance| {
            best[node].fetch_min(packed(leader, distance), Ordering::Relaxed);
        })?;
        let mut best: Vec<u64> = best.into_iter().map(AtomicU64::into_inner).collect();
        let is_free = |place: &usize| best[*place] == NONE;
        let free: Vec<usize> = (0..nodes.len()).filter(is_free).collect();
        let fingerprints: Vec<u64> = free.iter().map(|place| nodes[*place]).collect();
        let Ok(pairs) = self.pairs(&fingerprints, progress)? else { return Ok(Err(Crowded)) };
        let mut new = New::default();
        let mut pairs = &pairs[..];
        for (number, &place) in free.iter().enumerate() {
            let own = pairs.iter().take_while(|(right, _)| *right as usize == number).count();
            let (mine, rest) = pairs.split_at(own);
            pairs = rest;
            let near = mine.iter().filter_map(|(_, left)| {
                let other = free[*left as usize];
                let distance = (nodes[other] ^ nodes[place]).count_ones();
                Some(packed(new.number_of(other, before)?, distance))
            });
            best[place] = near.min().unwrap_or_else(|| new.add(place, nodes[place], before));
        }
        self.find_nearer(nodes, &new, &mut best, progress)?;
        self.column.append(new.fingerprints)?;
        Ok(Ok(best.into_iter().map(unpacked).collect()))
    }

    /// Pairs of the leaders so far and nodes, by place.
    fn join_across(
        &self,
        nodes: &[u64],
        progress: &Progress,
        found: impl Fn(u32, usize, u32) + Sync,
    ) -> Result<()> {
        let border = self.column.len();
        if self.k == 0 || border == 0 || nodes.is_empty() {
            return Ok(());
        }
        let source = Beside { leaders: &self.column, others: nodes };
        let sink = |pairs: &[Pair]| {
            for pair in pairs {
                found(pair.left, (pair.right - border) as usize, pair.distance);
            }
            ControlFlow::Continue(())
        };
        let _: ControlFlow<()> = self.join.across(border).run(&source, &progress.hidden(), sink)?;
        progress.check()
    }

    /// Pairs of nodes by place, the later one first, in order; unless these are too many.
    fn pairs(
        &self,
        nodes: &[u64],
        progress: &Progress,
    ) -> Result<Result<Vec<(u32, u32)>, Crowded>> {
        if self.k == 0 {
            return Ok(Ok(Vec::new()));
        }
        let found: Mutex<Vec<(u32, u32)>> = Mutex::default();
        let sink = |pairs: &[Pair]| {
            let mut found = found.lock();
            found.extend(pairs.iter().map(|pair| (pair.right, pair.left)));
            if found.len() > self.pairs_max {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let Ok(end) = self.join.run(nodes, &progress.hidden(), sink);
        progress.check()?;
        if end.is_break() {
            return Ok(Err(Crowded));
        }
        let mut found = found.into_inner();
        found.sort_unstable();
        Ok(Ok(found))
    }

    /// Looks for new leaders that are nearer to a node than that to which it belongs, and rank before
    /// it.
    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    fn find_nearer(
        &self,
        nodes: &[u64],
        new: &New,
        best: &mut [u64],
        progress: &Progress,
    ) -> Result<()> {
        let before = self.column.len();
        let may_be_nearer = |place: &usize| {
            let Belongs { leader, distance } = unpacked(best[*place]);
            // Of the new ones only what is in the batch is not settled; no two nodes are the same.
            leader < before && distance > 1
        };
        let members: Vec<usize> = (0..nodes.len()).filter(may_be_nearer).collect();
        if members.is_empty() || new.places.is_empty() {
            return Ok(());
        }
        let mut all = new.fingerprints.clone();
        all.extend(members.iter().map(|place| nodes[*place]));
        let border = new.fingerprints.len();
        let nearer: Vec<AtomicU64> =
            members.iter().map(|place| AtomicU64::new(best[*place])).collect();
        let sink = |pairs: &[Pair]| {
            for pair in pairs {
                let (leader, member) = (pair.left as usize, pair.right as usize - border);
                if new.places[leader] < members[member] {
                    let of = packed(before + pair.left, pair.distance);
                    nearer[member].fetch_min(of, Ordering::Relaxed);
                }
            }
            ControlFlow::Continue(())
        };
        #[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes")]
        let join = self.join.across(border as u32);
        let Ok(_) = join.run(&all[..], &progress.hidden(), sink);
        progress.check()?;
        for (place, nearer) in members.into_iter().zip(nearer) {
            best[place] = nearer.into_inner();
        }
        Ok(())
    }
}

/// Leaders of a batch.
#[derive(Default)]
struct New {
    /// Their places in it, in order.
    places: Vec<usize>,
    fingerprints: Vec<u64>,
}

impl New {
    /// The number of the leader at this place, if it is one.
    fn number_of(&self, place: usize, before: u32) -> Option<u32> {
        let number = self.places.binary_search(&place).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes")]
        let number = number as u32;
        Some(before + number)
    }

    /// Adds a leader, which belongs to itself.
    fn add(&mut self, place: usize, fingerprint: u64, before: u32) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes")]
        let number = self.places.len() as u32;
        self.places.push(place);
        self.fingerprints.push(fingerprint);
        packed(before + number, 0)
    }
}

/// No leader: beyond any.
const NONE: u64 = u64::MAX;

/// A leader and the distance to it: the least is the nearest, and of those the one that ranks first.
fn packed(leader: u32, distance: u32) -> u64 {
    u64::from(distance) << 32 | u64::from(leader)
}

fn unpacked(of: u64) -> Belongs {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
    let belongs = Belongs { leader: of as u32, distance: (of >> 32) as u8 };
    belongs
}
