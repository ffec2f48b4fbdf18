//! The state of a pipeline: the work in flight, and the choice of the next job.

use std::collections::VecDeque;

use super::{ChunkIter, ChunkIters, ChunkResults};

/// The budget for all work in flight, in bytes.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// The assumed size of a chunk while it is being cut, in bytes.
const CHUNK_BYTES: usize = 512 << 10;
/// The maximum number of parts that are cut concurrently.
const CUT_MAX: usize = 4;
/// The maximum number of open parts.
const OPEN_MAX: usize = 1024;

/// The open parts, and their waiting results.
pub(super) struct PipelineState<C, T> {
    /// The parts that are not open yet; `None` while a thread opens one, and at the end.
    parts: Option<ChunkIters<C>>,
    all_open: bool,
    /// Whether parts are opened one after another.
    live: bool,
    /// The open parts. `first` is the number of the first of them.
    open: VecDeque<OpenPart<C, T>>,
    first: u64,
    bytes: usize,
    stopped: bool,
    failed: bool,
}

/// A part that is not completely cut, or whose results wait.
struct OpenPart<C, T> {
    /// The chunks to cut; `None` while a thread cuts one, and at the end.
    part: Option<ChunkIter<C>>,
    all_cut: bool,
    /// The results of each chunk; `None` while it is processed. `first` is the number of the first
    /// chunk.
    results: VecDeque<Option<ChunkResults<T>>>,
    first: u64,
}

/// The next job of a thread.
pub(super) enum WorkerTask<C> {
    /// Open the next of these parts.
    Open(ChunkIters<C>),
    /// Cut a chunk from the part with this number, and process it.
    Cut(u64, ChunkIter<C>),
}

/// The number of a part, and the number of a chunk in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkPosition {
    part: u64,
    chunk: u64,
}

/// The next item for the caller.
pub(super) enum CollectedItem<T> {
    Results(ChunkResults<T>),
    NotYet,
    End,
    Failed,
}

impl<C, T> PipelineState<C, T> {
    pub(super) fn new(parts: ChunkIters<C>, live: bool) -> PipelineState<C, T> {
        PipelineState {
            parts: Some(parts),
            all_open: false,
            live,
            open: VecDeque::new(),
            first: 0,
            bytes: 0,
            stopped: false,
            failed: false,
        }
    }

    /// The next job, if the budget has space for it.
    pub(super) fn job(&mut self) -> Option<WorkerTask<C>> {
        if self.stopped {
            return None;
        }
        for (number, (at, open)) in (self.first..).zip(self.open.iter_mut().enumerate()) {
            let has_space = match at {
                // All other parts wait for this one.
                0 if open.results.is_empty() => true,
                0 => self.bytes < BYTES_MAX,
                _ => self.bytes < BYTES_MAX / 2,
            };
            if has_space && let Some(part) = open.part.take() {
                self.bytes += CHUNK_BYTES;
                return Some(WorkerTask::Cut(number, part));
            }
        }
        let cut_from = self.open.iter().filter(|open| !open.all_cut).count();
        let has_space = cut_from == 0
            || (!self.live
                && cut_from < CUT_MAX
                && self.bytes < BYTES_MAX / 2
                && self.open.len() < OPEN_MAX);
        if has_space { self.parts.take().map(WorkerTask::Open) } else { None }
    }

    /// Whether no jobs remain.
    pub(super) fn is_done(&self) -> bool {
        self.stopped || (self.all_open && self.open.iter().all(|open| open.all_cut))
    }

    /// Records that a part was opened, or that there are no more parts.
    pub(super) fn opened(&mut self, parts: ChunkIters<C>, part: Option<ChunkIter<C>>) {
        if part.is_none() {
            self.all_open = true;
            return;
        }
        self.parts = Some(parts);
        self.open.push_back(OpenPart { part, all_cut: false, results: VecDeque::new(), first: 0 });
    }

    /// Records that a chunk was cut. Returns its place.
    pub(super) fn cut(&mut self, number: u64, part: ChunkIter<C>, bytes: usize) -> ChunkPosition {
        self.bytes = self.bytes + bytes - CHUNK_BYTES;
        let open = self.open_part(number);
        open.part = Some(part);
        open.results.push_back(None);
        ChunkPosition { part: number, chunk: open.first + open.results.len() as u64 - 1 }
    }

    /// Records that a part has no more chunks.
    pub(super) fn ended(&mut self, number: u64) {
        self.bytes -= CHUNK_BYTES;
        self.open_part(number).all_cut = true;
    }

    /// Records the results of a chunk of `bytes` bytes.
    pub(super) fn add_results(
        &mut self,
        place: ChunkPosition,
        bytes: usize,
        results: ChunkResults<T>,
    ) {
        self.bytes = self.bytes + results.bytes() - bytes;
        let open = self.open_part(place.part);
        let slot = usize::try_from(place.chunk - open.first).ok();
        let slot = slot.and_then(|slot| open.results.get_mut(slot));
        #[expect(clippy::expect_used, reason = "it stays until it has its results")]
        let slot = slot.expect("a chunk that is worked on is in flight");
        assert!(slot.replace(results).is_none(), "a chunk is worked on once");
    }

    /// Returns the next results in order.
    pub(super) fn collect(&mut self) -> CollectedItem<T> {
        if self.failed {
            return CollectedItem::Failed;
        }
        while let Some(open) = self.open.front_mut() {
            match open.results.pop_front() {
                Some(Some(results)) => {
                    open.first += 1;
                    self.bytes -= results.bytes();
                    return CollectedItem::Results(results);
                }
                Some(None) => {
                    open.results.push_front(None);
                    return CollectedItem::NotYet;
                }
                None if open.all_cut => {
                    self.open.pop_front();
                    self.first += 1;
                }
                None => return CollectedItem::NotYet,
            }
        }
        if self.all_open { CollectedItem::End } else { CollectedItem::NotYet }
    }

    /// Records that no more results are needed.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Records that a thread failed, so that the results of its chunk will never arrive.
    pub(super) fn fail(&mut self) {
        self.failed = true;
        self.stopped = true;
    }

    fn open_part(&mut self, number: u64) -> &mut OpenPart<C, T> {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        #[expect(clippy::expect_used, reason = "it stays until all of it has its results")]
        at.and_then(|at| self.open.get_mut(at)).expect("a part that is cut from is open")
    }
}
