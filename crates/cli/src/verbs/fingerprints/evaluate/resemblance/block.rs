//! A block of documents, indexed by their shingles.

use std::ops::Range;

/// An inverted index from shingles to the documents of a block.
#[derive(Debug)]
pub(super) struct ShingleBlock {
    /// The number of the block's first document.
    first: usize,
    /// The number of distinct shingles of each document.
    sizes: Vec<u32>,
    /// The hashes of all shingles, in ascending order.
    hashes: Vec<u64>,
    /// For each value of the leading bits, the index of the first hash with at least that value.
    directory: Vec<u32>,
    /// The shift that leaves the leading bits of a hash.
    shift: u32,
    /// The start of each shingle's posting list.
    starts: Vec<u32>,
    /// All posting lists: ascending document numbers, relative to the first document.
    postings: Vec<u32>,
}

/// A block under construction.
#[derive(Debug)]
pub(super) struct ShingleBlockBuilder {
    first: usize,
    sizes: Vec<u32>,
    /// A shingle, and a document that has it.
    occurrences: Vec<(u64, u32)>,
}

/// The documents that a document resembles.
#[derive(Debug)]
pub(super) struct SimilarDocuments {
    /// The number of the document.
    pub(super) number: u32,
    /// The documents with smaller numbers that it resembles, and their resemblance.
    pub(super) others: Vec<(u32, f64)>,
    /// The number of steps that the search took.
    pub(super) steps: u64,
}

/// Buffers that are reused by searches.
#[derive(Clone, Debug)]
pub(super) struct BlockScratch {
    /// For each document of the block, the number of shingles in common; all 0 between searches.
    common: Vec<u32>,
    /// The documents whose count is not 0.
    met: Vec<u32>,
    /// The length and the index of each posting list of the document's shingles.
    lists: Vec<(usize, usize)>,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "documents have numbers of 32 bits, and so have the shingles of a block, since a document \
              is shorter than that"
)]
impl ShingleBlockBuilder {
    /// Adds the next document: its distinct shingles.
    pub(super) fn push(&mut self, shingles: &[u64]) {
        let document = self.sizes.len() as u32;
        self.sizes.push(shingles.len() as u32);
        self.occurrences.extend(shingles.iter().map(|hash| (*hash, document)));
    }

    pub(super) fn finish(self) -> ShingleBlock {
        let ShingleBlockBuilder { first, sizes, mut occurrences } = self;
        occurrences.sort_unstable();
        let (mut hashes, mut starts) = (Vec::new(), Vec::new());
        let mut postings = Vec::with_capacity(occurrences.len());
        for (hash, document) in occurrences {
            if hashes.last() != Some(&hash) {
                hashes.push(hash);
                starts.push(postings.len() as u32);
            }
            postings.push(document);
        }
        starts.push(postings.len() as u32);
        // About one slot for each hash. At least two slots, so that there is a leading bit.
        let bits = hashes.len().max(2).ilog2();
        let shift = u64::BITS - bits;
        let mut directory = Vec::with_capacity((1 << bits) + 1);
        for (at, hash) in hashes.iter().enumerate() {
            let leading = (hash >> shift) as usize;
            directory.resize(directory.len().max(leading + 1), at as u32);
        }
        directory.resize((1 << bits) + 1, hashes.len() as u32);
        ShingleBlock { first, sizes, hashes, directory, shift, starts, postings }
    }
}

#[expect(clippy::indexing_slicing, reason = "each index comes from the block itself")]
impl ShingleBlock {
    /// Creates a builder for a block that begins with this document.
    pub(super) fn builder(first: usize) -> ShingleBlockBuilder {
        ShingleBlockBuilder { first, sizes: Vec::new(), occurrences: Vec::new() }
    }

    /// The number of the block's first document.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    pub(super) fn scratch(&self) -> BlockScratch {
        BlockScratch { common: vec![0; self.sizes.len()], met: Vec::new(), lists: Vec::new() }
    }

    /// Finds the documents before this one with a resemblance of at least `at_least`, by its
    /// shingles. `None` if the lookup of its rare shingles alone exceeds `steps_max`.
    pub(super) fn resembling(
        &self,
        number: u32,
        shingles: &[u64],
        at_least: f64,
        scratch: &mut BlockScratch,
        steps_max: u64,
    ) -> Option<SimilarDocuments> {
        let BlockScratch { common, met, lists } = scratch;
        lists.clear();
        let list = |hash: &u64| self.find(*hash).map(|at| (self.list(at).len(), at));
        lists.extend(shingles.iter().filter_map(list));
        let mut found =
            SimilarDocuments { number, others: Vec::new(), steps: shingles.len() as u64 };
        let needed = needed(shingles.len(), at_least);
        let Some(rare) = lists.len().checked_sub(needed - 1).filter(|rare| *rare > 0) else {
            return Some(found);
        };
        lists.sort_unstable();
        let (rare, frequent) = lists.split_at(rare);
        found.steps += rare.iter().map(|(length, _)| *length as u64).sum::<u64>();
        if found.steps > steps_max {
            return None;
        }
        for (_, list) in rare {
            let postings = &self.postings[self.list(*list)];
            for document in postings.iter().take_while(|at| self.number(**at) < number) {
                let common = &mut common[*document as usize];
                if *common == 0 {
                    met.push(*document);
                }
                *common += 1;
            }
        }
        let size = |document: u32| self.sizes[document as usize] as usize;
        // Keeps the documents that could reach the resemblance if they had all frequent shingles,
        // too.
        met.retain(|document| {
            let common = &mut common[*document as usize];
            let most = *common as usize + frequent.len();
            let may = resemblance(most, shingles.len(), size(*document)) >= at_least;
            if !may {
                *common = 0;
            }
            may
        });
        found.steps += self.count(frequent, common, met);
        for document in met.drain(..) {
            let common = std::mem::take(&mut common[document as usize]) as usize;
            let resemblance = resemblance(common, shingles.len(), size(document));
            if resemblance >= at_least {
                found.others.push((self.number(document), resemblance));
            }
        }
        Some(found)
    }

    /// Counts the given shingles in the given documents in the cheaper way: by looking up each
    /// document in each list, or by reading all lists. Returns the number of steps.
    fn count(&self, lists: &[(usize, usize)], common: &mut [u32], documents: &[u32]) -> u64 {
        let over_all: u64 = lists.iter().map(|(length, _)| *length as u64).sum();
        let each: u64 = lists.iter().map(|(length, _)| u64::from(length.ilog2()) + 1).sum();
        let look_up = each * documents.len() as u64;
        for (_, list) in lists {
            let postings = &self.postings[self.list(*list)];
            if look_up < over_all {
                for document in documents {
                    let has = postings.binary_search(document).is_ok();
                    common[*document as usize] += u32::from(has);
                }
            } else {
                for document in postings {
                    let common = &mut common[*document as usize];
                    *common += u32::from(*common > 0);
                }
            }
        }
        look_up.min(over_all)
    }

    /// Converts a document number in the block to the number among all documents.
    #[expect(clippy::cast_possible_truncation, reason = "documents have numbers of 32 bits")]
    fn number(&self, document: u32) -> u32 {
        self.first as u32 + document
    }

    /// The index of a shingle.
    #[expect(clippy::cast_possible_truncation, reason = "the directory is in memory")]
    fn find(&self, hash: u64) -> Option<usize> {
        let leading = (hash >> self.shift) as usize;
        let start = self.directory[leading] as usize;
        let end = self.directory[leading + 1] as usize;
        self.hashes[start..end].binary_search(&hash).ok().map(|at| start + at)
    }

    /// The range of the posting list of the shingle at an index.
    fn list(&self, at: usize) -> Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }
}

/// The minimum number of shingles in common with a document of `shingles` shingles that a
/// resemblance of `at_least` needs. The resemblance is largest if all shingles of the other
/// document are common; then it is their ratio to `shingles`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 1 to theirs"
)]
fn needed(shingles: usize, at_least: f64) -> usize {
    /// Far more than the rounding error of the product. One shingle too few costs only time.
    const TOLERANCE: f64 = 1e-6;
    ((at_least * shingles as f64 - TOLERANCE).ceil() as usize).max(1)
}

/// The Jaccard index of two sets of sizes `one` and `other` with at most `common` common elements.
fn resemblance(common: usize, one: usize, other: usize) -> f64 {
    let common = common.min(one).min(other);
    common as f64 / (one + other - common) as f64
}
