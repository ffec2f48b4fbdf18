//! Reading and writing packed integers.

use byteorder::{ByteOrder, LittleEndian};
/// Appends `value` as LEB128: seven bits a byte, low bits first, the high bit set on all but the
/// last byte.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Appends `value` zigzag-coded, so that small magnitudes of either sign are short.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Reads forward through bytes; returns `None` if the bytes end too soon or are invalid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(head)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*head)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array::<2>().map(|bytes| LittleEndian::read_u16(&bytes))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array::<4>().map(|bytes| LittleEndian::read_u32(&bytes))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array::<8>().map(|bytes| LittleEndian::read_u64(&bytes))
    }

    pub(crate) fn u128(&mut self) -> Option<u128> {
        self.array::<16>().map(|bytes| LittleEndian::read_u128(&bytes))
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let first = self.u8()?;
        if first < 0x80 { Some(first.into()) } else { self.long_varint(first) }
    }

    /// Reads `N` varints, at the cost of one varint if all values are small.
    #[inline]
    pub(crate) fn varints<const N: usize>(&mut self) -> Option<[u64; N]> {
        if let Some((head, rest)) = self.rest.split_first_chunk::<N>()
            && head.iter().all(|byte| *byte < 0x80)
        {
            self.rest = rest;
            return Some(head.map(u64::from));
        }
        self.long_varints()
    }

    #[cold]
    fn long_varints<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut values = [0; N];
        for value in &mut values {
            *value = self.varint()?;
        }
        Some(values)
    }

    #[cold]
    fn long_varint(&mut self, first: u8) -> Option<u64> {
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a varint that counts items, each of which takes at least one of the remaining bytes.
    #[inline]
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.varint()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_round_trip(values in prop::collection::vec((any::<u64>(), any::<i64>(), 0u32..64), 0..50)) {
            let mut bytes = Vec::new();
            for &(u, i, shift) in &values {
                put_varint(&mut bytes, u >> shift);
                put_signed(&mut bytes, i >> shift);
            }
            let mut pairs = Cursor::new(&bytes);
            for &(u, i, shift) in &values {
                let signed = ((i >> shift) << 1) ^ ((i >> shift) >> 63);
                prop_assert_eq!(pairs.varints(), Some([u >> shift, signed.cast_unsigned()]));
            }
            prop_assert!(pairs.is_empty());
            let mut cursor = Cursor::new(&bytes);
            for &(u, i, shift) in &values {
                prop_assert_eq!(cursor.varint(), Some(u >> shift));
                prop_assert_eq!(cursor.signed(), Some(i >> shift));
            }
            prop_assert!(cursor.is_empty());
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut cursor = Cursor::new(&bytes);
            while cursor.varint().is_some() {}
            let mut cursor = Cursor::new(&bytes);
            while cursor.varints::<3>().is_some() {}
        }
    }

    #[test]
    fn overlong_integers_are_refused() {
        assert_eq!(Cursor::new(&[0xff; 11]).varint(), None);
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varint(),
            None
        );
    }
}
