//! Records that are cut from their source and can be read by any thread.

use super::Item;

/// A chunk is complete when it has this many bytes.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// What a cut takes beside its content, about.
const CUT_BYTES: usize = 512;

/// What was cut from a source and is not read yet.
pub(super) trait Unread: Send {
    /// Bytes of memory that it takes, or will take while it is read.
    fn bytes(&self) -> usize;

    /// Reads it, and passes on what it holds.
    fn read(self: Box<Self>, each: &mut dyn FnMut(Item));
}

/// What was cut from a source.
pub(super) enum Cut {
    /// Something that is still to be read.
    Unread(Box<dyn Unread>),
    /// An item that is already known.
    Clear(Item),
}

impl Cut {
    pub(super) fn unread(of: impl Unread + 'static) -> Cut {
        Cut::Unread(Box::new(of))
    }

    /// Bytes of memory that it takes, or will take while it is read.
    pub(super) fn bytes(&self) -> usize {
        CUT_BYTES + if let Cut::Unread(unread) = self { unread.bytes() } else { 0 }
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
            match cut {
                Cut::Unread(unread) => unread.read(&mut each),
                Cut::Clear(item) => each(item),
            }
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
