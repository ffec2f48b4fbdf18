//! An input as a sequence of numbers. Any bytes are a valid input.

/// Takes numbers from the front. After the end of the input, they are zero.
#[derive(Clone, Debug)]
pub struct FuzzInput<'a>(pub &'a [u8]);

impl<'a> FuzzInput<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes up to `n` bytes.
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn number(&mut self, n: usize) -> u64 {
        self.bytes(n).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub fn u8(&mut self) -> u8 {
        self.number(1) as u8
    }

    pub fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }

    pub fn u32(&mut self) -> u32 {
        self.number(4) as u32
    }

    pub fn u64(&mut self) -> u64 {
        self.number(8)
    }

    /// A number below `n`, from the next byte.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.u8()) % n
    }

    /// A string whose length is in the next byte.
    pub fn string(&mut self) -> &'a [u8] {
        let n = usize::from(self.u8());
        self.bytes(n)
    }
}

/// Overwrites some bytes of a file. Each record of the input is an offset (4 bytes), a length minus
/// one (the low four bits of 1 byte) and the bytes.
pub fn patch(file: &mut [u8], input: &mut FuzzInput<'_>) {
    while !input.is_empty() && !file.is_empty() {
        let at = input.u32() as usize % file.len();
        let n = usize::from(input.u8() & 15) + 1;
        for (place, byte) in file[at..].iter_mut().zip(input.bytes(n)) {
            *place = *byte;
        }
    }
}
