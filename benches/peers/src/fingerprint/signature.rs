//! The signatures that producers make.

use std::mem::size_of_val;

/// A signature of a text.
pub(crate) enum TextSignature {
    /// 64 bits.
    Bits(u64),
    /// A MinHash of 32 bits in each order.
    Least32(Vec<u32>),
    /// A MinHash of 64 bits in each order.
    Least64(Vec<u64>),
}

impl TextSignature {
    /// The number of bytes to store.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            TextSignature::Bits(bits) => size_of_val(bits),
            TextSignature::Least32(least) => size_of_val(&**least),
            TextSignature::Least64(least) => size_of_val(&**least),
        }
    }

    /// The number of bits, or of least hashes, that differ from another signature of the same
    /// producer.
    pub(crate) fn distance(&self, other: &TextSignature) -> usize {
        match (self, other) {
            (TextSignature::Bits(a), TextSignature::Bits(b)) => (a ^ b).count_ones() as usize,
            (TextSignature::Least32(a), TextSignature::Least32(b)) => differing(a, b),
            (TextSignature::Least64(a), TextSignature::Least64(b)) => differing(a, b),
            _ => unreachable!("a producer makes one kind of signatures"),
        }
    }
}

fn differing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}
