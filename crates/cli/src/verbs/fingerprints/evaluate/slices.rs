//! Slices of the documents, the unit of work of a thread.

use std::ops::Range;

use crate::verbs::fingerprints::evaluate::documents::NamedDocument;
use simkeep::fingerprint::Document;

use crate::input::pipeline::{ChunkIter, WorkUnit};

/// The number of documents in a slice.
const DOCUMENTS_AT_A_TIME: usize = 64;

/// A range of document numbers. The documents are in memory already, so a slice takes no more.
pub(super) struct DocumentSlice(pub(super) Range<usize>);

impl WorkUnit for DocumentSlice {
    fn bytes(&self) -> usize {
        0
    }
}

impl DocumentSlice {
    /// All slices of a range of documents.
    pub(super) fn of(numbers: Range<usize>) -> ChunkIter<DocumentSlice> {
        let end = numbers.end;
        let starts = numbers.step_by(DOCUMENTS_AT_A_TIME);
        Box::new(
            starts.map(move |start| DocumentSlice(start..end.min(start + DOCUMENTS_AT_A_TIME))),
        )
    }

    /// The documents of this slice.
    pub(super) fn documents(self, all: &[NamedDocument]) -> impl Iterator<Item = &Document> {
        self.numbered(all).map(|(_, document)| document)
    }

    /// The documents of this slice, with their numbers. There are fewer than 2^32.
    pub(super) fn numbered(self, all: &[NamedDocument]) -> impl Iterator<Item = (u32, &Document)> {
        let first = u32::try_from(self.0.start).unwrap_or(u32::MAX);
        let documents = all.get(self.0).unwrap_or_default().iter();
        (first..).zip(documents.map(|named| &named.document))
    }
}
