//! Block checksums: every section is divided into blocks. The checksum of a block covers the
//! block's content and position.

use super::integers::le_u64;
use crc32fast::Hasher;

use super::SectionTag;

/// Bytes of a block; the last block of a section may be shorter. A block is one page of memory, so
/// the first access to a block costs one page fault and one short checksum.
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// The number of blocks in a section of `len` bytes.
pub(crate) const fn block_count(len: u64) -> u64 {
    len.div_ceil(BLOCK_BYTES)
}

fn hasher(nonce: u64, tag: SectionTag, block: u64) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(&le_u64(nonce));
    hasher.update(&tag.to_bytes());
    hasher.update(&le_u64(block));
    hasher
}

/// The checksum of one block: CRC-32 over the segment's nonce, section, block number and content.
/// So the checksum detects misplaced blocks as well as damaged blocks.
pub(crate) fn block_sum(nonce: u64, tag: SectionTag, block: u64, content: &[u8]) -> u32 {
    let mut hasher = hasher(nonce, tag, block);
    hasher.update(content);
    hasher.finalize()
}

/// Computes the checksums of a section that is written in pieces.
pub(crate) struct BlockSums {
    nonce: u64,
    tag: SectionTag,
    open: Hasher,
    filled: u64,
    sums: Vec<u32>,
}

impl BlockSums {
    pub(crate) fn new(nonce: u64, tag: SectionTag) -> Self {
        BlockSums { nonce, tag, open: hasher(nonce, tag, 0), filled: 0, sums: Vec::new() }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            #[expect(clippy::cast_possible_truncation, reason = "a block is a few KiB")]
            let room = (BLOCK_BYTES - self.filled) as usize;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.open.update(now);
            self.filled += now.len() as u64;
            bytes = later;
            if self.filled == BLOCK_BYTES {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        let next = hasher(self.nonce, self.tag, self.sums.len() as u64 + 1);
        self.sums.push(std::mem::replace(&mut self.open, next).finalize());
        self.filled = 0;
    }

    /// Returns the checksums, one for each block.
    pub(crate) fn finish(mut self) -> Vec<u32> {
        if self.filled > 0 {
            self.close();
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::SectionKind;
    use super::*;

    #[test]
    fn pieces_have_the_checksum_of_whole_blocks() {
        let tag = SectionTag::of(SectionKind::Pages);
        let data: Vec<u8> = (0..10_000u32).map(|i| (i * 7).to_le_bytes()[0]).collect();
        for piece in [1, 7, 4095, 4096, 4097, 10_000] {
            let mut sums = BlockSums::new(9, tag);
            data.chunks(piece).for_each(|p| sums.update(p));
            let whole: Vec<u32> = data
                .chunks(usize::try_from(BLOCK_BYTES).unwrap())
                .enumerate()
                .map(|(i, b)| block_sum(9, tag, i as u64, b))
                .collect();
            assert_eq!(sums.finish(), whole);
        }
    }

    #[test]
    fn block_from_elsewhere_has_another_checksum() {
        let sum = block_sum(1, SectionTag::of(SectionKind::Pages), 0, b"same");
        assert_ne!(sum, block_sum(2, SectionTag::of(SectionKind::Pages), 0, b"same"));
        assert_ne!(sum, block_sum(1, SectionTag::of(SectionKind::Hashes), 0, b"same"));
        assert_ne!(sum, block_sum(1, SectionTag::of(SectionKind::Pages), 1, b"same"));
    }
}
