//! The choice of leaders. A node leads if it is near no leader that ranks before it. Every other
//! node belongs to the nearest of the leaders that rank before it.
//!
//! Nodes are near each other if their fingerprints are within k bits and, if the nodes have
//! [texts](LeaderSketches), their texts resemble each other, too. Nodes come in order of rank, in
//! batches. Each batch is several times as large as all batches before it together. A batch takes
//! three joins:
//!
//! 1. The leaders so far with the batch: a node near a leader does not lead.
//! 2. The rest of the batch with itself: this join determines the new leaders, in order of rank.
//! 3. The new leaders with the nodes of the batch that have a leader: a new leader that ranks
//!    before a node may be nearer than the node's leader.
//!
//! No two leaders are near each other, so the first and the third join find only useful pairs.
//! Members never meet members, so a dense group around a leader costs one pair for each member,
//! while a list of all pairs in the group would grow with its square. Only the second join can meet
//! a dense group. If it finds too many pairs, the batch is halved: then the leaders in the first
//! half absorb the group. (If texts decide, a dense bucket of fingerprints whose texts are not
//! similar costs a comparison of all its pairs, but no memory.)
//!
//! While batches grow, all joins together read about three times as many entries as there are
//! nodes. If the memory allows no larger batches, each batch is joined with all leaders before it
//! once more.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::column::{LeadersThenOthers, SpillColumn};
use crate::error::{Error, Result};
use crate::fingerprint::BitSketch;
use crate::progress::Progress;
use crate::search::{Join, Pair};
use crate::sort::Workspace;
use crate::sync::Mutex;

/// The size of the first batch.
const BATCH_MIN: usize = 4096;
/// The size of the next batch relative to all nodes before it.
const GROWTH: usize = 3;
/// The minimum of the limit of pairs of a batch with itself. The limit is the number of pairs that
/// fit into their memory; above it, the batch is halved.
const PAIRS_MIN: usize = 1 << 18;
/// The number of bytes of a pair while its list grows, of a node of a batch, and of a text with its
/// data.
const PAIR_BYTES: usize = 24;
const NODE_BYTES: usize = 64;
const TEXT_BYTES: usize = 40 + BitSketch::BYTES;

/// The next nodes, in order of rank: distinct fingerprints, or any fingerprints with their texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeBatch<'n> {
    pub(super) fingerprints: &'n [u64],
    /// The text of each node, or empty if fingerprints alone decide.
    pub(super) texts: &'n [BitSketch],
}

impl<'n> NodeBatch<'n> {
    /// The first `count` nodes.
    #[expect(clippy::indexing_slicing, reason = "there are at least this many")]
    fn first(self, count: usize) -> NodeBatch<'n> {
        let NodeBatch { fingerprints, texts } = self;
        // `texts` is empty if fingerprints alone decide.
        let texts = &texts[..count.min(texts.len())];
        NodeBatch { fingerprints: &fingerprints[..count], texts }
    }
}

/// The leader of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeaderOfNode {
    /// The number of the leader, counted in order of rank.
    pub(super) leader: u32,
    /// The distance to the leader: the number of differing bits of the fingerprints, or of the text
    /// sketches, if there are texts.
    pub(super) apart: u16,
    /// Whether the node itself is the leader.
    pub(super) leads: bool,
}

/// Finds the leaders of nodes that come in order of rank.
pub(super) struct LeaderFinder {
    k: u32,
    join: Join,
    batch_max: usize,
    pairs_max: usize,
    column: SpillColumn<u64>,
    /// The texts of the leaders, if nodes have texts.
    texts: Option<LeaderSketches>,
    passed: usize,
    /// The maximum number of nodes in the next batch, set after a dense batch.
    batch_limit: usize,
}

/// The error for too many pairs of near nodes.
struct TooManyPairs;

impl LeaderFinder {
    /// Creates an empty set of leaders of nodes within distance `k`. The set uses five eighths of
    /// the memory: an eighth each for a batch, its pairs and the fingerprints of leaders, and a
    /// quarter for the joins.
    pub(super) fn new(k: u32, work: &Workspace) -> Self {
        LeaderFinder {
            k,
            join: Join::within(k).memory_bytes(work.part(4)),
            batch_max: (work.part(8) / NODE_BYTES).max(BATCH_MIN),
            pairs_max: (work.part(8) / PAIR_BYTES).max(PAIRS_MIN),
            column: SpillColumn::new(work, work.part(8)),
            texts: None,
            passed: 0,
            batch_limit: usize::MAX,
        }
    }

    /// Creates an empty set of leaders of nodes within distance `k` whose texts have at least the
    /// given resemblance. The set uses another eighth of the memory.
    pub(super) fn of_texts(k: u32, resemblance: f64, work: &Workspace) -> Self {
        let leaders = LeaderFinder::new(k, work);
        // A batch takes the same memory as without texts, although its nodes now contain a sketch
        // as well.
        let batch_max = leaders.batch_max * NODE_BYTES / (NODE_BYTES + TEXT_BYTES);
        let texts = Some(LeaderSketches::new(resemblance, work));
        LeaderFinder { batch_max: batch_max.max(BATCH_MIN), texts, ..leaders }
    }

    /// The number of leaders so far.
    pub(super) fn len(&self) -> u32 {
        self.column.len()
    }

    /// The number of nodes to pass to [`assign`](LeaderFinder::assign) next.
    pub(super) fn wants(&self) -> usize {
        // `passed` is 0 at first, hence the minimum. `batch_limit` is set after a dense batch.
        (self.passed * GROWTH).clamp(BATCH_MIN, self.batch_max).min(self.batch_limit)
    }

    /// Settles the first of the given nodes, and returns their leaders. Settles all nodes, unless
    /// they are too dense.
    pub(super) fn assign(
        &mut self,
        nodes: NodeBatch<'_>,
        progress: &Progress,
    ) -> Result<Vec<LeaderOfNode>> {
        let all = nodes.fingerprints.len();
        let mut count = all.min(self.wants());
        loop {
            match self.assign_batch(nodes.first(count), progress)? {
                Ok(belongs) => {
                    self.passed += count;
                    // After a dense batch, batches start small again and double. Otherwise each
                    // batch would first fail at full size.
                    self.batch_limit =
                        if count < all { count } else { self.batch_limit.saturating_mul(2) };
                    return Ok(belongs);
                }
                // The loop ends: a batch of one node has no pairs, and so is never too dense.
                Err(TooManyPairs) => count = count.div_ceil(2),
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "indexes of the nodes of the batch")]
    fn assign_batch(
        &mut self,
        nodes: NodeBatch<'_>,
        progress: &Progress,
    ) -> Result<Result<Vec<LeaderOfNode>, TooManyPairs>> {
        let count = nodes.fingerprints.len();
        // The nearest leader of each node so far, packed so that a nearer leader has a lesser
        // value.
        let best: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(NONE)).collect();
        let before = self.column.len();
        self.join_with_leaders(nodes, &best, progress)?;
        let mut best: Vec<u64> = best.into_iter().map(AtomicU64::into_inner).collect();
        // The nodes near no older leader. Only these nodes can lead, because all older leaders rank
        // before the batch.
        let free: Vec<usize> = (0..count).filter(|place| best[*place] == NONE).collect();
        let Ok(pairs) = self.pairs(nodes, &free, progress)? else { return Ok(Err(TooManyPairs)) };
        let mut new = NewLeaders::default();
        let mut pairs = &pairs[..];
        // The nodes come in order of rank: a node leads unless a new leader before it is near.
        // `pairs` are sorted by the later node, so the pairs of each node are a prefix of the
        // remaining pairs.
        for (number, &place) in free.iter().enumerate() {
            let own = pairs.iter().take_while(|near| near.node as usize == number).count();
            let (mine, rest) = pairs.split_at(own);
            pairs = rest;
            let near = mine.iter().filter_map(|near| {
                let leader = new.number_of(free[near.other as usize], before)?;
                Some(packed(leader, near.apart))
            });
            // No new leader is near, so the node leads itself, at distance 0.
            best[place] = near.min().unwrap_or_else(|| packed(new.add(place, before), 0));
        }
        // Must come before `append`: new leaders are numbered from the old length of the column.
        self.find_nearer(nodes, &new, &mut best, progress)?;
        self.column.append(new.places.iter().map(|place| nodes.fingerprints[*place]))?;
        if let Some(texts) = &mut self.texts {
            texts.lead(new.places.iter().map(|place| nodes.texts[*place]))?;
        }
        let belongs = best.into_iter().enumerate().map(|(place, of)| {
            let (leader, apart) = unpacked(of);
            LeaderOfNode { leader, apart, leads: new.number_of(place, before) == Some(leader) }
        });
        Ok(Ok(belongs.collect()))
    }

    /// Whether nodes of a batch can be near other nodes.
    fn is_any_near(&self) -> bool {
        // With k = 0 and without texts, fingerprints are distinct:
        // every node leads, and no join is needed.
        self.k > 0 || self.texts.is_some()
    }

    /// The distance of two nodes of a batch; `None` if they are not near.
    #[expect(clippy::indexing_slicing, reason = "indexes of the nodes of the batch")]
    #[expect(clippy::cast_possible_truncation, reason = "a distance is at most 64")]
    fn apart(&self, nodes: NodeBatch<'_>, [one, other]: [usize; 2], distance: u32) -> Option<u16> {
        match &self.texts {
            None => Some(distance as u16),
            Some(texts) => texts.apart(&nodes.texts[one], &nodes.texts[other]),
        }
    }

    /// Finds the nearest leader so far for each node, by the node's position.
    #[expect(clippy::indexing_slicing, reason = "indexes of the nodes of the batch")]
    #[expect(clippy::cast_possible_truncation, reason = "a distance is at most 64")]
    fn join_with_leaders(
        &self,
        nodes: NodeBatch<'_>,
        best: &[AtomicU64],
        progress: &Progress,
    ) -> Result<()> {
        let border = self.column.len();
        if !self.is_any_near() || border == 0 || best.is_empty() {
            return Ok(());
        }
        // A sink returns no error. It stores an error in `failed` and breaks the join.
        let failed: Mutex<Option<Error>> = Mutex::default();
        let see = |pair: &Pair| -> Result<()> {
            // Only pairs of a leader and a node come, and `left` is the lesser ordinal, which
            // belongs to the leader.
            let node = (pair.right - border) as usize;
            let apart = match &self.texts {
                None => Some(pair.distance as u16),
                Some(texts) => texts.apart(&texts.of_leader(pair.left)?, &nodes.texts[node]),
            };
            if let Some(apart) = apart {
                // Threads report pairs of one node in any order, and the minimum does not depend on
                // the order.
                best[node].fetch_min(packed(pair.left, apart), Ordering::Relaxed);
            }
            Ok(())
        };
        let sink = |pairs: &[Pair]| match pairs.iter().try_for_each(see) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                *failed.lock() = Some(e);
                ControlFlow::Break(())
            }
        };
        let source = LeadersThenOthers { leaders: &self.column, others: nodes.fingerprints };
        let _: ControlFlow<()> = self.join.across(border).run(&source, &progress.hidden(), sink)?;
        progress.check()?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// The near pairs among some nodes of a batch, sorted, the later node of each pair first. A
    /// pair has the numbers of its nodes among these nodes. Returns an error if there are too many
    /// pairs.
    #[expect(clippy::indexing_slicing, reason = "indexes of the nodes of the batch")]
    fn pairs(
        &self,
        nodes: NodeBatch<'_>,
        places: &[usize],
        progress: &Progress,
    ) -> Result<Result<Vec<NearNodes>, TooManyPairs>> {
        if !self.is_any_near() {
            return Ok(Ok(Vec::new()));
        }
        let fingerprints: Vec<u64> =
            places.iter().map(|place| nodes.fingerprints[*place]).collect();
        let found: Mutex<Vec<NearNodes>> = Mutex::default();
        let sink = |pairs: &[Pair]| {
            let near = pairs.iter().filter_map(|pair| {
                let both = [pair.left, pair.right].map(|number| places[number as usize]);
                let apart = self.apart(nodes, both, pair.distance)?;
                // Ordinals follow rank, so `right` is the later node.
                Some(NearNodes { node: pair.right, other: pair.left, apart })
            });
            // The pairs are collected before the lock is taken: comparing texts is slow, and other
            // threads wait for the lock.
            let near: Vec<NearNodes> = near.collect();
            let mut found = found.lock();
            found.extend(near);
            // Other threads may add a few pairs after the break. The list is dropped then, so these
            // pairs do no harm.
            if found.len() > self.pairs_max {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        // A slice cannot fail (`Infallible`), so the pattern always matches.
        let Ok(end) = self.join.run(&fingerprints[..], &progress.hidden(), sink);
        progress.check()?;
        if end.is_break() {
            return Ok(Err(TooManyPairs));
        }
        let mut found = found.into_inner();
        // Groups the pairs by node, and removes the order in which threads found them.
        found.sort_unstable();
        Ok(Ok(found))
    }

    /// Looks for new leaders that are nearer to a node than its leader, and rank before the node.
    #[expect(clippy::indexing_slicing, reason = "indexes of the nodes of the batch")]
    fn find_nearer(
        &self,
        nodes: NodeBatch<'_>,
        new: &NewLeaders,
        best: &mut [u64],
        progress: &Progress,
    ) -> Result<()> {
        let before = self.column.len();
        // Fingerprints without texts are distinct, so their distance is at least 1. Texts may have
        // distance 0.
        let nearest = u16::from(self.texts.is_none());
        let may_be_nearer = |place: &usize| {
            let (leader, apart) = unpacked(best[*place]);
            // Free nodes were compared with all new leaders above. Only nodes of older leaders
            // remain to be compared.
            leader < before && apart > nearest
        };
        let members: Vec<usize> = (0..best.len()).filter(may_be_nearer).collect();
        if members.is_empty() || new.places.is_empty() {
            return Ok(());
        }
        let places = new.places.iter().chain(&members);
        let all: Vec<u64> = places.map(|place| nodes.fingerprints[*place]).collect();
        let border = new.places.len();
        let nearer: Vec<AtomicU64> =
            members.iter().map(|place| AtomicU64::new(best[*place])).collect();
        let sink = |pairs: &[Pair]| {
            for pair in pairs {
                let member = pair.right as usize - border;
                let both = [new.places[pair.left as usize], members[member]];
                let [leader, node] = both;
                // Positions follow rank: a new leader that comes after the node cannot lead it.
                if leader < node
                    && let Some(apart) = self.apart(nodes, both, pair.distance)
                {
                    let of = packed(before + pair.left, apart);
                    // The search starts from the older leader, which wins a tie because its number
                    // is less.
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

/// Two near nodes, by their numbers among some nodes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NearNodes {
    /// The node of the pair that ranks later.
    node: u32,
    other: u32,
    apart: u16,
}

/// The leaders of a batch.
#[derive(Default)]
struct NewLeaders {
    /// The positions of the leaders in the batch, in order.
    places: Vec<usize>,
}

#[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes")]
impl NewLeaders {
    /// The number of the leader at a position; `None` if the node there does not lead.
    fn number_of(&self, place: usize, before: u32) -> Option<u32> {
        let number = self.places.binary_search(&place).ok()?;
        Some(before + number as u32)
    }

    /// Appends a leader, and returns its number.
    fn add(&mut self, place: usize, before: u32) -> u32 {
        self.places.push(place);
        before + self.places.len() as u32 - 1
    }
}

/// The value for no leader: greater than any other value.
const NONE: u64 = u64::MAX;

/// A leader with its distance as one number. The least number is the nearest leader, and among
/// equally near leaders the first in rank.
fn packed(leader: u32, apart: u16) -> u64 {
    u64::from(apart) << 32 | u64::from(leader)
}

#[expect(clippy::cast_possible_truncation, reason = "takes the two parts")]
fn unpacked(of: u64) -> (u32, u16) {
    (of as u32, (of >> 32) as u16)
}

/// The sketches of the leaders' texts, and the largest distance of near texts.
pub(super) struct LeaderSketches {
    apart_max: u32,
    of_leaders: SpillColumn<BitSketch>,
}

impl LeaderSketches {
    /// Creates an empty list with an eighth of the memory. Texts are near if their resemblance is
    /// at least `resemblance`.
    pub(super) fn new(resemblance: f64, work: &Workspace) -> LeaderSketches {
        // `distance_at` turns the resemblance into a number of bits once, so comparing a pair of
        // texts costs only popcounts.
        let of_leaders = SpillColumn::new(work, work.part(8));
        LeaderSketches { apart_max: BitSketch::distance_at(resemblance), of_leaders }
    }

    /// Adds the texts of new leaders.
    pub(super) fn lead(&mut self, sketches: impl Iterator<Item = BitSketch>) -> Result<()> {
        self.of_leaders.append(sketches)
    }

    /// The sketch of a leader.
    pub(super) fn of_leader(&self, number: u32) -> Result<BitSketch> {
        self.of_leaders.get(number)
    }

    /// The number of bits in which two sketches differ; `None` if their texts are not near.
    #[expect(clippy::cast_possible_truncation, reason = "a sketch has 512 bits")]
    pub(super) fn apart(&self, one: &BitSketch, other: &BitSketch) -> Option<u16> {
        let apart = one.distance(other);
        (apart <= self.apart_max).then_some(apart as u16)
    }
}
