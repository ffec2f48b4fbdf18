//! All pairs of fingerprints near each other, for a caller that comes for them.

use simkeep::query::{FingerprintPairs, NearPair};

use crate::abi;
use crate::call::{found, free, make};
use crate::chunks::{Chunks, chunk};
use crate::distances;
use crate::failure::Failure;
use crate::fork::Guarded;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::progress::{self, ProgressHandle};
use crate::read::query::{self, Query};

/// A join that goes on as its caller comes for pairs. One thread at a time uses it. It is of the process
/// that began it. It keeps its snapshot, and is freed by itself.
#[derive(Debug)]
pub struct Pairs {
    joining: Guarded<Joining>,
}

#[derive(Debug)]
struct Joining {
    chunks: Chunks<NearPair>,
    /// The pairs that C has.
    columns: Columns,
}

chunk! {
    /// Some pairs, column by column. They live until the next call on what they were got from.
    pub struct PairChunk, up to count, of pair: NearPair {
        /// Of each the smaller fingerprint.
        left: u64 = pair.left,
        /// The larger one.
        right: u64 = pair.right,
        /// In how many bits they differ: 1 to 64.
        distances: u8 = distances::of(Some(pair.distance)),
    }
}

/// Finds all pairs of different fingerprints within the distance `k` of `like`, with its epoch,
/// versions, prefix and classes. They come in no particular order, each once, by `simkeep_pairs_next`.
/// `progress` may be NULL. The caller frees what it gets with `simkeep_pairs_free`. Any thread.
///
/// The join begins now, in threads of its own on all cores, and waits when its caller does not come for
/// pairs. Costs some 0.1 microseconds for each fingerprint, and 256 MiB of memory.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_all_pairs(
    snapshot: *const SnapshotHandle,
    like: *const Query,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Pairs>> {
    make("simkeep_snapshot_all_pairs", error, || {
        let (snapshot, like) = (snapshot::open(snapshot)?.0.clone(), query::read(like)?);
        let chunks = Chunks::start(progress::of(progress)?, move |progress, sink| {
            FingerprintPairs::like(&like).run(&snapshot, progress, |pairs| sink.put(pairs))
        })?;
        Ok(Pairs { joining: Guarded::new(Joining { chunks, columns: Columns::default() })? })
    })
}

/// Tells of the next pairs where `chunk` points: at least one, or `SIMKEEP_NONE` if there are no more.
/// They live until the next call on `pairs`. Pairs before an error are right, but not all. `size` is
/// `sizeof(simkeep_pair_chunk)`. One thread at a time. Waits until there are some.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pairs_next(
    pairs: *mut Pairs,
    chunk: *mut PairChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_pairs_next", error, || {
        let pairs = abi::handle(pairs, "pairs")?;
        abi::room(chunk, size, "chunk")?;
        let mut joining = pairs.joining.lock()?;
        let Some(next) = joining.chunks.next()? else { return Ok(None) };
        abi::put_structure(chunk, size, &joining.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pairs, before their end or after it. Before it, the join is stopped, its progress is cancelled,
/// and this waits until its threads have ended, as a rule some milliseconds. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pairs_free(pairs: Option<Box<Pairs>>) {
    free("simkeep_pairs_free", pairs);
}
