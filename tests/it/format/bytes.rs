//! Numbers as `format/README.md` defines them.

/// Bytes that are read from the beginning.
pub(crate) struct ByteCursor<'a>(pub(crate) &'a [u8]);

impl<'a> ByteCursor<'a> {
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        assert!(len <= self.0.len(), "{len} bytes wanted, {} left", self.0.len());
        let (head, rest) = self.0.split_at(len);
        self.0 = rest;
        head
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    pub(crate) fn varint(&mut self) -> u64 {
        let mut value = 0u128;
        for place in 0..10 {
            let byte = self.u8();
            value |= u128::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                assert!(place == 0 || byte != 0, "a varint that could be shorter");
                return u64::try_from(value).expect("a varint of more than 64 bits");
            }
        }
        panic!("a varint of more than ten bytes");
    }

    pub(crate) fn signed(&mut self) -> i64 {
        let value = self.varint();
        let half = i64::try_from(value / 2).unwrap();
        if value & 1 == 0 { half } else { -half - 1 }
    }

    pub(crate) fn len(&mut self) -> usize {
        usize::try_from(self.varint()).unwrap()
    }

    pub(crate) fn end(&self) {
        assert!(self.0.is_empty(), "{} bytes left over", self.0.len());
    }
}
