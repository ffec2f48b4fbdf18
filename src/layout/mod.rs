//! The numbers of `format/`: how integers are packed, where a segment keeps its sections, and what
//! a checksum covers. Pure: bytes in, numbers out, and no size is believed before it is checked.

mod block;
mod cursor;
mod trailer;

pub(crate) use block::{BLOCK_BYTES, BlockSums, block_count, block_sum};
pub(crate) use cursor::{Cursor, put_signed, put_varint};
pub(crate) use trailer::{
    ALIGN, Flaw, HEAD_BYTES, Kind, Numbers, PAGES_MAX, SectionEntry, TRAILER_BYTES, Table, Tag,
    VERSION, encode_head, encode_table, parse_head, parse_table, parse_trailer,
};
