//! Finds all pairs of fingerprints within a distance of each other, exactly, for any distance.
//!
//! Comparing n fingerprints with each other takes n^2 / 2 comparisons. Looking each of them up in
//! an index takes n random reads from memory for each bucket. This join needs neither all
//! comparisons nor an index: it sorts fingerprints by some of their bits, so that fingerprints with
//! equal bits are adjacent, and compares each group while the group is in the cache.
//!
//! # Parts
//!
//! The 64 bits are split into k + 1 parts. Two fingerprints that differ in at most k bits agree in
//! at least one part (the pigeonhole principle). So there is a *pass* for each part: all entries,
//! each a fingerprint and its ordinal, are placed in buckets by the value of the part, and only
//! entries of the same bucket are compared.
//!
//! ```text
//!                part 0   part 1   part 2   part 3
//! fingerprint    [ 16 b ] [ 16 b ] [ 16 b ] [ 16 b ]
//!
//! pass 0         agree    <---- 3 bits at most ---->      cut into 4 parts of 12 bits
//! pass 1         differ   agree    <- 2 at most ->        cut into 3 parts of 11 bits
//! pass 2         differ   differ   agree   <- 1 ->        cut into 2 parts of 8 bits
//! pass 3         differ   differ   differ   agree         part 0, in 1 bit: 2 parts of 8 bits
//! ```
//!
//! A pair that agrees in several parts is found several times, and reported in the first pass that
//! finds it. So a later pass need only find pairs that *differ* in each of the earlier parts, which
//! leaves fewer of the k bits for the other parts.
//!
//! # Parts of parts
//!
//! A bucket with many entries is split recursively by the remaining bits: the remaining bits are
//! split into one part more than the number of bits that may differ in them. Splitting goes on as
//! long as it pays. For k = 3 two levels separate entries by 24 to 28 bits, which leaves almost
//! nothing to compare among 10^8 of them, while each entry moves only within a core's own cache.
//! Only the entry's own bucket is read for any k: wider distances have more parts instead. If parts
//! would be too narrow to separate entries (from k = 16 or so), all pairs are compared.
//!
//! Large buckets of non-uniform fingerprints are also split recursively. If counting shows that a
//! split would not separate the entries, their bits are reordered: each part gets an equal share of
//! the bits that separate the entries. Entries that the reordered bits do not separate are really
//! near each other. If a bucket contains much of a load, all threads share the bucket. Equal
//! fingerprints cannot be split. In a bucket with many equal fingerprints, each distinct
//! fingerprint is compared once, and represents all its copies.
//!
//! # Memory
//!
//! A pass is split into *loads*, ranges of values whose entries fit into memory, and each load
//! reads the whole source, since reading is cheaper than storing sorted copies. A value that is too
//! frequent for a load is joined in pieces, pairwise. Pairs are passed on as they are found.
//!
//! # Sources
//!
//! - G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007:
//!   tables by permuted blocks, and nested tables.
//! - J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018: the general pigeonhole
//!   principle. The join uses the integer reduction of this principle: parts that differ use up
//!   bits.
//! - P. A. Boncz, S. Manegold, M. L. Kersten, "Database architecture optimized for the new
//!   bottleneck: memory access", VLDB 1999: the radix join, in steps whose data fit the caches.

mod arena;
mod bit_permutation;
mod bucket;
mod context;
mod counts;
mod dense_bucket;
mod load;
mod monitor;
mod pair_constraints;
mod passes;
mod run;
mod source;

pub use context::Pair;
pub use monitor::Monitor;
pub use pair_constraints::KeyBits;
pub use run::Join;
pub use source::Source;
