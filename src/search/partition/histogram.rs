//! Counts the values of the parts of fingerprints.

use crate::search::join::{Join, KeyBits};

/// The largest distance for which a join uses parts. At larger distances, parts are so narrow that
/// comparing all pairs is less work. With 16 parts of 4 bits, both ways cost the same.
const PARTED_K_MAX: u32 = 14;
/// The maximum number of bits that select the buckets of a part.
const BUCKET_BITS_MAX: u32 = 20;
/// The bytes before the counts: `k`, and the bits that select buckets.
const HEAD_BYTES: usize = 8;

/// Counts fingerprints in buckets: for each of the `k + 1` parts of a join, by a hash of the part's
/// value.
///
/// The histogram determines the distribution of the join ([`JoinPlan`](super::JoinPlan)). A
/// histogram takes 8 bytes for each bucket and part, regardless of the number of fingerprints.
///
/// ```
/// use simkeep::join::Histogram;
///
/// let mut here = Histogram::within(3, 4096);
/// here.add(&[0x1111_2222_3333_4444, 0x1111_2222_3333_4445]);
/// let mut there = Histogram::within(3, 4096);
/// there.add(&[0xffff]);
/// // It comes from elsewhere.
/// let came = Histogram::from_bytes(&there.to_bytes()).unwrap();
/// assert!(here.merge(&came));
/// assert_eq!(here.fingerprints(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    k: u32,
    bits: u32,
    parts: Vec<KeyBits>,
    /// The counts of one part after another.
    counts: Vec<u64>,
}

impl Histogram {
    /// Creates counts for a join within `k` bits (at most 64), with `buckets` buckets per part,
    /// rounded up to a power of two, at most 2^20. Distances above 14 have a single bucket, since a
    /// join within such a distance compares all pairs.
    #[must_use]
    pub fn within(k: u32, buckets: u32) -> Histogram {
        let bits = buckets.clamp(1, 1 << BUCKET_BITS_MAX).next_power_of_two().ilog2();
        Histogram::of(k.min(u64::BITS), bits)
    }

    fn of(k: u32, bits: u32) -> Histogram {
        // For wider distances there is one empty part with one bucket, so that the other code needs
        // no special case.
        let is_parted = k <= PARTED_K_MAX;
        let parts = if is_parted { Join::within(k).parts() } else { vec![KeyBits::default()] };
        let bits = if is_parted { bits } else { 0 };
        Histogram { k, bits, counts: vec![0; parts.len() << bits], parts }
    }

    /// Returns the distance.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns the number of counted fingerprints.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        total(self.counts.iter().take(1 << self.bits))
    }

    /// Counts fingerprints. Costs some 1.5 ns for each fingerprint and part.
    ///
    /// ```
    /// use simkeep::join::Histogram;
    /// let mut histogram = Histogram::within(3, 4096);
    /// histogram.add(&[0x1111_2222_3333_4444, 0xffff]);
    /// assert_eq!(histogram.fingerprints(), 2);
    /// ```
    #[expect(clippy::indexing_slicing, reason = "a bucket is one of those of a part")]
    pub fn add(&mut self, fingerprints: &[u64]) {
        let Histogram { bits, parts, counts, .. } = self;
        // Parts are counted one after another, so that the counts of only one part compete for the
        // cache.
        for (part, counts) in parts.iter().zip(counts.chunks_exact_mut(1 << *bits)) {
            for fingerprint in fingerprints {
                let count = &mut counts[bucket(*part, *bits, *fingerprint)];
                // Counts may come from other machines, so they saturate instead of overflowing.
                *count = count.saturating_add(1);
            }
        }
    }

    /// Adds the counts of another histogram. Returns `false` without a change if `other` has a
    /// different distance or number of buckets.
    ///
    /// ```
    /// use simkeep::join::Histogram;
    /// let [mut here, there] = [[0x1234], [0x4321]].map(|fingerprints| {
    ///     let mut histogram = Histogram::within(3, 4096);
    ///     histogram.add(&fingerprints);
    ///     histogram
    /// });
    /// assert!(here.merge(&there));
    /// assert_eq!(here.fingerprints(), 2);
    /// assert!(!here.merge(&Histogram::within(5, 4096))); // another distance
    /// ```
    #[must_use]
    pub fn merge(&mut self, other: &Histogram) -> bool {
        let alike = (self.k, self.bits) == (other.k, other.bits);
        if alike {
            for (count, more) in self.counts.iter_mut().zip(&other.counts) {
                *count = count.saturating_add(*more);
            }
        }
        alike
    }

    /// Encodes the histogram, little-endian: the distance and the number of bucket bits, 4 bytes
    /// each, and 8 bytes for each count.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.counts.iter().flat_map(|count| count.to_le_bytes());
        [self.k, self.bits].into_iter().flat_map(u32::to_le_bytes).chain(counts).collect()
    }

    /// Decodes a histogram from [`to_bytes`](Histogram::to_bytes); `None` if the bytes are invalid.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Histogram> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (k, bits) = head.split_at_checked(4)?;
        let k = u32::from_le_bytes(k.try_into().ok()?);
        let bits = u32::from_le_bytes(bits.try_into().ok()?);
        if k > u64::BITS || bits > BUCKET_BITS_MAX {
            return None;
        }
        let (counts, rest) = rest.as_chunks();
        // The length is checked before `of` allocates: the input has the counts of at least one
        // part, and `of` creates at most 15 parts of this size.
        if counts.len() >> bits == 0 || !rest.is_empty() {
            return None;
        }
        let mut histogram = Histogram::of(k, bits);
        // Wide distances have no bucket bits, and k decides the number of parts.
        if histogram.bits != bits || counts.len() != histogram.counts.len() {
            return None;
        }
        for (count, bytes) in histogram.counts.iter_mut().zip(counts) {
            *count = u64::from_le_bytes(*bytes);
        }
        Some(histogram)
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the parts with their counts.
    pub(super) fn parts(&self) -> impl Iterator<Item = (KeyBits, &[u64])> {
        self.parts.iter().copied().zip(self.counts.chunks_exact(1 << self.bits))
    }
}

/// Returns the sum of untrusted counts; saturates.
pub(super) fn total<'c>(counts: impl IntoIterator<Item = &'c u64>) -> u64 {
    counts.into_iter().fold(0, |total, count| total.saturating_add(*count))
}

/// Returns the bucket of a fingerprint among 2^bits: the top bits of a multiplicative hash of the
/// part's value (D. E. Knuth, "The Art of Computer Programming", vol. 3, 6.4), so that neighbouring
/// values, and values that differ in few bits, are in different buckets.
#[inline]
pub(super) fn bucket(part: KeyBits, bits: u32, fingerprint: u64) -> usize {
    let hash = part.value(fingerprint).wrapping_mul(0x9e37_79b1);
    // Two shifts are needed: with 0 bits, a single shift by 32 would overflow.
    ((hash >> 1) >> (u32::BITS - 1 - bits)) as usize
}
