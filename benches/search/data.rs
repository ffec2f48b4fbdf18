//! Fingerprints and queries, identical in every run.

/// SplitMix64: G. L. Steele et al., "Fast splittable pseudorandom number generators", 2014.
pub(crate) struct DataRandom(pub(crate) u64);

impl DataRandom {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Flips `bits` different bits of the fingerprint.
    pub(crate) fn flipped(&mut self, mut fingerprint: u64, bits: u32) -> u64 {
        let original = fingerprint;
        while (fingerprint ^ original).count_ones() < bits {
            fingerprint ^= 1 << self.below(64);
        }
        fingerprint
    }
}

/// Returns `count` fingerprints, each within `k` bits of a random one of `among`.
pub(crate) fn planted(random: &mut DataRandom, among: &[u64], k: u32, count: usize) -> Vec<u64> {
    let near = |_| {
        let bits = random.below(k as usize + 1) as u32;
        let member = among[random.below(among.len())];
        random.flipped(member, bits)
    };
    (0..count).map(near).collect()
}

/// The distribution of fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FingerprintSpread {
    /// Independent fair bits.
    Uniform,
    /// 70 % are uniform, 10 % are in groups of 10,000 equal fingerprints, and 20 % are in clusters
    /// of up to 50 within 6 bits of a template.
    Clustered,
    /// Each bit is set with its own probability, from 0.2 to 0.8.
    Biased,
}

impl FingerprintSpread {
    /// All distributions.
    pub(crate) const ALL: [FingerprintSpread; 3] =
        [FingerprintSpread::Uniform, FingerprintSpread::Clustered, FingerprintSpread::Biased];

    pub(crate) fn parse(text: &str) -> Result<FingerprintSpread, String> {
        match text {
            "uniform" => Ok(FingerprintSpread::Uniform),
            "clustered" => Ok(FingerprintSpread::Clustered),
            "biased" => Ok(FingerprintSpread::Biased),
            _ => Err(format!("{text} is no kind of data")),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            FingerprintSpread::Uniform => "uniform",
            FingerprintSpread::Clustered => "clustered",
            FingerprintSpread::Biased => "biased",
        }
    }

    /// Fingerprint number `i`, computed without the ones before it.
    pub(crate) fn fingerprint(self, i: usize) -> u64 {
        let mut random = DataRandom(0x51b_4ee9 ^ (i as u64) << 20);
        match self {
            FingerprintSpread::Uniform => random.next(),
            FingerprintSpread::Clustered => match i % 10 {
                0 => DataRandom((i / 100_000) as u64 ^ 0xe0).next(),
                1 | 2 => {
                    let template = DataRandom((i / 250) as u64 ^ 0x7e3).next();
                    let bits = random.below(7) as u32;
                    random.flipped(template, bits)
                }
                _ => random.next(),
            },
            FingerprintSpread::Biased => self.random(&mut random),
        }
    }

    /// The first `n` fingerprints.
    pub(crate) fn fingerprints(self, n: usize) -> Vec<u64> {
        (0..n).map(|i| self.fingerprint(i)).collect()
    }

    /// Returns `count` other fingerprints of this distribution.
    pub(crate) fn strangers(self, random: &mut DataRandom, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.random(random)).collect()
    }

    /// Returns another fingerprint of this distribution.
    pub(crate) fn random(self, random: &mut DataRandom) -> u64 {
        match self {
            FingerprintSpread::Uniform | FingerprintSpread::Clustered => random.next(),
            FingerprintSpread::Biased => (0..64).fold(0, |fingerprint, bit| {
                let probability =
                    0.2 + 0.6 * (DataRandom(bit).next() >> 11) as f64 / (1_u64 << 53) as f64;
                let set = ((random.next() >> 11) as f64) < probability * (1_u64 << 53) as f64;
                fingerprint | u64::from(set) << bit
            }),
        }
    }
}

/// Writes the URL of page number `i`.
pub(crate) fn url(i: usize, url: &mut String) {
    use std::fmt::Write;
    url.clear();
    write!(url, "https://host-{}.example/page/{i}", i % 4096).unwrap();
}
