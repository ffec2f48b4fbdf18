//! Records as they are cut from their sources: to be read by whoever has the time.

use super::Item;
use super::arc::ArcRecord;
use super::lines::Lines;
use super::page::Page;
use super::warc::WarcRecord;
use super::{jsonl, page};

/// From so many bytes on a chunk is worth to be handed over.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// What a cut takes beside its content, about.
const CUT_BYTES: usize = 512;

/// What was cut from a source and is not read yet.
pub(super) enum Cut {
    /// A record of a WARC archive.
    Warc(WarcRecord),
    /// A record of an ARC archive.
    Arc(ArcRecord),
    /// JSON lines.
    Lines(Lines),
    /// A file that is a page by itself.
    Page(Page),
    /// What was clear when it was cut.
    Clear(Item),
}

impl Cut {
    /// The bytes that it holds, or will hold while it is read.
    fn bytes(&self) -> usize {
        CUT_BYTES
            + match self {
                Cut::Warc(record) => record.bytes(),
                Cut::Arc(record) => record.bytes(),
                Cut::Lines(lines) => lines.bytes(),
                Cut::Page(page) => page.bytes(),
                Cut::Clear(_) => 0,
            }
    }

    fn read(self, each: &mut impl FnMut(Item)) {
        match self {
            Cut::Warc(record) => each(record.read()),
            Cut::Arc(record) => each(record.read()),
            Cut::Lines(lines) => jsonl::read(&lines, each),
            Cut::Page(page) => each(page::read(page)),
            Cut::Clear(item) => each(item),
        }
    }
}

/// Some records in order, cut and not read yet. To cut them costs what unpacking them costs; whatever
/// else is done with them is done by [`items`](Chunk::items), in any thread.
#[derive(Default)]
pub struct Chunk {
    cuts: Vec<Cut>,
    bytes: usize,
}

impl Chunk {
    /// The next chunk of a source whose next record is cut by `next`; `None` at its end.
    ///
    /// What comes from where one may wait comes `alone`, record by record.
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

    /// The bytes that it holds, or will hold while it is read.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the records, one after another: headers are understood, contents decoded and reduced to
    /// their texts, digests made.
    pub fn items(self, mut each: impl FnMut(Item)) {
        for cut in self.cuts {
            cut.read(&mut each);
        }
    }
}

impl Chunk {
    /// This alone.
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
