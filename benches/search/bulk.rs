//! The cost of loading many pages at once: pages per second, bytes written, and memory.
//!
//! Pages come in no order, with URLs of 40 to 60 bytes on hosts of very different sizes, with one
//! visit each and random fingerprints. A page is a number, so the input takes no memory and little
//! time.

use simkeep_testing::ms;
use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use simkeep::disk::{Disk, Meter, RealDisk};
use simkeep::load::LoadOptions;
use simkeep::{Content, Epoch, Options, Progress, Seen, Stage, Store, Visit};

use crate::process;
use simkeep_testing::bench::report::{BenchReport, BenchRow};

/// The memory that a load may use, in bytes.
const MEMORY_BYTES: usize = 512 << 20;

/// The measurements of a load.
struct BulkFigures {
    /// The number of loaded pages.
    pages: u64,
    /// The time from the first page to the end of the commit.
    total: Duration,
    /// The part of that time until the last page was taken.
    gathering: Duration,
    /// The bytes written to all files, including temporary ones.
    bytes_written: u64,
    /// The bytes of the segments.
    bytes_kept: u64,
    /// The maximum anonymous memory of the process beyond its initial memory, in bytes; `None` if
    /// the system does not report it.
    memory_bytes: Option<u64>,
}

impl BulkFigures {
    /// Pages per second in all.
    fn pages_per_second(&self) -> f64 {
        self.pages as f64 / self.total.as_secs_f64()
    }

    /// Bytes written per page.
    fn bytes_written_per_page(&self) -> f64 {
        self.bytes_written as f64 / self.pages as f64
    }

    /// Bytes on disk per page.
    fn bytes_per_page(&self) -> f64 {
        self.bytes_kept as f64 / self.pages as f64
    }
}

/// Loads `pages` pages and reports the time and bytes.
pub(crate) fn run(report: &BenchReport, dir: &Path, pages: u64) {
    let dir = tempfile::tempdir_in(dir).unwrap();
    let figures = load(dir.path(), pages, MEMORY_BYTES).unwrap();
    report.print(
        BenchRow::new("load")
            .count("pages", figures.pages)
            .number("seconds", figures.total.as_secs_f64())
            .number("seconds_gathering", figures.gathering.as_secs_f64())
            .number("pages_per_second", figures.pages_per_second())
            .number("bytes_written_per_page", figures.bytes_written_per_page())
            .number("bytes_per_page", figures.bytes_per_page())
            .known("memory_bytes", figures.memory_bytes),
    );
}

/// Loads pages into a new store in an empty directory.
fn load(directory: &Path, pages: u64, memory_bytes: usize) -> simkeep::Result<BulkFigures> {
    let meter = Meter::counting(Arc::new(RealDisk::new(directory)));
    let disk: Arc<dyn Disk> = Arc::new(meter.clone());
    let store = Store::create(disk, Options::default().background(false))?;
    let before = (meter.counts().bytes_written, process::anonymous_bytes());
    let (mut gathering, mut most) = (Duration::ZERO, before.1);
    let progress = Progress::default();
    let options = LoadOptions::default().memory_bytes(memory_bytes).progress(progress.clone());
    let epoch = store.change_epoch();
    let observations = (0..pages).map(|page| Ok(page_of(page, epoch)));
    let start = Instant::now();
    let loaded = thread::scope(|scope| {
        let load = scope.spawn(|| store.load(observations, options));
        while !load.is_finished() {
            if progress.stage() <= Stage::Gathering {
                gathering = start.elapsed();
            }
            most = most.max(process::anonymous_bytes());
            thread::sleep(Duration::from_millis(5));
        }
        load.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    let total = start.elapsed();
    store.close()?;
    Ok(BulkFigures {
        pages: loaded.pages,
        total,
        gathering,
        bytes_written: meter.counts().bytes_written - before.0,
        bytes_kept: loaded.bytes,
        memory_bytes: most.zip(before.1).map(|(most, before)| most.saturating_sub(before)),
    })
}

/// The URL and the visit of a page, from its number.
fn page_of(page: u64, epoch: Epoch) -> (String, Visit) {
    // A bijection, so that no page occurs twice.
    let name = mix(page);
    let octave = name % 18;
    let host = mix(name ^ 0x5bd1_e995) % (1 << octave);
    let mut url = String::with_capacity(64);
    // Writing to a string cannot fail.
    let _ = write!(url, "https://www.host-{host}.example/archive/{:x}/{name:016x}", name % 97);
    let content = Content { fingerprint: Some(mix(name)), digest: None, epoch };
    let time = 1_700_000_000_000 + page.cast_signed() * 100;
    (
        url,
        Visit {
            time: ms(time),
            seen: Seen::Content(content),
            status: Some(200),
            modified: None,
            bytes: None,
            conditional: false,
        },
    )
}

/// The finaliser of splitmix64, by Sebastiano Vigna.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
