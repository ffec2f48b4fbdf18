//! A node of a chain of the index in memory.

use zerocopy::little_endian::U16;

use super::probe::BLOCKS;
use crate::cpu::prefetch_value;

/// The index of no node, and a number that no fingerprint has.
pub(super) const NONE: u32 = u32::MAX;

/// The entries of a node, which fill a cache line together with its other fields.
const NODE_ENTRIES: usize = 9;

/// A part of a bucket: a cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct ChainNode {
    /// The next block of each entry.
    blocks: [U16; NODE_ENTRIES],
    /// The number of the fingerprint of each entry.
    pub(super) ids: [u32; NODE_ENTRIES],
    /// The number of entries.
    pub(super) len: u32,
    /// The index in `overflow` of the node with earlier entries, or `NONE`.
    before: u32,
}

// 9 blocks of 2 bytes, 9 numbers of 4 bytes, two fields of 4 bytes and padding fill one cache
// line. The node is aligned to a line.
const _: () = assert!(size_of::<ChainNode>() == 64);

impl ChainNode {
    pub(super) const EMPTY: Self =
        Self { blocks: [U16::ZERO; NODE_ENTRIES], ids: [NONE; NODE_ENTRIES], len: 0, before: NONE };

    /// Adds an entry; returns `false` if the node is full.
    #[expect(clippy::indexing_slicing, reason = "places below the number of entries of a node")]
    #[inline]
    pub(super) fn push(&mut self, block: u16, id: u32) -> bool {
        let at = self.len as usize;
        if at >= NODE_ENTRIES {
            return false;
        }
        self.blocks[at] = U16::new(block);
        // Blocks and numbers are separate arrays, so that the blocks are one run for the kernel.
        self.ids[at] = id;
        self.len += 1;
        true
    }

    /// Returns the stored blocks of the entries.
    #[expect(clippy::indexing_slicing, reason = "it has no more entries than there is room for")]
    #[inline]
    pub(super) fn blocks(&self) -> &[U16] {
        &self.blocks[..self.len as usize]
    }

    /// Returns the next node of the chain; `None` for the last node.
    #[expect(clippy::indexing_slicing, reason = "it refers to a node that was pushed before")]
    #[inline]
    pub(super) fn behind<'o>(&self, overflow: &'o [ChainNode]) -> Option<&'o ChainNode> {
        (self.before != NONE).then(|| &overflow[self.before as usize])
    }
}

/// Prefetches a node.
#[inline]
pub(super) fn prefetched(node: &ChainNode) -> &ChainNode {
    prefetch_value(node);
    node
}

/// Converts an index of a fingerprint to its number.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 are pushed")]
#[inline]
pub(super) fn number_at(place: usize) -> u32 {
    place as u32
}

/// Creates tables with an empty node for each bucket.
#[inline]
pub(super) fn empty_buckets(bits: u32) -> [Vec<ChainNode>; BLOCKS] {
    std::array::from_fn(|_| vec![ChainNode::EMPTY; 1 << bits])
}

/// Adds an entry to the bucket that begins with `first`.
#[inline]
pub(super) fn add(first: &mut ChainNode, overflow: &mut Vec<ChainNode>, block: u16, id: u32) {
    if !first.push(block, id) {
        // There are fewer overflow nodes than fingerprints, since each node has nine entries, and
        // each fingerprint has four entries. So the number fits and is never `NONE`.
        let before = number_at(overflow.len());
        // The full node moves to `overflow`, and the new entry goes to the first node. So the first
        // node, which every search reads, has the latest entries and free slots.
        overflow.push(std::mem::replace(first, ChainNode { before, ..ChainNode::EMPTY }));
        first.push(block, id);
    }
}
