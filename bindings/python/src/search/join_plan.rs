//! Distributed joins of several stores.

use std::ops::ControlFlow;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use simkeep::join::{Chunk, Histogram, Join, JoinTask, Pair};
use simkeep::query::{DistinctFingerprints, NearPair};
use simkeep::{Error, Query, Result, Snapshot};

use crate::call::fork::ForkCheck;
use crate::call::progress::{self, Progress};
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::search::matches;
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::{ThreadOutput, ThreadedItems};

/// The name of the thread of a join, equal to the name for joins in a store.
const NAME: &str = "simkeep-pairs";
/// The bytes of a fingerprint.
const BYTES: usize = size_of::<u64>();
/// The bytes of a chunk for a task.
const CHUNK_BYTES: usize = 4 << 20;
/// The number of buckets for counting fingerprints in each part.
pub(crate) const BUCKETS: u32 = 4096;

/// Fingerprints for a task: the number of the task, whether the fingerprints belong to its second
/// piece, and 8 bytes for each fingerprint.
pub(crate) type TaskChunk = (u32, bool, Py<PyBytes>);

/// The source of a plan.
enum PlanSource {
    Counted { histogram: Histogram, ranges: u32, most: u64 },
    Uncounted { k: u32, tasks: u32 },
}

/// The plan of a distributed join: independent tasks.
///
/// Tasks are numbered from 0. A plan is made from the counts of `View.histogram` of each store;
/// `uncounted` makes a plan without counts. `ranges` is the approximate number of tasks. No task
/// takes more than `most` fingerprints, if possible. A plan can be pickled, and equal arguments
/// make equal plans on every machine.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct JoinPlan {
    plan: Arc<simkeep::join::JoinPlan>,
    made: PlanSource,
}

impl JoinPlan {
    fn task(&self, task: &Bound<'_, PyAny>) -> PyResult<JoinTask> {
        let arg = Arg::new("task");
        let number = arg::size(arg, task)?;
        let all = self.plan.tasks();
        let none = || arg.wrong(format!("must be below {}, not {number}", all.len()));
        all.get(number).copied().ok_or_else(none)
    }

    /// Distributes fingerprints to the tasks, `bytes` at a time, by default 4 MiB.
    pub(crate) fn partition(
        &self,
        snapshot: Snapshot,
        like: Query,
        bytes: Option<usize>,
        progress: simkeep::Progress,
    ) -> Result<StreamOf<TaskChunk>> {
        let plan = Arc::clone(&self.plan);
        let most = bytes.unwrap_or(CHUNK_BYTES) / BYTES;
        let chunks = ThreadedItems::begin(NAME, progress, move |progress, out| {
            let give = |chunk| out.send(vec![chunk]);
            DistinctFingerprints::selected_by(&like)
                .partition(&snapshot, &plan, most, progress, give)
        })?;
        Ok(StreamOf::new(chunks, Some(ForkCheck::now())))
    }
}

#[pymethods]
impl JoinPlan {
    #[new]
    #[pyo3(signature = (histograms: "Iterable[bytes]", ranges: "int", most: "int"))]
    fn new(
        histograms: &Bound<'_, PyAny>,
        ranges: &Bound<'_, PyAny>,
        most: &Bound<'_, PyAny>,
    ) -> PyResult<JoinPlan> {
        let arg = Arg::new("histograms");
        let ranges = arg::u32(Arg::new("ranges"), ranges)?;
        let most = arg::count(Arg::new("most"), most)?;
        let mut all: Option<Histogram> = None;
        for (number, histogram) in (0..).zip(histograms.try_iter()?) {
            let arg = arg.at(number);
            let bytes = arg::bytes(arg, &histogram?, "bytes that View.histogram returned")?;
            let histogram = Histogram::from_bytes(&bytes)
                .ok_or_else(|| arg.wrong("is not what View.histogram returned".to_owned()))?;
            let Some(all) = &mut all else {
                all = Some(histogram);
                continue;
            };
            if !all.merge(&histogram) {
                let what = "has another distance or other buckets than the histograms before it";
                return Err(arg.wrong(what.to_owned()));
            }
        }
        let histogram = all.ok_or_else(|| arg.wrong("must not be empty".to_owned()))?;
        let plan = Arc::new(simkeep::join::JoinPlan::new(&histogram, ranges, most));
        Ok(JoinPlan { plan, made: PlanSource::Counted { histogram, ranges, most } })
    }

    /// A join within `k` bits in at most `tasks` tasks, each of which can have all fingerprints, so
    /// that no counts are needed.
    ///
    /// Each task finds the pairs of some of the parts, so there are no more tasks than parts.
    #[staticmethod]
    #[pyo3(signature = (k: "int", tasks: "int"))]
    fn uncounted(k: &Bound<'_, PyAny>, tasks: &Bound<'_, PyAny>) -> PyResult<JoinPlan> {
        let k = arg::distance(Arg::new("k"), k)?;
        let tasks = arg::u32(Arg::new("tasks"), tasks)?;
        let plan = Arc::new(simkeep::join::JoinPlan::uncounted(k, tasks));
        Ok(JoinPlan { plan, made: PlanSource::Uncounted { k, tasks } })
    }

    /// The number of tasks.
    fn __len__(&self) -> usize {
        self.plan.tasks().len()
    }

    /// The distance of the join.
    #[getter]
    fn k(&self) -> u32 {
        match &self.made {
            PlanSource::Counted { histogram, .. } => histogram.k(),
            PlanSource::Uncounted { k, .. } => *k,
        }
    }

    /// The number of counted fingerprints. A fingerprint in several stores counts several times.
    #[getter]
    fn fingerprints(&self) -> u64 {
        match &self.made {
            PlanSource::Counted { histogram, .. } => histogram.fingerprints(),
            PlanSource::Uncounted { .. } => 0,
        }
    }

    /// The total number of distributed fingerprints. Each fingerprint counts once for each of its
    /// tasks, and takes 8 bytes.
    #[getter]
    fn fingerprints_sent(&self) -> u64 {
        self.plan.fingerprints_sent()
    }

    /// The number of fingerprints that are distributed to a task.
    #[pyo3(signature = (task: "int"))]
    fn size(&self, task: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.task(task)?.fingerprints())
    }

    /// Finds the pairs of a task among its fingerprints from `View.partition`: the fingerprints of
    /// its first and of its second piece.
    ///
    /// The fingerprints may be in any order. Equal fingerprints, which come from several stores,
    /// count as one. `memory_bytes` (256 MiB) limits the memory in addition to the fingerprints,
    /// and `threads` is the number of threads (as many as there are cores). Runs in the background,
    /// and waits for the reader of the pairs. The task ends when the stream is closed.
    #[pyo3(signature = (
        task: "int", first: "Iterable[bytes | bytearray | memoryview]",
        second: "Iterable[bytes | bytearray | memoryview]", *, memory_bytes: "int | None" = None,
        threads: "int | None" = None, progress=None
    ))]
    fn join(
        &self,
        py: Python<'_>,
        task: &Bound<'_, PyAny>,
        first: &Bound<'_, PyAny>,
        second: &Bound<'_, PyAny>,
        memory_bytes: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<StreamOf<matches::NearPair>> {
        let task = self.task(task)?;
        let mut join = Join::within(self.k());
        if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
            join = join.memory_bytes(bytes);
        }
        if let Some(threads) = optional(threads, |v| arg::size(Arg::new("threads"), v))? {
            join = join.threads(threads);
        }
        let received =
            [read_chunks(Arg::new("first"), first)?, read_chunks(Arg::new("second"), second)?];
        if !task.is_across() && !received[1].is_empty() {
            return Err(
                Arg::new("second").wrong("must be empty: the task has no second piece".to_owned())
            );
        }
        let count = received[0].len() + received[1].len();
        if u32::try_from(count).is_err() {
            let what =
                format!("and second must have fewer than 2**32 fingerprints together, not {count}");
            return Err(Arg::new("first").wrong(what));
        }
        let progress = progress::or_default(progress);
        let pairs = ThreadedItems::begin(NAME, progress, move |progress, out| {
            run(task, received, join, progress, out)
        });
        Ok(StreamOf::new(pairs.or_raise(py)?, Some(ForkCheck::now())))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, class) = (slf.py(), slf.get_type().into_any());
        Ok(match &slf.get().made {
            PlanSource::Counted { histogram, ranges, most } => {
                let histogram = PyBytes::new(py, &histogram.to_bytes());
                (class, ([histogram], *ranges, *most).into_pyobject(py)?)
            }
            PlanSource::Uncounted { k, tasks } => {
                (class.getattr("uncounted")?, (*k, *tasks).into_pyobject(py)?)
            }
        })
    }

    fn __repr__(&self) -> String {
        let (tasks, k) = (self.plan.tasks().len(), self.k());
        match &self.made {
            PlanSource::Counted { histogram, .. } => {
                let count = histogram.fingerprints();
                format!("<simkeep.JoinPlan: {tasks} tasks, {count} fingerprints within {k}>")
            }
            PlanSource::Uncounted { .. } => {
                format!("<simkeep.JoinPlan: {tasks} tasks, within {k}>")
            }
        }
    }
}

/// Converts fingerprints from buffers of bytes.
fn read_chunks(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let mut fingerprints = Vec::new();
    for (number, chunk) in (0..).zip(given.try_iter()?) {
        let (chunk, arg) = (chunk?, arg.at(number));
        let buffer = PyBuffer::<u8>::get(&chunk)
            .map_err(|_| arg.type_error("bytes, or a buffer of bytes", &chunk))?;
        let bytes = buffer.to_vec(given.py())?;
        let (each, rest) = bytes.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(arg.wrong(format!(
                "must have 8 bytes for each fingerprint, but has {} bytes",
                bytes.len()
            )));
        }
        fingerprints.reserve_exact(each.len());
        fingerprints.extend(each.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    }
    Ok(fingerprints)
}

/// Streams the pairs of a task.
fn run(
    task: JoinTask,
    received: [Vec<u64>; 2],
    join: Join,
    progress: &simkeep::Progress,
    out: &ThreadOutput<NearPair>,
) -> Result<()> {
    let flow = task.run(received, join, progress, |pairs: &[Pair]| {
        let near = pairs.iter().map(|pair| {
            let [left, right] = pair.fingerprints;
            NearPair { left, right, distance: pair.distance }
        });
        out.send(near.collect())
    });
    match flow {
        ControlFlow::Break(()) if progress.is_cancelled() => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

impl StreamItem for Chunk {
    type Object = TaskChunk;
}

impl FromRust<Chunk> for TaskChunk {
    fn from_rust(py: Python<'_>, chunk: Chunk) -> PyResult<TaskChunk> {
        let Chunk { task, is_second, fingerprints } = chunk;
        let bytes = PyBytes::new_with(py, fingerprints.len() * BYTES, |bytes| {
            let (each, _) = bytes.as_chunks_mut::<BYTES>();
            for (place, fingerprint) in each.iter_mut().zip(&fingerprints) {
                *place = fingerprint.to_le_bytes();
            }
            Ok(())
        })?;
        Ok((task, is_second, bytes.unbind()))
    }
}
