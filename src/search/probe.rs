//! Selects the buckets of rotations to probe, by the pigeonhole principle.

/// The number of blocks of a fingerprint, which is also the number of rotations.
pub const BLOCKS: usize = 4;

/// The bits of a block.
pub(super) const BLOCK_BITS: u32 = 16;

/// A block of the fingerprint, or the rotation addressed by it. Block 0 is the top block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FingerprintBlock {
    First,
    Second,
    Third,
    Fourth,
}

impl FingerprintBlock {
    pub(super) const ALL: [Self; BLOCKS] = [Self::First, Self::Second, Self::Third, Self::Fourth];

    /// Returns the fingerprint rotated so that this block is on top.
    // With the block on top, a shift without a mask yields the bucket and the value.
    fn rotate(self, fingerprint: u64) -> u64 {
        fingerprint.rotate_left(BLOCK_BITS * self as u32)
    }

    /// Returns the top `bits` bits of this block, 0 to 16: the bucket in this block's rotation.
    pub(super) fn bucket(self, fingerprint: u64, bits: u32) -> u32 {
        let block = (self.rotate(fingerprint) >> (u64::BITS - BLOCK_BITS)) as u32;
        // The top bits are used, because then buckets of neighbouring values stay neighbours when
        // bits are added, as `Chains::grow` requires.
        block >> BLOCK_BITS.saturating_sub(bits)
    }

    /// Returns the value of this block.
    pub(super) fn value(self, fingerprint: u64) -> u16 {
        (self.rotate(fingerprint) >> (u64::BITS - BLOCK_BITS)) as u16
    }

    /// Returns the element of `values` for this block.
    pub(super) fn of(self, values: [u32; BLOCKS]) -> u32 {
        #[expect(clippy::indexing_slicing, reason = "there is a table for each block")]
        values[self as usize]
    }

    /// Returns the next block; the first block follows the last.
    pub(super) fn next(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::Third,
            Self::Third => Self::Fourth,
            Self::Fourth => Self::First,
        }
    }
}

/// The *reach* of each block: the number of differing bits from which on the block need not be
/// searched. A reach is a radius of the pigeonhole principle plus one.
///
/// If two fingerprints differ in at most k bits, and the reaches add up to k + 1, then in at least
/// one block they differ in fewer bits than its reach, since otherwise they would differ in at
/// least k + 1 bits. So it suffices to search, for each block, the buckets below its reach. A reach
/// of 0 means that the rotation is not needed. The rule is the asymmetric form of the principle.
/// Equal radii, `floor(k / 4)`, would visit more buckets: 68 rather than 20 for k = 4.
///
/// The reaches differ by at most one, because the number of buckets within a radius grows faster
/// than linearly.
///
/// On a ring the principle is stronger. Subtract each block's reach from its number of differing
/// bits: the four results add up to at most -1. By the cycle lemma there is a block from which on,
/// around the ring, all partial sums are negative. Hence this block differs in fewer bits than its
/// reach, *and* this block and the next differ together in fewer bits than the sum of their
/// reaches. For k = 3, a block that agrees is followed by a block that differs in at most one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbeRadius([u32; BLOCKS]);

impl ProbeRadius {
    /// Returns the cheapest reaches that find all fingerprints within `k`.
    pub(super) fn within(k: u32) -> Self {
        // The sum is k + 1: the four quotients differ by one
        // at most, and the first blocks get the remainder.
        Self([k + 4, k + 3, k + 2, k + 1].map(|dealt| dealt / 4))
    }

    /// Whether at most one bucket of each rotation is probed.
    pub(super) fn is_plain(self) -> bool {
        self.0.iter().all(|reach| *reach <= 1)
    }

    /// Returns the reach of one block.
    pub(super) fn of(self, block: FingerprintBlock) -> u32 {
        block.of(self.0)
    }

    /// Returns the maximum number of bits by which the block after `block` may differ if `block`
    /// differs by `distance`, by the ring principle. `distance` must be below the reach of `block`.
    pub(super) fn slack(self, block: FingerprintBlock, distance: u32) -> u32 {
        let own = self.of(block);
        debug_assert!(distance < own, "a probe is within the reach of its block");
        // Both blocks together differ in fewer bits than both reaches
        // add up to. `distance < own`, so this never underflows.
        own + self.of(block.next()) - 1 - distance
    }

    /// Whether `block` is the last block whose rotation finds two fingerprints with this
    /// `difference` (their exclusive or). Only the rotation of this block reports the pair.
    pub(super) fn last_found_by(self, block: FingerprintBlock, difference: u64) -> bool {
        let ([a, b, c, d], [ra, rb, rc, rd]) = (counts_of_blocks(difference), self.0);
        // The conditions are the same as in `slack`. All four are computed without a branch, and
        // the last true condition is used.
        let ring = [(a, b, ra, rb), (b, c, rb, rc), (c, d, rc, rd), (d, a, rd, ra)];
        let found_by = ring
            .map(|(own, next, reach, next_reach)| own < reach && own + next < reach + next_reach);
        found_by.into_iter().rposition(|found| found) == Some(block as usize)
    }
}

/// Returns the popcount of each block: the usual word popcount, stopped early.
fn counts_of_blocks(word: u64) -> [u32; BLOCKS] {
    // After the last sum the low 5 bits of each 16-bit lane are its count, at most 16. The higher
    // bits are masked out.
    const PAIRS: u64 = 0x5555_5555_5555_5555;
    const NIBBLES: u64 = 0x3333_3333_3333_3333;
    const BYTES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = word - (word >> 1 & PAIRS);
    let nibbles = (pairs & NIBBLES) + (pairs >> 2 & NIBBLES);
    let bytes = (nibbles + (nibbles >> 4)) & BYTES;
    let blocks = bytes + (bytes >> 8);
    [48, 32, 16, 0].map(|shift| (blocks >> shift & 0x1f) as u32)
}

/// A bucket to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The rotation.
    pub(super) block: FingerprintBlock,
    /// The bucket of that rotation.
    pub(super) bucket: u32,
    /// The number of bits in which the bucket's number differs from the query's own bucket. These
    /// bits of the distance are used up before an entry is compared.
    pub(super) distance: u32,
}

impl Probe {
    /// Returns the probe of the fingerprint's own bucket.
    #[inline]
    pub(super) fn own(block: FingerprintBlock, fingerprint: u64, bits: u32) -> Self {
        Self { block, bucket: block.bucket(fingerprint, bits), distance: 0 }
    }
}

/// The buckets of one rotation that may contain entries within the reaches, nearest first.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    block: FingerprintBlock,
    own: u32,
    bits: u32,
    /// The number of differing bits at which to stop.
    end: u32,
    /// The number of set bits in `flips`.
    distance: u32,
    /// The bucket bits to flip next.
    flips: u32,
}

impl Probes {
    /// Creates the probes for `fingerprint` in the rotation of `block`, addressed by `bits` bits.
    ///
    /// With fewer than 16 bits, a bucket has entries with several values of the block. Each value
    /// differs from the fingerprint's block in at least as many bits as the bucket's number differs
    /// from its bucket. So the buckets below the reach still contain all results.
    #[inline]
    pub(super) fn new(
        block: FingerprintBlock,
        fingerprint: u64,
        bits: u32,
        reach: ProbeRadius,
    ) -> Self {
        let bits = bits.min(BLOCK_BITS);
        // No bucket differs in more than `bits` bits, so the reach is limited to `bits + 1`.
        // `flips` then needs at most 17 bits.
        let (own, end) = (block.bucket(fingerprint, bits), reach.of(block).min(bits + 1));
        Self { block, own, bits, end, distance: 0, flips: 0 }
    }
}

impl Iterator for Probes {
    type Item = Probe;

    #[inline]
    fn next(&mut self) -> Option<Probe> {
        let Self { block, own, distance, flips, .. } = *self;
        if distance >= self.end {
            return None;
        }
        self.flips = next_of_same_weight(flips);
        // All values of this weight were visited (weight 0 has one value). The next value is the
        // smallest of the next weight.
        if self.flips == 0 || self.flips >> self.bits != 0 {
            self.distance += 1;
            self.flips = (1 << self.distance) - 1;
        }
        Some(Probe { block, bucket: own ^ flips, distance })
    }
}

/// Returns the next larger number with the same number of set bits; 0 for 0. The number must have
/// at most 17 bits.
///
/// Gosper's hack: R. W. Gosper, HAKMEM item 175, 1972.
fn next_of_same_weight(number: u32) -> u32 {
    if number == 0 {
        return 0;
    }
    let lowest = number & number.wrapping_neg();
    let carried = number + lowest;
    carried | (((carried ^ number) >> 2) >> lowest.trailing_zeros())
}
