//! All pairs within 3 of each other, from fingerprints in memory, whatever is built included.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::search::{Join, Progress};

use crate::data::Random;
use crate::report::{Report, Row};

/// What is joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// Evenly spread, and one in ten planted within 1 to 3 bits of another.
    Even,
    /// Bits that are set with a probability of one in four, and 30 % share 16 bits; planted alike.
    Biased,
    /// As the first, and 10,000 are the same.
    Copied,
}

/// Joins `n` fingerprints as often as `rounds` says, and reports the times.
pub(crate) fn run(report: &Report, data: Data, n: usize, memory_bytes: usize, rounds: usize) {
    let fingerprints = fingerprints(data, n);
    let join = Join::within(3).memory_bytes(memory_bytes);
    let (mut seconds, mut pairs) = (Vec::new(), 0);
    let cpu_start = processor_seconds();
    for _ in 0..rounds {
        let found = AtomicU64::new(0);
        let start = Instant::now();
        let end = join.run(&fingerprints[..], &Progress::default(), |pairs| {
            found.fetch_add(pairs.len() as u64, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        seconds.push(start.elapsed().as_secs_f64());
        assert_eq!(end, Ok(ControlFlow::Continue(())));
        pairs = found.into_inner();
    }
    let processor = (processor_seconds() - cpu_start) / rounds as f64;
    seconds.sort_unstable_by(f64::total_cmp);
    let name = match data {
        Data::Even => "uniform",
        Data::Biased => "biased",
        Data::Copied => "copied",
    };
    report.print(
        Row::new("pairs")
            .text("data", name)
            .count("n", n as u64)
            .count("k", 3)
            .count("memory_bytes", memory_bytes as u64)
            .count("pairs", pairs)
            .count("rounds", rounds as u64)
            .number("seconds", seconds[(rounds - 1) / 2])
            .number("least", seconds[0])
            .number("most", seconds[rounds - 1])
            .number("processor_seconds", processor),
    );
}

/// What all threads of this process have had of the processors, to a hundredth of a second; it
/// tells more than the time where the machine is shared. 0 where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn fingerprints(data: Data, n: usize) -> Vec<u64> {
    let mut random = Random(0x7061_6972);
    let mut next = move || random.next();
    let mut fingerprints: Vec<u64> = Vec::with_capacity(n);
    for index in 0..n {
        let fingerprint = match data {
            _ if index % 10 == 9 => {
                let at = (next() % index as u64) as usize;
                let flips = 1 + next() % 3;
                (0..flips).fold(fingerprints[at], |near, _| near ^ 1 << (next() % 64))
            }
            Data::Even => next(),
            Data::Biased => {
                let biased = next() & next();
                if next() % 10 < 3 { biased & !(0xffff << 48) } else { biased }
            }
            Data::Copied if index < 11_000 => 0x0123_4567_89ab_cdef,
            Data::Copied => next(),
        };
        fingerprints.push(fingerprint);
    }
    fingerprints
}
