//! A pipeline for one batch on several threads. Chunks are looked up before their turn to be
//! applied.

use crate::sync::thread::{Builder, Scope};
use crate::sync::{Condvar, Mutex};

/// The minimum number of chunks that may be looked up before their turn.
const AHEAD: usize = 3;

/// Work on chunks. The work on each chunk is done once and before its turn, by any free thread.
pub(crate) struct ChunkPipeline<C, T> {
    chunks: Vec<C>,
    state: Mutex<ChunkQueue<T>>,
    changed: Condvar,
}

struct ChunkQueue<T> {
    /// The results, by the number of the chunk.
    done: Vec<Option<T>>,
    /// The next chunk to start.
    next: usize,
    /// The chunk to apply next.
    turn: usize,
    /// The number of helper threads.
    helpers: usize,
}

impl<C: Copy + Send + Sync, T: Send> ChunkPipeline<C, T> {
    pub(crate) fn new(chunks: impl Iterator<Item = C>) -> Self {
        let chunks: Vec<C> = chunks.collect();
        let done = chunks.iter().map(|_| None).collect();
        let state = ChunkQueue { done, next: 0, turn: 0, helpers: 0 };
        ChunkPipeline { chunks, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds a helper thread, if there is more than one chunk.
    pub(crate) fn help<'s, 'e>(
        &'e self,
        scope: &'s Scope<'s, 'e>,
        work: impl Fn(C) -> T + Send + 's,
    ) where
        C: 'e,
        T: 'e,
    {
        if self.chunks.len() < 2 {
            return;
        }
        self.state.lock().helpers += 1;
        let leaving = HelperGuard(self);
        let help = move || {
            let _leaving = leaving;
            while let Some((number, chunk)) = self.begin(true) {
                self.end(number, work(chunk));
            }
        };
        // If the system refuses a thread, the calling thread does all the work.
        let _ = Builder::new().spawn_scoped(scope, help);
    }

    /// Returns the next chunk and its result. While this method waits, it works on this chunk or
    /// later ones.
    #[expect(clippy::indexing_slicing, reason = "each chunk has a place for what is done")]
    pub(crate) fn next(&self, work: impl Fn(C) -> T) -> Option<(C, T)> {
        loop {
            let mut state = self.state.lock();
            let turn = state.turn;
            let chunk = *self.chunks.get(turn)?;
            if let Some(done) = state.done[turn].take() {
                state.turn += 1;
                self.changed.notify_all();
                return Some((chunk, done));
            }
            if state.helpers == 0 && state.next > turn {
                // The chunk was started by a thread that has died.
                state.next = turn;
            }
            drop(state);
            match self.begin(false) {
                Some((number, chunk)) => self.end(number, work(chunk)),
                None => {
                    let mut state = self.state.lock();
                    if state.done[turn].is_none() && state.helpers > 0 {
                        self.changed.wait(&mut state);
                    }
                }
            }
        }
    }

    /// Returns a guard that stops new work when it is dropped, even by a panic.
    pub(crate) fn until_dropped(&self) -> impl Drop {
        StopGuard(self)
    }

    fn stop(&self) {
        let mut state = self.state.lock();
        state.next = self.chunks.len();
        self.changed.notify_all();
    }

    /// Takes the next chunk to work on. If that chunk is too far ahead, waits if `patient`.
    fn begin(&self, patient: bool) -> Option<(usize, C)> {
        let mut state = self.state.lock();
        loop {
            let number = state.next;
            let chunk = *self.chunks.get(number)?;
            if number < state.turn + AHEAD.max(2 * state.helpers) {
                state.next += 1;
                return Some((number, chunk));
            }
            if !patient {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    #[expect(clippy::indexing_slicing, reason = "each chunk has a place for what is done")]
    fn end(&self, number: usize, done: T) {
        let mut state = self.state.lock();
        state.done[number] = Some(done);
        self.changed.notify_all();
    }
}

/// Stops the helper threads on drop.
struct StopGuard<'a, C: Copy + Send + Sync, T: Send>(&'a ChunkPipeline<C, T>);

impl<C: Copy + Send + Sync, T: Send> Drop for StopGuard<'_, C, T> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Records on drop that the helper has ended, for whatever reason.
struct HelperGuard<'a, C: Copy + Send + Sync, T: Send>(&'a ChunkPipeline<C, T>);

impl<C: Copy + Send + Sync, T: Send> Drop for HelperGuard<'_, C, T> {
    fn drop(&mut self) {
        self.0.state.lock().helpers -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn all(ahead: &ChunkPipeline<u32, u32>, work: impl Fn(u32) -> u32) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| ahead.next(&work)).collect()
    }

    #[test]
    fn chunks_arrive_in_order_and_once() {
        for chunks in [0, 1, 2, 7, 100] {
            let ahead = ChunkPipeline::new(0..chunks);
            let expected: Vec<_> = (0..chunks).map(|n| (n, n * 2)).collect();
            std::thread::scope(|scope| {
                ahead.help(scope, |n| n * 2);
                assert_eq!(all(&ahead, |n| n * 2), expected);
            });
        }
    }

    #[test]
    fn stopping_ends_the_helper_thread() {
        let ahead = ChunkPipeline::new(0..1_000_000);
        std::thread::scope(|scope| {
            ahead.help(scope, |n| n);
            let _until = ahead.until_dropped();
            assert_eq!(ahead.next(|n| n), Some((0, 0)));
        });
    }

    #[test]
    fn work_abandoned_by_a_thread_is_completed() {
        let ahead = ChunkPipeline::new(0..20);
        let begun = AtomicBool::new(false);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                ahead.help(scope, |_| {
                    begun.store(true, Ordering::Release);
                    panic!("a thread that ends with its work undone")
                });
                let patient = |n| {
                    while !begun.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                    n
                };
                assert_eq!(all(&ahead, patient).len(), 20);
            });
        }));
        // The panic of the other thread is passed on.
        result.unwrap_err();
    }
}
