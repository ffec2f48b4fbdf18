//! The signatures that producers make.

use std::mem::size_of_val;

/// A signature of a text.
pub(crate) enum Signature {
    /// 64 bits.
    Bits(u64),
    /// A MinHash of 32 bits in each order.
    Least32(Vec<u32>),
    /// A MinHash of 64 bits in each order.
    Least64(Vec<u64>),
}

impl Signature {
    /// The number of bytes to store.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Signature::Bits(bits) => size_of_val(bits),
            Signature::Least32(least) => size_of_val(&**least),
            Signature::Least64(least) => size_of_val(&**least),
        }
    }

    /// The number of bits, or of least hashes, that differ from another signature of the same
    /// producer.
    pub(crate) fn distance(&self, other: &Signature) -> usize {
        match (self, other) {
            (Signature::Bits(a), Signature::Bits(b)) => (a ^ b).count_ones() as usize,
            (Signature::Least32(a), Signature::Least32(b)) => differing(a, b),
            (Signature::Least64(a), Signature::Least64(b)) => differing(a, b),
            _ => unreachable!("a producer makes one kind of signatures"),
        }
    }
}

fn differing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}
