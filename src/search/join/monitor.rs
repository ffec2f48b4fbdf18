//! Reports the progress of a join, and cancels it.

/// Receives the progress of a join, and can cancel it.
///
/// `Progress` implements this trait, and other threads can read a `Progress`. `()` ignores progress
/// and never cancels. The threads of a join call the methods concurrently.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use simkeep::join::{Join, Monitor};
///
/// /// Cancels a join that does too much work.
/// struct Limit {
///     done: AtomicU64,
///     max: u64,
/// }
///
/// impl Monitor for Limit {
///     fn advance(&self, units: u64) {
///         self.done.fetch_add(units, Ordering::Relaxed);
///     }
///
///     fn is_cancelled(&self) -> bool {
///         self.done.load(Ordering::Relaxed) > self.max
///     }
/// }
///
/// let fingerprints: Vec<u64> = (0..1_000).collect();
/// let limit = Limit { done: AtomicU64::new(0), max: 1_500 };
/// let end = Join::within(3).run(&fingerprints[..], &limit, |_| ControlFlow::Continue(()))?;
/// assert!(end.is_break());
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub trait Monitor: Sync {
    /// Begins a join, or a pass of a distributed join, which will report at most this many units.
    fn begin(&self, units: u64) {
        let _ = units;
    }

    /// Reports `units` more units as done. In each pass, an entry counts as one unit when it is
    /// loaded, and as one unit when it is joined.
    fn advance(&self, units: u64) {
        let _ = units;
    }

    /// Ends a join, or a pass of a distributed join, which has found all its pairs.
    fn finish(&self) {}

    /// Whether the join should stop soon.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Monitor for () {}
