//! The load: what a crawler would observe, the same in every run.
//!
//! 30 % of observes are of new pages and the others revisit pages at random. A new page has a random
//! fingerprint, but one in twenty lies within 3 bits of what another page has now. Every revisit
//! brings a new digest and moves 0 to 8 bits of the page's fingerprint. Time always goes forward,
//! by 100 ms on average.
//!
//! A page is a number. Its URL follows from that number, so that all a page costs while a crawl goes
//! on is the 8 bytes of its fingerprint; [`Load::state_bytes`] says how much that is, to be taken off
//! when the memory of the process is reported.

/// Share of new pages, in percent.
const NEW_PERCENT: u64 = 30;
/// Share of new pages that are near another, in percent of new pages.
const NEAR_PERCENT: u64 = 5;
/// How near they are at most.
const NEAR_BITS_MAX: u64 = 3;
/// How many bits a revisit moves at most.
const MOVED_BITS_MAX: u64 = 8;
/// When the crawl begins.
const TIME_START: i64 = 1_700_000_000_000;
/// Hosts are numbered in this many octaves, and each octave has as many pages as any other: so the
/// 1st host has 1/18 of all pages, the 2nd and 3rd 1/36 each, and most of 262,143 a few or none.
const HOST_OCTAVES: u64 = 18;
/// What paths are made of.
const WORDS: [&str; 16] = [
    "about", "archive", "articles", "blog", "catalog", "docs", "en", "events", "forum", "help",
    "library", "media", "news", "products", "reports", "wiki",
];

/// One observe.
#[derive(Clone, Copy)]
pub(crate) struct Observe {
    /// Milliseconds since 1970.
    pub(crate) time: i64,
    /// The simhash.
    pub(crate) fingerprint: u64,
    /// The content.
    pub(crate) digest: [u8; 16],
}

/// Observes with their URLs.
#[derive(Default)]
pub(crate) struct Batch {
    observes: Vec<Observe>,
    /// All URLs, one after another.
    text: String,
    /// Where each URL ends.
    ends: Vec<usize>,
}

impl Batch {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.observes.len()
    }

    /// Observe number `i` and its URL.
    pub(crate) fn get(&self, i: usize) -> (&str, &Observe) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        (&self.text[start..self.ends[i]], &self.observes[i])
    }

    /// All of them in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Observe)> {
        (0..self.len()).map(|i| self.get(i))
    }

    fn clear(&mut self) {
        self.observes.clear();
        self.text.clear();
        self.ends.clear();
    }
}

/// The source of observes.
pub(crate) struct Load {
    random: Random,
    time: i64,
    /// What each page has now.
    fingerprints: Vec<u64>,
    /// Where it ends.
    pages_max: usize,
}

impl Load {
    /// A crawl that finds this many pages, from the first.
    pub(crate) fn new(seed: u64, pages_max: usize) -> Load {
        let fingerprints = Vec::with_capacity(pages_max);
        Load { random: Random(seed), time: TIME_START, fingerprints, pages_max }
    }

    /// A crawl that goes on from `time`, knowing this many pages (but not what they had), without
    /// an end.
    pub(crate) fn resume(seed: u64, pages: usize, time: i64) -> Load {
        let mut random = Random(seed);
        let fingerprints = (0..pages).map(|_| random.next()).collect();
        Load { random, time, fingerprints, pages_max: usize::MAX }
    }

    /// Replaces what `batch` holds by the next observes, `count` of them unless the crawl ends.
    pub(crate) fn fill(&mut self, batch: &mut Batch, count: usize) {
        batch.clear();
        while batch.len() < count && self.pages() < self.pages_max {
            let page = self.observe(batch);
            push_url(page, &mut batch.text);
            batch.ends.push(batch.text.len());
        }
    }

    /// The whole crawl in batches of `count`: some 150 bytes of memory an observe. Engines that are
    /// compared are given it ready-made, so that what it costs to make counts for neither.
    pub(crate) fn batches(mut self, count: usize) -> Vec<Batch> {
        let mut batches = Vec::new();
        while self.pages() < self.pages_max {
            let mut batch = Batch::default();
            self.fill(&mut batch, count);
            batches.push(batch);
        }
        batches
    }

    /// How many pages were found so far.
    pub(crate) fn pages(&self) -> usize {
        self.fingerprints.len()
    }

    /// The time of the last observe.
    pub(crate) fn time(&self) -> i64 {
        self.time
    }

    /// Memory that the pages take here.
    pub(crate) fn state_bytes(&self) -> u64 {
        size_of_val(self.fingerprints.as_slice()) as u64
    }

    fn observe(&mut self, batch: &mut Batch) -> u64 {
        let random = &mut self.random;
        let pages = self.fingerprints.len() as u64;
        let is_new = pages == 0 || random.below(100) < NEW_PERCENT;
        let (page, fingerprint) = if !is_new {
            let page = random.below(pages);
            let bits = random.below(MOVED_BITS_MAX + 1);
            (page, random.flip(self.fingerprints[page as usize], bits))
        } else if pages > 0 && random.below(100) < NEAR_PERCENT {
            let other = random.below(pages);
            let bits = random.below(NEAR_BITS_MAX + 1);
            (pages, random.flip(self.fingerprints[other as usize], bits))
        } else {
            (pages, random.next())
        };
        if is_new {
            self.fingerprints.push(fingerprint);
        } else {
            self.fingerprints[page as usize] = fingerprint;
        }
        self.time += 1 + self.random.below(199) as i64;
        let mut digest = [0; 16];
        digest[..8].copy_from_slice(&self.random.next().to_le_bytes());
        digest[8..].copy_from_slice(&self.random.next().to_le_bytes());
        batch.observes.push(Observe { time: self.time, fingerprint, digest });
        page
    }
}

/// Appends the URL of a page: `https://www.host4711.example/docs/wiki/1234567.html`.
fn push_url(page: u64, out: &mut String) {
    use std::fmt::Write;
    let mut random = Random(page);
    let octave = random.below(HOST_OCTAVES);
    let host = (1 << octave) + random.below(1 << octave);
    let mut word = || WORDS[random.below(WORDS.len() as u64) as usize];
    let (first, second) = (word(), word());
    write!(out, "https://www.host{host}.example/{first}/{second}/{page}.html")
        .expect("a string takes all that is written to it");
}

/// SplitMix64: small, fast, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`, the bias being far too small to matter.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// `value` with that many different bits flipped.
    fn flip(&mut self, value: u64, bits: u64) -> u64 {
        let mut mask = 0u64;
        while u64::from(mask.count_ones()) < bits {
            mask |= 1 << self.below(64);
        }
        value ^ mask
    }
}
