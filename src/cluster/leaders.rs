//! Who leads: a node near no leader that ranks before it, and every other belongs to the nearest of the
//! leaders that rank before it.
//!
//! Nodes are near each other if their fingerprints are within k bits, and if they have [texts](Texts),
//! these resemble each other, too. They come in the order of their ranks, in batches, each some times as
//! many as all before, and a batch takes three joins:
//!
//! 1. the leaders so far with the batch: what is near a leader leads nothing,
//! 2. the rest of the batch with itself: in the order of ranks, this tells the new leaders,
//! 3. the new leaders with those of the batch that have a leader: one of the new may be nearer, and rank
//!    before them.
//!
//! No two leaders are near each other, so the first and the third join find no pairs but those that are
//! wanted; and members never meet members, so a crowd around a leader costs a pair each, where the list
//! of its pairs grows with its square. Only the second join can meet a crowd. If it finds too many
//! pairs, the batch is halved: then the leaders among the first half take the crowd away. (Where texts
//! decide, a crowd of fingerprints whose texts are not alike costs the comparing of all its pairs, but
//! no memory.)
//!
//! While batches grow, all of them together join about three times as many entries as there are nodes.
//! Where the memory allows no larger ones, each joins all leaders before it once more.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::column::{Beside, Column};
use crate::error::{Error, Result};
use crate::fingerprint::BitSketch;
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
/// Bytes that a pair takes while its list grows, a node of a batch, and its text with what it is of.
const PAIR_BYTES: usize = 24;
const NODE_BYTES: usize = 64;
const TEXT_BYTES: usize = 40 + BitSketch::BYTES;

/// Nodes that come next, in the order of their ranks: distinct fingerprints, or any with their texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'n> {
    pub(super) fingerprints: &'n [u64],
    /// That of each, or none.
    pub(super) texts: &'n [BitSketch],
}

impl<'n> Nodes<'n> {
    /// The first of them.
    #[expect(clippy::indexing_slicing, reason = "so many or more are there")]
    fn first(self, count: usize) -> Nodes<'n> {
        let Nodes { fingerprints, texts } = self;
        // `texts` is empty where fingerprints alone decide.
        let texts = &texts[..count.min(texts.len())];
        Nodes { fingerprints: &fingerprints[..count], texts }
    }
}

/// Which leader a node belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Belongs {
    /// The number of the leader: leaders are counted in the order of their ranks.
    pub(super) leader: u32,
    /// How far the node is from it: in how many bits their fingerprints differ, or if they have texts,
    /// the sketches of these.
    pub(super) apart: u16,
    /// Whether the node is that leader.
    pub(super) leads: bool,
}

/// What finds the leaders of nodes that come in the order of their ranks.
pub(super) struct Leaders {
    k: u32,
    join: Join,
    batch_max: usize,
    pairs_max: usize,
    column: Column<u64>,
    /// Of nodes with texts those of the leaders.
    texts: Option<Texts>,
    passed: usize,
    /// How many nodes the next batch has at most, after a crowd was met.
    batch_limit: usize,
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
            texts: None,
            passed: 0,
            batch_limit: usize::MAX,
        }
    }

    /// Leaders within a distance whose texts are at least so much alike, with one eighth more.
    pub(super) fn of_texts(k: u32, resemblance: f64, work: &Workspace) -> Self {
        let leaders = Leaders::new(k, work);
        // The same memory for a batch, whose nodes now hold a sketch as well.
        let batch_max = leaders.batch_max * NODE_BYTES / (NODE_BYTES + TEXT_BYTES);
        let texts = Some(Texts::new(resemblance, work));
        Leaders { batch_max: batch_max.max(BATCH_MIN), texts, ..leaders }
    }

    /// How many leaders there are so far.
    pub(super) fn len(&self) -> u32 {
        self.column.len()
    }

    /// How many nodes are to come next.
    pub(super) fn wants(&self) -> usize {
        // `passed` is 0 at first, hence the minimum. `batch_limit` is set after a crowd.
        (self.passed * GROWTH).clamp(BATCH_MIN, self.batch_max).min(self.batch_limit)
    }

    /// Settles the first of some nodes that come next, and says to which leaders they belong. That is
    /// all of them, unless they crowd.
    pub(super) fn settle(&mut self, nodes: Nodes<'_>, progress: &Progress) -> Result<Vec<Belongs>> {
        let all = nodes.fingerprints.len();
        let mut count = all.min(self.wants());
        loop {
            match self.settle_batch(nodes.first(count), progress)? {
                Ok(belongs) => {
                    self.passed += count;
                    // After a crowd, batches begin small again and double.
                    // Otherwise each would fail at full size first.
                    self.batch_limit =
                        if count < all { count } else { self.batch_limit.saturating_mul(2) };
                    return Ok(belongs);
                }
                // This ends: a batch of one node has no pairs, and so is never crowded.
                Err(Crowded) => count = count.div_ceil(2),
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    fn settle_batch(
        &mut self,
        nodes: Nodes<'_>,
        progress: &Progress,
    ) -> Result<Result<Vec<Belongs>, Crowded>> {
        let count = nodes.fingerprints.len();
        // The nearest leader of each node so far, packed so that a lesser value is a better one.
        let best: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(NONE)).collect();
        let before = self.column.len();
        self.join_with_leaders(nodes, &best, progress)?;
        let mut best: Vec<u64> = best.into_iter().map(AtomicU64::into_inner).collect();
        // Near no older leader. Only these can lead, because all older leaders rank before the batch.
        let free: Vec<usize> = (0..count).filter(|place| best[*place] == NONE).collect();
        let Ok(pairs) = self.pairs(nodes, &free, progress)? else { return Ok(Err(Crowded)) };
        let mut new = New::default();
        let mut pairs = &pairs[..];
        // In order of rank: a node leads unless a new leader before it is near. `pairs` are sorted by
        // the later node, so each node takes a prefix of what is left.
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
        // Before `append`: new leaders are numbered from the old length of the column.
        self.find_nearer(nodes, &new, &mut best, progress)?;
        self.column.append(new.places.iter().map(|place| nodes.fingerprints[*place]))?;
        if let Some(texts) = &mut self.texts {
            texts.lead(new.places.iter().map(|place| nodes.texts[*place]))?;
        }
        let belongs = best.into_iter().enumerate().map(|(place, of)| {
            let (leader, apart) = unpacked(of);
            Belongs { leader, apart, leads: new.number_of(place, before) == Some(leader) }
        });
        Ok(Ok(belongs.collect()))
    }

    /// Whether nodes of a batch can be near others.
    fn is_any_near(&self) -> bool {
        // With k = 0 and without texts, fingerprints are distinct:
        // every node leads, and no join is needed.
        self.k > 0 || self.texts.is_some()
    }

    /// How far two nodes of a batch are from each other; `None` if they are not near.
    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    #[expect(clippy::cast_possible_truncation, reason = "a distance is at most 64")]
    fn apart(&self, nodes: Nodes<'_>, [one, other]: [usize; 2], distance: u32) -> Option<u16> {
        match &self.texts {
            None => Some(distance as u16),
            Some(texts) => texts.apart(&nodes.texts[one], &nodes.texts[other]),
        }
    }

    /// Looks which leaders so far are the nearest to nodes, by place.
    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    #[expect(clippy::cast_possible_truncation, reason = "a distance is at most 64")]
    fn join_with_leaders(
        &self,
        nodes: Nodes<'_>,
        best: &[AtomicU64],
        progress: &Progress,
    ) -> Result<()> {
        let border = self.column.len();
        if !self.is_any_near() || border == 0 || best.is_empty() {
            return Ok(());
        }
        // A sink returns no error. It keeps one here and breaks the join.
        let failed: Mutex<Option<Error>> = Mutex::default();
        let see = |pair: &Pair| -> Result<()> {
            // Only pairs across the border come, and `left` is the
            // lesser ordinal: a leader, then a node.
            let node = (pair.right - border) as usize;
            let apart = match &self.texts {
                None => Some(pair.distance as u16),
                Some(texts) => texts.apart(&texts.of_leader(pair.left)?, &nodes.texts[node]),
            };
            if let Some(apart) = apart {
                // Threads report pairs of one node in any order. The
                // minimum is the same in all of them.
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
        let source = Beside { leaders: &self.column, others: nodes.fingerprints };
        let _: ControlFlow<()> = self.join.across(border).run(&source, &progress.hidden(), sink)?;
        progress.check()?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Which of some nodes of a batch are near each other, by their numbers among these, the later one
    /// first, in order; unless these are too many.
    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    fn pairs(
        &self,
        nodes: Nodes<'_>,
        places: &[usize],
        progress: &Progress,
    ) -> Result<Result<Vec<Near>, Crowded>> {
        if !self.is_any_near() {
            return Ok(Ok(Vec::new()));
        }
        let fingerprints: Vec<u64> =
            places.iter().map(|place| nodes.fingerprints[*place]).collect();
        let found: Mutex<Vec<Near>> = Mutex::default();
        let sink = |pairs: &[Pair]| {
            let near = pairs.iter().filter_map(|pair| {
                let both = [pair.left, pair.right].map(|number| places[number as usize]);
                let apart = self.apart(nodes, both, pair.distance)?;
                // Ordinals follow rank, so `right` is the later node.
                Some(Near { node: pair.right, other: pair.left, apart })
            });
            // Collected before the lock is taken: comparing texts is slow,
            // and other threads wait for the lock.
            let near: Vec<Near> = near.collect();
            let mut found = found.lock();
            found.extend(near);
            // Other threads may add a few pairs after the break. The list
            // is dropped then, so they do no harm.
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
            return Ok(Err(Crowded));
        }
        let mut found = found.into_inner();
        // Groups the pairs by node, and removes the order in which threads found them.
        found.sort_unstable();
        Ok(Ok(found))
    }

    /// Looks for new leaders that are nearer to a node than that to which it belongs, and rank before
    /// it.
    #[expect(clippy::indexing_slicing, reason = "places of the nodes of the batch")]
    fn find_nearer(
        &self,
        nodes: Nodes<'_>,
        new: &New,
        best: &mut [u64],
        progress: &Progress,
    ) -> Result<()> {
        let before = self.column.len();
        // Fingerprints without texts are distinct, so nothing is nearer than 1. Texts may be at 0.
        let nearest = u16::from(self.texts.is_none());
        let may_be_nearer = |place: &usize| {
            let (leader, apart) = unpacked(best[*place]);
            // Free nodes were compared with all new leaders above. Only
            // members of older leaders are left.
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
                // Places follow rank: a new leader that comes after the node cannot lead it.
                if leader < node
                    && let Some(apart) = self.apart(nodes, both, pair.distance)
                {
                    let of = packed(before + pair.left, apart);
                    // Starts from the older leader, which wins a tie because its number is less.
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

/// Two nodes near each other, by their numbers among some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    /// The later one.
    node: u32,
    other: u32,
    apart: u16,
}

/// Leaders of a batch.
#[derive(Default)]
struct New {
    /// Their places in it, in order.
    places: Vec<usize>,
}

#[expect(clippy::cast_possible_truncation, reason = "a batch has fewer than 2^32 nodes")]
impl New {
    /// The number of the leader at this place, if it is one.
    fn number_of(&self, place: usize, before: u32) -> Option<u32> {
        let number = self.places.binary_search(&place).ok()?;
        Some(before + number as u32)
    }

    /// Adds a leader behind all others, and says which number it has.
    fn add(&mut self, place: usize, before: u32) -> u32 {
        self.places.push(place);
        before + self.places.len() as u32 - 1
    }
}

/// No leader: beyond any.
const NONE: u64 = u64::MAX;

/// A leader and how far it is: the least is the nearest, and of those the one that ranks first.
fn packed(leader: u32, apart: u16) -> u64 {
    u64::from(apart) << 32 | u64::from(leader)
}

#[expect(clippy::cast_possible_truncation, reason = "the two parts are what is wanted")]
fn unpacked(of: u64) -> (u32, u16) {
    (of as u32, (of >> 32) as u16)
}

/// The sketches of the texts of leaders, and how far others may be from them.
pub(super) struct Texts {
    apart_max: u32,
    of_leaders: Column<BitSketch>,
}

impl Texts {
    /// No leader yet, with an eighth of the memory; texts are near that resemble each other so much.
    pub(super) fn new(resemblance: f64, work: &Workspace) -> Texts {
        // `distance_at` turns the resemblance into a number of bits
        // once, so a pair of texts costs popcounts.
        let of_leaders = Column::new(work, work.part(8));
        Texts { apart_max: BitSketch::distance_at(resemblance), of_leaders }
    }

    /// These nodes lead, too.
    pub(super) fn lead(&mut self, sketches: impl Iterator<Item = BitSketch>) -> Result<()> {
        self.of_leaders.append(sketches)
    }

    /// The sketch of a leader.
    pub(super) fn of_leader(&self, number: u32) -> Result<BitSketch> {
        self.of_leaders.get(number)
    }

    /// In how many bits two sketches differ; `None` if their texts are not near.
    #[expect(clippy::cast_possible_truncation, reason = "a sketch has 512 bits")]
    pub(super) fn apart(&self, one: &BitSketch, other: &BitSketch) -> Option<u16> {
        let apart = one.distance(other);
        (apart <= self.apart_max).then_some(apart as u16)
    }
}
