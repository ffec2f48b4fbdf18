//! Finding every fingerprint within a distance of one, exactly, for any distance.
//!
//! This module is pure: columns of numbers go in, ordinals come out. It knows of no files, and
//! whoever keeps the columns says what an error is ([`Column`]).
//!
//! # The structure
//!
//! A set of distinct fingerprints is stored as one column of `u64`, ordered by popcount and then by
//! value: the *canonical order*. The place of a fingerprint in it is its *ordinal*. [`Shards`] say
//! where each popcount starts. Each bit in which two fingerprints differ moves the popcount by one,
//! so everything within k of a fingerprint with popcount p lies in the shards p - k to p + k, which
//! are contiguous. Scanning them is one way to answer a query, and the best one for wide distances
//! and small sets.
//!
//! For narrow distances there are four *rotations*. The fingerprint is cut into four blocks of 16
//! bits. Two fingerprints that differ in at most 3 bits agree in at least one block, for 3 bits
//! cannot touch 4 blocks (the pigeonhole principle). So rotation j sorts all fingerprints by block
//! j, and a query looks up its own block j in it. Wider distances look up near blocks as well: if
//! k is 4, then some block agrees or the first one differs in one bit at most, which makes 1 + 16 +
//! 3 buckets.
//!
//! ```text
//!               block 0  block 1  block 2  block 3
//! fingerprint   [ 16 b ] [ 16 b ] [ 16 b ] [ 16 b ]
//!
//! rotation 0    bucket   [---- plane ----]              directory: where a bucket starts
//! rotation 1             bucket   [---- plane ----]     planes:    u32 per entry
//! rotation 2    ---- ]            bucket   [-- plane    ordinals:  u32 per entry
//! rotation 3    [---- plane ----]          bucket
//! ```
//!
//! A bucket is a run of *planes*, the 32 bits that follow the block, which are compared 16 at a
//! time where the processor can. The few entries whose plane is near are looked up in the canonical
//! column, and reported if they are near as a whole and no earlier rotation finds them: so each is
//! reported once. Rotations take 32 bytes for each fingerprint, the canonical column 8.
//!
//! [`plan`] chooses between the two ways for every query, from the number of memory lines each is
//! expected to touch.
//!
//! [`build_rotations`] writes the rotations of a canonical column in bounded memory. [`Chains`] is
//! the same structure for fingerprints that are still arriving: each bucket is a chain in memory.
//!
//! [`Join`] finds all pairs that are near each other in any [`Source`], without an index.
//!
//! # Sources
//!
//! - G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007:
//!   tables by permuted blocks.
//! - M. Norouzi, A. Punjani, D. J. Fleet, "Fast exact search in Hamming space with multi-index
//!   hashing", 2014: looking up near blocks.
//! - J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018: the general pigeonhole
//!   principle, with a radius for each block.

mod batch;
mod build;
mod column;
mod join;
mod kernel;
mod memory;
mod plan;
mod probe;
mod rotation;
mod shards;
mod tables;
#[cfg(test)]
mod tests;

pub use batch::Batch;
pub use build::{Sink, build_rotations};
pub use column::Column;
pub use join::{Join, Pair, Progress, Source};
pub(crate) use kernel::{prefetch, prefetch_value};
pub use memory::Chains;
pub use plan::{Plan, Way, plan};
pub use probe::BLOCKS;
pub use rotation::{Rotation, Rotations, has_rotations, rotation_bits};
pub use shards::{Census, DISTANCE_MAX, Shards, canonical_key, canonical_order};
pub use tables::{Candidate, Tables};

/// The instruction set that comparisons use on this processor: `avx512`, `avx2`, `popcnt` or
/// `portable`. All give the same answers.
#[must_use]
pub fn instruction_set() -> &'static str {
    kernel::Kernel::fastest().name()
}
