//! The integers of the format: little-endian.

use byteorder::{ByteOrder, LittleEndian};

#[inline]
pub(crate) fn le_u16(n: u16) -> [u8; 2] {
    let mut bytes = [0; 2];
    LittleEndian::write_u16(&mut bytes, n);
    bytes
}

#[inline]
pub(crate) fn le_u32(n: u32) -> [u8; 4] {
    let mut bytes = [0; 4];
    LittleEndian::write_u32(&mut bytes, n);
    bytes
}

#[inline]
pub(crate) fn le_u64(n: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    LittleEndian::write_u64(&mut bytes, n);
    bytes
}

/// Appends integers to bytes.
pub(crate) trait PutInteger {
    fn put_u32(&mut self, n: u32);
    fn put_u64(&mut self, n: u64);
}

impl PutInteger for Vec<u8> {
    #[inline]
    fn put_u32(&mut self, n: u32) {
        self.extend_from_slice(&le_u32(n));
    }

    #[inline]
    fn put_u64(&mut self, n: u64) {
        self.extend_from_slice(&le_u64(n));
    }
}
