//! The tasks of a distributed join.

use std::ops::ControlFlow;

use super::histogram::{Histogram, bucket, total};
use crate::search::join::{Join, KeyBits, Monitor, Pair};

/// The number of tasks beyond which ranges are not split into pieces.
const TASKS_MAX: usize = 1 << 20;
/// The maximum number of ranges.
const RANGES_MAX: u64 = 1 << 16;
/// The maximum number of pieces of a range.
const PIECES_MAX: u64 = 1 << 8;

/// The plan of a distributed join: independent tasks.
///
/// The plan is computed from a [`Histogram`] of all fingerprints and two numbers, or, if each task
/// can have all fingerprints, from two numbers alone. Every machine computes the same plan.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Mutex;
///
/// use simkeep::join::{Partitioner, Join, JoinPlan, Histogram};
///
/// // Two places, which have one fingerprint in common.
/// let places = [vec![0b0000, 0xffff_0000_0000_0000, 0b0111], vec![0b0000, 0b0001]];
/// let mut histogram = Histogram::within(2, 64);
/// places.iter().for_each(|place| histogram.add(place));
/// let plan = JoinPlan::new(&histogram, 6, 1 << 20);
///
/// let mut received = vec![[Vec::new(), Vec::new()]; plan.tasks().len()];
/// for place in &places {
///     let mut partitioner = Partitioner::new(&plan, 1 << 20);
///     let mut take = |chunk: simkeep::join::Chunk| {
///         received[chunk.task as usize][usize::from(chunk.is_second)].extend(chunk.fingerprints);
///         ControlFlow::Continue(())
///     };
///     let _ = partitioner.add(place, &mut take);
///     let _ = partitioner.end(&mut take);
/// }
///
/// let found = Mutex::new(Vec::new());
/// for (task, sides) in plan.tasks().iter().zip(received) {
///     let sink = |pairs: &[simkeep::join::Pair]| {
///         found.lock().unwrap().extend(pairs.iter().map(|pair| (pair.fingerprints, pair.distance)));
///         ControlFlow::Continue(())
///     };
///     let _ = task.run(sides, Join::within(2), &(), sink);
/// }
/// let mut found = found.into_inner().unwrap();
/// found.sort();
/// assert_eq!(found, [([0b0000, 0b0001], 1), ([0b0001, 0b0111], 2)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinPlan {
    bits: u32,
    parts: Vec<PartTasks>,
    all: Vec<JoinTask>,
}

/// A task of a join. A task finds the pairs of one range of values of a part, the pairs of two
/// pieces of such a range, or the pairs of all values of some parts.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simkeep::join::{Join, JoinPlan};
///
/// // Two machines that both have all fingerprints.
/// let (fingerprints, plan) = (vec![0b0000, 0b0001, 0xffff], JoinPlan::uncounted(1, 2));
/// let mut found = 0;
/// for task in plan.tasks() {
///     let pairs = std::sync::Mutex::new(0);
///     let _ = task.run([fingerprints.clone(), Vec::new()], Join::within(1), &(), |some| {
///         *pairs.lock().unwrap() += some.len();
///         ControlFlow::Continue(())
///     });
///     found += pairs.into_inner().unwrap();
/// }
/// assert_eq!(found, 1); // by one of the two tasks
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinTask {
    k: u32,
    /// The first pass of the task, and the pass after its last; `None` if all passes run.
    passes: Option<(u32, u32)>,
    /// Whether the task joins two pieces with each other, and neither piece with itself.
    is_across: bool,
    fingerprints: u64,
}

/// The tasks of the values of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PartTasks {
    part: KeyBits,
    /// The range of each bucket.
    ranges: Vec<u32>,
    /// The tasks of each range.
    tasks: Vec<RangeTasks>,
}

/// The tasks of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RangeTasks {
    first: u32,
    pieces: u32,
}

impl JoinPlan {
    /// Distributes a join over about `ranges` ranges of values, for all parts together. No range
    /// has more than `most` fingerprints, unless a single bucket has more. Such a bucket is split
    /// into up to 256 pieces, so that a task, which joins two pieces, has at most about `most`
    /// fingerprints.
    ///
    /// Each fingerprint goes to one task of each part. If the range of a part's value is split into
    /// pieces, the fingerprint goes to one task for each piece.
    ///
    /// ```
    /// use simkeep::join::{Histogram, JoinPlan};
    /// let mut histogram = Histogram::within(3, 4096);
    /// (0..10_000_u64).for_each(|n| histogram.add(&[n.wrapping_mul(0x9e37_79b9_7f4a_7c15)]));
    /// let plan = JoinPlan::new(&histogram, 16, 1 << 20);
    /// for (number, task) in plan.tasks().iter().enumerate() {
    ///     println!("task {number}: {} fingerprints", task.fingerprints());
    /// }
    /// assert_eq!(plan.fingerprints_sent(), 40_000); // once for each of four parts
    /// ```
    #[must_use]
    pub fn new(histogram: &Histogram, ranges: u32, most: u64) -> JoinPlan {
        let (k, bits) = (histogram.k(), histogram.bits());
        let count = histogram.parts().count() as u64;
        let of_part = u64::from(ranges).div_ceil(count.max(1)).clamp(1, RANGES_MAX);
        // A range is cut into pieces of `most / 2`, which must not be 0.
        let most = most.max(2);
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        for (pass, (part, counts)) in (0..).zip(histogram.parts()) {
            // Beyond `PARTED_K_MAX` the only part has no bits: its task joins all fingerprints,
            // without passes.
            let passes = (part.bits() > 0).then_some((pass, pass + 1));
            // Neighbouring buckets are grouped greedily. The result depends on the counts alone, so
            // every machine gets the same tasks.
            let aim = total(counts).div_ceil(of_part).clamp(1, most);
            let (mut ranges, mut sizes) = (Vec::with_capacity(counts.len()), Vec::new());
            let mut size = 0_u64;
            for (at, count) in counts.iter().enumerate() {
                // A range ends before a bucket that would move its size farther above the aim than
                // the size is now below.
                let grown = size.saturating_add(*count);
                let ends = grown > most || grown.saturating_sub(aim) > aim.saturating_sub(size);
                if at > 0 && size > 0 && ends {
                    sizes.push(std::mem::take(&mut size));
                }
                // The bucket belongs to the range that is being filled, whose number is the number
                // of finished ranges.
                ranges.push(number(sizes.len()));
                size = size.saturating_add(*count);
            }
            sizes.push(size);
            let tasks = sizes.into_iter().map(|size| tasks(size, most, k, passes, &mut all));
            parts.push(PartTasks { part, ranges, tasks: tasks.collect() });
        }
        JoinPlan { bits, parts, all }
    }

    /// Distributes a join within `k` bits over at most `tasks` tasks, each of which can have all
    /// fingerprints, so that no counts are needed. Each task finds the pairs of some of the parts,
    /// so there are no more tasks than parts.
    ///
    /// Each fingerprint goes to every task.
    ///
    /// ```
    /// use simkeep::join::JoinPlan;
    /// assert_eq!(JoinPlan::uncounted(3, 2).tasks().len(), 2);
    /// assert_eq!(JoinPlan::uncounted(3, 100).tasks().len(), 4); // one for each part
    /// ```
    #[must_use]
    pub fn uncounted(k: u32, tasks: u32) -> JoinPlan {
        let histogram = Histogram::within(k, 1);
        let (k, count) = (histogram.k(), histogram.parts().count());
        // Consecutive parts for each task: a pass skips pairs that agree in an earlier part, so
        // pairs are reported once.
        let each = count.div_ceil(tasks.max(1) as usize);
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        for (first, (part, _)) in histogram.parts().enumerate().step_by(each) {
            let end = count.min(first + each);
            let tasks = vec![RangeTasks { first: number(all.len()), pieces: 1 }];
            // Only the first part of each task is listed, with
            // one bucket: `each` then yields every task once.
            parts.push(PartTasks { part, ranges: vec![0], tasks });
            let passes = (end - first < count).then(|| (number(first), number(end)));
            all.push(JoinTask { k, passes, is_across: false, fingerprints: 0 });
        }
        JoinPlan { bits: histogram.bits(), parts, all }
    }

    /// Returns the tasks. The number of a task is its index in this slice.
    #[must_use]
    pub fn tasks(&self) -> &[JoinTask] {
        &self.all
    }

    /// Returns the total number of distributed fingerprints. A fingerprint of the histogram counts
    /// once for each of its tasks.
    #[must_use]
    pub fn fingerprints_sent(&self) -> u64 {
        total(self.all.iter().map(|task| &task.fingerprints))
    }

    /// Calls `take` with the number of each task of this fingerprint, and whether the fingerprint
    /// belongs to the second piece.
    #[expect(clippy::indexing_slicing, reason = "each bucket has a range, and each range tasks")]
    #[inline]
    pub(super) fn each(&self, fingerprint: u64, mut take: impl FnMut(u32, bool)) {
        for PartTasks { part, ranges, tasks } in &self.parts {
            let range = ranges[bucket(*part, self.bits, fingerprint)];
            let RangeTasks { first, pieces } = tasks[range as usize];
            if pieces == 1 {
                take(first, false);
                continue;
            }
            // Two fingerprints of pieces a and b meet in the task (a, b). So a fingerprint goes to
            // the task of each pair that includes its own piece. The fingerprint's piece is the
            // only, the first or the second piece of the task.
            let own = piece(fingerprint, pieces);
            for other in 0..pieces {
                take(first + pair(own.min(other), own.max(other)), other < own);
            }
        }
    }
}

impl JoinTask {
    /// Returns the number of counted fingerprints of this task.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// Whether this task joins two pieces of a range with each other. Other tasks have no second
    /// piece.
    #[must_use]
    pub fn is_across(&self) -> bool {
        self.is_across
    }

    /// Finds the pairs of this task among its fingerprints: the fingerprints of its first piece and
    /// of its second piece, in any order. Equal fingerprints, which come from several places, count
    /// as one. Uses the memory and the threads of `join`, and ignores its other options.
    ///
    /// Passes the pairs to `sink` like [`Join::run`]. The smaller fingerprint of each pair comes
    /// first. The ordinals have no meaning.
    ///
    /// Costs some 25 ns to sort a fingerprint, and one pass of a join. If each task has all
    /// fingerprints, a task costs several passes; `monitor` is notified of the beginning and the
    /// end of each pass.
    ///
    /// Returns `Break` if the sink returned `Break` or the join was cancelled.
    ///
    /// # Panics
    ///
    /// Panics for 2^32 fingerprints or more, and for a second piece if the task has only one piece.
    pub fn run(
        &self,
        received: [Vec<u64>; 2],
        join: Join,
        monitor: &dyn Monitor,
        sink: impl Fn(&[Pair]) -> ControlFlow<()> + Sync,
    ) -> ControlFlow<()> {
        let [mut first, mut second] = received;
        assert!(self.is_across || second.is_empty(), "this task has no second piece");
        for piece in [&mut first, &mut second] {
            // Fingerprints are sorted and deduplicated, so that the task's result does not depend
            // on the order of arrival, or on the number of places that have a fingerprint.
            piece.sort_unstable();
            piece.dedup();
        }
        let mut join = Join { k: self.k, across: None, pass: None, ..join };
        if self.is_across {
            #[expect(clippy::expect_used, reason = "documented panic")]
            let border = u32::try_from(first.len()).expect("fewer than 2^32 fingerprints");
            join = join.across(border);
        }
        // The first piece's length is the border: ordinals below it are the first piece.
        first.append(&mut second);
        let found = |pairs: &[Pair]| {
            if !self.is_across {
                // The list is sorted and ordinals ascend, so the
                // smaller fingerprint of each pair is already first.
                return sink(pairs);
            }
            let mut pairs = pairs.to_vec();
            pairs.iter_mut().for_each(|pair| pair.fingerprints.sort_unstable());
            sink(&pairs)
        };
        let passes = match self.passes {
            None => vec![None],
            Some((first, end)) => (first..end).map(Some).collect(),
        };
        passes.into_iter().try_for_each(|pass| {
            let Ok(flow) = Join { pass, ..join }.run(&first[..], monitor, found);
            flow
        })
    }
}

/// Returns the tasks of a range with this many fingerprints.
fn tasks(
    size: u64,
    most: u64,
    k: u32,
    passes: Option<(u32, u32)>,
    all: &mut Vec<JoinTask>,
) -> RangeTasks {
    let first = number(all.len());
    if size <= most || all.len() >= TASKS_MAX {
        all.push(JoinTask { k, passes, is_across: false, fingerprints: size });
        return RangeTasks { first, pieces: 1 };
    }
    // A task joins two pieces, so each piece has half of `most` fingerprints.
    let pieces = size.div_ceil(most / 2).min(PIECES_MAX);
    let of_piece = size / pieces;
    let pieces = pieces as u32;
    // The tasks are in the order of `pair`, so that the two pieces determine a task's number.
    for later in 0..pieces {
        for earlier in 0..=later {
            let is_across = earlier < later;
            let fingerprints = of_piece.saturating_mul(1 + u64::from(is_across));
            all.push(JoinTask { k, passes, is_across, fingerprints });
        }
    }
    RangeTasks { first, pieces }
}

/// Returns the number of the task of two pieces, with `earlier <= later`, among the tasks of a
/// range.
fn pair(earlier: u32, later: u32) -> u32 {
    later * (later + 1) / 2 + earlier
}

/// Returns the piece of a fingerprint. All bits of the fingerprint are mixed as in the last step of
/// MurmurHash3 (A. Appleby).
fn piece(fingerprint: u64, pieces: u32) -> u32 {
    // All bits are mixed, because in a split range the part mostly has one value, so the other bits
    // must decide. Equal fingerprints of several places still get the same piece.
    let mut hash = fingerprint ^ (fingerprint >> 33);
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    // A multiplication replaces the remainder. The result is below `pieces`, which is 256 at most.
    (((hash >> 32) * u64::from(pieces)) >> 32) as u32
}

/// Converts a count to the number of a range or a task.
#[expect(clippy::expect_used, reason = "few more than TASKS_MAX")]
fn number(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 tasks")
}
