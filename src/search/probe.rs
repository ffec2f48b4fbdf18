//! Which buckets of which rotations must be looked into: the pigeonhole principle.

/// The blocks that a fingerprint is cut into, and so the number of rotations.
pub const BLOCKS: usize = 4;

/// Bits of a block.
pub(super) const BLOCK_BITS: u32 = 16;

/// A block of the fingerprint, or the rotation that is addressed by it. Block 0 is the top one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    First,
    Second,
    Third,
    Fourth,
}

impl Block {
    pub(super) const ALL: [Self; BLOCKS] = [Self::First, Self::Second, Self::Third, Self::Fourth];

    /// The fingerprint turned so that this block is on top.
    // With the block on top, bucket and value are shifts without a mask.
    fn rotate(self, fingerprint: u64) -> u64 {
        fingerprint.rotate_left(BLOCK_BITS * self as u32)
    }

    /// The top `bits` bits of this block, 0 to 16 of them: the bucket in this block's rotation.
    pub(super) fn bucket(self, fingerprint: u64, bits: u32) -> u32 {
        let block = (self.rotate(fingerprint) >> (u64::BITS - BLOCK_BITS)) as u32;
        // Top bits: buckets of neighbouring values stay neighbours
        // when bits are added, as `Chains::grow` needs.
        block >> BLOCK_BITS.saturating_sub(bits)
    }

    /// This block.
    pub(super) fn value(self, fingerprint: u64) -> u16 {
        (self.rotate(fingerprint) >> (u64::BITS - BLOCK_BITS)) as u16
    }

    /// What belongs to this block.
    pub(super) fn of(self, values: [u32; BLOCKS]) -> u32 {
        #[expect(clippy::indexing_slicing, reason = "there is one for each block")]
        values[self as usize]
    }

    /// The block after this one; the first comes after the last.
    pub(super) fn next(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::Third,
            Self::Third => Self::Fourth,
            Self::Fourth => Self::First,
        }
    }
}

/// How many differing bits each block is too many for: the radii of the pigeonhole principle,
/// plus one.
///
/// If two fingerprints differ in at most k bits, and the reaches add up to k + 1, then in at least
/// one block they differ in fewer bits than its reach: otherwise they would differ in k + 1 bits at
/// least. So it is enough to look, for each block, at the buckets below its reach. A reach of 0
/// means that the rotation is not needed at all. (The asymmetric form of the principle; equal
/// radii, `floor(k / 4)`, would visit more: 68 buckets rather than 20 for k = 4.)
///
/// The reaches differ by one at most, because the number of buckets within a radius grows faster
/// than linearly with it.
///
/// On a ring the principle says more. Take each block's differing bits less its reach: the four
/// numbers add up to -1 at most, so, going around from the right block on, all sums stay negative
/// (the cycle lemma). So there is a block that differs in fewer bits than its reach, *and* together
/// with the block after it in fewer than both reaches: with k = 3 a block that agrees, and after it
/// one that differs in one bit at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach([u32; BLOCKS]);

impl Reach {
    /// The cheapest reaches that find everything within `k`.
    pub(super) fn within(k: u32) -> Self {
        // The sum is k + 1: the four quotients differ by one
        // at most, and the first blocks get the remainder.
        Self([k + 4, k + 3, k + 2, k + 1].map(|dealt| dealt / 4))
    }

    /// Whether no more than one bucket of each rotation is looked into.
    pub(super) fn is_plain(self) -> bool {
        self.0.iter().all(|reach| *reach <= 1)
    }

    /// The reach of one block.
    pub(super) fn of(self, block: Block) -> u32 {
        block.of(self.0)
    }

    /// By how many bits the block after `block` may differ where `block` itself does by `distance`:
    /// what the ring adds to the pigeonhole principle. `distance` is below the reach of `block`.
    pub(super) fn slack(self, block: Block, distance: u32) -> u32 {
        let own = self.of(block);
        debug_assert!(distance < own, "a probe is within the reach of its block");
        // Both blocks together differ in fewer bits than both reaches
        // add up to. `distance < own`, so this never underflows.
        own + self.of(block.next()) - 1 - distance
    }

    /// Whether `block` is the last one whose rotation finds two fingerprints with this `difference`
    /// (their exclusive or): the rule by which each is reported once.
    pub(super) fn last_found_by(self, block: Block, difference: u64) -> bool {
        let ([a, b, c, d], [ra, rb, rc, rd]) = (counts_of_blocks(difference), self.0);
        // The same conditions as in `slack`. All four are
        // computed without a branch, and the last match wins.
        let ring = [(a, b, ra, rb), (b, c, rb, rc), (c, d, rc, rd), (d, a, rd, ra)];
        let found_by = ring
            .map(|(own, next, reach, next_reach)| own < reach && own + next < reach + next_reach);
        found_by.into_iter().rposition(|found| found) == Some(block as usize)
    }
}

/// How many bits of each block are set: the usual way to count those of a word, ended early.
fn counts_of_blocks(word: u64) -> [u32; BLOCKS] {
    // After the last sum each 16-bit lane has its count, 16 at
    // most, in its low 5 bits. What lies above them is masked out.
    const PAIRS: u64 = 0x5555_5555_5555_5555;
    const NIBBLES: u64 = 0x3333_3333_3333_3333;
    const BYTES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = word - (word >> 1 & PAIRS);
    let nibbles = (pairs & NIBBLES) + (pairs >> 2 & NIBBLES);
    let bytes = (nibbles + (nibbles >> 4)) & BYTES;
    let blocks = bytes + (bytes >> 8);
    [48, 32, 16, 0].map(|shift| (blocks >> shift & 0x1f) as u32)
}

/// One bucket to look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The rotation.
    pub(super) block: Block,
    /// The bucket of that rotation.
    pub(super) bucket: u32,
    /// In how many bits the bucket's number differs from the fingerprint's own bucket: that many
    /// of the k bits are spent before an entry is looked at.
    pub(super) distance: u32,
}

impl Probe {
    /// The fingerprint's own bucket.
    #[inline]
    pub(super) fn own(block: Block, fingerprint: u64, bits: u32) -> Self {
        Self { block, bucket: block.bucket(fingerprint, bits), distance: 0 }
    }
}

/// The buckets of one rotation in which something within the reaches can lie, nearest first.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    block: Block,
    own: u32,
    bits: u32,
    /// How many differing bits are too many.
    end: u32,
    /// How many bits of `flips` are set.
    distance: u32,
    /// The bucket bits to flip next.
    flips: u32,
}

impl Probes {
    /// The probes for `fingerprint` in the rotation of `block`, addressed by `bits` bits.
    ///
    /// With fewer than 16 bits a bucket holds several blocks, each of which differs from the
    /// fingerprint's in at least as many bits as the bucket's number does: the buckets below the
    /// reach still hold everything that is to be found.
    #[inline]
    pub(super) fn new(block: Block, fingerprint: u64, bits: u32, reach: Reach) -> Self {
        let bits = bits.min(BLOCK_BITS);
        // No bucket differs in more than `bits` bits, so wider
        // reaches end there. `flips` then needs 17 bits at most.
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
        // All values of this weight were visited (weight 0 has
        // one). Go on with the smallest of the next weight.
        if self.flips == 0 || self.flips >> self.bits != 0 {
            self.distance += 1;
            self.flips = (1 << self.distance) - 1;
        }
        Some(Probe { block, bucket: own ^ flips, distance })
    }
}

/// The next larger number with as many bits set; 0 for 0. For numbers of 17 bits at most.
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
