//! The index of digests: its bytes, and the time to look up content without a fingerprint.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use simkeep::load::LoadOptions;
use simkeep::{Content, Digest, Epoch, Options, Seen, Store, Time, Visit};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use super::measure::{CallTimes, MemoryWatch};

/// The percentage of contents without a fingerprint that equal an earlier content.
const COPY_PERCENT: u64 = 30;

/// The number of lookups of each kind.
const LOOKUPS: u64 = 200_000;

/// Loads this many pages with a fingerprint, and as many pages without. Compares the bytes with a
/// store in which the pages without a fingerprint have no digest either, and times lookups.
pub(crate) fn run(report: &BenchReport, dir: &Path, count: u64) {
    let bytes = [false, true].map(|with_digests| {
        let path = dir.join(if with_digests { "digests" } else { "plain" });
        let store = Store::create(&path, Options::default().background(false)).unwrap();
        let epoch = store.change_epoch();
        let page = |number: u64| {
            let url = format!("https://host-{}.example/{number}", number % 9973);
            let time = Time::from_ms(1_700_000_000_000 + number as i64).unwrap();
            let content = content(number, count, epoch);
            // The digests themselves are stored in both cases, in a form that no index has.
            let hidden = content.digest.filter(|_| !with_digests && content.fingerprint.is_none());
            let hidden = hidden.map(|Digest(digest)| {
                let mut bytes = *b"redirect\0\0\0\0\0\0\0\0";
                bytes[8..].copy_from_slice(&digest[8..]);
                Digest(bytes)
            });
            let content = Content { digest: hidden.or(content.digest), ..content };
            Ok((url, Visit::new(time, Seen::Content(content))))
        };
        let load = LoadOptions::default().segment_pages(2 * count);
        store.load((0..2 * count).map(page), load).unwrap();
        let stats = store.stats().unwrap();
        if with_digests {
            look_up(report, &store, count);
        }
        drop(store);
        std::fs::remove_dir_all(&path).unwrap();
        stats.segment_bytes
    });
    let [without, with] = bytes;
    let row = BenchRow::new("digest_bytes").count("contents", count).count("bytes", with);
    report.print(row.number("bytes_each", (with as f64 - without as f64) / count as f64));
}

/// The content of a page: the first `count` pages have a fingerprint.
fn content(number: u64, count: u64, epoch: Epoch) -> Content {
    let random = mix(number);
    let is_copy = number >= count && random % 100 < COPY_PERCENT;
    let content = if is_copy { count + mix(random) % (number - count + 1) } else { number };
    let fingerprint = (number < count).then(|| mix(content ^ 1 << 62));
    Content { fingerprint, digest: Some(digest(content)), epoch }
}

pub(crate) fn digest(content: u64) -> Digest {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&mix(content ^ 1 << 61).to_be_bytes());
    bytes[8..].copy_from_slice(&mix(content ^ 1 << 60).to_be_bytes());
    Digest(bytes)
}

/// Measures a read that must wait for the read before it, at random places of as many bytes as the
/// digests take: the least that a lookup of an unknown digest can take on this machine.
fn dependent_read_ns(count: u64) -> f64 {
    const READS: u64 = 1_000_000;
    let all: Vec<u64> = (0..count).map(mix).collect();
    let started = Instant::now();
    let last = (0..READS).fold(1, |last: u64, read| all[(mix(last ^ read) % count) as usize]);
    black_box(last);
    started.elapsed().as_nanos() as f64 / READS as f64
}

/// Times lookups of unknown digests, and of digests of pages.
fn look_up(report: &BenchReport, store: &Store, count: u64) {
    let row = BenchRow::new("dependent_read").count("contents", count);
    report.print(row.number("ns", dependent_read_ns(count)));
    let (snapshot, epoch) = (store.snapshot(), store.change_epoch());
    let memory = MemoryWatch::default();
    for (what, first) in [("unknown", 4 * count), ("known", count)] {
        for _ in 0..2 {
            let mut times = CallTimes::default();
            for number in 0..LOOKUPS {
                let digest = Some(digest(first + mix(number) % count));
                let content = Content { fingerprint: None, digest, epoch };
                times.time(1, || black_box(snapshot.by_digest(&content, 16).unwrap()));
            }
            let [p50, p99] = times.at_per_mille([500, 990]).map(|time| time.as_nanos() as u64);
            let row = BenchRow::new("by_digest").text("digest", what).count("contents", count);
            let row = row.count("ns_p50", p50).count("ns_p99", p99);
            report.print(row.known("anonymous_bytes", memory.look()));
        }
    }
}

/// The finalizer of SplitMix64.
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
