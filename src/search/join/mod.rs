//! All pairs of fingerprints within a distance of each other, exactly, for any distance.
//!
//! Comparing n fingerprints with each other takes n^2 / 2 comparisons. Looking each of them up in
//! an index takes n random reads from memory for each bucket that is looked into. This join does
//! neither: it sorts by some bits, so that whatever agrees in them lies side by side, and compares
//! what lies together while it is in the cache.
//!
//! # Parts
//!
//! The 64 bits are cut into k + 1 parts. Two fingerprints that differ in at most k bits agree in at
//! least one part (the pigeonhole principle). So there is a *pass* for each part: all entries, a
//! fingerprint and its ordinal each, are put into buckets by the value of the part, and only
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
//! A pair that agrees in several parts is met several times, and reported in the first pass that
//! meets it. So a later pass need only find pairs that *differ* in each of the earlier parts, which
//! leaves fewer of the k bits for the others.
//!
//! # Parts of parts
//!
//! In a bucket with many entries the same is done again with the bits that are left: they are cut
//! into one part more than bits may differ in them, and so on while it pays. For k = 3 two levels
//! tell entries apart by 24 to 28 bits, which leaves nearly nothing to compare among 10^8 of them,
//! while each entry moves only inside a core's own cache. No bucket but the entry's own is ever
//! looked into, whatever k is: wider distances have more parts instead, and where they would be too
//! narrow to tell anything apart (from k = 16 or so), all are compared with all.
//!
//! Hot buckets, of fingerprints whose bits are not evenly spread, are split in this way too. Where
//! counting the entries shows that they would stay together, their bits are put into another order,
//! in which each part has its share of those that tell these entries apart. If they stay together
//! still, they are near each other indeed. A bucket that holds much of a load is shared out among
//! the threads that way. Equal fingerprints cannot be split; in a bucket with many of them each is
//! compared once, and stands for all of its copies.
//!
//! # Memory
//!
//! A pass is cut into *loads*, ranges of values whose entries fit the memory, and each load reads
//! the whole source, since that is cheaper than keeping it. A value that is too frequent for a load
//! is joined in pieces, each with each. Pairs are handed over as they are found.
//!
//! # Sources
//!
//! - G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007:
//!   tables by permuted blocks, and tables in tables.
//! - J. Qin et al., "GPH: similarity search in Hamming space", ICDE 2018: the general pigeonhole
//!   principle. That parts which differ pay for the bits they take is its integer reduction.
//! - P. A. Boncz, S. Manegold, M. L. Kersten, "Database architecture optimized for the new
//!   bottleneck: memory access", VLDB 1999: the radix join, in steps that suit the caches.

mod bucket;
mod context;
mod counts;
mod crowd;
mod cut;
mod load;
mod monitor;
mod passes;
mod room;
mod run;
mod source;
mod spread;

pub use context::Pair;
pub use cut::Part;
pub use monitor::Monitor;
pub use run::Join;
pub use source::Source;
