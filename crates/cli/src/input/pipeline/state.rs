//! The state of a pipeline: the work in flight, and the choice of the next job.

use std::collections::VecDeque;

use super::{Part, Parts, Results};

/// The budget for all work in flight, in bytes.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// The assumed size of a chunk while it is being cut, in bytes.
const CHUNK_BYTES: usize = 512 << 10;
/// The maximum number of parts that are cut concurrently.
const CUT_MAX: usize = 4;
/// The maximum number of open parts.
const OPEN_MAX: usize = 1024;

/// The open parts, and their waiting results.
pub(super) struct State<C, T> {
    /// The parts that are not open yet; `None` while a thread opens one, and at the end.
    parts: Option<Parts<C>>,
    all_open: bool,
    /// Whether parts are opened one after another.
    live: bool,
    /// The open parts. `first` is the number of the first of them.
    open: VecDeque<Open<C, T>>,
    first: u64,
    bytes: usize,
    stopped: bool,
    failed: bool,
}

/// A part that is not completely cut, or whose results wait.
struct Open<C, T> {
    /// The chunks to cut; `None` while a thread cuts one, and at the end.
    part: Option<Part<C>>,
    all_cut: bool,
    /// The results of each chunk; `None` while it is processed. `first` is the number of the first
    /// chunk.
    results: VecDeque<Option<Results<T>>>,
    first: u64,
}

/// The next job of a thread.
pub(super) enum Job<C> {
    /// Open the next of these parts.
    Open(Parts<C>),
    /// Cut a chunk from the part with this number, and process it.
    Cut(u64, Part<C>),
}

/// The number of a part, and the number of a chunk in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    part: u64,
    chunk: u64,
}

/// The next item for the caller.
pub(super) enum Collected<T> {
    Results(Results<T>),
    NotYet,
    End,
    Failed,
}

impl<C, T> State<C, T> {
    pub(super) fn new(parts: Parts<C>, live: bool) -> State<C, T> {
        State {
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
    pub(super) fn job(&mut self) -> Option<Job<C>> {
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
                return Some(Job::Cut(number, part));
            }
        }
        let cut_from = self.open.iter().filter(|open| !open.all_cut).count();
        let has_space = cut_from == 0
            || (!self.live
                && cut_from < CUT_MAX
                && self.bytes < BYTES_MAX / 2
                && self.open.len() < OPEN_MAX);
        if has_space { self.parts.take().map(Job::Open) } else { None }
    }

    /// Whether no jobs remain.
    pub(super) fn is_done(&self) -> bool {
        self.stopped || (self.all_open && self.open.iter().all(|open| open.all_cut))
    }

    /// Records that a part was opened, or that there are no more parts.
    pub(super) fn opened(&mut self, parts: Parts<C>, part: Option<Part<C>>) {
        if part.is_none() {
            self.all_open = true;
            return;
        }
        self.parts = Some(parts);
        self.open.push_back(Open { part, all_cut: false, results: VecDeque::new(), first: 0 });
    }

    /// Records that a chunk was cut. Returns its place.
    pub(super) fn cut(&mut self, number: u64, part: Part<C>, bytes: usize) -> Place {
        self.bytes = self.bytes + bytes - CHUNK_BYTES;
        let open = self.of(number);
        open.part = Some(part);
        open.results.push_back(None);
        Place { part: number, chunk: open.first + open.results.len() as u64 - 1 }
    }

    /// Records that a part has no more chunks.
    pub(super) fn ended(&mut self, number: u64) {
        self.bytes -= CHUNK_BYTES;
        self.of(number).all_cut = true;
    }

    /// Records the results of a chunk of `bytes` bytes.
    pub(super) fn worked(&mut self, place: Place, bytes: usize, results: Results<T>) {
        self.bytes = self.bytes + results.bytes() - bytes;
        let open = self.of(place.part);
        let slot = usize::try_from(place.chunk - open.first).ok();
        let slot = slot.and_then(|slot| open.results.get_mut(slot));
        #[expect(clippy::expect_used, reason = "it stays until it has its results")]
        let slot = slot.expect("a chunk that is worked on is in flight");
        assert!(slot.replace(results).is_none(), "a chunk is worked on once");
    }

    /// Returns the next results in order.
    pub(super) fn collect(&mut self) -> Collected<T> {
        if self.failed {
            return Collected::Failed;
        }
        while let Some(open) = self.open.front_mut() {
            match open.results.pop_front() {
                Some(Some(results)) => {
                    open.first += 1;
                    self.bytes -= results.bytes();
                    return Collected::Results(results);
                }
                Some(None) => {
                    open.results.push_front(None);
                    return Collected::NotYet;
                }
                None if open.all_cut => {
                    self.open.pop_front();
                    self.first += 1;
                }
                None => return Collected::NotYet,
            }
        }
        if self.all_open { Collected::End } else { Collected::NotYet }
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

    fn of(&mut self, number: u64) -> &mut Open<C, T> {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        #[expect(clippy::expect_used, reason = "it stays until all of it has its results")]
        at.and_then(|at| self.open.get_mut(at)).expect("a part that is cut from is open")
    }
}
