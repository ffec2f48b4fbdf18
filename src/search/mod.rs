//! Finds all fingerprints within a Hamming distance, exactly, for any distance.
//!
//! This module is pure: the input is columns of numbers, and the output is ordinals. The module has
//! no file access, and the owner of the columns defines the error type ([`Column`]).
//!
//! # The structure
//!
//! A set of distinct fingerprints is stored as one column of `u64`, ordered by popcount and then by
//! value: the *canonical order*. The index of a fingerprint in this order is its *ordinal*.
//! [`Shards`] store the start of each popcount. Each differing bit changes the popcount by one, so
//! all fingerprints within k of a fingerprint with popcount p lie in the contiguous shards p - k to
//! p + k. A scan of these shards answers a query, and is the fastest way for wide distances and
//! small sets.
//!
//! For other queries there are tables in addition to the column, in one of two shapes ([`Shape`]).
//! Both shapes use the pigeonhole principle: if two fingerprints differ in few bits, some part of
//! them is equal or nearly equal. A lookup of this part finds them.
//!
//! ## Rotations
//!
//! The fingerprint is split into four blocks of 16 bits. Rotation j sorts all fingerprints by block
//! j, and a query looks up its own block j there: two fingerprints that differ in at most 3 bits
//! agree in at least one block. Wider distances look up near blocks as well: if k is 4, then some
//! block agrees or the first block differs in at most one bit, which makes 1 + 16 + 3 buckets.
//!
//! ```text
//!               block 0  block 1  block 2  block 3
//! fingerprint   [ 16 b ] [ 16 b ] [ 16 b ] [ 16 b ]
//!
//! rotation 0    bucket   entry                          buckets:   lines of u16, one per entry
//! rotation 1             bucket   entry                 ordinals:  u32 per entry
//! rotation 2                      bucket   entry
//! rotation 3    entry                      bucket
//! ```
//!
//! All buckets have the same number of cache lines, usually one, so a bucket is found without a
//! directory and a search waits for memory only once. A bucket stores the next block of each
//! fingerprint; 16 or 32 of these blocks are compared at a time if the processor can. This
//! comparison is selective enough, because on a ring of blocks the principle is stronger: some
//! block agrees *and* the next block differs in at most one bit (for k = 3). The few entries that
//! pass are looked up in the canonical column. An entry is reported if the whole fingerprint is
//! near and no later rotation finds it, so each fingerprint is reported once.
//!
//! ## Cells
//!
//! In large sets the bucket of a block has hundreds of cache lines. Two tables by halves of 32
//! bits, each searched within distance 1, have buckets thousands of times smaller, but need 33
//! lookups per half. If fingerprints are filed under the nearest word of a Hamming code instead, 16
//! lookups suffice. With one cache line for each, k = 3 costs 31 lines that are fetched
//! concurrently, regardless of the size of the set.
//!
//! # Choosing
//!
//! A cost model ([`Cost`]) predicts the cost of each shape for each distance, in probes,
//! candidates, cache lines and nanoseconds. [`Shape::choose`] uses it when tables are written,
//! within a budget of bytes for each fingerprint, and [`Tables::plan`] uses it for every query.
//!
//! [`build_index`] writes the tables of a canonical column in bounded memory. [`Chains`] are
//! incremental rotations for fingerprints that are still arriving: each bucket is a chain in
//! memory. [`Tables::find_each`] answers many queries at once.
//!
//! [`Join`] finds all near pairs in any [`Source`], without an index. [`JoinPlan`] distributes a
//! join among several machines.
//!
//! # Sources
//!
//! - G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007:
//!   tables by permuted blocks.
//! - M. Norouzi, A. Punjani, D. J. Fleet, "Fast exact search in Hamming space with multi-index
//!   hashing", 2014: looking up near blocks.
//! - J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018: the general pigeonhole
//!   principle, with a radius for each block.
//! - J. Qin, C. Xiao, "Pigeonring: a principle for faster thresholded similarity search", VLDB
//!   2018: the gain of a ring of blocks.
//! - R. W. Hamming, "Error detecting and error correcting codes", 1950: the code of the cells. The
//!   idea of covering codes is to save lookups by looking up codewords, as in R. Pagh,
//!   "CoveringLSH", 2016.

mod binomial;
mod candidate;
mod cells;
mod column;
mod cost;
mod exact;
mod guess_offsets;
mod hamming;
mod index;
mod join;
mod kernel;
mod line;
mod lookup;
mod memory;
mod nearest;
mod node;
mod outward;
mod partition;
mod plan;
mod probe;
mod rotation;
mod scratch;
mod shape;
mod shards;
mod tables;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, HitSink};
#[cfg(feature = "internals")]
pub use cells::cell_count;
pub(crate) use cells::further_max;
pub use cells::{CellTable, Cells, HALVES};
pub use column::Column;
pub use cost::Cost;
pub(crate) use guess_offsets::GuessOffsets;
pub use index::{Resources, TableColumn, TableSink, build_index};
pub use join::{Join, KeyBits, Monitor, Pair, Source};
pub(crate) use line::GOES_ON;
pub use line::{CacheLine, LINE_BYTES};
pub use memory::Chains;
pub use nearest::{Bounds, Completeness};
pub use partition::{Chunk, Histogram, JoinPlan, JoinTask, Partitioner};
pub use plan::{AccessPath, SearchPlan};
#[cfg(feature = "internals")]
pub use probe::BLOCKS;
pub use rotation::{BucketLayout, Rotation, Rotations};
pub use shape::Shape;
pub use shards::{DISTANCE_MAX, PopcountHistogram, Shards, canonical_key};
pub(crate) use tables::SearchSteps;
pub use tables::{Index, Tables};

/// Returns the instruction set that comparisons use on this processor: `avx512`, `avx2`, `popcnt`
/// or `portable`. All instruction sets give the same results.
#[must_use]
pub fn instruction_set() -> &'static str {
    kernel::SearchKernel::fastest().name()
}
