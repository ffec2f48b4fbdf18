//! In-memory engines: multi-index hashing from a crate, and a linear scan.

use std::io::{self, Write};
use std::time::Instant;

use mih_rs::Index;
use mih_rs::index::RangeSearcher;

use super::EngineInput;
use crate::engine::{BuiltEngine, PeerAnswers, PeerHit, QueryOptions, SearchEngine};
use crate::kernel::{ColumnWord, ScanKernel};

/// URLs by page, if they are required. They do not count as memory of an engine.
struct PageUrls {
    text: String,
    /// The end of each URL in `text`.
    ends: Vec<usize>,
}

impl PageUrls {
    fn new(source: &EngineInput<'_>) -> PageUrls {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for (_, url) in source.urls() {
            text.push_str(&url);
            ends.push(text.len());
        }
        PageUrls { text, ends }
    }

    fn get(&self, page: u32) -> String {
        let page = page as usize;
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        self.text[start..self.ends[page]].to_owned()
    }
}

struct MultiIndexHashing {
    codes: &'static [u64],
    searcher: RangeSearcher<'static, u64>,
    answers: PeerAnswers,
    urls: PageUrls,
    wanted: QueryOptions,
}

impl SearchEngine for MultiIndexHashing {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        let found = self.searcher.run(fingerprint, self.wanted.k as usize).iter();
        // The index returns pages without their distances.
        let distance = |page: u32| (self.codes[page as usize] ^ fingerprint).count_ones();
        self.answers.hits.extend(found.map(|&page| PeerHit { distance: distance(page), page }));
        self.answers.finish(self.wanted, |page| self.urls.get(page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds the index with the number of blocks that it chooses.
pub(crate) fn mih(source: &EngineInput<'_>) -> BuiltEngine {
    build(source, |codes| Index::new(codes).unwrap())
}

/// Builds the index with four blocks.
pub(crate) fn mih_4(source: &EngineInput<'_>) -> BuiltEngine {
    build(source, |codes| Index::with_blocks(codes, 4).unwrap())
}

fn build(source: &EngineInput<'_>, index: fn(Vec<u64>) -> Index<u64>) -> BuiltEngine {
    let start = Instant::now();
    // The searcher borrows the index, which lives until the process ends.
    let index: &'static Index<u64> = Box::leak(Box::new(index(source.data.fingerprints.clone())));
    let filling = start.elapsed();
    // The index consists of plain arrays, so its serialized size is its size in memory.
    let mut bytes = ByteCounter::default();
    index.serialize_into(&mut bytes).unwrap();
    let note = format!("{} blocks", index.num_blocks());
    let (codes, searcher) = (index.codes(), index.range_searcher());
    let (answers, urls) = (PeerAnswers::default(), PageUrls::new(source));
    let engine =
        Box::new(MultiIndexHashing { codes, searcher, answers, urls, wanted: source.wanted });
    BuiltEngine { engine, filling, sorted: false, bytes: Some(bytes.0), note }
}

/// Counts bytes.
#[derive(Default)]
struct ByteCounter(u64);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct LinearScan {
    column: Vec<ColumnWord>,
    kernel: ScanKernel,
    places: Vec<u32>,
    answers: PeerAnswers,
    urls: PageUrls,
    wanted: QueryOptions,
}

impl SearchEngine for LinearScan {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        (self.kernel.near)(&self.column, fingerprint, self.wanted.k, &mut self.places);
        for page in self.places.drain(..) {
            let own = u64::from_le_bytes(self.column[page as usize]);
            self.answers.hits.push(PeerHit { distance: (own ^ fingerprint).count_ones(), page });
        }
        self.answers.finish(self.wanted, |page| self.urls.get(page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<PeerHit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds the scan over one column.
pub(crate) fn scan(source: &EngineInput<'_>) -> BuiltEngine {
    let start = Instant::now();
    let column: Vec<ColumnWord> =
        source.data.fingerprints.iter().map(|f| f.to_le_bytes()).collect();
    let filling = start.elapsed();
    let bytes = Some(size_of_val(column.as_slice()) as u64);
    let kernel = ScanKernel::fastest(1 << 16);
    let (places, answers, urls) = (Vec::new(), PeerAnswers::default(), PageUrls::new(source));
    let engine =
        Box::new(LinearScan { column, kernel, places, answers, urls, wanted: source.wanted });
    BuiltEngine { engine, filling, sorted: false, bytes, note: kernel.name.to_owned() }
}
