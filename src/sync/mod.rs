//! Locks, threads and the atomics that threads agree by, in one place, so that a test can stand
//! in for the scheduler.
//!
//! An ordinary build takes them from parking_lot and the standard library as they are. With
//! `--cfg shuttle` they are shuttle's, which runs one thread at a time and decides at each of these
//! operations who goes on. There nothing may wait for another thread in any other way.
//!
//! Locks that may be held together have a [`Rank`], in the one order in which they are taken.
//!
//! Whatever is not meant to be interleaved (counters, caches that anybody may fill) uses the
//! standard library's atomics in both.

#[cfg(not(shuttle))]
mod real {
    pub(crate) use std::sync::{atomic, mpsc};
    pub(crate) use std::thread;
    #[cfg(any(test, debug_assertions))]
    pub(crate) use std::thread_local;

    pub(crate) use parking_lot::{
        Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
}

mod rank;
mod ranked;

#[cfg(shuttle)]
pub(crate) use self::scheduled::*;
pub(crate) use rank::Rank;
#[cfg(feature = "internals")]
pub use ranked::apart;
pub(crate) use ranked::{
    RankedGuard, RankedMutex, RankedReadGuard, RankedRwLock, RankedWriteGuard,
};
#[cfg(not(shuttle))]
pub(crate) use real::*;

#[cfg(shuttle)]
mod scheduled;
