//! Measurements other than bytes: the duration of calls, and the memory of the process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use simkeep_testing::bench::report::BenchRow;

/// The duration of each call.
#[derive(Default)]
pub(crate) struct CallTimes {
    nanoseconds: Vec<u64>,
    observes: u64,
}

impl CallTimes {
    /// Times a call that makes `observes` observations.
    pub(crate) fn time<T>(&mut self, observes: usize, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = call();
        self.nanoseconds.push(start.elapsed().as_nanos() as u64);
        self.observes += observes as u64;
        result
    }

    /// Adds the calls of another thread.
    pub(crate) fn append(&mut self, mut other: CallTimes) {
        self.nanoseconds.append(&mut other.nanoseconds);
        self.observes += other.observes;
    }

    /// The number of observations of all calls.
    pub(crate) fn observes(&self) -> u64 {
        self.observes
    }

    /// The total duration of all calls.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.iter().sum())
    }

    /// The durations at these ranks, in calls out of a thousand.
    pub(crate) fn at_per_mille<const N: usize>(mut self, ranks: [u64; N]) -> [Duration; N] {
        self.nanoseconds.sort_unstable();
        ranks.map(|rank| {
            let at = (self.nanoseconds.len() as u64 * rank).div_ceil(1000).saturating_sub(1);
            Duration::from_nanos(self.nanoseconds.get(at as usize).copied().unwrap_or(0))
        })
    }

    /// Adds the total and the percentiles of the durations.
    pub(crate) fn add(self, row: BenchRow) -> BenchRow {
        let total = self.total().as_secs_f64();
        let [p50, p99, p999, max] =
            self.at_per_mille([500, 990, 999, 1000]).map(|time| time.as_secs_f64() * 1e3);
        row.number("call_seconds", total)
            .number("call_ms_p50", p50)
            .number("call_ms_p99", p99)
            .number("call_ms_p999", p999)
            .number("call_ms_max", max)
    }
}

/// Samples the anonymous memory of this process, minus the memory of the benchmark itself. It
/// varies with sealing and merging.
#[derive(Default)]
pub(crate) struct MemoryWatch {
    /// The bytes of the benchmark itself.
    own: AtomicU64,
    /// The peak since the last call of `take_peak`.
    peak: AtomicU64,
    ended: AtomicBool,
}

impl MemoryWatch {
    /// The interval between samples.
    const EVERY: Duration = Duration::from_millis(20);

    /// Runs a function while memory is sampled.
    pub(crate) fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !self.ended.load(Ordering::Relaxed) {
                    self.look();
                    std::thread::sleep(Self::EVERY);
                }
            });
            let done = run();
            self.ended.store(true, Ordering::Relaxed);
            done
        })
    }

    /// The current memory in bytes; `None` if the system does not report it.
    pub(crate) fn look(&self) -> Option<u64> {
        let bytes = anonymous_bytes()?.saturating_sub(self.own.load(Ordering::Relaxed));
        self.peak.fetch_max(bytes, Ordering::Relaxed);
        Some(bytes)
    }

    /// Sets the bytes of the benchmark itself.
    pub(crate) fn set_own(&self, bytes: u64) {
        self.own.store(bytes, Ordering::Relaxed);
    }

    /// Returns the peak since the last call.
    pub(crate) fn take_peak(&self) -> Option<u64> {
        self.look()?;
        Some(self.peak.swap(0, Ordering::Relaxed))
    }
}

/// The anonymous memory of this process in bytes; `None` if the system does not report it.
fn anonymous_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
