//! The public interface of a join: its options and its results.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::thread;

use super::context::{Pair, StopSignal};
use super::monitor::Monitor;
use super::pair_constraints::{KeyBits, PairConstraints};
use super::passes::PassRunner;
use super::source::{Source, SourceAdapter};
use crate::search::DISTANCE_MAX;

/// The minimum memory of a join.
pub(super) const MEMORY_BYTES_MIN: usize = 64 << 10;

/// A join: finds all pairs of fingerprints within a distance of each other.
///
/// Equal fingerprints with different ordinals are a pair of distance 0.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::Mutex;
///
/// use simkeep::join::{Join, Pair};
///
/// let fingerprints = [0b0000, 0xffff, 0b0111, 0b0000, 0xfff0];
/// let found = Mutex::new(Vec::new());
/// let sink = |pairs: &[Pair]| {
///     found.lock().unwrap().extend_from_slice(pairs);
///     ControlFlow::Continue(())
/// };
/// let end = Join::within(3).run(&fingerprints[..], &(), sink)?;
/// assert!(end.is_continue());
/// let found = found.into_inner().unwrap();
/// let mut near: Vec<_> = found.iter().map(|pair| (pair.left, pair.right, pair.distance)).collect();
/// near.sort();
/// assert_eq!(near, [(0, 2, 3), (0, 3, 0), (2, 3, 3)]);
/// assert!(found.iter().all(|pair| pair.fingerprints[0] == fingerprints[pair.left as usize]));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    pub(in crate::search) k: u32,
    pub(in crate::search) memory_bytes: usize,
    pub(in crate::search) threads: usize,
    pub(in crate::search) across: Option<u32>,
    pub(in crate::search) pass: Option<u32>,
}

impl Join {
    /// Creates a join within a distance of `k` bits, with 256 MiB of memory and one thread for each
    /// hardware thread. A `k` above 64 is treated as 64, which finds all pairs.
    ///
    /// ```
    /// use simkeep::join::Join;
    /// let join = Join::within(3);
    /// assert_eq!(join.parts().len(), 4);
    /// ```
    #[must_use]
    pub fn within(k: u32) -> Self {
        // `PassRunner::new` uses fewer threads if there are few entries or little memory.
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { k: k.min(DISTANCE_MAX), memory_bytes: 256 << 20, threads, across: None, pass: None }
    }

    /// Joins the fingerprints below this ordinal with the fingerprints from this ordinal on, and
    /// neither set with itself. Pairs within one of the sets then cost nothing, even in a dense set.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::join::{Join, Pair};
    ///
    /// let (ours, theirs) = ([0b0000, 0b0001], [0b0011, 0xffff]);
    /// let found = Mutex::new(Vec::new());
    /// let sink = |pairs: &[Pair]| {
    ///     found.lock().unwrap().extend(pairs.iter().map(|pair| (pair.left, pair.right)));
    ///     ControlFlow::Continue(())
    /// };
    /// let both = [ours, theirs].concat();
    /// let _ = Join::within(1).across(2).run(&both[..], &(), sink)?;
    /// assert_eq!(found.into_inner().unwrap(), [(1, 2)]);
    /// # Ok::<(), std::convert::Infallible>(())
    /// ```
    #[must_use]
    pub fn across(mut self, border: u32) -> Self {
        self.across = Some(border);
        self
    }

    /// Returns the parts into which a join in separate passes splits the bits of fingerprints: k +
    /// 1 parts, which depend on `k` only. The first begins at the top bit. Each part has 64 /
    /// (k + 1) bits, and the first few have one more bit. No part has more than 32 bits, and for k = 64
    /// the last part has no bits.
    ///
    /// ```
    /// use simkeep::join::Join;
    ///
    /// let parts = Join::within(3).parts();
    /// let values: Vec<_> = parts.iter().map(|part| part.value(0x1111_2222_3333_4444)).collect();
    /// assert_eq!(values, [0x1111, 0x2222, 0x3333, 0x4444]);
    /// assert!(parts.iter().all(|part| part.bits() == 16));
    /// ```
    #[must_use]
    pub fn parts(&self) -> Vec<KeyBits> {
        PairConstraints::whole(self.k).split_whole().parts
    }

    /// Finds only the pairs of one pass: the pairs that agree in this part of the
    /// [`parts`](Join::parts), counted from 0, and in no earlier part. Each pair within the
    /// distance belongs to exactly one pass.
    ///
    /// So the work can be distributed, also among machines. A machine that has all fingerprints
    /// with certain values of a part finds the pairs of the corresponding pass among them. At most
    /// n fingerprints are sent for each pass. The ranges of values can be made as small as memory
    /// requires. If a single value is too frequent, join its fingerprints in two pieces [across a
    /// border](Join::across).
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::join::{Join, Pair};
    ///
    /// let fingerprints = [0x1111_2222_3333_4444, 0x1111_2222_3333_4445, 0x9111_2222_3333_4444];
    /// let found = Mutex::new(Vec::new());
    /// let join = Join::within(2);
    /// for (pass, part) in (0..).zip(join.parts()) {
    ///     // Two ranges of values; each could be joined on another machine.
    ///     let above = |fingerprint: &u64| part.value(*fingerprint) >> (part.bits() - 1) == 1;
    ///     let (above, below): (Vec<u64>, Vec<u64>) = fingerprints.iter().partition(|f| above(f));
    ///     for range in [below, above] {
    ///         let sink = |pairs: &[Pair]| {
    ///             let of_pass = pairs.iter().map(|pair| (pass, pair.distance));
    ///             found.lock().unwrap().extend(of_pass);
    ///             ControlFlow::Continue(())
    ///         };
    ///         let _ = join.pass(pass).run(&range[..], &(), sink)?;
    ///     }
    /// }
    /// let mut found = found.into_inner().unwrap();
    /// found.sort();
    /// // The first two agree in part 0. The third one differs from both in the top bit.
    /// assert_eq!(found, [(0, 1), (1, 1), (1, 2)]);
    /// # Ok::<(), std::convert::Infallible>(())
    /// ```
    ///
    /// A pass costs one read of the source, plus the cost of a pass in [`run`](Join::run). A pass
    /// beyond the last part has no pairs.
    #[must_use]
    pub fn pass(mut self, pass: u32) -> Self {
        self.pass = Some(pass);
        self
    }

    /// Limits the memory for entries, in bytes; at least 64 KiB. The memory does not grow with the
    /// number of fingerprints. In addition, each thread takes some 8 MiB for counts and for pairs.
    ///
    /// Three quarters of the memory are for the entries of a load, 12 bytes each. In the rest,
    /// threads split buckets. With less memory there are more loads, and each load reads the whole
    /// source. Pieces of a bucket are joined pairwise, which takes more work, only if 65,536
    /// buckets are still too large, or if one value is too frequent.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::join::Join;
    /// let fingerprints: Vec<u64> = (0..1_000).collect();
    /// let join = Join::within(1).memory_bytes(64 << 20).threads(1);
    /// let end = join.run(&fingerprints[..], &(), |_| ControlFlow::Continue(()))?;
    /// assert!(end.is_continue());
    /// # Ok::<(), std::convert::Infallible>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes.max(MEMORY_BYTES_MIN);
        self
    }

    /// Sets the number of threads, at least 1. A join with little work uses fewer threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Finds all pairs and passes them to `sink` as they are found. Each pair is passed once, in no
    /// particular order, in slices of up to 1,024 pairs, from several threads concurrently. When
    /// `sink` returns `Break`, the join ends; other threads may still call `sink` once or twice.
    ///
    /// A slow sink slows the join down, so the number of buffered pairs is bounded.
    ///
    /// The threads together read the source once from start to end. Each pass reads it once more
    /// for every `3 / 4 * memory_bytes` of entries, at 12 bytes each. In total the threads read the
    /// source `1 + (k + 1) * ceil(16 * n / memory_bytes)` times, or slightly more. From k = 16 or
    /// so there is one pass, in which all pairs are compared.
    ///
    /// Time for uniformly distributed fingerprints, with the four passes of k = 3: about 25 to 40
    /// ns of one processor for each entry and pass up to 10^7 entries, and 60 ns at 10^8. The
    /// number of passes and the number of entries in a bucket grow with k. Comparing all pairs, for
    /// a wide distance, takes about 0.4 ns for each two fingerprints, and 10 ns for each pair
    /// found.
    ///
    /// Returns `Break` if the sink returned `Break` or the join was cancelled through `monitor`,
    /// and `Continue` if all pairs were passed on.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use simkeep::join::Join;
    /// let (fingerprints, count) = ([0b00, 0b01, 0b11, !0], AtomicUsize::new(0));
    /// let end = Join::within(1).run(&fingerprints[..], &(), |pairs| {
    ///     count.fetch_add(pairs.len(), Ordering::Relaxed);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(end.is_continue());
    /// assert_eq!(count.into_inner(), 2);
    /// # Ok::<(), std::convert::Infallible>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first error of the source. Pairs that were passed on before are correct but
    /// incomplete.
    ///
    /// # Panics
    ///
    /// Panics if the source returns more or fewer fingerprints than requested, or other
    /// fingerprints than before.
    pub fn run<S: Source + ?Sized>(
        &self,
        source: &S,
        monitor: &dyn Monitor,
        sink: impl Fn(&[Pair]) -> ControlFlow<()> + Sync,
    ) -> Result<ControlFlow<()>, S::Error> {
        // The signal is on the stack: all threads of a join end before `run` returns.
        let stop = StopSignal { monitor, stopped: AtomicBool::new(false) };
        let reading = SourceAdapter::new(source);
        let Ok(flow) = PassRunner::new(*self, &reading, &sink, &stop).run() else {
            return Err(reading.into_error());
        };
        if flow.is_continue() {
            monitor.finish();
        }
        Ok(flow)
    }
}
