//! Durable writes: pages in batches and one at a time, into the structures that a search needs.

use std::fs::{self, File};
use std::path::Path;
use std::slice;
use std::time::Instant;

use crate::data::{DataSpread, PeerData, url};
use crate::engine::{OpenWriter, PageToWrite, WriteEngine};
use crate::measure::RoundSpread;
use crate::report::PeerRow;

/// The number of pages in a batch.
const BATCH: usize = 1_000;
/// The number of pages that are written one at a time, after the batches.
const SINGLES: usize = 2_000;
/// The number of pages that are looked up after the writing.
const LOOKUPS: usize = 1_000;

/// The speed of an engine in one round, in pages a second.
pub(crate) struct WriteRates {
    /// In batches, until the last batch is durable.
    batches: f64,
    /// In batches, until the work that the engine does later is done as well.
    batches_to_rest: f64,
    /// One at a time.
    singles: f64,
}

/// The pages that every engine writes.
pub(crate) struct WriteLoad {
    /// All pages, in the order in which a crawler finds them.
    pages: Vec<PageToWrite>,
}

impl WriteLoad {
    /// Generates `n` pages for batches, and pages to write one at a time.
    pub(crate) fn new(spread: DataSpread, n: usize, seed: u64) -> WriteLoad {
        let data = PeerData::new(spread, n + SINGLES, seed);
        let page = |(fingerprint, number)| PageToWrite { number, fingerprint, url: url(number) };
        WriteLoad { pages: data.pages().map(page).collect() }
    }

    /// Measures an engine with new files in a directory, checks the files, and removes them.
    pub(crate) fn measure(&self, dir: &Path, open: OpenWriter) -> WriteRates {
        fs::create_dir(dir).unwrap();
        let rates = self.write(&mut *open(dir, self.pages.len()));
        self.check(&mut *open(dir, self.pages.len()));
        fs::remove_dir_all(dir).unwrap();
        // Otherwise the first sync of the next engine waits for the removal.
        File::open(dir.parent().expect("a subdirectory")).and_then(|dir| dir.sync_all()).unwrap();
        rates
    }

    fn write(&self, engine: &mut dyn WriteEngine) -> WriteRates {
        let (batched, singles) = self.pages.split_at(self.pages.len() - SINGLES);
        let rate = |pages: &[PageToWrite], start: Instant| {
            pages.len() as f64 / start.elapsed().as_secs_f64()
        };
        let start = Instant::now();
        batched.chunks(BATCH).for_each(|pages| engine.write(pages));
        let batches = rate(batched, start);
        engine.wait_idle();
        let batches_to_rest = rate(batched, start);
        let start = Instant::now();
        singles.iter().map(slice::from_ref).for_each(|page| engine.write(page));
        WriteRates { batches, batches_to_rest, singles: rate(singles, start) }
    }

    /// Asserts that an engine has all pages.
    fn check(&self, engine: &mut dyn WriteEngine) {
        let n = self.pages.len();
        for count in engine.counts() {
            assert_eq!(count, n as u64, "each page is a row");
        }
        for page in self.pages.iter().rev().step_by(n.div_ceil(LOOKUPS)) {
            assert!(engine.contains(page), "{} is missing", page.url);
        }
    }
}

/// Adds the rates over all rounds.
pub(crate) fn rates(row: PeerRow, rounds: &[WriteRates]) -> PeerRow {
    let spread = |value: fn(&WriteRates) -> f64| RoundSpread::of(rounds.iter().map(value));
    row.count("batch", BATCH as u64)
        .count("singles", SINGLES as u64)
        .count("rounds", rounds.len() as u64)
        .spread("rows_per_second", spread(|round| round.batches))
        .spread("rows_per_second_to_rest", spread(|round| round.batches_to_rest))
        .spread("single_rows_per_second", spread(|round| round.singles))
}
