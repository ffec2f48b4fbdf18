//! What is in flight, and what is to be done next.

use std::collections::VecDeque;

use super::{Part, Parts, Results};

/// The budget for all that is in flight.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// What a chunk may take, while it is being cut and nobody knows.
const CHUNK_BYTES: usize = 512 << 10;
/// The most parts that are cut concurrently.
const CUT_MAX: usize = 4;
/// Parts whose results wait.
const OPEN_MAX: usize = 1024;

/// The parts that are open, and the results that wait in them.
pub(super) struct State<C, T> {
    /// Those that are not open yet; none while a thread opens one, and at the end.
    parts: Option<Parts<C>>,
    all_open: bool,
    /// Parts are opened one after another.
    live: bool,
    /// Those that are open, the first of them with this number.
    open: VecDeque<Open<C, T>>,
    first: u64,
    bytes: usize,
    stopped: bool,
    failed: bool,
}

/// A part that is cut from, or whose results wait.
struct Open<C, T> {
    /// What is cut from; none while a thread does so, and at the end.
    part: Option<Part<C>>,
    all_cut: bool,
    /// Of each chunk, the first of them with this number; none as long as it is worked on.
    results: VecDeque<Option<Results<T>>>,
    first: u64,
}

/// What a thread is to do.
pub(super) enum Job<C> {
    /// Open one more of these parts.
    Open(Parts<C>),
    /// Cut a chunk from the part of this number, and work on it.
    Cut(u64, Part<C>),
}

/// A part by its number, and a chunk in it by its own.
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
                // Everything waits for it.
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

    /// Whether there is nothing more to be done.
    pub(super) fn is_done(&self) -> bool {
        self.stopped || (self.all_open && self.open.iter().all(|open| open.all_cut))
    }

    /// A part was opened, or there is none.
    pub(super) fn opened(&mut self, parts: Parts<C>, part: Option<Part<C>>) {
        if part.is_none() {
            self.all_open = true;
            return;
        }
        self.parts = Some(parts);
        self.open.push_back(Open { part, all_cut: false, results: VecDeque::new(), first: 0 });
    }

    /// A chunk was cut; gives its place.
    pub(super) fn cut(&mut self, number: u64, part: Part<C>, bytes: usize) -> Place {
        self.bytes = self.bytes + bytes - CHUNK_BYTES;
        let open = self.of(number);
        open.part = Some(part);
        open.results.push_back(None);
        Place { part: number, chunk: open.first + open.results.len() as u64 - 1 }
    }

    /// There was nothing more to be cut from a part.
    pub(super) fn ended(&mut self, number: u64) {
        self.bytes -= CHUNK_BYTES;
        self.of(number).all_cut = true;
    }

    /// Takes the results of a chunk of `bytes` bytes.
    pub(super) fn worked(&mut self, place: Place, bytes: usize, results: Results<T>) {
        self.bytes = self.bytes + results.bytes() - bytes;
        let open = self.of(place.part);
        let slot = usize::try_from(place.chunk - open.first).ok();
        let slot = slot.and_then(|slot| open.results.get_mut(slot));
        #[expect(clippy::expect_used, reason = "it stays until it has its results")]
        let slot = slot.expect("a chunk that is worked on is in flight");
        assert!(slot.replace(results).is_none(), "a chunk is worked on once");
    }

    /// Takes what is next in order.
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

    /// Nobody wants any more results.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// A thread failed: the results of what it was at will never come.
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
