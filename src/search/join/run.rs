//! The join from outside: what is found, and what that may use.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::thread;

use super::context::{Pair, Stop};
use super::cut::{Cut, Part};
use super::monitor::Monitor;
use super::passes::Passes;
use super::source::Source;
use crate::search::DISTANCE_MAX;

/// Memory a join has at least.
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
    /// A join within a distance of `k` bits, with 256 MiB of memory and as many threads as the
    /// processor runs at once. A `k` above 64 is taken for 64, which finds all pairs.
    #[must_use]
    pub fn within(k: u32) -> Self {
        // `Passes::new` uses fewer threads where entries or memory are few.
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { k: k.min(DISTANCE_MAX), memory_bytes: 256 << 20, threads, across: None, pass: None }
    }

    /// Joins two sets with each other, and neither with itself: the fingerprints below this ordinal, and
    /// the others. Of a crowd on one side, the pairs within it cost nothing then.
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

    /// The parts into which a join cuts the bits of fingerprints when it is done in passes, each by
    /// itself: k + 1 parts, always the same ones for a `k`. The first begins at the top bit, and each
    /// has 64 / (k + 1) bits, the first few one more; none has more than 32, and for k = 64 the last
    /// has none.
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
    pub fn parts(&self) -> Vec<Part> {
        Cut::whole(self.k).split_whole().parts
    }

    /// Finds only the pairs of one pass: those that agree in this one of the [`parts`](Join::parts),
    /// counted from 0, and in none before it. Each pair within the distance is one of exactly one pass.
    ///
    /// So the work can be shared out, also among machines: whoever has the fingerprints with some of a
    /// part's values, and all that have them, finds the pairs of that pass among them. No more than n
    /// fingerprints are moved for each pass, and what is joined fits a memory however small, as long as
    /// the values are told apart finely enough. Where a single value is too frequent, two pieces of
    /// those that have it are joined [with each other](Join::across).
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
    ///     // Here the values are told apart in two ranges; each could be joined elsewhere.
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
    /// A pass costs one read of the source, and then what [`run`](Join::run) says of each pass. There
    /// are no pairs of a pass beyond the last part.
    #[must_use]
    pub fn pass(mut self, pass: u32) -> Self {
        self.pass = Some(pass);
        self
    }

    /// Bounds the memory for entries, in bytes; 64 KiB at least. It does not grow with the number of
    /// fingerprints. Beside it, each thread takes some 8 MiB for counts and for pairs.
    ///
    /// Three quarters hold the entries of a load, 12 bytes each, and the rest is where threads split
    /// buckets. With less memory there are more loads, each of which reads the whole source; only
    /// where it would take more than 65,536 buckets to make them small enough, or where one value
    /// is too frequent, are pieces of a bucket joined with each other, which takes more work.
    #[must_use]
    pub fn memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes.max(MEMORY_BYTES_MIN);
        self
    }

    /// Sets the number of threads, 1 at least. Little work is done by fewer.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Finds all pairs and hands them to `sink`, each once, in no certain order, as they are found:
    /// up to 1,024 at a time, from several threads at once. When `sink` breaks, the join ends; other
    /// threads may still call it once or twice.
    ///
    /// A slow sink slows the join down, so it bounds what is in between.
    ///
    /// The source is read once from start to end, each thread its share, and for each pass once for
    /// every `3 / 4 * memory_bytes` of the 12 bytes an entry takes: `1 + (k + 1) * ceil(16 * n /
    /// memory_bytes)` times, or a little more. From k = 16 or so there is one pass, in which all are
    /// compared with all.
    ///
    /// Time, for evenly spread fingerprints: about 25 to 40 ns of one processor for each entry and
    /// pass up to 10^7, and 60 ns at 10^8, for k = 3, where there are four passes. It grows
    /// with k as the number of passes and the entries of a bucket do. All pairs within a wide
    /// distance take about 0.4 ns for each two fingerprints, and 10 ns for each pair found.
    ///
    /// Returns `Break` if the sink broke or the join was cancelled through `monitor`, and
    /// `Continue` if all pairs have been handed over.
    ///
    /// # Errors
    ///
    /// The first error of the source. Pairs that were handed over before are right, but not all.
    ///
    /// # Panics
    ///
    /// When the source gives more or fewer fingerprints than it is asked for, or others than before.
    pub fn run<S: Source + ?Sized>(
        &self,
        source: &S,
        monitor: &dyn Monitor,
        sink: impl Fn(&[Pair]) -> ControlFlow<()> + Sync,
    ) -> Result<ControlFlow<()>, S::Error> {
        // On the stack: all threads of a join end before `run` returns.
        let stop = Stop { monitor, stopped: AtomicBool::new(false) };
        let flow = Passes::new(*self, source, &sink, &stop).run()?;
        if flow.is_continue() {
            monitor.finish();
        }
        Ok(flow)
    }
}
