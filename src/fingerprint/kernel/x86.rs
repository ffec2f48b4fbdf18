//! The versions for processors with AVX2.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpeq_epi8,
    _mm256_cmpeq_epi64, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_storeu_si256, _mm256_sub_epi8,
};

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{BLOCK, ByteClasses, Votes, WeightedHash};

#[inline]
#[target_feature(enable = "avx2")]
fn load<T: IntoBytes + Immutable>(bytes: &T) -> __m256i {
    const { assert!(size_of::<T>() == size_of::<__m256i>()) };
    #[expect(unsafe_code, reason = "a load through a pointer")]
    // SAFETY: the reference covers 32 readable bytes; the load needs no alignment.
    unsafe {
        _mm256_loadu_si256(std::ptr::from_ref(bytes).cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<T: FromBytes + IntoBytes>(vector: __m256i, bytes: &mut T) {
    const { assert!(size_of::<T>() == size_of::<__m256i>()) };
    #[expect(unsafe_code, reason = "a store through a pointer")]
    // SAFETY: the reference covers 32 writable bytes, and any bytes are a valid `T`; the store
    // needs no alignment.
    unsafe {
        _mm256_storeu_si256(std::ptr::from_mut(bytes).cast(), vector);
    }
}

/// Returns one bit for each byte with its highest bit set.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(bytes: __m256i) -> u64 {
    u64::from(_mm256_movemask_epi8(bytes).cast_unsigned())
}

/// Selects the bytes from `first` to `last`, both ASCII. Non-ASCII bytes are negative, so they are
/// below `first` and `last`.
#[inline]
#[target_feature(enable = "avx2")]
fn between(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let above = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(first.cast_signed() - 1));
    let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(last.cast_signed() + 1), bytes);
    _mm256_and_si256(above, below)
}

#[target_feature(enable = "avx2")]
pub(super) fn classify(text: &[u8; BLOCK], lower: &mut [u8; BLOCK]) -> ByteClasses {
    let mut classes = ByteClasses { word: 0, foreign: 0, leads: 0 };
    let (halves, _) = text.as_chunks::<32>();
    let (lowered, _) = lower.as_chunks_mut::<32>();
    for (place, (half, lower)) in [0, 32].into_iter().zip(halves.iter().zip(lowered)) {
        let bytes = load(half);
        let capitals = between(bytes, b'A', b'Z');
        let bytes = _mm256_add_epi8(bytes, _mm256_and_si256(capitals, _mm256_set1_epi8(0x20)));
        store(bytes, lower);
        let word = _mm256_or_si256(between(bytes, b'a', b'z'), between(bytes, b'0', b'9'));
        classes.word |= mask(word) << place;
        classes.foreign |= mask(bytes) << place;
        // The two highest bits. No bit of a byte moves into the highest bit of another byte.
        let leads = _mm256_and_si256(bytes, _mm256_slli_epi16::<1>(bytes));
        classes.leads |= mask(leads) << place;
    }
    classes
}

#[target_feature(enable = "avx2")]
pub(super) fn count(hashes: &[u64], counts: &mut [u8; 64]) {
    // Byte i of a vector tests bit i of the hash: bit i % 8 of byte i / 8.
    let low_bytes = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, //
        2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3,
    );
    let high_bytes = _mm256_add_epi8(low_bytes, _mm256_set1_epi8(4));
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201u64.cast_signed());
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for hash in hashes {
        let hash = _mm256_set1_epi64x(hash.cast_signed());
        let of_low = _mm256_and_si256(_mm256_shuffle_epi8(hash, low_bytes), bits);
        let of_high = _mm256_and_si256(_mm256_shuffle_epi8(hash, high_bytes), bits);
        // Equal bytes compare to -1.
        low = _mm256_sub_epi8(low, _mm256_cmpeq_epi8(of_low, bits));
        high = _mm256_sub_epi8(high, _mm256_cmpeq_epi8(of_high, bits));
    }
    if let ([first, second], _) = counts.as_chunks_mut::<32>() {
        store(low, first);
        store(high, second);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn weigh(features: &[WeightedHash], votes: &mut Votes) {
    /// The number of bits whose votes are in registers at a time. The votes occupy half of the
    /// registers.
    const HELD: usize = 32;
    for (part, votes) in votes.as_chunks_mut::<HELD>().0.iter_mut().enumerate() {
        let mut sums = [_mm256_setzero_si256(); HELD / 4];
        let mut bits = [[0u64; 4]; HELD / 4];
        for (at, bit) in bits.as_flattened_mut().iter_mut().enumerate() {
            *bit = 1 << (part * HELD + at);
        }
        let (quads, _) = votes.as_chunks_mut::<4>();
        for (sum, quad) in sums.iter_mut().zip(&*quads) {
            *sum = load(quad);
        }
        for &(hash, weight) in features {
            let hash = _mm256_set1_epi64x(hash.cast_signed());
            let weight = _mm256_set1_epi64x(weight.cast_signed());
            for (sum, bits) in sums.iter_mut().zip(&bits) {
                let bits = load(bits);
                let has = _mm256_cmpeq_epi64(_mm256_and_si256(hash, bits), bits);
                *sum = _mm256_add_epi64(*sum, _mm256_and_si256(has, weight));
            }
        }
        for (sum, quad) in sums.into_iter().zip(quads) {
            store(sum, quad);
        }
    }
}
