//! Runs one kind of work on all cores, and returns the results in the order of the input.
//!
//! The input comes in *parts*, such as archives, and each part in *chunks* of some records. Only one
//! thread at a time can cut chunks from a part, since the end of a record is known only after reading
//! it. All other work on a chunk can run on any thread, concurrently with other chunks. So no thread
//! has a fixed role: each takes the next job. It cuts a chunk from the first part from which no other
//! thread cuts, and works on the chunk while another thread cuts the next one. If all parts are taken,
//! it opens another part. The thread that asks for the results works, too, instead of waiting. With
//! one thread, this is the only thread.
//!
//! Results are returned in the order of the chunks. A budget bounds the bytes in flight: cut, in work,
//! or waiting to be returned. Later parts may use only half of it, so the first part, for which
//! everything waits, can always continue.

mod results;
mod state;
#[cfg(test)]
mod tests;

use std::iter;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use std::vec;

use parking_lot::{Condvar, Mutex};

use crate::exit::VerbError;
use crate::signals;
pub(crate) use results::ChunkResults;
use state::{CollectedItem, PipelineState, WorkerTask};

/// Chunks of at least this size are processed one at a time, since their results may be several
/// times as large.
const GIANT_BYTES: usize = 4 << 20;

/// A sequence of chunks, which are cut one after another.
pub(crate) type ChunkIter<C> = Box<dyn Iterator<Item = C> + Send>;

/// All parts, in order.
pub(crate) type ChunkIters<C> = Box<dyn Iterator<Item = ChunkIter<C>> + Send>;

/// The unit of work.
pub(crate) trait WorkUnit: Send + 'static {
    /// The bytes that it takes now, or will take while it is processed.
    fn bytes(&self) -> usize;
}

/// The next item for the caller.
pub(crate) enum PipelineNext<T> {
    /// A result.
    Result(T),
    /// Nothing has arrived within the waiting time, or a signal asks the process to stop.
    Idle,
    /// All chunks were processed.
    End,
}

/// The threads of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerOptions {
    /// The number of threads, including the thread that takes the results.
    pub(crate) threads: usize,
    /// Whether cutting a chunk may have to wait for input. Then the thread that takes the results
    /// does no other work, so that finished results are not delayed, and parts are opened one after
    /// another.
    pub(crate) live: bool,
}

/// A pipeline from chunks `C` to results `T`.
pub(crate) struct WorkPipeline<C: WorkUnit, T: Send + 'static> {
    shared: Arc<PipelineShared<C, T>>,
    ready: vec::IntoIter<T>,
    /// Whether the thread that takes the results works, too.
    helps: bool,
}

/// The waiting time of a caller that has nothing else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Processes one part on `threads` threads, each with its own worker, and passes the results to
/// `each`.
///
/// # Errors The first error of `each`, which ends the work.
pub(crate) fn run<C: WorkUnit, T: Send + 'static, W: FnMut(C, &mut ChunkResults<T>)>(
    part: ChunkIter<C>,
    threads: usize,
    worker: impl Fn() -> W + Send + Sync + 'static,
    mut each: impl FnMut(T) -> Result<(), VerbError>,
) -> Result<(), VerbError> {
    let mut work = worker();
    let parts = Box::new(iter::once(part));
    let crew = WorkerOptions { threads, live: false };
    let mut pipeline = WorkPipeline::start(parts, crew, move |shared| shared.serve(&mut worker()));
    loop {
        match pipeline.next(PATIENCE, &mut work)? {
            PipelineNext::Result(result) => each(result)?,
            PipelineNext::Idle => {}
            PipelineNext::End => return Ok(()),
        }
    }
}

/// The state that all threads share.
pub(crate) struct PipelineShared<C, T> {
    state: Mutex<PipelineState<C, T>>,
    changed: Condvar,
    giants: Mutex<()>,
}

impl<C: WorkUnit, T: Send + 'static> WorkPipeline<C, T> {
    /// Starts the threads. Each runs `help`, which must call [`serve`](PipelineShared::serve). If the
    /// system grants fewer threads, the pipeline has fewer.
    pub(crate) fn start(
        parts: ChunkIters<C>,
        crew: WorkerOptions,
        help: impl Fn(&PipelineShared<C, T>) + Send + Sync + 'static,
    ) -> WorkPipeline<C, T> {
        let shared = Arc::new(PipelineShared {
            state: Mutex::new(PipelineState::new(parts, crew.live)),
            changed: Condvar::new(),
            giants: Mutex::new(()),
        });
        let helpers = if crew.live { crew.threads } else { crew.threads.saturating_sub(1) };
        let help = Arc::new(help);
        let start = |number: usize| {
            let (shared, help) = (Arc::clone(&shared), Arc::clone(&help));
            let run = move || {
                let alarm = PanicWaker(&shared);
                help(&shared);
                drop(alarm);
            };
            thread::Builder::new().name(format!("simkeep-{number}")).spawn(run).is_ok()
        };
        let started = (1..=helpers).take_while(|number| start(*number)).count();
        WorkPipeline { shared, ready: Vec::new().into_iter(), helps: !crew.live || started == 0 }
    }

    /// Returns a function that wakes the thread which waits for a result.
    pub(crate) fn waker(&self) -> impl Fn() + Send + use<C, T> {
        let shared = Arc::clone(&self.shared);
        move || {
            // A thread that is about to wait holds the lock until it waits, so it cannot miss the
            // notification.
            drop(shared.state.lock());
            shared.changed.notify_all();
        }
    }

    /// Returns the next result. While there is none, it works itself with `work`.
    ///
    /// # Errors If a thread panicked.
    pub(crate) fn next(
        &mut self,
        patience: Duration,
        work: &mut impl FnMut(C, &mut ChunkResults<T>),
    ) -> Result<PipelineNext<T>, VerbError> {
        if let Some(result) = self.ready.next() {
            return Ok(PipelineNext::Result(result));
        }
        let shared = &*self.shared;
        let mut state = shared.state.lock();
        loop {
            if signals::received_signal().is_some() {
                return Ok(PipelineNext::Idle);
            }
            match state.collect() {
                CollectedItem::Results(results) => {
                    // There is space in the budget again.
                    shared.changed.notify_all();
                    self.ready = results.into_items().into_iter();
                    if let Some(result) = self.ready.next() {
                        return Ok(PipelineNext::Result(result));
                    }
                    continue;
                }
                CollectedItem::End => return Ok(PipelineNext::End),
                CollectedItem::Failed => {
                    let what = "a reader failed before the end of the input; this is a bug";
                    return Err(VerbError::Other(what.to_owned()));
                }
                CollectedItem::NotYet => {}
            }
            if self.helps
                && let Some(job) = state.job()
            {
                drop(state);
                shared.perform(job, work);
                state = shared.state.lock();
            } else if shared.changed.wait_for(&mut state, patience).timed_out() {
                return Ok(PipelineNext::Idle);
            }
        }
    }
}

impl<C: WorkUnit, T: Send + 'static> Drop for WorkPipeline<C, T> {
    /// Tells the threads to stop after their current job, and does not wait for them: they may be
    /// waiting for input that never comes.
    fn drop(&mut self) {
        self.shared.state.lock().stop();
        self.shared.changed.notify_all();
    }
}

impl<C: WorkUnit, T> PipelineShared<C, T> {
    /// Performs jobs with `work` until none is left.
    pub(crate) fn serve(&self, work: &mut impl FnMut(C, &mut ChunkResults<T>)) {
        let mut state = self.state.lock();
        while !state.is_done() {
            if let Some(job) = state.job() {
                drop(state);
                self.perform(job, work);
                state = self.state.lock();
            } else {
                self.changed.wait(&mut state);
            }
        }
    }

    fn perform(&self, job: WorkerTask<C>, work: &mut impl FnMut(C, &mut ChunkResults<T>)) {
        match job {
            WorkerTask::Open(mut parts) => {
                let part = parts.next();
                self.state.lock().opened(parts, part);
            }
            WorkerTask::Cut(number, mut part) => {
                let Some(chunk) = part.next() else {
                    self.state.lock().ended(number);
                    self.changed.notify_all();
                    return;
                };
                let bytes = chunk.bytes();
                let place = self.state.lock().cut(number, part, bytes);
                self.changed.notify_all();
                let alone = (bytes >= GIANT_BYTES).then(|| self.giants.lock());
                let mut results = ChunkResults::default();
                work(chunk, &mut results);
                drop(alone);
                self.state.lock().add_results(place, bytes, results);
            }
        }
        self.changed.notify_all();
    }
}

/// Wakes the other threads if its own thread panics.
struct PanicWaker<'s, C, T>(&'s PipelineShared<C, T>);

impl<C, T> Drop for PanicWaker<'_, C, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state.lock().fail();
            self.0.changed.notify_all();
        }
    }
}
