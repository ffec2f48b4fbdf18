//! A distributed join: independent tasks that may run anywhere.
//!
//! Fingerprints in several places, for example in the stores of several workers, are joined in
//! three steps. Each place counts its fingerprints ([`Histogram`]). The merged counts determine the
//! tasks ([`JoinPlan`]); no counts are needed if each task can have all fingerprints. Then each
//! place distributes its fingerprints to the tasks ([`Partitioner`]), and each task joins the
//! fingerprints that it received ([`JoinTask::run`]). The result is a function of the counts and
//! the fingerprints: a task that runs again finds the same pairs.
//!
//! ```text
//!             part 0          part 1              ...   part k
//! buckets     [ 4,096 counts] [ 4,096 counts]           of the values, by a hash of them
//! ranges      [  0 ][ 1 ][2 ] [ 3  ][ 4  ][5]           neighbours, of about as many fingerprints each
//! tasks       one for each range; for a range too large, one for each two pieces of it
//! ```
//!
//! Two fingerprints within `k` bits agree in one of the `k + 1` parts
//! ([`Join::pass`](super::Join::pass)), so they meet in the range of that part's value. The task of
//! the range reports only pairs that agree in no earlier part. Ranges are ranges of hashed values,
//! so that values with common bits are spread over the ranges. A single very frequent value cannot
//! be spread. The fingerprints with such a value are split by a hash of whole fingerprints into
//! pieces, which are joined pairwise. Equal fingerprints from several places are in the same piece,
//! and count as one.

mod histogram;
mod join_plan;
mod partitioner;

pub use histogram::Histogram;
pub use join_plan::{JoinPlan, JoinTask};
pub use partitioner::{Chunk, Partitioner};
