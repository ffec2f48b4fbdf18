//! The two inner loops of a fingerprint: the only code of `fingerprint` with `unsafe`.
//!
//! `classify` finds the letters and digits among 64 bytes and lower-cases them; `count` and `weigh`
//! add up the bits of many hashes. The portable versions define the results. The AVX2 versions use
//! explicit instructions, and return bit-identical results. The processor's features select the
//! version at run time.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

/// The number of bytes of a text that are processed together.
pub(super) const BLOCK: usize = 64;

/// The classes of 64 bytes of a text; bit *i* is for byte *i*.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ByteClasses {
    /// ASCII letters and digits.
    pub(super) word: u64,
    /// Bytes of non-ASCII characters.
    pub(super) foreign: u64,
    /// Leading bytes of non-ASCII characters, from 0xC0 on.
    pub(super) leads: u64,
}

/// The maximum number of hashes per call of [`FingerprintKernel::count`]; more hashes would
/// overflow a byte.
pub(super) const COUNTED_MAX: usize = 255;

/// For each bit, the weight of the features whose hash has the bit set.
pub(super) type Votes = [u64; 64];

/// A hash and its weight.
pub(super) type WeightedHash = (u64, u64);

type ClassifyFn = unsafe fn(&[u8; BLOCK], &mut [u8; BLOCK]) -> ByteClasses;
type CountFn = unsafe fn(&[u64], &mut [u8; 64]);
type WeighFn = unsafe fn(&[WeightedHash], &mut Votes);

/// A version of the three functions.
///
/// Invariant: a `FingerprintKernel` exists only if the processor has the features that its
/// functions were compiled for. Only [`FingerprintKernel::fastest`] and
/// [`FingerprintKernel::PORTABLE`] create a `FingerprintKernel`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FingerprintKernel {
    classify: ClassifyFn,
    count: CountFn,
    weigh: WeighFn,
}

impl FingerprintKernel {
    /// Returns the fastest version for this processor.
    pub(super) fn fastest() -> FingerprintKernel {
        static FASTEST: OnceLock<FingerprintKernel> = OnceLock::new();
        *FASTEST.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                return FingerprintKernel {
                    classify: x86::classify,
                    count: x86::count,
                    weigh: x86::weigh,
                };
            }
            FingerprintKernel::PORTABLE
        })
    }

    /// The version for every processor.
    pub(super) const PORTABLE: FingerprintKernel = FingerprintKernel {
        classify: portable::classify,
        count: portable::count,
        weigh: portable::weigh,
    };

    /// Classifies `text`, and writes it to `lower` with ASCII capitals in lower case.
    #[inline]
    pub(super) fn classify(self, text: &[u8; BLOCK], lower: &mut [u8; BLOCK]) -> ByteClasses {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: a `FingerprintKernel` exists only where the processor has the features that the
        // functions need, and the functions have no other precondition.
        unsafe {
            (self.classify)(text, lower)
        }
    }

    /// Counts, for each bit, the hashes with that bit among at most [`COUNTED_MAX`].
    #[inline]
    pub(super) fn count(self, hashes: &[u64]) -> [u8; 64] {
        debug_assert!(hashes.len() <= COUNTED_MAX);
        let mut counts = [0; 64];
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as in `classify`.
        unsafe {
            (self.count)(hashes, &mut counts);
        }
        counts
    }

    /// Adds each weight to the votes of the bits in its hash. Sums wrap.
    #[inline]
    pub(super) fn weigh(self, features: &[WeightedHash], votes: &mut Votes) {
        #[expect(unsafe_code, reason = "the call of a function for certain processors")]
        // SAFETY: as in `classify`.
        unsafe {
            (self.weigh)(features, votes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_has_its_class() {
        for kernel in [FingerprintKernel::fastest(), FingerprintKernel::PORTABLE] {
            for byte in 0..=255u8 {
                let (mut text, mut lower) = ([b' '; BLOCK], [0; BLOCK]);
                text[usize::from(byte) % BLOCK] = byte;
                let classes = kernel.classify(&text, &mut lower);
                let bit = |set: bool| u64::from(set) << (usize::from(byte) % BLOCK);
                assert_eq!(classes.word, bit(byte.is_ascii_alphanumeric()), "{byte}");
                assert_eq!(classes.foreign, bit(!byte.is_ascii()), "{byte}");
                assert_eq!(classes.leads, bit(byte >= 0xc0), "{byte}");
                assert_eq!(lower[usize::from(byte) % BLOCK], byte.to_ascii_lowercase());
            }
        }
    }

    proptest! {
        #[test]
        fn all_kernels_classify_alike(text in prop::collection::vec(any::<u8>(), BLOCK)) {
            let text = text.try_into().unwrap();
            let (mut lower, mut expected) = ([0; BLOCK], [0; BLOCK]);
            let classes = FingerprintKernel::fastest().classify(&text, &mut lower);
            prop_assert_eq!(classes, FingerprintKernel::PORTABLE.classify(&text, &mut expected));
            prop_assert_eq!(lower, expected);
        }

        #[test]
        fn all_kernels_count_and_weigh_like_a_loop(
            features in prop::collection::vec(any::<(u64, u64)>(), 0..COUNTED_MAX + 1),
        ) {
            let hashes: Vec<u64> = features.iter().map(|f| f.0).collect();
            for kernel in [FingerprintKernel::fastest(), FingerprintKernel::PORTABLE] {
                let mut votes = [7; 64];
                kernel.weigh(&features, &mut votes);
                let counts = kernel.count(&hashes);
                for bit in 0..64 {
                    let with_bit = || features.iter().filter(|f| f.0 >> bit & 1 == 1);
                    prop_assert_eq!(usize::from(counts[bit]), with_bit().count());
                    let sum = with_bit().fold(7u64, |sum, f| sum.wrapping_add(f.1));
                    prop_assert_eq!(votes[bit], sum);
                }
            }
        }
    }
}
