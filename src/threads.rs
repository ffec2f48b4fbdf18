//! Sharing work among threads. If the system refuses to start more threads, fewer do the work, down
//! to the calling thread alone.

use std::io;
use std::panic::resume_unwind;

use crate::sync::Mutex;
use crate::sync::thread::{self, Builder, Scope, ScopedJoinHandle};

/// How many threads to run work on that may have `most`: one at least, and not more than cores.
pub(crate) fn up_to(most: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(most).max(1)
}

/// Does some jobs on up to this many threads, including this one, and returns their results in
/// order. Each thread that has a job gets an `own` value.
pub(crate) fn share<J: Send, O, T: Send>(
    jobs: impl Iterator<Item = J>,
    threads: usize,
    own: impl Fn() -> O + Sync,
    run: impl Fn(&mut O, J) -> T + Sync,
) -> Vec<T> {
    let jobs: Vec<(usize, J)> = jobs.enumerate().collect();
    let threads = threads.min(jobs.len());
    let jobs = Mutex::new(jobs.into_iter());
    let worker = || {
        let (mut mine, mut done) = (None, Vec::new());
        loop {
            let next = jobs.lock().next();
            let Some((number, job)) = next else { return done };
            done.push((number, run(mine.get_or_insert_with(&own), job)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| start(scope, worker).ok()).collect();
        let mut done = worker();
        for other in others {
            // A panic goes on in the thread that waits.
            done.append(&mut other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, came_to)| came_to).collect()
}

/// Does two things at the same time, or one after another if no thread can be started.
pub(crate) fn beside<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    // Kept outside of the closure, so that it is not lost if no thread can be started.
    let one = Mutex::new(Some(one));
    let run_one = || {
        let one = one.lock().take();
        #[expect(
            clippy::expect_used,
            reason = "it is run by the thread, or if there is none, here"
        )]
        one.expect("it is run once")()
    };
    thread::scope(|scope| {
        let started = start(scope, run_one);
        let other = other();
        let one = match started {
            Ok(started) => started.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run_one(),
        };
        (one, other)
    })
}

/// Starts a thread, if the system allows it.
fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    #[cfg(test)]
    if refused::are() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    Builder::new().spawn_scoped(scope, run)
}

/// A system without threads.
#[cfg(test)]
pub(crate) mod refused {
    use std::cell::Cell;

    thread_local! {
        static REFUSED: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn are() -> bool {
        REFUSED.get()
    }

    /// Does something where no thread can be started from this one.
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
    fn jobs_come_to_the_same_on_however_many_threads_there_are() {
        for jobs in [0_u64, 1, 2, 100] {
            let expected: Vec<u64> = (0..jobs).map(|job| job * job).collect();
            for threads in [1, 2, 7] {
                let run = || share(0..jobs, threads, || (), |(), job| job * job);
                assert_eq!(run(), expected);
                assert_eq!(refused::during(run), expected);
            }
        }
    }

    #[test]
    fn what_is_done_beside_is_done_in_turn_where_no_thread_is_to_be_had() {
        let both = || beside(|| 1, || 2);
        assert_eq!(both(), (1, 2));
        assert_eq!(refused::during(both), (1, 2));
    }

    #[test]
    fn a_panic_of_another_thread_goes_on_in_this_one() {
        let this = thread::current().id();
        let panics = || beside(|| assert_eq!(thread::current().id(), this), || ());
        std::panic::catch_unwind(panics).unwrap_err();
    }
}
