//! All pairs within 3 of each other, from fingerprints in memory, whatever is built included.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::search::{Join, Progress};

/// One join.
pub(crate) struct Figures {
    /// What was joined.
    pub(crate) name: &'static str,
    /// Named numbers, in order; units are last in a name.
    pub(crate) numbers: Vec<(&'static str, f64)>,
}

/// What is joined.
#[derive(Clone, Copy)]
pub(crate) enum Data {
    /// Evenly spread, and one in ten planted within 1 to 3 bits of another.
    Even,
    /// Bits that are set with a probability of one in four, and 30 % share 16 bits; planted alike.
    Biased,
    /// As the first, and 10,000 are the same.
    Copied,
}

/// Joins `n` fingerprints as often as `rounds` says, and reports the fastest and the slowest time.
pub(crate) fn run(
    data: Data,
    n: usize,
    k: u32,
    memory_bytes: usize,
    threads: usize,
    rounds: usize,
) -> Figures {
    let fingerprints = fingerprints(data, n);
    let join = Join::within(k).memory_bytes(memory_bytes).threads(threads);
    let mut seconds = Vec::new();
    let mut pairs = 0;
    let mut cpu_seconds = 0.0;
    for _ in 0..rounds.max(1) {
        let found = AtomicU64::new(0);
        let cpu_start = processor_seconds();
        let start = Instant::now();
        let end = join.run(&fingerprints[..], &Progress::default(), |pairs| {
            found.fetch_add(pairs.len() as u64, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        seconds.push(start.elapsed().as_secs_f64());
        cpu_seconds += processor_seconds() - cpu_start;
        assert_eq!(end, Ok(ControlFlow::Continue(())));
        pairs = found.into_inner();
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let name = match data {
        Data::Even => "pairs",
        Data::Biased => "pairs_biased",
        Data::Copied => "pairs_copied",
    };
    let numbers = vec![
        ("fingerprints", n as f64),
        ("k", k.into()),
        ("memory_bytes", memory_bytes as f64),
        ("threads", threads as f64),
        ("pairs", pairs as f64),
        ("rounds", seconds.len() as f64),
        ("seconds_min", seconds.first().copied().unwrap_or_default()),
        ("seconds_median", seconds.get((seconds.len() - 1) / 2).copied().unwrap_or_default()),
        ("seconds_max", seconds.last().copied().unwrap_or_default()),
        ("processor_seconds_mean", cpu_seconds / seconds.len() as f64),
    ];
    Figures { name, numbers }
}

/// What all threads of this process have had of the processors, to a hundredth of a second; it
/// tells more than the time where the machine is shared. 0 where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn fingerprints(data: Data, n: usize) -> Vec<u64> {
    let mut state = 0x7061_6972;
    let mut next = move || splitmix64(&mut state);
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

/// G. L. Steele et al., "Fast splittable pseudorandom number generators", 2014.
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
