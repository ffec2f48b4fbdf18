//! The cost of building the fingerprint sections of a segment from unsorted fingerprints, written
//! and synced, on all cores and with the page of each fingerprint.
//!
//! Sorting uses the fastest method known here: see [`sort`](crate::sort). Tables are built and
//! written by [`simkeep::search::build_index`].

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use simkeep::query::Shape;
use simkeep::search::{Resources, TableColumn, TableSink, build_index};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use zerocopy::IntoBytes;

use crate::data::FingerprintSpread;
use crate::huge::HugePageArray;
use crate::process;
use crate::sort::{SortEntry, sorted};
use crate::times::{median, threads};

/// The distance for which tables are built.
const K: u32 = 3;
/// The maximum bytes of tables for each fingerprint.
const BYTES: [u32; 2] = [48, 40];
/// The number of rounds.
const ROUNDS: usize = 3;
/// The memory for sorting entries of tables: as much as tables of cells can use on two threads. A
/// load or a merge has less, and needs more passes.
const MEMORY_BYTES: usize = 2 << 30;
/// The alignment of sections in bytes.
const ALIGNMENT: u64 = 4096;

/// The seconds of one round.
struct BuildTimes {
    sorting: f64,
    building: f64,
    syncing: f64,
    processor: f64,
}

impl BuildTimes {
    fn total(&self) -> f64 {
        self.sorting + self.building + self.syncing
    }
}

/// Builds the sections of `n` fingerprints.
pub(crate) fn run(report: &BenchReport, dir: &Path, n: usize) {
    let mut shapes = BYTES.map(|bytes| Shape::choose(n as u32, K, bytes)).to_vec();
    shapes.dedup();
    for shape in shapes {
        let mut bytes = 0;
        let rounds: Vec<BuildTimes> = (0..ROUNDS)
            .map(|_| {
                let path = dir.join("sections");
                let took = round(&path, n, shape);
                bytes = path.metadata().unwrap().len();
                std::fs::remove_file(&path).unwrap();
                took
            })
            .collect();
        let of = |figure: fn(&BuildTimes) -> f64| median(rounds.iter().map(figure));
        report.print(
            BenchRow::new("build")
                .count("n", n as u64)
                .text("shape", &format!("{shape:?}"))
                .number("bytes_each", bytes as f64 / n as f64)
                .count("threads", threads() as u64)
                .count("rounds", ROUNDS as u64)
                .count("memory_bytes", MEMORY_BYTES as u64)
                .number("entries_per_second", n as f64 / of(BuildTimes::total))
                .number("seconds", of(BuildTimes::total))
                .number("seconds_sorting", of(|took| took.sorting))
                .number("seconds_building_and_writing", of(|took| took.building))
                .number("seconds_syncing", of(|took| took.syncing))
                .number("processor_seconds", of(|took| took.processor)),
        );
    }
}

fn round(path: &Path, n: usize, shape: Shape) -> BuildTimes {
    let mut entries = HugePageArray::<SortEntry>::zeroed(n);
    for (page, entry) in (0..).zip(entries.iter_mut()) {
        *entry = [FingerprintSpread::Uniform.fingerprint(page), page as u64];
    }
    let (start, before) = (Instant::now(), process::processor_seconds());
    let entries = sorted(entries);
    let mut fingerprints = HugePageArray::<u64>::zeroed(n);
    fingerprints.iter_mut().zip(entries.iter()).for_each(|(to, entry)| *to = entry[0]);
    let sorting = start.elapsed().as_secs_f64();
    let sections = SectionFile::new(path);
    let start = Instant::now();
    sections.append(fingerprints.as_bytes());
    let mut pages = HugePageArray::<u32>::zeroed(n);
    pages.iter_mut().zip(entries.iter()).for_each(|(to, entry)| *to = entry[1] as u32);
    drop(entries);
    sections.append(pages.as_bytes());
    drop(pages);
    let read = |start: u32, out: &mut [u64]| {
        out.copy_from_slice(&fingerprints[start as usize..][..out.len()]);
        Ok(())
    };
    let resources = Resources { memory_bytes: MEMORY_BYTES, threads: threads() };
    build_index(shape, n as u32, resources, &read, &sections).unwrap();
    let building = start.elapsed().as_secs_f64();
    let start = Instant::now();
    sections.file.sync_all().unwrap();
    let syncing = start.elapsed().as_secs_f64();
    BuildTimes { sorting, building, syncing, processor: process::processor_seconds() - before }
}

/// A file with sections.
struct SectionFile {
    file: File,
    state: Mutex<SectionState>,
}

#[derive(Default)]
struct SectionState {
    /// The end of the space in use.
    end: u64,
    /// The next offset of each part.
    next: HashMap<TableColumn, u64>,
}

impl SectionFile {
    fn new(path: &Path) -> SectionFile {
        SectionFile { file: File::create_new(path).unwrap(), state: Mutex::default() }
    }

    /// Appends a complete section.
    fn append(&self, bytes: &[u8]) {
        let start = self.state.lock().unwrap().keep(bytes.len() as u64);
        self.file.write_all_at(bytes, start).unwrap();
    }
}

impl SectionState {
    fn keep(&mut self, bytes: u64) -> u64 {
        let start = self.end.next_multiple_of(ALIGNMENT);
        self.end = start + bytes;
        start
    }
}

impl TableSink for SectionFile {
    type Error = std::io::Error;

    fn place(&self, part: TableColumn, bytes: u64) -> std::io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let start = state.keep(bytes);
        state.next.insert(part, start);
        Ok(())
    }

    fn write(&self, part: TableColumn, bytes: &[u8]) -> std::io::Result<()> {
        let start = {
            let mut state = self.state.lock().unwrap();
            let next = state.next.get_mut(&part).unwrap();
            let start = *next;
            *next += bytes.len() as u64;
            start
        };
        self.file.write_all_at(bytes, start)
    }

    fn changed(&self) -> std::io::Error {
        std::io::ErrorKind::InvalidData.into()
    }
}
