//! A distributed join, in tasks that know nothing of each other, wherever they run.
//!
//! Fingerprints that lie in several places, such as the stores of several workers, are joined in three
//! steps. Each place counts its own ([`Histogram`]). From all counts together follow the tasks
//! ([`JoinPlan`]); they follow from nothing where each task can have all fingerprints. Then each place
//! partitions its fingerprints among these ([`Partitioner`]), and each task joins what it received
//! ([`JoinTask::run`]). All of it is a function of the counts and the fingerprints: a task that is run
//! again finds the same pairs.
//!
//! ```text
//!             part 0          part 1              ...   part k
//! buckets     [ 4,096 counts] [ 4,096 counts]           of the values, by a hash of them
//! ranges      [  0 ][ 1 ][2 ] [ 3  ][ 4  ][5]           neighbours, of about as many fingerprints each
//! tasks       one for each range; for a range too large, one for each two pieces of it
//! ```
//!
//! Two fingerprints within `k` bits agree in one of the `k + 1` parts
//! ([`Join::pass`](super::Join::pass)), so they meet in the range of that part's value; the task looks
//! only for pairs that agree in no part before. Ranges are of hashes of values, so that values that
//! have bits in common are spread. What cannot be spread, a single value that is very frequent, is cut
//! by a hash of whole fingerprints into pieces, which are joined each with each. Equal fingerprints
//! from several places meet in one piece, and count once.

mod histogram;
mod join_plan;
mod partitioner;

pub use histogram::Histogram;
pub use join_plan::{JoinPlan, JoinTask};
pub use partitioner::{Chunk, Partitioner};
