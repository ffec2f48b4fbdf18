//! Sharing of work among threads. If the system refuses to start more threads, fewer threads do the
//! work, down to the calling thread alone.

use std::io;
use std::panic::resume_unwind;

use crate::sync::Mutex;
use crate::sync::thread::{self, Builder, Scope, ScopedJoinHandle};

/// The number of threads for work that may use `most` threads: at least one, and not more than
/// there are cores.
pub(crate) fn up_to(most: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(most).max(1)
}

/// Does some jobs on up to `threads` threads, including the calling thread, and returns their
/// results in order. Each thread that has a job gets an `own` value.
pub(crate) fn run_jobs<J: Send, O, T: Send>(
    jobs: impl Iterator<Item = J>,
    threads: usize,
    own: impl Fn() -> O + Sync,
    run: impl Fn(&mut O, J) -> T + Sync,
) -> Vec<T> {
    let jobs: Vec<J> = jobs.collect();
    let threads = threads.min(jobs.len());
    let mut results: Vec<Option<T>> = Vec::new();
    results.resize_with(jobs.len(), || None);
    // Each job comes with the slot of its result, so the results are in order whichever thread is
    // first.
    let jobs = Mutex::new(jobs.into_iter().zip(&mut results));
    on_threads(threads, &|| {
        let mut mine = None;
        loop {
            let next = jobs.lock().next();
            let Some((job, result)) = next else { return };
            *result = Some(run(mine.get_or_insert_with(&own), job));
        }
    });
    drop(jobs);
    #[expect(clippy::expect_used, reason = "a thread that panics makes this one panic")]
    results.into_iter().map(|result| result.expect("all jobs are done")).collect()
}

/// Runs two functions at the same time, or one after another if no thread can be started.
pub(crate) fn run_both<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    // `one` is kept outside of the closure, so that it is not lost if no thread can be started.
    let one = Mutex::new((Some(one), None));
    let run_one = || {
        let run = one.lock().0.take();
        #[expect(
            clippy::expect_used,
            reason = "it is run by the thread, or if there is none, here"
        )]
        let result = run.expect("each job runs once")();
        one.lock().1 = Some(result);
    };
    let other = thread::scope(|scope| {
        let started = start(scope, &run_one);
        let other = other();
        match started {
            Ok(started) => started.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run_one(),
        }
        other
    });
    #[expect(clippy::expect_used, reason = "a thread that panics makes this one panic")]
    (one.into_inner().1.expect("each job has run"), other)
}

/// Runs `work` on up to `threads` threads at once, including the calling thread.
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| start(scope, work).ok()).collect();
        work();
        for other in others {
            // A panic is passed on to the thread that waits.
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

/// Starts a thread, if the system allows it. The function is not generic, because the code that it
/// calls is long and would be compiled for each kind of work.
fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: &'scope (dyn Fn() + Sync),
) -> io::Result<ScopedJoinHandle<'scope, ()>> {
    #[cfg(test)]
    if refused::are() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Builder::new().spawn_scoped(scope, work)
}

/// Simulates a system without threads.
#[cfg(test)]
pub(crate) mod refused {
    use std::cell::Cell;

    thread_local! {
        static REFUSED: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn are() -> bool {
        REFUSED.get()
    }

    /// Runs a function while no thread can be started from the calling thread.
    pub(crate) fn during<T>(run: impl FnOnce() -> T) -> T {
        REFUSED.set(true);
        let came_to = run();
        REFUSED.set(false);
        came_to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_give_the_same_results_on_any_threads() {
        for jobs in [0_u64, 1, 2, 100] {
            let expected: Vec<u64> = (0..jobs).map(|job| job * job).collect();
            for threads in [1, 2, 7] {
                let run = || run_jobs(0..jobs, threads, || (), |(), job| job * job);
                assert_eq!(run(), expected);
                assert_eq!(refused::during(run), expected);
            }
        }
    }

    #[test]
    fn work_runs_in_sequence_if_no_thread_can_start() {
        let both = || run_both(|| 1, || 2);
        assert_eq!(both(), (1, 2));
        assert_eq!(refused::during(both), (1, 2));
    }

    #[test]
    fn panic_of_a_thread_is_propagated() {
        let this = thread::current().id();
        let panics = || run_both(|| assert_eq!(thread::current().id(), this), || ());
        std::panic::catch_unwind(panics).unwrap_err();
    }
}
