//! Pages and queries, identical for all engines and in every run.

/// The distribution of fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataSpread {
    /// 64 independent fair bits.
    Uniform,
    /// 70 % are uniform, and 30 % are in clusters of about [`CLUSTER`] pages, as templates cause
    /// them: half of a cluster is equal, and half is within [`CLUSTER_BITS_MAX`] bits of the
    /// template.
    Clustered,
    /// Each bit is set with its own probability, from 0.2 to 0.8.
    Biased,
}

/// The average number of pages in a cluster.
const CLUSTER: usize = 10_000;
/// The maximum distance of a page from its template, in bits.
const CLUSTER_BITS_MAX: u64 = 6;

impl DataSpread {
    /// The distribution with this name.
    pub(crate) fn named(name: &str) -> Option<DataSpread> {
        [DataSpread::Uniform, DataSpread::Clustered, DataSpread::Biased]
            .into_iter()
            .find(|s| s.name() == name)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            DataSpread::Uniform => "uniform",
            DataSpread::Clustered => "clustered",
            DataSpread::Biased => "biased",
        }
    }

    /// Returns the fingerprints of `n` pages.
    pub(crate) fn fingerprints(self, n: usize, seed: u64) -> Vec<u64> {
        let mut random = PeerRandom::new(seed);
        let bits = BitSource::new(self, seed);
        let mut fingerprints: Vec<u64> = (0..n).map(|_| bits.draw(&mut random)).collect();
        if self == DataSpread::Clustered {
            // The members of a cluster are distributed over all pages.
            let clusters = (n * 3 / 10).div_ceil(CLUSTER) as u64;
            let templates: Vec<u64> = (0..clusters).map(|_| random.next()).collect();
            for fingerprint in &mut fingerprints {
                if random.below(10) < 3 {
                    let template = templates[random.below(clusters) as usize];
                    let moves = random.below(2) == 1;
                    let bits = if moves { 1 + random.below(CLUSTER_BITS_MAX) } else { 0 };
                    *fingerprint = random.flip(template, bits);
                }
            }
        }
        fingerprints
    }
}

/// The distribution of bits outside of clusters.
struct BitSource {
    /// The number of times out of 256 that each bit is set; `None` for fair bits.
    weights: Option<[u64; 64]>,
}

impl BitSource {
    fn new(spread: DataSpread, seed: u64) -> BitSource {
        let mut random = PeerRandom::new(!seed);
        let weight = |_| 51 + random.below(154);
        let weights = std::array::from_fn(weight);
        BitSource { weights: (spread == DataSpread::Biased).then_some(weights) }
    }

    fn draw(&self, random: &mut PeerRandom) -> u64 {
        let Some(weights) = &self.weights else { return random.next() };
        // Eight bits are drawn from each random number.
        weights.chunks(8).enumerate().fold(0, |word, (chunk, weights)| {
            let draws = random.next().to_le_bytes();
            let pairs = draws.iter().zip(weights).enumerate();
            word | pairs.fold(0, |bits, (bit, (draw, weight))| {
                bits | u64::from(u64::from(*draw) < *weight) << (8 * chunk + bit)
            })
        })
    }
}

/// The kind of queries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// Drawn from the distribution of the data, independently. Finds nothing among uniform
    /// fingerprints.
    Random,
    /// A page's fingerprint with 0 to k bits flipped. Finds at least that page.
    Planted,
}

impl QueryKind {
    /// Both kinds.
    pub(crate) const ALL: [QueryKind; 2] = [QueryKind::Random, QueryKind::Planted];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            QueryKind::Random => "random",
            QueryKind::Planted => "planted",
        }
    }

    /// Returns `count` queries.
    pub(crate) fn queries(self, data: &PeerData, k: u32, count: usize, seed: u64) -> Vec<u64> {
        let mut random = PeerRandom::new(seed ^ 0x9ea7);
        let bits = BitSource::new(data.spread, data.seed);
        let query = |_| match self {
            QueryKind::Random => bits.draw(&mut random),
            QueryKind::Planted => {
                let page = random.below(data.fingerprints.len() as u64);
                let flips = random.below(u64::from(k) + 1);
                random.flip(data.fingerprints[page as usize], flips)
            }
        };
        (0..count).map(query).collect()
    }
}

/// The pages.
pub(crate) struct PeerData {
    spread: DataSpread,
    seed: u64,
    /// The fingerprints, by page number.
    pub(crate) fingerprints: Vec<u64>,
}

impl PeerData {
    /// Generates `n` pages.
    pub(crate) fn new(spread: DataSpread, n: usize, seed: u64) -> PeerData {
        PeerData { spread, seed, fingerprints: spread.fingerprints(n, seed) }
    }

    /// The fingerprints with their page numbers.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u64, u32)> {
        self.fingerprints.iter().copied().zip(0..)
    }
}

/// The URL of a page.
pub(crate) fn url(page: u32) -> String {
    let site = PeerRandom::new(page.into()).below(10_000);
    format!("https://site-{site:04}.example/page/{page}")
}

/// The page of a URL.
pub(crate) fn page(url: &str) -> u32 {
    url.rsplit('/').next().and_then(|number| number.parse().ok()).expect("a URL made here")
}

/// SplitMix64: small, fast, and the same everywhere.
struct PeerRandom(u64);

impl PeerRandom {
    fn new(seed: u64) -> PeerRandom {
        PeerRandom(seed)
    }

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
