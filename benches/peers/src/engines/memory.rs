//! In-memory engines: multi-index hashing from a crate, and a linear scan.

use std::io::{self, Write};
use std::time::Instant;

use mih_rs::Index;
use mih_rs::index::RangeSearcher;

use super::Source;
use crate::engine::{Answers, Built, Engine, Hit, Wanted};
use crate::kernel::{Kernel, Word};

/// URLs by page, if they are required. They do not count as memory of an engine.
struct Texts {
    text: String,
    /// The end of each URL in `text`.
    ends: Vec<usize>,
}

impl Texts {
    fn new(source: &Source<'_>) -> Texts {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for (_, url) in source.urls() {
            text.push_str(&url);
            ends.push(text.len());
        }
        Texts { text, ends }
    }

    fn get(&self, page: u32) -> String {
        let page = page as usize;
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        self.text[start..self.ends[page]].to_owned()
    }
}

struct Mih {
    codes: &'static [u64],
    searcher: RangeSearcher<'static, u64>,
    answers: Answers,
    urls: Texts,
    wanted: Wanted,
}

impl Engine for Mih {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        let found = self.searcher.run(fingerprint, self.wanted.k as usize).iter();
        // The index returns pages without their distances.
        let distance = |page: u32| (self.codes[page as usize] ^ fingerprint).count_ones();
        self.answers.hits.extend(found.map(|&page| Hit { distance: distance(page), page }));
        self.answers.finish(self.wanted, |page| self.urls.get(page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<Hit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds the index with the number of blocks that it chooses.
pub(crate) fn mih(source: &Source<'_>) -> Built {
    build(source, |codes| Index::new(codes).unwrap())
}

/// Builds the index with four blocks.
pub(crate) fn mih_4(source: &Source<'_>) -> Built {
    build(source, |codes| Index::with_blocks(codes, 4).unwrap())
}

fn build(source: &Source<'_>, index: fn(Vec<u64>) -> Index<u64>) -> Built {
    let start = Instant::now();
    // The searcher borrows the index, which lives until the process ends.
    let index: &'static Index<u64> = Box::leak(Box::new(index(source.data.fingerprints.clone())));
    let filling = start.elapsed();
    // The index consists of plain arrays, so its serialized size is its size in memory.
    let mut bytes = Counter::default();
    index.serialize_into(&mut bytes).unwrap();
    let note = format!("{} blocks", index.num_blocks());
    let (codes, searcher) = (index.codes(), index.range_searcher());
    let (answers, urls) = (Answers::default(), Texts::new(source));
    let engine = Box::new(Mih { codes, searcher, answers, urls, wanted: source.wanted });
    Built { engine, filling, sorted: false, bytes: Some(bytes.0), note }
}

/// Counts bytes.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Scan {
    column: Vec<Word>,
    kernel: Kernel,
    places: Vec<u32>,
    answers: Answers,
    urls: Texts,
    wanted: Wanted,
}

impl Engine for Scan {
    fn search(&mut self, fingerprint: u64) -> usize {
        self.answers.clear();
        (self.kernel.near)(&self.column, fingerprint, self.wanted.k, &mut self.places);
        for page in self.places.drain(..) {
            let own = u64::from_le_bytes(self.column[page as usize]);
            self.answers.hits.push(Hit { distance: (own ^ fingerprint).count_ones(), page });
        }
        self.answers.finish(self.wanted, |page| self.urls.get(page))
    }

    fn hits(&mut self, fingerprint: u64) -> Vec<Hit> {
        self.search(fingerprint);
        self.answers.checked()
    }
}

/// Builds the scan over one column.
pub(crate) fn scan(source: &Source<'_>) -> Built {
    let start = Instant::now();
    let column: Vec<Word> = source.data.fingerprints.iter().map(|f| f.to_le_bytes()).collect();
    let filling = start.elapsed();
    let bytes = Some(size_of_val(column.as_slice()) as u64);
    let kernel = Kernel::fastest(1 << 16);
    let (places, answers, urls) = (Vec::new(), Answers::default(), Texts::new(source));
    let engine = Box::new(Scan { column, kernel, places, answers, urls, wanted: source.wanted });
    Built { engine, filling, sorted: false, bytes, note: kernel.name.to_owned() }
}
