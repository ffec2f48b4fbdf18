//! The numbers of the format: packed integers, the positions of a segment's sections, and the
//! ranges of checksums. The functions are pure: they convert between bytes and numbers. Every size
//! is checked before use.

mod block;
mod correct;
mod cursor;
mod delta;
mod head;
mod integers;
mod sizes;
mod tag;
mod trailer;

pub(crate) use block::{BLOCK_BYTES, BlockSums, block_count, block_sum};
pub(crate) use cursor::{Cursor, put_signed, put_varint};
pub(crate) use delta::Delta;
pub(crate) use head::{
    HEAD_BYTES, SegmentFlaw, Stamp, VERSION, correct_head, encode_head, parse_head,
};
pub(crate) use integers::{PutInteger, le_u32, le_u64};
pub(crate) use sizes::{
    FILTER_BLOCK_BYTES, FilterBlock, GROUP_LEN, GROUP_PAGES, PackedRow, ROW_BYTES, bytes_for,
    directory_bits, filter_blocks, to_usize, url_hash_bits,
};
pub(crate) use tag::{AccessPattern, SectionKind, SectionTag};
pub(crate) use trailer::{
    ALIGN, PAGES_MAX, SectionEntry, SectionTable, SegmentSummary, TRAILER_BYTES, Trailer,
    correct_table, correct_trailer, encode_table, parse_table, parse_trailer,
};
