//! The load: the observations of a simulated crawler, identical in every run.
//!
//! 30 % of the observations are of new pages; the others revisit random pages. A new page has a
//! random fingerprint, but one in twenty is within 3 bits of the current fingerprint of another
//! page. Every revisit has a new digest and changes 0 to 8 bits of the page's fingerprint. Time
//! advances by 100 ms on average.
//!
//! A page is a number, and its URL follows from that number. So during a crawl, a page costs only
//! the 8 bytes of its fingerprint. [`ObserveLoad::state_bytes`] returns their sum, which must be
//! subtracted from the reported memory of the process.

/// The percentage of new pages.
const NEW_PERCENT: u64 = 30;
/// The percentage of new pages that are near another page.
const NEAR_PERCENT: u64 = 5;
/// The maximum distance of such pages, in bits.
const NEAR_BITS_MAX: u64 = 3;
/// The maximum number of bits that a revisit changes.
const MOVED_BITS_MAX: u64 = 8;
/// The start of the crawl, in milliseconds since 1970.
const TIME_START: i64 = 1_700_000_000_000;
/// The number of octaves of host numbers. Each octave has as many pages as any other. So the 1st
/// host has 1/18 of all pages, the 2nd and 3rd 1/36 each, and most of 262,143 hosts have a few
/// pages or none.
const HOST_OCTAVES: u64 = 18;
/// The words of paths.
const WORDS: [&str; 16] = [
    "about", "archive", "articles", "blog", "catalog", "docs", "en", "events", "forum", "help",
    "library", "media", "news", "products", "reports", "wiki",
];

/// An observation.
#[derive(Clone, Copy)]
pub(crate) struct LoadVisit {
    /// Milliseconds since 1970.
    pub(crate) time: i64,
    /// The fingerprint.
    pub(crate) fingerprint: u64,
    /// The digest of the content.
    pub(crate) digest: [u8; 16],
}

/// Observations with their URLs.
#[derive(Default)]
pub(crate) struct ObserveBatch {
    observes: Vec<LoadVisit>,
    /// All URLs, concatenated.
    text: String,
    /// The end of each URL in `text`.
    ends: Vec<usize>,
}

impl ObserveBatch {
    /// The number of observations.
    pub(crate) fn len(&self) -> usize {
        self.observes.len()
    }

    /// Observation number `i` and its URL.
    pub(crate) fn get(&self, i: usize) -> (&str, &LoadVisit) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        (&self.text[start..self.ends[i]], &self.observes[i])
    }

    /// Iterates over all observations in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &LoadVisit)> {
        (0..self.len()).map(|i| self.get(i))
    }

    fn clear(&mut self) {
        self.observes.clear();
        self.text.clear();
        self.ends.clear();
    }
}

/// The source of observations.
pub(crate) struct ObserveLoad {
    random: LoadRandom,
    time: i64,
    /// The current fingerprint of each page.
    fingerprints: Vec<u64>,
    /// The number of pages at which the crawl ends.
    pages_max: usize,
}

impl ObserveLoad {
    /// A crawl that ends when it has found this many pages.
    pub(crate) fn new(seed: u64, pages_max: usize) -> ObserveLoad {
        let fingerprints = Vec::with_capacity(pages_max);
        ObserveLoad { random: LoadRandom(seed), time: TIME_START, fingerprints, pages_max }
    }

    /// A crawl that continues from `time` without an end. It knows this many pages, but not their
    /// fingerprints.
    pub(crate) fn resume(seed: u64, pages: usize, time: i64) -> ObserveLoad {
        let mut random = LoadRandom(seed);
        let fingerprints = (0..pages).map(|_| random.next()).collect();
        ObserveLoad { random, time, fingerprints, pages_max: usize::MAX }
    }

    /// Replaces the contents of `batch` by the next `count` observations, or fewer if the crawl
    /// ends.
    pub(crate) fn fill(&mut self, batch: &mut ObserveBatch, count: usize) {
        batch.clear();
        while batch.len() < count && self.pages() < self.pages_max {
            let page = self.observe(batch);
            push_url(page, &mut batch.text);
            batch.ends.push(batch.text.len());
        }
    }

    /// The whole crawl in batches of `count`: about 150 bytes of memory for each observation. The
    /// compared engines receive finished batches, so the cost of generating them is not measured.
    pub(crate) fn batches(mut self, count: usize) -> Vec<ObserveBatch> {
        let mut batches = Vec::new();
        while self.pages() < self.pages_max {
            let mut batch = ObserveBatch::default();
            self.fill(&mut batch, count);
            batches.push(batch);
        }
        batches
    }

    /// The number of pages found so far.
    pub(crate) fn pages(&self) -> usize {
        self.fingerprints.len()
    }

    /// The time of the last observation.
    pub(crate) fn time(&self) -> i64 {
        self.time
    }

    /// The memory of the pages, in bytes.
    pub(crate) fn state_bytes(&self) -> u64 {
        size_of_val(self.fingerprints.as_slice()) as u64
    }

    fn observe(&mut self, batch: &mut ObserveBatch) -> u64 {
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
        batch.observes.push(LoadVisit { time: self.time, fingerprint, digest });
        page
    }
}

/// Appends the URL of a page: `https://www.host4711.example/docs/wiki/1234567.html`.
fn push_url(page: u64, out: &mut String) {
    use std::fmt::Write;
    let mut random = LoadRandom(page);
    let octave = random.below(HOST_OCTAVES);
    let host = (1 << octave) + random.below(1 << octave);
    let mut word = || WORDS[random.below(WORDS.len() as u64) as usize];
    let (first, second) = (word(), word());
    write!(out, "https://www.host{host}.example/{first}/{second}/{page}.html")
        .expect("a string takes all that is written to it");
}

/// SplitMix64: small, fast, and the same everywhere.
struct LoadRandom(u64);

impl LoadRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`, with negligible bias.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Flips `bits` different bits of `value`.
    fn flip(&mut self, value: u64, bits: u64) -> u64 {
        let mut mask = 0u64;
        while u64::from(mask.count_ones()) < bits {
            mask |= 1 << self.below(64);
        }
        value ^ mask
    }
}
