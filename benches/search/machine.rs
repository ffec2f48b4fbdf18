//! Measures the limits of the machine, with which searches are compared.

use std::hint::black_box;
use std::time::Instant;

use crate::data::DataRandom;
use crate::huge::HugePageArray;
use simkeep_testing::bench::report::{BenchReport, BenchRow};

/// The number of bytes to read: more than any cache holds.
const BYTES: usize = 1 << 30;

/// Prints the cost of a random cache line, dependent and independent, and of sequential reads.
pub(crate) fn run(report: &BenchReport) {
    let mut memory = HugePageArray::zeroed(BYTES);
    memory.fill(1_u8);
    let memory: &[u8] = &memory;
    let lines = BYTES / 64;
    let count = 2_000_000;
    let mut random = DataRandom(7);
    let places: Vec<u32> = (0..count).map(|_| random.below(lines) as u32).collect();
    let best = |run: &dyn Fn() -> u64| {
        (0..5)
            .map(|_| {
                let start = Instant::now();
                black_box(run());
                start.elapsed().as_nanos() as f64
            })
            .fold(f64::INFINITY, f64::min)
    };
    let among = best(&|| places.iter().map(|&line| u64::from(memory[line as usize * 64])).sum());
    let alone = best(&|| {
        let mut add = 0;
        for &line in &places[..count / 8] {
            // The next index depends on this byte.
            add = u64::from(memory[(line as usize ^ add as usize & !1) % lines * 64]);
        }
        add
    });
    let words = memory.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let sequence = best(&|| words.clone().fold(0, u64::wrapping_add));
    report.print(
        BenchRow::new("machine")
            .text("instruction_set", simkeep::search::instruction_set())
            .number("line_ns", among / count as f64)
            .number("dependent_line_ns", alone / (count / 8) as f64)
            .number("scan_gb_per_second", BYTES as f64 / sequence),
    );
}
