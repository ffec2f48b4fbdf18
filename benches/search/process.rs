//! System statistics of this process.

use simkeep_testing::bench::report::BenchRow;

/// The anonymous memory of this process in bytes; `None` if the system does not report it.
pub(crate) fn anonymous_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The processor time of all threads of this process in seconds, to a hundredth of a second; 0 if
/// the system does not report it. On a shared machine it is more reliable than elapsed time.
pub(crate) fn processor_seconds() -> f64 {
    let ticks = stat().and_then(|fields| Some(fields.get(11)? + fields.get(12)?));
    ticks.unwrap_or(0) as f64 / 100.0
}

/// The implicit reads of this process so far: accesses to mapped pages.
#[derive(Clone, Copy)]
pub(crate) struct FaultCounts {
    /// Page faults served from memory.
    minor: u64,
    /// Page faults that waited for the disk.
    major: u64,
    /// The bytes read from the disk for this process.
    bytes: u64,
}

impl FaultCounts {
    /// The reads until now; `None` if the system does not report them.
    pub(crate) fn now() -> Option<FaultCounts> {
        let fields = stat()?;
        let io = std::fs::read_to_string("/proc/self/io").ok()?;
        let bytes = io.lines().find_map(|line| line.strip_prefix("read_bytes:"))?;
        let bytes = bytes.trim().parse().ok()?;
        Some(FaultCounts { minor: *fields.get(7)?, major: *fields.get(9)?, bytes })
    }
}

/// Adds the reads between two moments, if they are known.
pub(crate) fn touched(
    before: Option<FaultCounts>,
    after: Option<FaultCounts>,
) -> impl FnOnce(BenchRow) -> BenchRow {
    move |row| {
        let both = before.zip(after);
        row.known("faults_minor", both.map(|(before, after)| after.minor - before.minor))
            .known("faults_major", both.map(|(before, after)| after.major - before.major))
            .known("disk_bytes_read", both.map(|(before, after)| after.bytes - before.bytes))
    }
}

/// The numbers of Linux's /proc/self/stat, see proc(5), from the state on (which is 0 here). The
/// name before them may contain anything; it ends with the last parenthesis.
fn stat() -> Option<Vec<u64>> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_ascii_whitespace().map(|field| field.parse().unwrap_or(0)).collect())
}
