//! Finds the pairs of documents that resemble each other, by comparing all with all.
//!
//! The resemblance of two documents is the Jaccard index of their sets of shingles. To find all
//! pairs with a resemblance of at least t, the shingles of some documents, a *block*, are indexed,
//! and every document looks up its shingles there. A document y shares at least t |y| shingles with
//! any document that resembles it. So it need not look up its t |y| - 1 most frequent shingles: a
//! document with none of the other shingles cannot reach t. The frequent shingles are those that a
//! template shares with thousands of pages. Skipping them saves time and loses no pair: for a
//! document with any of the other shingles, all common shingles are counted (R. J. Bayardo, Y. Ma,
//! R. Srikant, *Scaling up all pairs similarity search*, WWW 2007; C. Xiao et al., *Efficient
//! similarity joins for near duplicate detection*, WWW 2008).
//!
//! Nothing is estimated. Shingles are compared by their 64-bit hashes, so a pair is wrong or
//! missing only if two different shingles have equal hashes.
//!
//! In addition to the texts, this takes the memory of one block and of the pairs.

mod block;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::verbs::fingerprints::evaluate::documents::NamedDocument;
use simkeep::fingerprint::{FeatureSet, Recipe};

use super::ground_truth::{GroundTruth, NearnessLimits, TruthPairs};
use super::slices::DocumentSlice;
use crate::exit::VerbError;
use crate::input::pipeline::{self, ChunkResults};
use crate::output::progress::counted;
use block::{ShingleBlock, SimilarDocuments};

/// The minimum number of text bytes in a block. A block also has at least a sixteenth of all bytes,
/// so no text is split into shingles more than 17 times. A block takes 36 bytes for each shingle
/// while it is built: about 200 MiB with words of five letters and a space, and 576 MiB with words
/// of one letter.
const BLOCK_BYTES: usize = 32 << 20;
const BLOCKS: usize = 16;
/// The maximum number of text bytes in a block, so that it has fewer than 2^32 shingles.
const BLOCK_BYTES_MAX: usize = u32::MAX as usize;

/// The maximum number of steps for counting common shingles, about an hour on one core. Documents
/// that need more are refused.
const STEPS_MAX: u64 = 1 << 40;

/// A search for pairs with a resemblance of at least `at_least`, by runs of `words` words.
#[derive(Clone, Copy, Debug)]
struct ResemblanceSearch {
    words: u32,
    at_least: f64,
    block_bytes: usize,
    threads: usize,
}

/// Measures how near documents are by their runs of `words` words, 1 to 8.
pub(super) fn truth(
    words: u32,
    documents: &Arc<Vec<NamedDocument>>,
    limits: NearnessLimits,
    threads: usize,
) -> Result<GroundTruth, VerbError> {
    let bytes: usize = documents.iter().map(|named| named.document.text().len()).sum();
    let block_bytes = (bytes / BLOCKS).clamp(BLOCK_BYTES, BLOCK_BYTES_MAX);
    let search = ResemblanceSearch { words, at_least: limits.lenient, block_bytes, threads };
    let mut pairs = TruthPairs::new(limits);
    search.run(documents, |one, other, resemblance| pairs.add(one, other, resemblance))?;
    let twice = |_| VerbError::Other("a pair was compared twice, with two results".into());
    pairs.finish(documents.len()).map_err(twice)
}

impl ResemblanceSearch {
    /// Finds all pairs, each once.
    fn run(
        self,
        documents: &Arc<Vec<NamedDocument>>,
        mut each: impl FnMut(u32, u32, f64) -> Result<(), String>,
    ) -> Result<(), VerbError> {
        let blocks = self.blocks(documents);
        let looked_up = |block: &Range<usize>| (documents.len() - block.start) as u64;
        let all = blocks.iter().map(looked_up).sum();
        let steps = Arc::new(AtomicU64::new(0));
        counted("documents looked up", all, |done| {
            for numbers in blocks {
                let block = Arc::new(self.index(documents, numbers)?);
                self.look_up(&block, documents, &steps, |found| {
                    done.fetch_add(1, Ordering::Relaxed);
                    for (other, resemblance) in found.others {
                        each(found.number, other, resemblance).map_err(VerbError::Other)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// The ranges of documents that are indexed at a time.
    fn blocks(self, documents: &[NamedDocument]) -> Vec<Range<usize>> {
        let (mut blocks, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (number, named) in documents.iter().enumerate() {
            let more = named.document.text().len();
            if number > start && bytes + more > self.block_bytes {
                blocks.push(start..number);
                (start, bytes) = (number, 0);
            }
            bytes += more;
        }
        blocks.push(start..documents.len());
        blocks
    }

    fn shingles(self) -> FeatureSet {
        FeatureSet::new(&Recipe::words(self.words))
    }

    fn index(
        self,
        documents: &Arc<Vec<NamedDocument>>,
        numbers: Range<usize>,
    ) -> Result<ShingleBlock, VerbError> {
        let shared = Arc::clone(documents);
        let work = move || {
            let (documents, mut shingles) = (Arc::clone(&shared), self.shingles());
            move |slice: DocumentSlice, into: &mut ChunkResults<Vec<u64>>| {
                for document in slice.documents(&documents) {
                    let hashes = shingles.of_text(document.text()).to_vec();
                    let bytes = size_of_val(&*hashes);
                    into.push(hashes, bytes);
                }
            }
        };
        let mut block = ShingleBlock::builder(numbers.start);
        pipeline::run(DocumentSlice::of(numbers), self.threads, work, |hashes: Vec<u64>| {
            block.push(&hashes);
            Ok(())
        })?;
        Ok(block.finish())
    }

    /// Looks up each document of a block, and each document after it, in the block.
    fn look_up(
        self,
        block: &Arc<ShingleBlock>,
        documents: &Arc<Vec<NamedDocument>>,
        steps: &Arc<AtomicU64>,
        mut each: impl FnMut(SimilarDocuments) -> Result<(), VerbError>,
    ) -> Result<(), VerbError> {
        let numbers = block.first()..documents.len();
        let shared = (Arc::clone(block), Arc::clone(documents), Arc::clone(steps));
        let work = move || {
            let (block, documents, steps) = shared.clone();
            let (mut shingles, mut scratch) = (self.shingles(), block.scratch());
            move |slice: DocumentSlice, into: &mut ChunkResults<Option<SimilarDocuments>>| {
                for (number, document) in slice.numbered(&documents) {
                    let left = STEPS_MAX.saturating_sub(steps.load(Ordering::Relaxed));
                    let hashes = shingles.of_text(document.text());
                    let found = block.resembling(number, hashes, self.at_least, &mut scratch, left);
                    let taken = found.as_ref().map_or(left, |found| found.steps);
                    steps.fetch_add(taken, Ordering::Relaxed);
                    let bytes = found.as_ref().map_or(0, |found| size_of_val(&*found.others));
                    into.push(found, bytes);
                }
            }
        };
        pipeline::run(
            DocumentSlice::of(numbers),
            self.threads,
            work,
            |found: Option<SimilarDocuments>| {
                let too_many = "the documents have too much text in common to compare all pairs; use fewer \
                     documents";
                each(found.ok_or_else(|| VerbError::Other(too_many.to_owned()))?)
            },
        )
    }
}

#[cfg(test)]
mod tests;
