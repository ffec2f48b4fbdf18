//! Distributes fingerprints to the tasks of a join.

use std::ops::ControlFlow;

use super::join_plan::JoinPlan;

/// The minimum number of fingerprints passed on at once, except for the last chunks.
const CHUNK_MIN: usize = 1 << 10;

/// Distributes fingerprints to the tasks of a join: collects them by task, and passes on full
/// chunks.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simkeep::join::{Partitioner, Chunk, JoinPlan, Histogram};
///
/// let fingerprints: Vec<u64> = (0..5_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
/// let mut histogram = Histogram::within(3, 4096);
/// histogram.add(&fingerprints);
/// let plan = JoinPlan::new(&histogram, 8, 1 << 20);
/// let mut received = 0;
/// let mut take = |chunk: Chunk| {
///     received += chunk.fingerprints.len();
///     ControlFlow::Continue(())
/// };
/// let mut partitioner = Partitioner::new(&plan, 4096);
/// let _ = partitioner.add(&fingerprints, &mut take);
/// let _ = partitioner.end(&mut take);
/// // Each to one task of each of the four parts.
/// assert_eq!(received, 20_000);
/// ```
#[derive(Debug)]
pub struct Partitioner<'s> {
    plan: &'s JoinPlan,
    most: usize,
    /// The buffered fingerprints of the first and of the second piece of each task.
    chunks: Vec<[Vec<u64>; 2]>,
}

/// Fingerprints for a task.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simkeep::join::{Chunk, Histogram, JoinPlan, Partitioner};
///
/// let mut histogram = Histogram::within(3, 4096);
/// histogram.add(&[0x1234]);
/// let plan = JoinPlan::new(&histogram, 4, 1 << 20);
/// let mut send = |chunk: Chunk| {
///     // To the machine that runs the task `plan.tasks()[chunk.task]`.
///     assert_eq!((chunk.fingerprints.as_slice(), chunk.is_second), (&[0x1234][..], false));
///     ControlFlow::Continue(())
/// };
/// let mut partitioner = Partitioner::new(&plan, 4096);
/// let _ = partitioner.add(&[0x1234], &mut send);
/// let _ = partitioner.end(&mut send);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The task, as an index into [`JoinPlan::tasks`].
    pub task: u32,
    /// Whether the fingerprints belong to the second piece of the task.
    pub is_second: bool,
    /// The fingerprints, in no particular order.
    pub fingerprints: Vec<u64>,
}

impl<'s> Partitioner<'s> {
    /// Creates a partitioner for the tasks of a plan. A chunk is passed on when it has `most`
    /// fingerprints (at least 1,024). Buffers up to `most` fingerprints, 8 bytes each, for every
    /// piece of every task.
    #[must_use]
    pub fn new(plan: &'s JoinPlan, most: usize) -> Partitioner<'s> {
        let chunks = vec![<[Vec<u64>; 2]>::default(); plan.tasks().len()];
        Partitioner { plan, most: most.max(CHUNK_MIN), chunks }
    }

    /// Distributes fingerprints, and passes full chunks to `take`. Costs some nanoseconds for each
    /// fingerprint and part.
    ///
    /// Returns `Break` if `take` returned `Break`; buffered chunks are then lost.
    #[expect(clippy::indexing_slicing, reason = "there are chunks for each task")]
    pub fn add(
        &mut self,
        fingerprints: &[u64],
        take: &mut impl FnMut(Chunk) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Partitioner { plan, most, chunks } = self;
        let mut flow = ControlFlow::Continue(());
        for fingerprint in fingerprints {
            plan.each(*fingerprint, |task, is_second| {
                // There is one buffer for each task and piece. Buffers fill at different times, so
                // the tasks get many small batches instead of one batch at the end.
                let chunk = &mut chunks[task as usize][usize::from(is_second)];
                chunk.push(*fingerprint);
                // A fingerprint goes to several tasks. After a break, the buffers of its other
                // tasks still store the fingerprint, but `take` is not called again.
                if chunk.len() >= *most && flow.is_continue() {
                    let fingerprints = std::mem::take(chunk);
                    flow = take(Chunk { task, is_second, fingerprints });
                }
            });
            if flow.is_break() {
                break;
            }
        }
        flow
    }

    /// Passes on all buffered chunks.
    ///
    /// Returns `Break` if `take` returned `Break`.
    pub fn end(self, take: &mut impl FnMut(Chunk) -> ControlFlow<()>) -> ControlFlow<()> {
        for (task, sides) in (0..).zip(self.chunks) {
            for (is_second, fingerprints) in [false, true].into_iter().zip(sides) {
                if !fingerprints.is_empty() {
                    take(Chunk { task, is_second, fingerprints })?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}
