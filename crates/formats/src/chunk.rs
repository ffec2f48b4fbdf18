//! Records that were cut from their source and can be read by any thread.

use super::SourceItem;

/// The size in bytes at which a chunk is complete.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// The approximate memory of a cut in addition to its content, in bytes.
const CUT_BYTES: usize = 512;

/// A part of a source that was cut and is not read yet.
pub(super) trait LazyRecord: Send {
    /// Returns the bytes of memory that the part takes now or while it is read.
    fn bytes(&self) -> usize;

    /// Reads the part, and passes its items to `each`.
    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem));
}

/// A part of a source.
pub(super) enum RecordCut {
    /// A part that is still to be read.
    Unread(Box<dyn LazyRecord>),
    /// An item that is already known.
    Clear(SourceItem),
}

impl RecordCut {
    pub(super) fn unread(of: impl LazyRecord + 'static) -> RecordCut {
        RecordCut::Unread(Box::new(of))
    }

    /// Returns the bytes of memory that the cut takes now or while it is read.
    pub(super) fn bytes(&self) -> usize {
        CUT_BYTES + if let RecordCut::Unread(unread) = self { unread.bytes() } else { 0 }
    }
}

/// Some records in order, cut but not read yet. Cutting costs little more than decompression; all
/// other work is done by [`items`](SourceChunk::items), in any thread.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let lines = [
///     r#"{"url":"https://example.com/","t":"2024-05-01","text":"Fresh fish and chips daily."}"#,
///     r#"{"url":"https://example.com/old","t":"2024-05-01","seen":"gone"}"#,
/// ];
/// # std::fs::write(&path, lines.join("\n"))?;
/// let chunks: Vec<_> = InputParts::new([InputSource::Path(path)]).flatten().collect();
/// assert_eq!(chunks.len(), 1); // a chunk has some records
/// let mut count = 0;
/// for chunk in chunks {
///     // In any thread.
///     chunk.items(|item| count += usize::from(matches!(item, SourceItem::Record(_))));
/// }
/// assert_eq!(count, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct SourceChunk {
    cuts: Vec<RecordCut>,
    bytes: usize,
}

impl SourceChunk {
    /// Collects the next chunk of a source from the cuts that `next` returns; `None` at the end of
    /// the source.
    ///
    /// With `alone`, a chunk is a single record. Use `alone` for sources that may have to wait for
    /// data.
    pub(super) fn gather(
        alone: bool,
        mut next: impl FnMut() -> Option<RecordCut>,
    ) -> Option<SourceChunk> {
        let mut chunk = SourceChunk::default();
        while let Some(cut) = next() {
            chunk.push(cut);
            if alone || chunk.is_full() {
                break;
            }
        }
        (!chunk.is_empty()).then_some(chunk)
    }

    pub(super) fn push(&mut self, cut: RecordCut) {
        self.bytes += cut.bytes();
        self.cuts.push(cut);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= CHUNK_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Returns the bytes of memory that the chunk takes now or while it is read.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the records one after another: parses headers, decodes contents, reduces them to text,
    /// and computes digests. Linear in the content.
    pub fn items(self, mut each: impl FnMut(SourceItem)) {
        for cut in self.cuts {
            match cut {
                RecordCut::Unread(unread) => unread.read(&mut each),
                RecordCut::Clear(item) => each(item),
            }
        }
    }
}

impl SourceChunk {
    /// Creates a chunk with one cut.
    pub(super) fn of(cut: RecordCut) -> SourceChunk {
        let mut chunk = SourceChunk::default();
        chunk.push(cut);
        chunk
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns all items of a source.
    pub(in super::super) fn items(chunks: impl Iterator<Item = SourceChunk>) -> Vec<SourceItem> {
        let mut items = Vec::new();
        chunks.for_each(|chunk| chunk.items(|item| items.push(item)));
        items
    }
}
