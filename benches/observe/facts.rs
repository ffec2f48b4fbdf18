//! The bytes that facts of responses take in a store.

use std::path::Path;

use simkeep::load::{AsOperation, LoadOptions};
use simkeep::{Epoch, Observation, Operation, Options, Store, Time};
use simkeep_testing::bench::report::{BenchReport, BenchRow};

use super::digests::{digest, mix};

/// The number of visits of a page, a week apart.
const VISITS: u64 = 2;

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

/// A visit of a page, with the texts that its observation borrows.
struct PageVisit {
    number: u64,
    visit: u64,
    epoch: Epoch,
    facts: &'static [ResponseFact],
    url: String,
    etag: String,
    target: String,
}

impl PageVisit {
    /// Half of the pages change at their second visit, and a page of another site is the target.
    fn new(number: u64, visit: u64, epoch: Epoch, facts: &'static [ResponseFact]) -> PageVisit {
        PageVisit {
            number,
            visit,
            epoch,
            facts,
            url: format!("https://host-{}.example/pages/{number}", number % 9973),
            etag: format!("\"{:016x}\"", mix(content(number, visit))),
            target: format!(
                "https://www.host-{}.example/{}",
                number % 9973,
                mix(number) % 1_000_000
            ),
        }
    }
}

impl AsOperation for PageVisit {
    fn operation(&self) -> Operation<'_> {
        let content = content(self.number, self.visit);
        let day = mix(self.number) % 86_400 * 1_000;
        let time = 1_700_000_000_000 + self.visit * 7 * 86_400_000 + day;
        let time = Time::from_ms(time as i64).unwrap();
        let mut seen = Observation::content(&self.url, time, mix(content), self.epoch);
        seen = seen.digest(digest(content)).status(200);
        for fact in self.facts {
            seen = match fact {
                ResponseFact::ETag => seen.etag(self.etag.as_bytes()),
                ResponseFact::Target => seen.canonical(&self.target),
                ResponseFact::Bytes => seen.bytes(2_000 + mix(content) % 100_000),
                ResponseFact::Conditional if self.visit > 0 => seen.conditional(),
                ResponseFact::Conditional => seen,
            };
        }
        Operation::Observe(seen)
    }
}

fn content(page: u64, visit: u64) -> u64 {
    page * 2 + u64::from(visit > 0 && page.is_multiple_of(2))
}

/// Loads this many pages, without facts, with each fact and with all. Prints the bytes of the
/// segment. A load of a new store writes one, so there is nothing to merge.
pub(crate) fn run(report: &BenchReport, dir: &Path, pages: u64) {
    let mut plain = None;
    for (name, facts) in SETS {
        let path = dir.join(name);
        let store = Store::create(&path, Options::default().background(false)).unwrap();
        let epoch = store.change_epoch();
        let visits = (0..pages).flat_map(|number| {
            (0..VISITS).map(move |visit| Ok(PageVisit::new(number, visit, epoch, facts)))
        });
        store.load(visits, LoadOptions::default()).unwrap();
        let stats = store.stats().unwrap();
        assert_eq!(stats.segments.len(), 1, "a load of a new store writes one segment");
        let bytes = stats.segment_bytes;
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
