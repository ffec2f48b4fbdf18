//! Some documents at a time, for all threads.

use std::ops::Range;

use crate::verbs::fingerprints::evaluate::documents::Named;
use simkeep::fingerprint::Document;

use crate::input::pipeline::{Chunk, Part};

/// Documents that are worked on at a time.
const DOCUMENTS_AT_A_TIME: usize = 64;

/// Some of the documents, by their numbers. They are there already, so they take no more memory.
pub(super) struct Slice(pub(super) Range<usize>);

impl Chunk for Slice {
    fn bytes(&self) -> usize {
        0
    }
}

impl Slice {
    /// All documents with these numbers.
    pub(super) fn of(numbers: Range<usize>) -> Part<Slice> {
        let end = numbers.end;
        let starts = numbers.step_by(DOCUMENTS_AT_A_TIME);
        Box::new(starts.map(move |start| Slice(start..end.min(start + DOCUMENTS_AT_A_TIME))))
    }

    /// Those of these documents.
    pub(super) fn documents(self, all: &[Named]) -> impl Iterator<Item = &Document> {
        self.numbered(all).map(|(_, document)| document)
    }

    /// Those of these documents, with their numbers. There are fewer than 2^32.
    pub(super) fn numbered(self, all: &[Named]) -> impl Iterator<Item = (u32, &Document)> {
        let first = u32::try_from(self.0.start).unwrap_or(u32::MAX);
        let documents = all.get(self.0).unwrap_or_default().iter();
        (first..).zip(documents.map(|named| &named.document))
    }
}
