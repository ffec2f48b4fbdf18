//! Decides which bits are compared exactly, one part after another: the pigeonhole principle,
//! repeated.

use super::spread::Spread;

/// Bits of a fingerprint.
const BITS: u32 = u64::BITS;

/// Nanoseconds to count an entry and place it in a bucket, including its share of the buckets.
const PLACE_NS: f64 = 5.0;
/// Nanoseconds to compare halves of two entries of a bucket, and whole ones.
const COMPARE_NS: [f64; 2] = [0.12, 0.3];
/// Bits of half a fingerprint.
const HALF_BITS: u32 = 32;
/// The largest distance of halves for which comparing halves first is cheaper.
pub(super) const HALF_K_MAX: u32 = 4;
/// The widest part within a bucket: its counts stay in a core's own cache.
const WIDTH_MAX: u32 = 14;
/// The widest part of whole fingerprints.
const WHOLE_WIDTH_MAX: u32 = 32;

/// Adjacent bits of a fingerprint, where the last bit is followed by the first: the sort key of a
/// pass of a [`Join`](super::Join).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyBits {
    /// The first bit, counted from the top one.
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

    /// Returns its lowest bit, counted from the lowest of the fingerprint: 0 to 63.
    #[must_use]
    pub fn lowest_bit(self) -> u32 {
        (2 * BITS - self.start - self.width) % BITS
    }

    /// Returns these bits of a fingerprint as a number, below 2^[`bits`](KeyBits::bits).
    #[inline]
    #[must_use]
    pub fn value(self, fingerprint: u64) -> u32 {
        // Two shifts: for a width of 0 a single one would be by 64 bits, which overflows.
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

    /// Returns how many of its first bits are equal in all fingerprints that differ in `differing`
    /// only.
    pub(super) fn alike(self, differing: u64) -> u32 {
        self.width - (u32::BITS - self.value(differing).leading_zeros())
    }

    /// Returns the first bits of this part, and the others.
    pub(super) fn split_at(self, width: u32) -> (Self, Self) {
        let width = width.min(self.width);
        let rest = Self { start: (self.start + width) % BITS, width: self.width - width };
        (Self { start: self.start, width }, rest)
    }
}

/// Describes all pairs that are still to be found among some entries.
///
/// There are three kinds of bits. In some, the entries agree. Some form *parts that differ*: only
/// pairs that differ in at least one bit of each are wanted, since an earlier bucket finds the
/// others. The rest are the *free* bits, which are unconstrained. Each part that differs uses one
/// of the k bits, so at most `k - parts` of the free bits differ. If the free bits are split into
/// one part more than that, each pair agrees in at least one of them.
///
/// When too few free bits are left, a part that differs is treated as free bits again, which
/// releases the bit that it uses.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    k: u32,
    /// The first free bit.
    start: u32,
    /// The number of free bits.
    free: u32,
    /// The widths of the parts that differ and directly follow the free bits.
    following: Vec<u32>,
    /// The number of other parts that differ.
    elsewhere: u32,
    /// The masks of all parts in which a pair must differ.
    differ: Vec<u64>,
    /// The bits in which a pair must agree, although not all entries do.
    agree: u64,
    /// Whether the first half of the bits separates entries, and the second one hardly does.
    first_half_tells: bool,
}

/// A split of the next bits into parts: each pair agrees in at least one of them.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) parts: Vec<KeyBits>,
    /// How many of the following parts that differ were treated as free bits.
    taken: usize,
}

impl Cut {
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
            first_half_tells: false,
        }
    }

    /// Returns the description after the bits are reordered.
    pub(super) fn reordered(&self, order: &Spread) -> Self {
        let differ = self.differ.iter().map(|part| order.put(*part)).collect();
        let agree = order.put(self.agree);
        Self { differ, agree, first_half_tells: order.first_half_tells, ..Self::whole(self.k) }
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
        // The same choice as in `Joiner::compare`, so that the model prices the actual work.
        let compare_ns = if self.half().1 <= HALF_K_MAX { half_ns } else { whole_ns };
        let compares_ns = entries * entries / 2.0 * compare_ns;
        let mut least_ns = compares_ns;
        let mut least = None;
        // Taking one more differing part as free bits gives wider parts, but returns the bit of k that
        // it used, so one part more is needed. The model decides.
        for (taken, kept) in (0..=self.following.len()).zip((0..=self.following.len()).rev()) {
            let bits = self.free_with(taken);
            #[expect(clippy::cast_possible_truncation, reason = "64 parts at most")]
            let kept = kept as u32;
            // Each part that is kept takes one of the k bits.
            // Of the rest, one part more than bits may differ.
            let parts = (self.k + 1).saturating_sub(self.elsewhere + kept);
            if parts == 0 || parts > bits {
                continue;
            }
            // The narrowest part decides the cost; the wider ones have one bit more.
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

    /// Splits all entries, whatever their number, into parts as wide as possible.
    pub(super) fn split_whole(&self) -> Split {
        // Independent of the number of entries: every machine
        // that shares a join must cut the same parts.
        Split { parts: even(0, BITS, self.k + 1, WHOLE_WIDTH_MAX), taken: 0 }
    }

    /// Returns the number of free bits, including those of `taken` following parts.
    fn free_with(&self, taken: usize) -> u32 {
        self.free + self.following.iter().take(taken).sum::<u32>()
    }

    /// Returns the split of a bucket with this many entries; `None` if it is not split.
    pub(super) fn split(&self, entries: usize) -> Option<Split> {
        self.split_within(entries, width_of(entries))
    }

    /// Returns the first split of all entries, into parts as wide as the number of buckets allows;
    /// `None` if they are not split.
    pub(super) fn split_first(&self, entries: usize) -> Option<Split> {
        self.split_within(entries, (entries.max(2).ilog2() + 1).min(WHOLE_WIDTH_MAX))
    }

    /// Returns the least number of entries that [`split`](Self::split) splits.
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
        // In the first split the parts span all bits, so the parts before this one follow its free
        // bits around the ring. In later splits other bits lie in between.
        let whole = self.free == BITS;
        for (at, part) in split.parts.iter().enumerate() {
            if at > index {
                break;
            }
            bits -= part.width;
            cut.start = (part.start + part.width) % BITS;
            // An earlier part of this split finds the pairs
            // that agree in it. Here they must differ in it.
            if at < index {
                cut.differ.push(part.mask());
                if whole {
                    // The parts begin at the top bit, which follows the last one on the ring.
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

    /// Restricts the pairs to those that agree in a part, although not all entries do.
    pub(super) fn agreeing_in(&self, part: KeyBits) -> Self {
        Self { agree: self.agree | part.mask(), ..self.clone() }
    }

    /// Whether no pair is reported here of entries that differ in these bits only.
    pub(super) fn reports_none(&self, differing: u64) -> bool {
        self.differ.iter().any(|part| differing & part == 0)
    }

    /// Whether equal fingerprints are reported here.
    pub(super) fn reports_equal(&self) -> bool {
        self.differ.is_empty()
    }

    /// Returns the half of the bits that separates entries better, and the most bits of it in which
    /// a reported pair differs.
    pub(super) fn half(&self) -> (Half, u32) {
        if self.first_half_tells {
            return (Half { start: 0 }, self.k);
        }
        let half = Half { start: self.start };
        // The half starts at the free bits and covers as many following parts as it needs for 32 bits.
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

/// Splits bits into `count` adjacent parts of equal width; the first parts get the remaining bits,
/// one each.
fn even(mut start: u32, bits: u32, count: u32, width_max: u32) -> Vec<KeyBits> {
    let part = |index: u32| {
        let part = KeyBits { start, width: ((bits + count - 1 - index) / count).min(width_max) };
        start = (start + part.width) % BITS;
        part
    };
    (0..count).map(part).collect()
}

/// Returns the widest part within a bucket of this many entries.
fn width_of(entries: usize) -> u32 {
    (entries.max(2).ilog2() + 1).min(WIDTH_MAX)
}

/// 32 adjacent bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    start: u32,
}

impl Half {
    #[inline]
    pub(super) fn of(self, fingerprint: u64) -> u32 {
        (fingerprint.rotate_left(self.start) >> HALF_BITS) as u32
    }
}
