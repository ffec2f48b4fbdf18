//! Joins of several stores, shared out among tasks.

use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use simkeep::join::{Hand, Join, Pair, Share, Tally};
use simkeep::query::{DistinctFingerprints, NearPair};
use simkeep::{Error, Query, Result, Snapshot};

use crate::call::fork::Birth;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::search::matches;
use crate::streams::stream::{Item, StreamOf};
use crate::streams::threaded::{Out, Threaded};

/// What the thread of a join is called, as that of one of a store.
const NAME: &str = "simkeep-pairs";
/// Bytes of a fingerprint.
const BYTES: usize = size_of::<u64>();
/// Bytes that a task is handed at a time.
const HAND_BYTES: usize = 4 << 20;
/// Buckets of each part that fingerprints are counted in.
pub(crate) const BUCKETS: u32 = 4096;

/// Fingerprints for a task: its number, whether they are of its second piece, and 8 bytes for each.
pub(crate) type Dealt = (u32, bool, Py<PyBytes>);

/// What shares are made of.
enum Made {
    Counted { tally: Tally, ranges: u32, most: u64 },
    Uncounted { k: u32, tasks: u32 },
}

/// How a join of fingerprints in several places is shared out: in tasks that are run each by
/// itself.
///
/// Tasks are numbered from 0. It is made of what `View.tally` counted in each place; `uncounted`
/// makes one without. `ranges` is about how many tasks there are to be; none takes more than `most`
/// fingerprints, if it can be helped. It can be pickled, and is the same wherever it is made of the
/// same.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Shares {
    shares: Arc<simkeep::join::Shares>,
    made: Made,
}

impl Shares {
    fn share(&self, share: &Bound<'_, PyAny>) -> PyResult<Share> {
        let arg = Arg::new("share");
        let number = arg::size(arg, share)?;
        let all = self.shares.all();
        let none = || arg.wrong(format!("must be below {}, not {number}", all.len()));
        all.get(number).copied().ok_or_else(none)
    }

    /// Deals fingerprints out to the tasks, `bytes` at a time, by default 4 MiB.
    pub(crate) fn deal(
        &self,
        snapshot: Snapshot,
        like: Query,
        bytes: Option<usize>,
        progress: simkeep::Progress,
    ) -> Result<StreamOf<Dealt>> {
        let shares = Arc::clone(&self.shares);
        let most = bytes.unwrap_or(HAND_BYTES) / BYTES;
        let hands = Threaded::begin(NAME, progress, move |progress, out| {
            let give = |hand| out.give(vec![hand]);
            DistinctFingerprints::like(&like).deal(&snapshot, &shares, most, progress, give)
        })?;
        Ok(StreamOf::new(hands, Some(Birth::now())))
    }
}

#[pymethods]
impl Shares {
    #[new]
    #[pyo3(signature = (tallies: "Iterable[bytes]", ranges: "int", most: "int"))]
    fn new(
        tallies: &Bound<'_, PyAny>,
        ranges: &Bound<'_, PyAny>,
        most: &Bound<'_, PyAny>,
    ) -> PyResult<Shares> {
        let arg = Arg::new("tallies");
        let ranges = arg::u32(Arg::new("ranges"), ranges)?;
        let most = arg::count(Arg::new("most"), most)?;
        let mut all: Option<Tally> = None;
        for (number, tally) in (0..).zip(tallies.try_iter()?) {
            let arg = arg.at(number);
            let bytes = arg::bytes(arg, &tally?, "bytes that View.tally returned")?;
            let tally = Tally::from_bytes(&bytes)
                .ok_or_else(|| arg.wrong("is not what View.tally returned".to_owned()))?;
            let Some(all) = &mut all else {
                all = Some(tally);
                continue;
            };
            if !all.merge(&tally) {
                let what = "is of another distance or of other buckets than those before";
                return Err(arg.wrong(what.to_owned()));
            }
        }
        let tally = all.ok_or_else(|| arg.wrong("must be at least one".to_owned()))?;
        let shares = Arc::new(simkeep::join::Shares::new(&tally, ranges, most));
        Ok(Shares { shares, made: Made::Counted { tally, ranges, most } })
    }

    /// A join within `k` bits in at most so many tasks, of which each can have all fingerprints: none
    /// need be counted for that.
    ///
    /// Each looks for the pairs of some of the parts, so there are no more tasks than parts.
    #[staticmethod]
    #[pyo3(signature = (k: "int", tasks: "int"))]
    fn uncounted(k: &Bound<'_, PyAny>, tasks: &Bound<'_, PyAny>) -> PyResult<Shares> {
        let k = arg::distance(Arg::new("k"), k)?;
        let tasks = arg::u32(Arg::new("tasks"), tasks)?;
        let shares = Arc::new(simkeep::join::Shares::uncounted(k, tasks));
        Ok(Shares { shares, made: Made::Uncounted { k, tasks } })
    }

    /// How many tasks there are.
    fn __len__(&self) -> usize {
        self.shares.all().len()
    }

    /// The distance of the join.
    #[getter]
    fn k(&self) -> u32 {
        match &self.made {
            Made::Counted { tally, .. } => tally.k(),
            Made::Uncounted { k, .. } => *k,
        }
    }

    /// How many fingerprints were counted, those that are in several places as often.
    #[getter]
    fn fingerprints(&self) -> u64 {
        match &self.made {
            Made::Counted { tally, .. } => tally.fingerprints(),
            Made::Uncounted { .. } => 0,
        }
    }

    /// How many of these are dealt out in all, each as often as there are tasks that take it: 8 bytes
    /// each.
    #[getter]
    fn dealt(&self) -> u64 {
        self.shares.dealt()
    }

    /// How many of these a task takes.
    #[pyo3(signature = (share: "int"))]
    fn size(&self, share: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.share(share)?.fingerprints())
    }

    /// Finds the pairs of a task among what `View.deal` handed to it: of its first and its second
    /// piece.
    ///
    /// What was handed may be in any order. Equal fingerprints, which come from several places,
    /// count once. `memory_bytes` (256 MiB) bounds the memory beside the fingerprints, and
    /// `threads` is how many run (as many as there are cores). Runs in the background, and waits
    /// for whoever reads the pairs. It ends when the stream is closed.
    #[pyo3(signature = (
        share: "int", first: "Iterable[bytes | bytearray | memoryview]",
        second: "Iterable[bytes | bytearray | memoryview]", *, memory_bytes: "int | None" = None,
        threads: "int | None" = None, progress=None
    ))]
    fn join(
        &self,
        py: Python<'_>,
        share: &Bound<'_, PyAny>,
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
        memory_bytes: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<StreamOf<matches::Pair>> {
        let share = self.share(share)?;
        let mut join = Join::within(self.k());
        if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
            join = join.memory_bytes(bytes);
        }
        if let Some(threads) = optional(threads, |v| arg::size(Arg::new("threads"), v))? {
            join = join.threads(threads);
        }
        let dealt = [handed(Arg::new("first"), first)?, handed(Arg::new("second"), second)?];
        if !share.is_across() && !dealt[1].is_empty() {
            return Err(
                Arg::new("second").wrong("must be empty: the task has no second piece".to_owned())
            );
        }
        let count = dealt[0].len() + dealt[1].len();
        if u32::try_from(count).is_err() {
            let what =
                format!("must be fewer than 2**32 fingerprints with the second, not {count}");
            return Err(Arg::new("first").wrong(what));
        }
        let progress = progress::given(progress);
        let pairs = Threaded::begin(NAME, progress, move |progress, out| {
            run(share, dealt, join, progress, out)
        });
        Ok(StreamOf::new(pairs.or_raise(py)?, Some(Birth::now())))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, class) = (slf.py(), slf.get_type().into_any());
        Ok(match &slf.get().made {
            Made::Counted { tally, ranges, most } => {
                let tally = PyBytes::new(py, &tally.to_bytes());
                (class, ([tally], *ranges, *most).into_pyobject(py)?)
            }
            Made::Uncounted { k, tasks } => {
                (class.getattr("uncounted")?, (*k, *tasks).into_pyobject(py)?)
            }
        })
    }

    fn __repr__(&self) -> String {
        let (tasks, k) = (self.shares.all().len(), self.k());
        match &self.made {
            Made::Counted { tally, .. } => {
                let count = tally.fingerprints();
                format!("<simkeep.Shares: {tasks} tasks, {count} fingerprints within {k}>")
            }
            Made::Uncounted { .. } => format!("<simkeep.Shares: {tasks} tasks, within {k}>"),
        }
    }
}

/// Fingerprints that were handed on, from buffers of bytes.
fn handed(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let mut fingerprints = Vec::new();
    for (number, hand) in (0..).zip(given.try_iter()?) {
        let (hand, arg) = (hand?, arg.at(number));
        let buffer = PyBuffer::<u8>::get(&hand)
            .map_err(|_| arg.type_error("bytes, or a buffer of them", &hand))?;
        let bytes = buffer.to_vec(given.py())?;
        let (each, rest) = bytes.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(arg.wrong(format!("must be 8 bytes each, not {} in all", bytes.len())));
        }
        fingerprints.reserve_exact(each.len());
        fingerprints.extend(each.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    }
    Ok(fingerprints)
}

/// Hands on the pairs of a task.
fn run(
    share: Share,
    dealt: [Vec<u64>; 2],
    join: Join,
    progress: &simkeep::Progress,
    out: &Out<NearPair>,
) -> Result<()> {
    let flow = share.run(dealt, join, progress, |pairs: &[Pair]| {
        let near = pairs.iter().map(|pair| {
            let [left, right] = pair.fingerprints;
            NearPair { left, right, distance: pair.distance }
        });
        out.give(near.collect())
    });
    match flow {
        ControlFlow::Break(()) if progress.is_cancelled() => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

impl Item for Hand {
    type Object = Dealt;
}

impl FromRust<Hand> for Dealt {
    fn from_rust(py: Python<'_>, hand: Hand) -> PyResult<Dealt> {
        let Hand { share, is_second, fingerprints } = hand;
        let bytes = PyBytes::new_with(py, fingerprints.len() * BYTES, |bytes| {
            let (each, _) = bytes.as_chunks_mut::<BYTES>();
            for (place, fingerprint) in each.iter_mut().zip(&fingerprints) {
                *place = fingerprint.to_le_bytes();
            }
            Ok(())
        })?;
        Ok((share, is_second, bytes.unbind()))
    }
}
