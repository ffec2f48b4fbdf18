//! The tool, run and watched.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a run cost.
#[derive(Clone, Copy)]
pub(crate) struct ProcessCost {
    pub(crate) seconds: f64,
    pub(crate) processor_seconds: f64,
    /// The most memory that it had at a time, with what it maps of files.
    pub(crate) peak_bytes: Option<u64>,
}

/// Runs the tool, which is to succeed.
pub(crate) fn run<S: AsRef<OsStr>>(args: &[S], store: &Path) -> ProcessCost {
    let before = children_seconds();
    let started = Instant::now();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_simkeep"));
    tool.args(args).env("SIMKEEP_STORE", store).stdout(Stdio::null());
    let mut child = tool.spawn().unwrap();
    let mut peak_bytes = None;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak_bytes = peak_bytes.max(peak(child.id()));
        thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{status}");
    let seconds = started.elapsed().as_secs_f64();
    ProcessCost { seconds, processor_seconds: children_seconds() - before, peak_bytes }
}

/// The most memory that a process has had so far, where the system says.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// What all processes that this one waited for have had of the processors, to a hundredth of a second;
/// 0 where the system does not say.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let number = |field: &str| field.parse().unwrap_or(0.0);
    let ticks: f64 = fields.split_ascii_whitespace().skip(13).take(2).map(number).sum();
    ticks / 100.0
}
