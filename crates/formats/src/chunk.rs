//! Records that are cut from their source and can be read by any thread.

use std::sync::Arc;

use super::Item;
use super::arc::ArcRecord;
use super::foreign::Keys;
use super::lines::Lines;
use super::page::Page;
#[cfg(feature = "parquet")]
use super::parquet::ParquetRow;
use super::warc::WarcRecord;
use super::{jsonl, page};

/// A chunk is complete when it has this many bytes.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// What a cut takes beside its content, about.
const CUT_BYTES: usize = 512;

/// Something cut from a source but not read yet.
pub(super) enum Cut {
    /// A record of a WARC archive.
    Warc(WarcRecord),
    /// A record of an ARC archive.
    Arc(ArcRecord),
    /// JSON lines, perhaps with keys of others.
    Lines(Lines, Option<Arc<Keys>>),
    /// A row of a Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRow>),
    /// A file that is a page by itself.
    Page(Page),
    /// An item that is already known.
    Clear(Item),
}

impl Cut {
    /// Bytes of memory that it takes, or will take while it is read.
    pub(super) fn bytes(&self) -> usize {
        CUT_BYTES
            + match self {
                Cut::Warc(record) => record.bytes(),
                Cut::Arc(record) => record.bytes(),
                Cut::Lines(lines, _) => lines.bytes(),
                #[cfg(feature = "parquet")]
                Cut::Parquet(row) => row.bytes(),
                Cut::Page(page) => page.bytes(),
                Cut::Clear(_) => 0,
            }
    }

    fn read(self, each: &mut impl FnMut(Item)) {
        match self {
            Cut::Warc(record) => each(record.read()),
            Cut::Arc(record) => each(record.read()),
            Cut::Lines(lines, keys) => jsonl::read(&lines, keys.as_deref(), each),
            #[cfg(feature = "parquet")]
            Cut::Parquet(row) => each(row.read()),
            Cut::Page(page) => each(page::read(page)),
            Cut::Clear(item) => each(item),
        }
    }
}

/// Some records in order, cut but not read yet. Cutting costs little more than unpacking; all other
/// work is done by [`items`](Chunk::items), in any thread.
#[derive(Default)]
pub struct Chunk {
    cuts: Vec<Cut>,
    bytes: usize,
}

impl Chunk {
    /// The next chunk of a source, whose next record `next` cuts; `None` at its end.
    ///
    /// With `alone`, a chunk is a single record: for sources that may have to wait for data.
    pub(super) fn gather(alone: bool, mut next: impl FnMut() -> Option<Cut>) -> Option<Chunk> {
        let mut chunk = Chunk::default();
        while let Some(cut) = next() {
            chunk.push(cut);
            if alone || chunk.is_full() {
                break;
            }
        }
        (!chunk.is_empty()).then_some(chunk)
    }

    pub(super) fn push(&mut self, cut: Cut) {
        self.bytes += cut.bytes();
        self.cuts.push(cut);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= CHUNK_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Bytes of memory that it takes, or will take while it is read.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the records one after another: parses headers, decodes contents, reduces them to text,
    /// and makes digests. Linear in the content.
    pub fn items(self, mut each: impl FnMut(Item)) {
        for cut in self.cuts {
            cut.read(&mut each);
        }
    }
}

impl Chunk {
    /// A chunk with one cut.
    pub(super) fn of(cut: Cut) -> Chunk {
        let mut chunk = Chunk::default();
        chunk.push(cut);
        chunk
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// All items of a source.
    pub(in super::super) fn items(chunks: impl Iterator<Item = Chunk>) -> Vec<Item> {
        let mut items = Vec::new();
        chunks.for_each(|chunk| chunk.items(|item| items.push(item)));
        items
    }
}
