//! Pairs among fingerprints that are in no store.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use simkeep::join::{Join, Pair};
use simkeep::{Error, Result};

use crate::call::fork::ForkCheck;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::value;
use crate::fingerprint::fingerprint_input::{self, FingerprintInput};
use crate::streams::columns::{BatchFunction, Bits, Int32, Int64, columns};
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of the thread of a join, equal to the name for joins in a store.
const NAME: &str = "simkeep-pairs";

value! {
    /// Two near fingerprints among the input, by their positions.
    JoinedPair from pair: simkeep::join::Pair {
        /// The position of the earlier fingerprint in the input, counted from 0.
        left: u32,
        /// The position of the later fingerprint.
        right: u32,
        /// The two fingerprints, the earlier one first.
        fingerprints: (u64, u64) = <(u64, u64)>::from(pair.fingerprints),
        distance: u32,
    }
}

impl StreamItem for Pair {
    type Object = JoinedPair;
    const TABLE: Option<BatchFunction<Self>> = Some(|pairs, signed| {
        columns! {
            for pair in pairs, signed;
            left: Int64 = pair.left,
            right: Int64 = pair.right,
            distance: Int32 = pair.distance,
            left_fingerprint: Bits = pair.fingerprints[0],
            right_fingerprint: Bits = pair.fingerprints[1],
        }
    });
}

/// Streams the pairs of a join.
fn run(
    join: Join,
    fingerprints: &FingerprintInput,
    progress: &simkeep::Progress,
    out: &ThreadOutput<Pair>,
) -> Result<()> {
    // Positions are below 2^32, as `join` has checked.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let position = |index: u32| fingerprints.position(index as usize) as u32;
    let Ok(flow) = join.run(&fingerprints.bits[..], progress, |pairs: &[Pair]| {
        let pairs = pairs.iter().map(|pair| {
            let (left, right) = (position(pair.left), position(pair.right));
            Pair { left, right, ..*pair }
        });
        out.send(pairs.collect())
    });
    match flow {
        ControlFlow::Break(()) if progress.is_cancelled() => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

/// All pairs within k bits of each other among fingerprints that are in no store, in no particular
/// order.
///
/// Two equal fingerprints are a pair of distance 0. The fingerprints may be a buffer of `uint64` or
/// `int64`, for example an array of numpy, a column of Arrow with one of these types, an iterable
/// of `int`s, or the result of `fingerprint_batch`. There must be fewer than 2**32 fingerprints;
/// they are copied. A null or `None` is in no pair. With `across`, the fingerprints before this
/// position are joined with the later fingerprints, and neither group with itself. With `part`, one
/// of `join_parts`, only pairs that agree in this part, and in no earlier part, are found.
/// `memory_bytes` (256 MiB) limits the memory in addition to the copy, and `threads` is the number
/// of threads (as many as there are cores).
///
/// Runs in the background, and waits for the reader of the pairs. The join ends when the stream is
/// closed. As Arrow data, the stream has the columns `left`, `right`, `distance`,
/// `left_fingerprint` and `right_fingerprint`.
///
/// Time, for uniformly distributed fingerprints and k = 3: some 0.15 microseconds of one core for
/// each fingerprint. For a wide distance all pairs are compared, at 0.4 nanoseconds for each pair.
#[pyfunction]
#[pyo3(signature = (
    fingerprints: "_types.Fingerprints", k: "int", *,
    across: "int | None" = None, part: "int | None" = None, memory_bytes: "int | None" = None,
    threads: "int | None" = None, progress=None
))]
pub(crate) fn join<'py>(
    py: Python<'py>,
    fingerprints: &Bound<'py, PyAny>,
    k: &Bound<'py, PyAny>,
    across: Option<&Bound<'py, PyAny>>,
    part: Option<&Bound<'py, PyAny>>,
    memory_bytes: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, Progress>>,
) -> PyResult<StreamOf<JoinedPair>> {
    let mut join = Join::within(arg::distance(Arg::new("k"), k)?);
    let arg = Arg::new("fingerprints");
    let fingerprints = fingerprint_input::fingerprints(arg, fingerprints)?;
    if u32::try_from(fingerprints.given).is_err() {
        return Err(arg.wrong(format!("must be fewer than 2**32, not {}", fingerprints.given)));
    }
    if let Some(across) = optional(across, |v| arg::u32(Arg::new("across"), v))? {
        #[expect(clippy::cast_possible_truncation, reason = "at most `across`")]
        let before = fingerprints.before(across as usize) as u32;
        join = join.across(before);
    }
    if let Some(part) = optional(part, |v| arg::u32(Arg::new("part"), v))? {
        let parts = join.parts().len();
        if part as usize >= parts {
            return Err(Arg::new("part").wrong(format!("must be below {parts}, not {part}")));
        }
        join = join.pass(part);
    }
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        join = join.memory_bytes(bytes);
    }
    if let Some(threads) = optional(threads, |v| arg::size(Arg::new("threads"), v))? {
        join = join.threads(threads);
    }
    let progress = progress::or_default(progress);
    let pairs = ThreadedItems::begin(NAME, progress, move |progress, out| {
        run(join, &fingerprints, progress, out)
    });
    Ok(StreamOf::new(pairs.or_raise(py)?, Some(ForkCheck::now())))
}

/// The parts into which a join within `k` bits splits fingerprints, so that each part can be joined
/// separately.
///
/// Returns pairs: the position of a part's lowest bit, counted from 0, and its number of bits. The
/// value of a fingerprint in a part is `fingerprint >> lowest & (1 << bits) - 1`. Let one machine
/// have all fingerprints with certain values in a part. Then `join(..., part=)` on this machine
/// finds the pairs of the part with these values, and needs no other fingerprints.
#[pyfunction]
#[pyo3(signature = (k: "int"))]
pub(crate) fn join_parts(k: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32)>> {
    let join = Join::within(arg::distance(Arg::new("k"), k)?);
    Ok(join.parts().iter().map(|part| (part.lowest_bit(), part.bits())).collect())
}
