//! All pairs of near fingerprints, in chunks on request.

use simkeep::query::{FingerprintPairs, NearPair};

use crate::abi;
use crate::call::{found, free, make};
use crate::chunks::{ChunkedSearch, chunk};
use crate::distances;
use crate::failure::Failure;
use crate::fork::ForkSafeMutex;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::progress::{self, ProgressHandle};
use crate::read::query::{self, Query};

/// A running join that returns pairs in chunks. Use the join from one thread at a time, in the
/// process that began it. The join keeps its snapshot. Free the join and the snapshot separately.
#[derive(Debug)]
pub struct Pairs {
    joining: ForkSafeMutex<PairJoin>,
}

#[derive(Debug)]
struct PairJoin {
    chunks: ChunkedSearch<NearPair>,
    /// The pairs that C currently has.
    columns: Columns,
}

chunk! {
    /// A chunk of pairs, column by column. Valid until the next call on its source.
    pub struct PairChunk, up to count, of pair: NearPair {
        /// The smaller fingerprint of each pair.
        left: u64 = pair.left,
        /// The larger fingerprint of each pair.
        right: u64 = pair.right,
        /// The distance of the two fingerprints in bits: 1 to 64.
        distances: u8 = distances::of(Some(pair.distance)),
    }
}

/// Finds all pairs of different fingerprints within a distance, each once, in no particular order.
/// The distance, the epoch, the versions, the prefix and the classes come from `like`. Get the
/// pairs by `simkeep_pairs_next`. `progress` may be NULL. Free the result with
/// `simkeep_pairs_free`. Any thread.
///
/// The join begins at once, in its own threads on all cores, and pauses while its caller requests
/// no pairs. Costs some 0.1 microseconds for each fingerprint, and 256 MiB of memory.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_all_pairs(
    snapshot: *const SnapshotHandle,
    like: *const Query,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Pairs>> {
    make("simkeep_snapshot_all_pairs", error, || {
        let (snapshot, like) = (snapshot::open(snapshot)?.0.clone(), query::read(like)?);
        let chunks = ChunkedSearch::start(progress::of(progress)?, move |progress, sink| {
            FingerprintPairs::selected_by(&like).run(&snapshot, progress, |pairs| sink.put(pairs))
        })?;
        Ok(Pairs { joining: ForkSafeMutex::new(PairJoin { chunks, columns: Columns::default() })? })
    })
}

/// Copies the next pairs to where `chunk` points: at least one pair, or `SIMKEEP_NONE` if there are
/// no more pairs. The pairs are valid until the next call on `pairs`. Pairs before an error are
/// correct but incomplete. `size` is `sizeof(simkeep_pair_chunk)`. One thread at a time. Waits for
/// pairs.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pairs_next(
    pairs: *mut Pairs,
    chunk: *mut PairChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_pairs_next", error, || {
        let pairs = abi::handle(pairs, "pairs")?;
        abi::check_put_structure(chunk, size, "chunk")?;
        let mut joining = pairs.joining.lock()?;
        let Some(next) = joining.chunks.next()? else { return Ok(None) };
        abi::put_structure(chunk, size, &joining.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pairs, at any time. Before the end, the call stops the join, cancels its progress, and
/// waits until the threads of the join have ended, usually some milliseconds. Does nothing for
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pairs_free(pairs: Option<Box<Pairs>>) {
    free("simkeep_pairs_free", pairs);
}
