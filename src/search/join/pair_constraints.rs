//! Selects the bits in which pairs must agree, one part after another, by repeated use of the
//! pigeonhole principle.

use super::bit_permutation::BitPermutation;

/// Bits of a fingerprint.
const BITS: u32 = u64::BITS;

/// Nanoseconds to count an entry and place it in a bucket, including its share of the buckets.
const PLACE_NS: f64 = 5.0;
/// Nanoseconds to compare halves of two entries of a bucket, and whole entries.
const COMPARE_NS: [f64; 2] = [0.12, 0.3];
/// Bits of half a fingerprint.
const HALF_BITS: u32 = 32;
/// The largest distance of halves for which comparing halves first is cheaper.
pub(super) const HALF_K_MAX: u32 = 4;
/// The maximum width of a part within a bucket: the counts of its values stay in a core's own
/// cache.
const WIDTH_MAX: u32 = 14;
/// The maximum width of a part of whole fingerprints.
const WHOLE_WIDTH_MAX: u32 = 32;

/// Adjacent bits of a fingerprint, where the last bit is followed by the first: the sort key of a
/// pass of a [`Join`](super::Join).
///
/// ```
/// use simkeep::join::Join;
///
/// let first = Join::within(3).parts()[0];
/// assert_eq!((first.bits(), first.lowest_bit()), (16, 48)); // the highest 16 bits
/// assert_eq!(first.value(0x1111_2222_3333_4444), 0x1111);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyBits {
    /// The first bit, counted from the top bit.
    start: u32,
    /// The number of bits, 0 to 32.
    pub(super) width: u32,
}

impl KeyBits {
    /// Returns the number of bits, at most 32.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.width
    }

    /// Returns the position of the lowest bit, counted from the lowest bit of the fingerprint: 0
    /// to 63.
    #[must_use]
    pub fn lowest_bit(self) -> u32 {
        (2 * BITS - self.start - self.width) % BITS
    }

    /// Returns these bits of a fingerprint as a number, below 2^[`bits`](KeyBits::bits).
    #[inline]
    #[must_use]
    pub fn value(self, fingerprint: u64) -> u32 {
        // Two shifts are needed: for a width of 0, a single shift by 64 bits would overflow.
        let key = (fingerprint.rotate_left(self.start) >> 1) >> (BITS - 1 - self.width);
        #[expect(clippy::cast_possible_truncation, reason = "a part has 32 bits at most")]
        let key = key as u32;
        key
    }

    /// Returns a fingerprint in which only these bits are set.
    fn mask(self) -> u64 {
        match self.width {
            0 => 0,
            // A part may wrap around from the last bit to the first, which the rotation handles.
            width => (u64::MAX << (BITS - width)).rotate_right(self.start),
        }
    }

    /// Returns the number of leading bits of this part that are equal in all fingerprints that
    /// differ only in the bits `differing`.
    pub(super) fn alike(self, differing: u64) -> u32 {
        self.width - (u32::BITS - self.value(differing).leading_zeros())
    }

    /// Returns the first `width` bits of this part, and the remaining bits.
    pub(super) fn split_at(self, width: u32) -> (Self, Self) {
        let width = width.min(self.width);
        let rest = Self { start: (self.start + width) % BITS, width: self.width - width };
        (Self { start: self.start, width }, rest)
    }
}

/// Describes all pairs that are still to be found among some entries.
///
/// There are three kinds of bits. In some bits, all entries agree. Some bits form *parts that
/// differ*: only pairs that differ in at least one bit of each such part are wanted, since an
/// earlier bucket finds the other pairs. The remaining bits are the *free* bits, which are
/// unconstrained. Each part that differs uses one of the k bits, so at most `k - parts` of the free
/// bits differ. If the free bits are split into `k - parts + 1` parts, each pair agrees in at least
/// one of them.
///
/// When too few free bits are left, a part that differs is treated as free bits again, which
/// releases the bit that it uses.
#[derive(Clone, Debug)]
pub(super) struct PairConstraints {
    k: u32,
    /// The first free bit.
    start: u32,
    /// The number of free bits.
    free: u32,
    /// The widths of the parts that differ and directly follow the free bits.
    following: Vec<u32>,
    /// The number of parts that differ and do not directly follow the free bits.
    elsewhere: u32,
    /// The masks of all parts in which a pair must differ.
    differ: Vec<u64>,
    /// The bits in which a pair must agree, although not all entries do.
    agree: u64,
    /// Whether the first half of the bits separates entries, and the second half hardly does.
    first_half_separates: bool,
}

/// A split of the next bits into parts: each pair agrees in at least one of them.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) parts: Vec<KeyBits>,
    /// The number of following parts that differ and were treated as free bits.
    taken: usize,
}

impl PairConstraints {
    /// Describes all pairs, without constraints.
    pub(super) fn whole(k: u32) -> Self {
        Self {
            k,
            start: 0,
            free: BITS,
            following: Vec::new(),
            elsewhere: 0,
            differ: Vec::new(),
            agree: 0,
            first_half_separates: false,
        }
    }

    /// Returns the description of the same pairs after the bits are reordered.
    pub(super) fn reordered(&self, order: &BitPermutation) -> Self {
        let differ = self.differ.iter().map(|part| order.permute(*part)).collect();
        let agree = order.permute(self.agree);
        Self {
            differ,
            agree,
            first_half_separates: order.first_half_separates,
            ..Self::whole(self.k)
        }
    }

    /// Returns the number and the width of the parts for this many entries without any constraint
    /// on their bits.
    pub(super) fn parts_of(&self, entries: usize) -> (u32, u32) {
        let parts = (self.k + 1).min(BITS);
        (parts, (BITS / parts).min(width_of(entries)))
    }

    /// Returns the split with the lowest expected cost to find all pairs among `entries` entries,
    /// with parts of at most `width_max` bits; `None` if comparing all pairs is cheaper.
    ///
    /// The cost of p parts of w bits is p times (entries * `PLACE_NS` + entries^2 / 2^(w + 1) *
    /// `COMPARE_NS`), for uniformly distributed bits.
    fn split_within(&self, entries: usize, width_max: u32) -> Option<Split> {
        let entries = entries as f64;
        let [half_ns, whole_ns] = COMPARE_NS;
        // The choice is the same as in `Joiner::compare`, so that the model matches the actual
        // work.
        let compare_ns = if self.half().1 <= HALF_K_MAX { half_ns } else { whole_ns };
        let compares_ns = entries * entries / 2.0 * compare_ns;
        let mut least_ns = compares_ns;
        let mut least = None;
        // Treating one more differing part as free bits makes parts wider, but releases the bit of
        // k that the differing part used, so one part more is needed. The model decides.
        for (taken, kept) in (0..=self.following.len()).zip((0..=self.following.len()).rev()) {
            let bits = self.free_with(taken);
            #[expect(clippy::cast_possible_truncation, reason = "64 parts at most")]
            let kept = kept as u32;
            // Each kept part uses one of the k bits. One part more than the number of remaining
            // bits is needed.
            let parts = (self.k + 1).saturating_sub(self.elsewhere + kept);
            if parts == 0 || parts > bits {
                continue;
            }
            // The narrowest part decides the cost; wider parts have one bit more.
            let narrowest = (bits / parts).min(width_max);
            let ns = f64::from(parts)
                * (entries * PLACE_NS + compares_ns / 2_f64.powi(narrowest.cast_signed()));
            if ns < least_ns {
                least_ns = ns;
                least = Some((taken, parts, bits));
            }
        }
        let (taken, count, bits) = least?;
        Some(Split { parts: even(self.start, bits, count, width_max), taken })
    }

    /// Splits the bits of all entries into parts as wide as possible, regardless of the number of
    /// entries.
    pub(super) fn split_whole(&self) -> Split {
        // The split does not depend on the number of entries, because every machine that shares a
        // join must use the same parts.
        Split { parts: even(0, BITS, self.k + 1, WHOLE_WIDTH_MAX), taken: 0 }
    }

    /// Returns the number of free bits, including the bits of `taken` following parts.
    fn free_with(&self, taken: usize) -> u32 {
        self.free + self.following.iter().take(taken).sum::<u32>()
    }

    /// Returns the split of a bucket with this many entries; `None` if the bucket is not split.
    pub(super) fn split(&self, entries: usize) -> Option<Split> {
        self.split_within(entries, width_of(entries))
    }

    /// Returns the first split of all entries, into parts as wide as the number of buckets allows;
    /// `None` if the entries are not split.
    pub(super) fn split_first(&self, entries: usize) -> Option<Split> {
        self.split_within(entries, (entries.max(2).ilog2() + 1).min(WHOLE_WIDTH_MAX))
    }

    /// Returns the minimum number of entries for which [`split`](Self::split) returns a split.
    pub(super) fn entries_to_split(&self) -> usize {
        // Powers of two are exact enough for a threshold. Runs below 32 entries are never split.
        (5..31)
            .map(|bits| 1_usize << bits)
            .find(|&entries| self.split(entries).is_some())
            .unwrap_or(usize::MAX)
    }

    /// Describes the pairs within a bucket of this part of the split.
    pub(super) fn inside(&self, split: &Split, index: usize) -> Self {
        let mut cut = self.clone();
        cut.following.drain(..split.taken);
        let mut bits = self.free_with(split.taken);
        // In the first split the parts span all bits, so the parts before this part follow its free
        // bits around the ring. In later splits other bits lie between the earlier parts and the
        // free bits.
        let whole = self.free == BITS;
        for (at, part) in split.parts.iter().enumerate() {
            if at > index {
                break;
            }
            bits -= part.width;
            cut.start = (part.start + part.width) % BITS;
            // An earlier part of this split finds the pairs that agree in that part. Pairs reported
            // here must differ in the earlier part.
            if at < index {
                cut.differ.push(part.mask());
                if whole {
                    // The parts begin at the top bit, which follows the last bit on the ring.
                    cut.following.push(part.width);
                } else {
                    cut.elsewhere += 1;
                }
            }
        }
        cut.free = bits;
        cut
    }

    /// Whether a pair with this difference (exclusive or) is reported here rather than by an
    /// earlier bucket.
    #[inline]
    pub(super) fn reports(&self, difference: u64) -> bool {
        difference & self.agree == 0 && self.differ.iter().all(|part| difference & part != 0)
    }

    /// Restricts the pairs to pairs that agree in a part, although not all entries agree in it.
    pub(super) fn agreeing_in(&self, part: KeyBits) -> Self {
        Self { agree: self.agree | part.mask(), ..self.clone() }
    }

    /// Whether no pair of entries that differ only in these bits is reported here.
    pub(super) fn reports_none(&self, differing: u64) -> bool {
        self.differ.iter().any(|part| differing & part == 0)
    }

    /// Whether equal fingerprints are reported here.
    pub(super) fn reports_equal(&self) -> bool {
        self.differ.is_empty()
    }

    /// Returns the half of the bits that separates entries better, and the maximum number of bits
    /// of this half in which a reported pair differs.
    pub(super) fn half(&self) -> (HalfWord, u32) {
        if self.first_half_separates {
            return (HalfWord { start: 0 }, self.k);
        }
        let half = HalfWord { start: self.start };
        // The half starts at the free bits and includes as many following parts as needed for 32
        // bits.
        let taken = (0..=self.following.len()).find(|&taken| self.free_with(taken) >= HALF_BITS);
        // Each part that differs outside of this half takes one bit.
        let outside = taken.map_or(0, |taken| {
            #[expect(clippy::cast_possible_truncation, reason = "64 parts at most")]
            let kept = (self.following.len() - taken) as u32;
            self.elsewhere + kept
        });
        (half, self.k.saturating_sub(outside))
    }
}

/// Splits bits into `count` adjacent parts of equal width; the first parts get one remaining bit
/// each.
fn even(mut start: u32, bits: u32, count: u32, width_max: u32) -> Vec<KeyBits> {
    let part = |index: u32| {
        let part = KeyBits { start, width: ((bits + count - 1 - index) / count).min(width_max) };
        start = (start + part.width) % BITS;
        part
    };
    (0..count).map(part).collect()
}

/// Returns the maximum width of a part within a bucket of this many entries.
fn width_of(entries: usize) -> u32 {
    (entries.max(2).ilog2() + 1).min(WIDTH_MAX)
}

/// 32 adjacent bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfWord {
    start: u32,
}

impl HalfWord {
    #[inline]
    pub(super) fn of(self, fingerprint: u64) -> u32 {
        (fingerprint.rotate_left(self.start) >> HALF_BITS) as u32
    }
}
