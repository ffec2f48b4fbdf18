//! The bytes that facts of responses take in a store.

use std::path::Path;

use simkeep::{Durability, Observation, Options, Progress, Store, Time};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use super::digests::{digest, mix};

/// The number of visits of a page, a week apart.
const VISITS: u64 = 4;

/// The number of observations in a call.
const BATCH: u64 = 10_000;

/// A fact of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResponseFact {
    ETag,
    Target,
    Bytes,
    Conditional,
}

/// The facts that are observed, by name.
const SETS: [(&str, &[ResponseFact]); 6] = [
    ("none", &[]),
    ("etag", &[ResponseFact::ETag]),
    ("target", &[ResponseFact::Target]),
    ("bytes", &[ResponseFact::Bytes]),
    ("conditional", &[ResponseFact::Conditional]),
    (
        "all",
        &[ResponseFact::ETag, ResponseFact::Target, ResponseFact::Bytes, ResponseFact::Conditional],
    ),
];

/// The texts of a page that observations borrow.
struct PageTexts {
    number: u64,
    url: String,
    etag: String,
    target: String,
}

impl PageTexts {
    /// Half of the pages change once, and a page of another site is the target.
    fn new(number: u64, visit: u64) -> PageTexts {
        let content = content(number, visit);
        PageTexts {
            number,
            url: format!("https://host-{}.example/pages/{number}", number % 9973),
            etag: format!("\"{:016x}\"", mix(content)),
            target: format!(
                "https://www.host-{}.example/{}",
                number % 9973,
                mix(number) % 1_000_000
            ),
        }
    }
}

fn content(page: u64, visit: u64) -> u64 {
    page * 2 + u64::from(visit >= 2 && page.is_multiple_of(2))
}

/// Observes this many pages, without facts, with each fact and with all. Prints the bytes of the
/// merged segments.
pub(crate) fn run(report: &BenchReport, dir: &Path, pages: u64) {
    let mut plain = None;
    for (name, facts) in SETS {
        let path = dir.join(name);
        let options = Options::default().background(false).durability(Durability::OnFlush);
        let store = Store::create(&path, options).unwrap();
        for visit in 0..VISITS {
            for start in (0..pages).step_by(BATCH as usize) {
                let numbers = start..pages.min(start + BATCH);
                let texts: Vec<_> = numbers.map(|number| PageTexts::new(number, visit)).collect();
                let seen: Vec<_> =
                    texts.iter().map(|page| observation(page, visit, facts, &store)).collect();
                store.observe_batch(&seen).unwrap();
            }
        }
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        let bytes = store.stats().unwrap().segment_bytes;
        let more = bytes as f64 - *plain.get_or_insert(bytes) as f64;
        let row = BenchRow::new("facts").text("facts", name).count("pages", pages);
        let row = row.count("visits", pages * VISITS).count("bytes", bytes);
        let row = row.number("bytes_a_page", bytes as f64 / pages as f64);
        let row = row.number("more_a_page", more / pages as f64);
        report.print(row.number("more_a_visit", more / (pages * VISITS) as f64));
        drop(store);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

fn observation<'a>(
    page: &'a PageTexts,
    visit: u64,
    facts: &[ResponseFact],
    store: &Store,
) -> Observation<'a> {
    let content = content(page.number, visit);
    let time = 1_700_000_000_000 + visit * 7 * 86_400_000 + mix(page.number) % 86_400 * 1_000;
    let time = Time::from_ms(time as i64).unwrap();
    let seen = Observation::content(&page.url, time, mix(content), store.change_epoch());
    let mut seen = seen.digest(digest(content)).status(200);
    for fact in facts {
        seen = match fact {
            ResponseFact::ETag => seen.etag(page.etag.as_bytes()),
            ResponseFact::Target => seen.canonical(&page.target),
            ResponseFact::Bytes => seen.bytes(2_000 + mix(content) % 100_000),
            ResponseFact::Conditional if visit > 0 => seen.conditional(),
            ResponseFact::Conditional => seen,
        };
    }
    seen
}
